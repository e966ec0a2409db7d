"""What a person sees while a run is under way, drawn from `runtime_progress` alone."""

import time
from collections.abc import Callable
from types import TracebackType
from typing import Protocol, Self

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.padding import Padding
from rich.spinner import Spinner

from deepwell.cli.picture import indexing_bar, phase_line, picture, titled
from deepwell.cli.progress_text import Payload, heartbeat, progress_lines

HEARTBEAT_S = 30.0
"""A log is told of a run that is alive after so many seconds of silence."""


class View(Protocol):
    """Shows a run; a context manager."""

    def __enter__(self) -> Self: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...

    def indexing(self, done: int, total: int) -> None:
        """One more document has been looked at."""

    def phase(self, name: str) -> None:
        """The run has come to this phase: planning, research or writing."""

    def progress(self, payload: Payload | None) -> None:
        """The runtime's own account of the phase."""

    def say(self, line: str) -> None:
        """A sentence that must not be lost."""


class SilentView:
    """Shows nothing but what must not be lost."""

    def __init__(self, console: Console) -> None:
        self._console = console

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        return None

    def indexing(self, done: int, total: int) -> None:
        """Nothing."""

    def phase(self, name: str) -> None:
        """Nothing."""

    def progress(self, payload: Payload | None) -> None:
        """Nothing."""

    def say(self, line: str) -> None:
        """The sentence, on standard error."""
        self._console.print(line, markup=False, highlight=False, soft_wrap=True)


class PlainView(SilentView):
    """Lines for a log or a pipe: each thing is said once, and now and then that the run is alive."""

    def __init__(self, console: Console, now: Callable[[], float] = time.monotonic) -> None:
        super().__init__(console)
        self._now = now
        self._said: set[str] = set()
        self._last = now()

    def indexing(self, done: int, total: int) -> None:
        """One line at the end, and some on the way when it takes long."""
        if done == total:
            self._once(f"indexed {total} documents")
        elif self._silent_too_long:
            self._once(f"indexing: {done} of {total} documents")

    def phase(self, name: str) -> None:
        """One line a phase."""
        self._once(phase_line(name))

    def progress(self, payload: Payload | None) -> None:
        """A line for each round, unit, gate answer, end and section; a heartbeat after a long silence."""
        if not payload:
            return
        for line in progress_lines(payload):
            self._once(line)
        if self._silent_too_long:
            self.say(heartbeat(payload))

    def say(self, line: str) -> None:
        """The sentence, on standard error."""
        self._last = self._now()
        super().say(line)

    @property
    def _silent_too_long(self) -> bool:
        return self._now() - self._last >= HEARTBEAT_S

    def _once(self, line: str) -> None:
        if line not in self._said:
            self._said.add(line)
            self.say(line)


class LiveView(SilentView):
    """A picture that is redrawn in place on a terminal; between payloads only its clocks go on."""

    def __init__(self, console: Console, now: Callable[[], float] = time.monotonic) -> None:
        super().__init__(console)
        self._now = now
        self._phase = ""
        self._indexing: tuple[int, int] | None = None
        self._shown: tuple[Payload, float] | None = None
        # One spinner for good: a new one for each picture would never turn.
        self._spinner = Spinner("dots", style="cyan")
        self._live = Live(console=console, get_renderable=self.picture, refresh_per_second=8, transient=True)

    def __enter__(self) -> Self:
        self._live.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._live.stop()

    def indexing(self, done: int, total: int) -> None:
        """Move the bar."""
        self._indexing = (done, total)

    def phase(self, name: str) -> None:
        """Name the phase; what was told of the one before is over."""
        self._phase, self._indexing, self._shown = name, None, None

    def progress(self, payload: Payload | None) -> None:
        """Draw this from now on."""
        if payload:
            self._shown = payload, self._now()

    def picture(self) -> RenderableType:
        """What stands on the terminal now."""
        shown = self._shown
        parts: list[RenderableType] = [indexing_bar(*self._indexing)] if self._indexing else []
        if self._phase:
            parts.append(titled(self._spinner, self._phase, shown[0] if shown else None))
        if shown:
            payload, received = shown
            parts.append(Padding(picture(payload, self._now() - received), (0, 0, 0, 2)))
        return Group(*parts)


def choose_view(console: Console, *, quiet: bool) -> View:
    """A live picture on a terminal that can draw it, lines elsewhere, nothing when quiet."""
    if quiet:
        return SilentView(console)
    draws = console.is_terminal and not console.is_dumb_terminal and not console.options.ascii_only
    return LiveView(console) if draws else PlainView(console)

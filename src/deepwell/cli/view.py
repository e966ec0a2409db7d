"""What a person sees while a run is under way, drawn from `runtime_progress` alone."""

import time
from collections.abc import Mapping
from types import TracebackType
from typing import Any, Protocol, Self

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.spinner import Spinner
from rich.table import Table
from rich.text import Text

_MARKS = {
    "waiting": ("·", "dim"),
    "running": ("…", "cyan"),
    "complete": ("✓", "green"),
    "empty": ("–", "yellow"),
    "failed": ("✗", "red"),
    "cancelled": ("◌", "yellow"),
}
_PHASES = {"planning": "Reading the question", "research": "Researching", "writing": "Writing the report"}


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

    def progress(self, payload: Mapping[str, Any] | None) -> None:
        """The runtime's own account of the round."""

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

    def progress(self, payload: Mapping[str, Any] | None) -> None:
        """Nothing."""

    def say(self, line: str) -> None:
        """The sentence, on standard error."""
        self._console.print(line, markup=False, highlight=False, soft_wrap=True)


class PlainView(SilentView):
    """Lines for a log or a pipe: each thing is said once."""

    def __init__(self, console: Console) -> None:
        super().__init__(console)
        self._said: set[str] = set()

    def indexing(self, done: int, total: int) -> None:
        """One line, at the end."""
        if done == total:
            self._once(f"indexed {total} documents")

    def phase(self, name: str) -> None:
        """One line a phase."""
        self._once(_PHASES[name].lower())

    def progress(self, payload: Mapping[str, Any] | None) -> None:
        """A line for each wave, unit, gate answer and end."""
        if payload:
            for line in progress_lines(payload):
                self._once(line)

    def _once(self, line: str) -> None:
        if line not in self._said:
            self._said.add(line)
            self.say(line)


class LiveView(SilentView):
    """A picture that is redrawn in place on a terminal."""

    def __init__(self, console: Console) -> None:
        super().__init__(console)
        self._phase = ""
        self._indexing: tuple[int, int] | None = None
        self._payload: Mapping[str, Any] | None = None
        self._received = 0.0
        self._live = Live(console=console, get_renderable=self._picture, refresh_per_second=8, transient=True)

    def __enter__(self) -> Self:
        self._live.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._live.stop()

    def indexing(self, done: int, total: int) -> None:
        """Move the bar."""
        self._indexing = (done, total)

    def phase(self, name: str) -> None:
        """Name the phase."""
        self._phase, self._indexing = _PHASES[name], None

    def progress(self, payload: Mapping[str, Any] | None) -> None:
        """Draw the round."""
        if payload:
            self._payload, self._received = payload, time.monotonic()

    def _picture(self) -> RenderableType:
        parts: list[RenderableType] = []
        if self._indexing:
            parts.append(_indexing_bar(*self._indexing))
        if self._phase:
            parts.append(Spinner("dots", Text(self._phase, style="bold")))
        if self._payload:
            parts.append(round_picture(self._payload, time.monotonic() - self._received))
        return Group(*parts)


def choose_view(console: Console, *, quiet: bool) -> View:
    """A live picture on a terminal, lines elsewhere, nothing when quiet."""
    if quiet:
        return SilentView(console)
    return LiveView(console) if console.is_terminal else PlainView(console)


def progress_lines(payload: Mapping[str, Any]) -> list[str]:
    """The payload as plain sentences."""
    round_ = f"round {payload['supervisor_iteration']}"
    sent, skipped = payload["dispatched_research_units"], payload["skipped_research_units"]
    lines = [f"{round_}: {sent} units dispatched, {skipped} skipped"]
    lines += [f"{round_}: {_unit_line(unit)}" for unit in payload["research_units"] if unit["duration_s"] is not None]
    if payload["novelty"] is not None:
        lines.append(
            f"{round_}: {payload['evidence_record_count']} claims from {payload['source_domain_count']} sources, "
            f"{payload['novelty']:.0%} new, {len(payload['gaps'])} gaps"
        )
    if payload["quality_gate_status"] != "none":
        reason = f": {payload['quality_gate_reason']}" if payload["quality_gate_reason"] else ""
        lines.append(f"{round_}: quality gate {payload['quality_gate_status']}{reason}")
    if payload["stop_reason"]:
        lines.append(f"{round_}: research ended ({payload['stop_reason'].replace('_', ' ')})")
    return lines


def round_picture(payload: Mapping[str, Any], since: float) -> RenderableType:
    """The round as a table with its clocks, `since` seconds after the payload was made."""
    table = Table.grid(padding=(0, 1), expand=True)
    table.add_column(width=1)
    table.add_column(ratio=1, overflow="ellipsis", no_wrap=True)
    table.add_column(justify="right", no_wrap=True)
    for unit in payload["research_units"]:
        mark, style = _MARKS[unit["status"]]
        table.add_row(Text(mark, style=style), Text(unit["topic"]), Text(_result(unit), style="dim"))
    return Group(Text(_clock_line(payload, since), style="dim"), table, Text(_evidence_line(payload), style="dim"))


def _unit_line(unit: Mapping[str, Any]) -> str:
    return f"{unit['status']}: {unit['topic']} ({_result(unit)})"


def _result(unit: Mapping[str, Any]) -> str:
    parts = [f"try {unit['attempt_number']}"] if unit["attempt_number"] > 1 else []
    if unit["duration_s"] is not None:
        parts += [f"{unit['evidence']} claims", f"{unit['duration_s']:.1f} s"]
    if unit["failure_reason"]:
        parts.append(str(unit["failure_reason"]))
    return ", ".join(parts)


def _clock_line(payload: Mapping[str, Any], since: float) -> str:
    elapsed = payload["elapsed_minutes"] * 60 + since
    parts = [f"round {payload['supervisor_iteration']} of at most {payload['max_iterations']}", _clock(elapsed)]
    if payload["research_remaining_minutes"] is not None:
        left = max(0.0, payload["research_remaining_minutes"] * 60 - since)
        parts.append(f"{_clock(left)} left for research")
    if payload["tokens_spent"]:
        money = f" (${payload['cost_usd']:.3f})" if payload["cost_usd"] else ""
        parts.append(f"{payload['tokens_spent']:,} tokens{money}")
    return " · ".join(parts)


def _evidence_line(payload: Mapping[str, Any]) -> str:
    parts = [
        f"{payload['evidence_record_count']} claims (gate: {payload['min_evidence_records']})",
        f"{payload['source_domain_count']} sources (gate: {payload['min_source_domains']})",
    ]
    if payload["quality_gate_status"] != "none":
        parts.append(f"quality gate: {payload['quality_gate_status']}")
    if payload["skipped_research_units"]:
        parts.append(f"{payload['skipped_research_units']} topics skipped")
    return " · ".join(parts)


def _clock(seconds: float) -> str:
    return f"{int(seconds) // 60}:{int(seconds) % 60:02d}"


def _indexing_bar(done: int, total: int) -> RenderableType:
    row = Table.grid(padding=(0, 1))
    row.add_row(
        Text("Indexing", style="bold"),
        ProgressBar(total=max(total, 1), completed=done, width=30),
        Text(f"{done}/{total}"),
    )
    return row

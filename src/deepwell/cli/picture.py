"""The picture of a run that is redrawn in place on a terminal, from `runtime_progress` alone."""

from collections.abc import Iterator, Sequence

from rich.console import Console, ConsoleOptions, Group, RenderableType
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from deepwell.cli import progress_text
from deepwell.cli.progress_text import Payload

SEPARATOR = " · "
_MARKS = {
    "waiting": ("·", "dim"),
    "running": ("▸", "cyan"),
    "writing": ("▸", "cyan"),
    "complete": ("✓", "green"),
    "written": ("✓", "green"),
    "empty": ("–", "yellow"),
    "failed": ("✗", "red"),
    "cancelled": ("◌", "yellow"),
}
_PHASES = {"planning": "Reading the question", "research": "Researching", "writing": "Writing the report"}


class Flow:
    """Short statements in as few lines as the width allows; none is broken unless it is wider than a line."""

    def __init__(self, parts: Sequence[str], style: str = "dim") -> None:
        self._parts, self._style = parts, style

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[Text]:
        line = ""
        for part in self._parts:
            longer = f"{line}{SEPARATOR}{part}" if line else part
            if line and len(longer) > options.max_width:
                yield self._line(line)
                longer = part
            line = longer
        if line:
            yield self._line(line)

    def _line(self, text: str) -> Text:
        return Text(text, style=self._style, no_wrap=True, overflow="ellipsis")


def title(phase: str, payload: Payload | None) -> Text:
    """The phase, and where in it the run is."""
    text = Text(_PHASES[phase], style="bold", no_wrap=True, overflow="ellipsis")
    detail = _where(payload) if payload else ""
    return text.append(f"{SEPARATOR}{detail}", style="not bold dim") if detail else text


def titled(spinner: RenderableType, phase: str, payload: Payload | None) -> RenderableType:
    """The title beside the sign that the program lives."""
    row = Table.grid(padding=(0, 1), expand=True)
    row.add_column(width=1)
    row.add_column(ratio=1, overflow="ellipsis", no_wrap=True)
    row.add_row(spinner, title(phase, payload))
    return row


def phase_line(phase: str) -> str:
    """The phase for a log."""
    return _PHASES[phase].lower()


def picture(payload: Payload, since: float) -> RenderableType:
    """Clocks, evidence and spend first, because a low terminal cuts off the end; then each piece of work."""
    found = [*progress_text.evidence(payload), *_skipped(payload), *progress_text.spend(payload)]
    parts: list[RenderableType] = [Flow(progress_text.clocks(payload, since)), Flow(found)]
    parts.append(Flow(progress_text.limits(payload), style="yellow"))
    parts.append(_pieces(payload, since))
    return Group(*parts)


def indexing_bar(done: int, total: int) -> RenderableType:
    """How many documents have been looked at."""
    row = Table.grid(padding=(0, 1))
    row.add_row(
        Text("Indexing", style="bold"),
        ProgressBar(total=max(total, 1), completed=done, width=30),
        Text(f"{done}/{total}"),
    )
    return row


def _where(payload: Payload) -> str:
    if payload["phase"] == "research":
        return f"round {payload['supervisor_iteration']} of at most {payload['max_iterations']}"
    if payload["phase"] == "writing":
        total = payload["sections_total"]
        return "outline" if total is None else f"{payload['sections_written']} of {total} sections"
    return ""


def _skipped(payload: Payload) -> list[str]:
    skipped = payload.get("skipped_research_units", 0)
    return [f"{progress_text.counted(skipped, 'topic')} skipped"] if skipped else []


def _pieces(payload: Payload, since: float) -> RenderableType:
    table = Table.grid(padding=(0, 1), expand=True)
    table.add_column(width=1)
    table.add_column(ratio=1, overflow="ellipsis", no_wrap=True)
    table.add_column(justify="right", no_wrap=True)
    for unit in payload.get("research_units", ()):
        _add(table, unit["status"], unit["topic"], progress_text.result(unit, since))
        if unit["failure_reason"]:
            table.add_row("", Text(unit["failure_reason"], style="red"), "")
    for section in payload.get("sections", ()):
        running = section["running_s"]
        spent = "" if running is None else progress_text.clock(running + since)
        _add(table, section["status"], section["heading"], spent)
    return table


def _add(table: Table, status: str, name: str, result: str) -> None:
    mark, style = _MARKS[status]
    table.add_row(Text(mark, style=style), Text(name, style="dim" if status == "waiting" else ""), Text(result, "dim"))

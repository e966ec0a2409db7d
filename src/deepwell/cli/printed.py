"""What the commands print."""

import json
import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from datetime import datetime
from typing import Any

from rich.console import Console, PagerContext
from rich.markdown import Markdown
from rich.table import Table
from rich.text import Text

from deepwell.configuration import Configuration, environment_names
from deepwell.errors import BadRequest
from deepwell.library.refreshing import Libraries
from deepwell.library.walk import Skipped
from deepwell.vocabulary.budget import SpendLine, total_spend
from deepwell.vocabulary.events import RunReplayed, WouldHaveAsked
from deepwell.vocabulary.run import RunHead, Span, StoredRun
from deepwell.vocabulary.source import Source

_STATUS_STYLES = {"done": "green", "nothing_found": "yellow", "failed": "red", "interrupted": "yellow"}
_COUNTED = ("requests", "prompt_tokens", "cached_tokens", "reply_tokens")


def json_text(value: Any) -> None:
    """A value as JSON on standard output."""
    sys.stdout.write(json.dumps(value, ensure_ascii=False, indent=2, default=_plain) + "\n")


def markdown(console: Console, text: str) -> None:
    """Rendered on a terminal, as it is elsewhere."""
    if console.is_terminal:
        console.print(Markdown(text))
    else:
        sys.stdout.write(text)


def pager(console: Console) -> PagerContext:
    """What is printed inside is read page by page."""
    # Left to itself, less shows the codes of the colours instead of the colours.
    os.environ.setdefault("LESS", "-R")
    return console.pager(styles=True)


def run_json(run: StoredRun, kept: Mapping[str, Source], events: Sequence[Mapping[str, Any]]) -> None:
    """The whole run: report, sources, claims and citations with their exact spans, and the loop's record."""
    head = asdict(run.head)
    del head["claims"], head["sources"]
    json_text(
        {
            **head,
            "libraries": run.libraries,
            "report": run.report,
            "sources": [asdict(source) for source in run.sources],
            "claims": [{**asdict(claim), "spans": _span_dicts(claim.spans, kept)} for claim in run.claims],
            "citations": [
                {"sentence": sentence, "source_ids": ids, "spans": _span_dicts(spans, kept)}
                for sentence, ids, spans in run.citations
            ],
            "passages": _span_dicts(run.passages, kept),
            "spend": [asdict(line) for line in run.spend],
            "phase_state": run.phase_state,
            "configuration": run.configuration,
            "replay": _replay(events),
        }
    )


def _replay(events: Sequence[Mapping[str, Any]]) -> dict[str, Any] | None:
    """Of which run this is a replay, and what the journal did not tell; None for any other run."""
    begun = next((event for event in events if event["kind"] == RunReplayed.__name__), None)
    if begun is None:
        return None
    missed = [event for event in events if event["kind"] == WouldHaveAsked.__name__]
    wanted = [{"call": event["call"], "what": event["what"]} for event in missed]
    return {"of": begun["of"], "settings": begun["settings"], "would_have_asked": wanted}


def report(console: Console, run: StoredRun) -> None:
    """The report. Raises BadRequest when the run has none."""
    if run.report is None:
        raise BadRequest(f"Run {run.head.id} has no report: it was {run.head.status}. {_instead(run.head)}")
    markdown(console, run.report)


def _instead(head: RunHead) -> str:
    if head.status in ("interrupted", "failed"):
        return f"`deepwell resume {head.id}` goes on with it; --sources and --json have what it has found."
    return "Try --journal."


def runs(console: Console, heads: Sequence[RunHead], *, as_json: bool) -> None:
    """A table of runs."""
    if as_json:
        json_text([asdict(head) for head in heads])
        return
    if not heads:
        console.print('No runs yet: try deepwell "your question" --docs DIR', markup=False, highlight=False)
        return
    table = Table(box=None, pad_edge=False, expand=True)
    for name in ("id", "when", "status", "claims", "sources", "question"):
        numeric = name in ("claims", "sources")
        ratio = 1 if name == "question" else None
        table.add_column(name, no_wrap=True, justify="right" if numeric else "left", ratio=ratio)
    for head in heads:
        status = Text(head.status.replace("_", " "), style=_STATUS_STYLES.get(head.status, ""))
        when = f"{head.started_at.astimezone():%Y-%m-%d %H:%M}"
        table.add_row(
            head.id,
            when,
            status,
            str(head.claims),
            str(head.sources),
            Text(one_line(head.question), overflow="ellipsis"),
        )
    console.print(table)


def spend(console: Console, lines: Sequence[SpendLine]) -> None:
    """What was spent on models, line by line and in all."""
    if not lines:
        console.print("This run asked no model.", highlight=False)
        return
    table = Table(box=None, pad_edge=False)
    for name in ("phase", "model", "requests", "prompt", "cached", "reply", "cost"):
        table.add_column(name, justify="left" if name in ("phase", "model") else "right", overflow="fold")
    for line in lines:
        figures = (getattr(line, name) for name in _COUNTED)
        money = "not known" if line.cost_usd is None else f"${line.cost_usd:.4f}"
        table.add_row(line.phase, line.model, *(f"{figure:,}" for figure in figures), money)
    total = total_spend(lines)
    sums = (sum(getattr(line, name) for line in lines) for name in _COUNTED)
    known = "not known" if any(line.cost_usd is None for line in lines) else f"${total.cost_usd:.4f}"
    table.add_row("in all", f"{total.tokens:,} tokens", *(f"{figure:,}" for figure in sums), known)
    console.print(table)


def journal(events: Sequence[Mapping[str, Any]]) -> None:
    """One line an event."""
    for event in events:
        details = {key: value for key, value in event.items() if key not in ("seq", "at", "kind")}
        line = f"{event['seq']:>4} {event['at'][11:23]} {event['kind']} {json.dumps(details, ensure_ascii=False)}"
        sys.stdout.write(line + "\n")


def libraries(console: Console, result: Libraries) -> None:
    """What an indexing did, and each file it could not read."""
    did = ("added", "changed", "unchanged", "removed")
    counts = ", ".join(f"{sum(getattr(one, name) for one in result.refreshed)} {name}" for name in did)
    console.print(
        f"{result.documents} documents in {result.passages} passages: {counts}, {len(result.skipped)} skipped"
        + (f", {result.left} left for the next time" if result.left else ""),
        highlight=False,
        soft_wrap=True,
    )
    for skipped in result.skipped:
        console.print(skip_line(skipped), markup=False, highlight=False, soft_wrap=True)


def skip_line(skipped: Skipped) -> str:
    """A file that could not be read, and why; most reasons begin with the file's name."""
    named = skipped.reason.startswith(skipped.path)
    return f"skipped: {skipped.reason}" if named else f"skipped: {skipped.path}: {skipped.reason}"


def settings(console: Console, configuration: Configuration, *, as_json: bool) -> None:
    """Every knob: its value now, its range, the variables that set it."""
    if as_json:
        json_text(Configuration.model_json_schema())
        return
    for name, field in Configuration.model_fields.items():
        extra: Any = field.json_schema_extra
        control = extra["metadata"]["x_oap_ui_config"]
        limits = f" ({control['min']:g} to {control['max']:g})" if "max" in control else ""
        console.print(Text(f"{name} = {getattr(configuration, name)}{limits}", style="bold"), soft_wrap=True)
        console.print(Text(f"    {field.description}"), soft_wrap=True)
        console.print(Text(f"    {', '.join(environment_names(name))}", style="dim"), soft_wrap=True)


def one_line(text: str) -> str:
    """The text with every run of white space as one space."""
    return " ".join(text.split())


def _span_dicts(spans: Sequence[Span], kept: Mapping[str, Source]) -> list[dict[str, Any]]:
    return [
        {
            "address": kept[source].address,
            "title": kept[source].title,
            "source": source,
            "start": start,
            "end": end,
            "text": kept[source].text[start:end],
        }
        for source, start, end in spans
    ]


def _plain(value: Any) -> Any:
    if isinstance(value, datetime):
        return value.isoformat()
    raise TypeError(type(value).__name__)

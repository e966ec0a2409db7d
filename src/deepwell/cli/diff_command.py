"""The command that compares two runs."""

import json
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import Any, NoReturn

from rich.console import Console
from rich.table import Table
from rich.text import Text

from deepwell.assemble import opened_store
from deepwell.cli.exit_codes import Exit
from deepwell.cli.guarded import guarded, output
from deepwell.cli.printed import json_text
from deepwell.configuration import home
from deepwell.errors import BadRequest
from deepwell.stages.compare.runs import compare_runs
from deepwell.vocabulary.comparison import (
    Change,
    Changed,
    Comparison,
    Kept,
    RunComparison,
    SettingChange,
    SourceChange,
    Spot,
    Statement,
)
from deepwell.vocabulary.run import StoredRun

_SIGNS = {"kept": "=", "changed": "~", "gone": "−", "new": "+"}
_STYLES = {"kept": "dim", "changed": "yellow", "gone": "red", "new": "green"}
_OUTCOMES = tuple(_SIGNS)


def diff(before: str, after: str, *, everything: bool, as_json: bool) -> NoReturn:
    """Compare two runs."""
    sys.exit(guarded(lambda: _diff(before, after, everything=everything, as_json=as_json)))


async def _diff(earlier: str, later: str, *, everything: bool, as_json: bool) -> Exit:
    """Print what became of the claims of one run in another. Raises BadRequest for a run without a report."""
    async with opened_store(home()) as store:
        before, after = [await store.load(await store.find(name)) for name in (earlier, later)]
    for run in (before, after):
        if run.report is None:
            raise BadRequest(f"Run {run.head.id} has no report to compare: it was {run.head.status}.")
    compared = compare_runs(before, after)
    if as_json:
        json_text(_plain(before, after, compared))
    else:
        _print(output, before, after, compared, everything=everything)
    return Exit.REPORT


def _print(console: Console, before: StoredRun, after: StoredRun, compared: RunComparison, *, everything: bool) -> None:
    for line in (*_remarks(before, after), *(_setting_line(one) for one in compared.settings)):
        console.print(Text(_visible(line), style="dim"), soft_wrap=not console.is_terminal)
    for sign, text in (
        *_statement_lines(compared.statements, everything),
        *_source_lines(compared.sources, everything),
    ):
        _print_line(console, sign, text)
    console.print(Text(_summary(compared), style="bold"), soft_wrap=not console.is_terminal)


def _print_line(console: Console, sign: Text, text: Text) -> None:
    """On a terminal a long sentence wraps beside its sign; elsewhere it stays on one line."""
    if not console.is_terminal:
        console.print(Text.assemble(sign, " ", text), soft_wrap=True)
        return
    line = Table.grid(padding=(0, 1))
    line.add_column(no_wrap=True)
    line.add_column(overflow="fold")
    line.add_row(sign, text)
    console.print(line)


def _remarks(before: StoredRun, after: StoredRun) -> Iterator[str]:
    """Which runs these are, and what a reader has to know before the comparison."""
    yield " → ".join(
        f"run {run.head.id} ({run.head.started_at.astimezone():%Y-%m-%d %H:%M})" for run in (before, after)
    )
    if not _is_same_question(before, after):
        yield f"The questions differ: “{before.head.question}” → “{after.head.question}”"
    for run in (before, after):
        if not run.citations:
            yield f"Run {run.head.id} found no answer: the claims it collected are compared ({len(run.claims)})."


def _setting_line(change: SettingChange) -> str:
    return f"{change.name}: {_value(change.before)} → {_value(change.after)}"


def _value(value: Any) -> str:
    if value is None:
        return "unset"
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _statement_lines(found: Comparison, everything: bool) -> Iterator[tuple[Text, Text]]:
    for changed in found.changed:
        yield from _changed_lines(changed)
    yield from (_line("gone", one.before.text) for one in found.gone)
    yield from (_line("new", one.after.text) for one in found.new)
    if everything:
        yield from (_line("kept", _kept(one)) for one in found.kept)


def _changed_lines(changed: Changed) -> Iterator[tuple[Text, Text]]:
    yield _line("changed", "; ".join(change.sentence for change in changed.changes))
    yield _side("gone", changed.before, [change.before for change in changed.changes])
    yield _side("new", changed.after, [change.after for change in changed.changes])


def _side(outcome: str, statement: Statement, spots: Sequence[Spot | None]) -> tuple[Text, Text]:
    """One of the two sentences, with what changed in it marked."""
    text = Text(_visible(statement.text))
    for spot in spots:
        if spot:
            text.stylize(f"bold {_STYLES[outcome]}", spot.start, spot.end)
    return Text(f"  {_SIGNS[outcome]}", style=_STYLES[outcome]), text


def _kept(kept: Kept) -> str:
    return f"{kept.before.text} (now: {kept.after.text})" if kept.reworded else kept.after.text


def _source_lines(changes: Sequence[SourceChange], everything: bool) -> Iterator[tuple[Text, Text]]:
    for change in changes:
        source = change.after or change.before
        if source and (everything or change.what != "kept"):
            note = ": its text has changed" if change.what == "changed" else ""
            yield _line(change.what, f"source {source.title} ({source.address}){note}")


def _line(outcome: str, text: str) -> tuple[Text, Text]:
    return Text(_SIGNS[outcome], style=_STYLES[outcome]), Text(_visible(text), style=_STYLES[outcome])


def _summary(compared: RunComparison) -> str:
    counts = _counts(compared)
    reworded = sum(one.reworded for one in compared.statements.kept)
    said = [f"{counts['statements'][outcome]} {outcome}" for outcome in _OUTCOMES]
    said[0] += f" ({reworded} in other words)" if reworded else ""
    sources = [f"{counts['sources'][o]} {o}" for o in _OUTCOMES if o != "changed" or counts["sources"][o]]
    return f"{', '.join(said)}; sources: {', '.join(sources)}"


def _counts(compared: RunComparison) -> dict[str, dict[str, int]]:
    sources: Counter[str] = Counter(change.what for change in compared.sources)
    return {
        "statements": {outcome: len(getattr(compared.statements, outcome)) for outcome in _OUTCOMES},
        "sources": {outcome: sources[outcome] for outcome in _OUTCOMES},
    }


def _visible(text: str) -> str:
    """The text on one line and without control characters, which could move the cursor; every place stays."""
    return "".join(character if character.isprintable() else " " for character in text)


def _is_same_question(before: StoredRun, after: StoredRun) -> bool:
    return before.head.question.split() == after.head.question.split()


def _plain(before: StoredRun, after: StoredRun, compared: RunComparison) -> dict[str, Any]:
    found = compared.statements
    return {
        "before": _head(before),
        "after": _head(after),
        "same_question": _is_same_question(before, after),
        "counts": _counts(compared),
        "changed": [asdict(one) | {"changes": [_change(change) for change in one.changes]} for one in found.changed],
        "gone": [asdict(one.before) for one in found.gone],
        "new": [asdict(one.after) for one in found.new],
        "kept": [asdict(one) for one in found.kept],
        "sources": [{"what": one.what, **asdict(one)} for one in compared.sources],
        "settings": [asdict(one) for one in compared.settings],
    }


def _head(run: StoredRun) -> dict[str, Any]:
    head = run.head
    return {"id": head.id, "question": head.question, "status": head.status, "started_at": head.started_at}


def _change(change: Change) -> dict[str, Any]:
    return {"sentence": change.sentence, **asdict(change)}

"""Two stored runs compared: their statements, their sources and their settings."""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from deepwell.stages.compare.compare import compare
from deepwell.stages.compare.wording import plain, unmarked
from deepwell.vocabulary.comparison import RunComparison, SettingChange, SourceChange, Statement
from deepwell.vocabulary.run import KeptSource, StoredRun

_QUOTATION = re.compile(r"(?P<label>[^“”]{0,120}:\s+)?“(?P<said>[^“”]+)”\.?")


def compare_runs(before: StoredRun, after: StoredRun) -> RunComparison:
    """What the runs say, what they rest on and how they were made."""
    return RunComparison(
        statements=compare(statements(before), statements(after)),
        sources=source_changes(_used(before), _used(after)),
        settings=tuple(_setting_changes(_made_with(before), _made_with(after))),
    )


def statements(run: StoredRun) -> tuple[Statement, ...]:
    """The cited sentences of the report, or the claims of a run that has none; what is said twice counts once."""
    claimed = frozenset(plain(claim.claim) for claim in run.claims)
    cited = [Statement(_bare(sentence, claimed), ids, spans) for sentence, ids, spans in run.citations]
    said = cited or [Statement(claim.claim, spans=claim.spans) for claim in run.claims]
    found: dict[str, Statement] = {}
    for statement in said:
        key = plain(statement.text)
        found[key] = _joined(found[key], statement) if key in found else statement
    return tuple(found.values())


def source_changes(before: Sequence[KeptSource], after: Sequence[KeptSource]) -> tuple[SourceChange, ...]:
    """The same text is the same source, wherever it was read; the same address with another text has changed."""
    left, right = list(before), list(after)
    found = [*_met(left, right, "hash"), *_met(left, right, "address")]
    return (
        *found,
        *(SourceChange(source, None) for source in left),
        *(SourceChange(None, source) for source in right),
    )


def _met(left: list[KeptSource], right: list[KeptSource], by: str) -> Iterator[SourceChange]:
    """Pairs that are equal in one field; they leave the lists."""
    for one in tuple(left):
        other = next((source for source in right if getattr(source, by) == getattr(one, by)), None)
        if other:
            left.remove(one)
            right.remove(other)
            yield SourceChange(one, other)


def _bare(sentence: str, claimed: Collection[str]) -> str:
    """Without bullet, markers and the quotation marks around it; a label before a quoted claim is no part of it."""
    text = unmarked(sentence)
    quotation = _QUOTATION.fullmatch(text)
    if quotation and (not quotation["label"] or plain(quotation["said"]) in claimed):
        return quotation["said"].strip()
    return text


def _joined(one: Statement, other: Statement) -> Statement:
    ids = tuple(dict.fromkeys((*one.source_ids, *other.source_ids)))
    return Statement(one.text, ids, tuple(dict.fromkeys((*one.spans, *other.spans))))


def _used(run: StoredRun) -> list[KeptSource]:
    """What the report cites; a run without citations is taken with all it kept."""
    cited = {number for _, ids, _ in run.citations for number in ids}
    return [source for source in run.sources if not cited or source.number in cited]


def _made_with(run: StoredRun) -> Mapping[str, Any]:
    """The settings, and what else shapes a run: the version and the documents."""
    return {"version": run.head.version, "documents": list(run.libraries), **run.configuration}


def _setting_changes(before: Mapping[str, Any], after: Mapping[str, Any]) -> Iterator[SettingChange]:
    for name in dict.fromkeys((*before, *after)):
        # An empty text or list and no value at all mean the same: a version that lacks the setting has none.
        mine, theirs = (None if made.get(name) in ("", []) else made.get(name) for made in (before, after))
        if mine != theirs:
            yield SettingChange(name, mine, theirs)

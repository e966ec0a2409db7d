"""Keeping the state small: old notes become a summary with handles; the whole text stays in the store."""

from collections.abc import Iterable, Sequence
from enum import StrEnum

from deepwell.language.markers import cited_sentences
from deepwell.language.tokens import estimated_tokens
from deepwell.vocabulary.evidence import Evidence

MOST_STATE_TOKENS = 50_000
"""A state that is larger when it is written out is shortened."""
SUMMARY_WORDS = 60
"""What is left of an old note."""


class Trigger(StrEnum):
    """Why the state is shortened."""

    BUDGET = "less than a quarter of the token budget is left"
    SIZE = "the state is larger than 50,000 tokens"
    SYNTHESIS = "the report is about to be written"


def trigger(*, runs_low: bool, tokens: int, ending: bool) -> Trigger | None:
    """The first reason to shorten the state now, if there is one."""
    if ending:
        return Trigger.SYNTHESIS
    if runs_low:
        return Trigger.BUDGET
    return Trigger.SIZE if tokens > MOST_STATE_TOKENS else None


def state_tokens(notes: Iterable[str], evidence: Iterable[Evidence], messages: Iterable[str]) -> int:
    """About how many tokens the growing parts of the state are."""
    claims = (" ".join((item.claim, *(span.text for span in item.passages))) for item in evidence)
    return sum(estimated_tokens(text) for texts in (notes, claims, messages) for text in texts)


def compacted(notes: Sequence[str], newest: int) -> list[str]:
    """The notes, all but the `newest` last ones shortened; shortening again changes nothing."""
    old = len(notes) - newest
    return [summary(note) if i < old else note for i, note in enumerate(notes)]


def summary(note: str) -> str:
    """The first cited sentences of a note, as far as the allowance goes; their numbers lead to the kept sources."""
    if len(note.split()) <= SUMMARY_WORDS:
        return note
    kept: list[str] = []
    words = 0
    for sentence in cited_sentences(note):
        words += len(sentence.split())
        if words > SUMMARY_WORDS:
            break
        kept.append(sentence)
    return " ".join(" ".join(kept).split()) or " ".join(note.split()[:SUMMARY_WORDS])

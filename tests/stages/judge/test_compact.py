"""Old notes become a summary; the newest stay whole."""

import pytest

from deepwell.stages.judge.compact import (
    MOST_STATE_TOKENS,
    SUMMARY_WORDS,
    Trigger,
    compacted,
    state_tokens,
    summary,
    trigger,
)

LONG = " ".join(f"Fact number {n} was found in the archive of the town [{n}]." for n in range(1, 30))


@pytest.mark.parametrize(
    ("low", "tokens", "ending", "expected"),
    [
        (False, 100, False, None),
        (False, MOST_STATE_TOKENS, False, None),
        (False, MOST_STATE_TOKENS + 1, False, Trigger.SIZE),
        (True, 100, False, Trigger.BUDGET),
        (False, 100, True, Trigger.SYNTHESIS),
    ],
)
def test_the_three_triggers(low: bool, tokens: int, ending: bool, expected: Trigger | None) -> None:
    assert trigger(runs_low=low, tokens=tokens, ending=ending) is expected


def test_a_summary_keeps_whole_cited_sentences() -> None:
    short = summary(LONG)
    assert len(short.split()) <= SUMMARY_WORDS
    assert short.startswith("Fact number 1 was found")
    assert short.endswith(("].", "]"))


def test_summing_up_twice_changes_nothing_more() -> None:
    once = compacted([LONG, LONG], 1)
    assert once[1] == LONG
    assert compacted(once, 1) == once
    assert state_tokens(once, (), ()) < state_tokens([LONG, LONG], (), ())


def test_a_note_without_citations_is_cut_by_words() -> None:
    assert len(summary("word " * 500).split()) == SUMMARY_WORDS

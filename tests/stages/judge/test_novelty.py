from hypothesis import given
from hypothesis import strategies as st

from deepwell.stages.judge.novelty import novelty

notes = st.lists(st.text(alphabet="abcde \n", max_size=40), max_size=4)


def test_share_of_new_words() -> None:
    assert novelty(["alpha beta gamma delta"], ["alpha beta gamma"]) == 0.25


def test_everything_is_new_to_nothing() -> None:
    assert novelty(["alpha"], []) == 1.0


def test_a_round_without_words_cannot_be_judged() -> None:
    assert novelty([], ["alpha"]) is None
    assert novelty(["the of and"], ["alpha"]) is None


@given(notes, notes)
def test_bounded(new: list[str], old: list[str]) -> None:
    score = novelty(new, old)
    assert score is None or 0.0 <= score <= 1.0


@given(notes, notes)
def test_more_known_notes_never_raise_it(new: list[str], old: list[str]) -> None:
    before, after = novelty(new, old[:1]), novelty(new, old)
    assert before is None or after is None or after <= before


@given(notes)
def test_a_repetition_has_none(new: list[str]) -> None:
    assert novelty(new, new) in (None, 0.0)

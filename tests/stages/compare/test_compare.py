from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deepwell.stages.compare.compare import compare
from deepwell.vocabulary.comparison import Comparison, Statement

WORDS = "sales rose fell 12 % 21 2019 Kessler Bremen the of not million kettle thermostat".split()
texts = st.lists(st.sampled_from(WORDS), min_size=0, max_size=7).map(" ".join) | st.text(max_size=20)
spans = st.tuples(st.sampled_from(["a", "b"]), st.integers(0, 40), st.integers(41, 60))
statements = st.lists(st.builds(Statement, texts, st.just(()), st.lists(spans, max_size=2).map(tuple)), max_size=8)


def _said(*texts: str) -> list[Statement]:
    return [Statement(text) for text in texts]


def _counts(found: Comparison) -> tuple[int, int, int, int]:
    return len(found.kept), len(found.changed), len(found.gone), len(found.new)


SAME_THING = [
    ("Sales of the kettle rose by 12 % in 2023.", "Sales of the kettle rose by 21 % in 2023."),
    ("Sales rose 12 %.", "Sales fell 21 %."),
    ("The committee approved the merger in March 2021.", "The committee rejected the merger in March 2021."),
    ("Kessler founded Brightline in Bremen.", "Keller founded Brightline in Bremen."),
    ("The firm earned 3 million euros in 2021.", "The firm earned 3 billion euros in 2021."),
    ("The gears are made of bronze.", "The gears are made of iron."),
]
IN_OTHER_WORDS = [
    (
        "Sales of the Falcon kettle rose to 4,200 units in 2023.",
        "In 2023, 4,200 Falcon kettles were sold, an increase.",
    ),
    ("The mechanism was found in 1901 off Antikythera.", "Divers discovered the mechanism off Antikythera in 1901."),
    ("- “The gears are made of bronze.” [1]", "The gears are made of **bronze** [7]."),
]
OTHER_THINGS = [
    (
        "The population of Norway was 5.4 million in 2020 according to Statistics Norway.",
        "The population of Sweden was 10.4 million in 2020 according to Statistics Sweden.",
    ),
    ("The mechanism was found in 1901 off Antikythera.", "The mechanism was made around 150 BC on Rhodes."),
    ("Brightline employs 80 people.", "Brightline was founded by Maria Kessler."),
    ("Sales in Europe rose by 12 %.", "Sales in Asia fell by 3 %."),
    ("The treaty was signed in Paris in 1951.", "The treaty entered into force in 1952."),
]


@pytest.mark.parametrize(("one", "other"), SAME_THING)
def test_another_value_of_the_same_thing_is_a_change_both_ways(one: str, other: str) -> None:
    assert _counts(compare(_said(one), _said(other))) == (0, 1, 0, 0)
    assert _counts(compare(_said(other), _said(one))) == (0, 1, 0, 0)


@pytest.mark.parametrize(("one", "other"), IN_OTHER_WORDS)
def test_the_same_in_other_words_is_kept_both_ways(one: str, other: str) -> None:
    assert _counts(compare(_said(one), _said(other))) == (1, 0, 0, 0)
    assert _counts(compare(_said(other), _said(one))) == (1, 0, 0, 0)


@pytest.mark.parametrize(("one", "other"), OTHER_THINGS)
def test_another_thing_is_gone_and_new_both_ways(one: str, other: str) -> None:
    assert _counts(compare(_said(one), _said(other))) == (0, 0, 1, 1)
    assert _counts(compare(_said(other), _said(one))) == (0, 0, 1, 1)


def test_only_other_words_are_called_reworded() -> None:
    before, after = (
        _said("It rose [1].", "Divers found the old wreck."),
        _said("It rose [2].", "The old wreck, divers found."),
    )
    assert [kept.reworded for kept in compare(before, after).kept] == [False, True]


def test_the_same_text_wins_over_a_close_one() -> None:
    years = [f"In {year} the firm sold {year - 1990} kettles." for year in range(2015, 2020)]
    changed = [*years[:3], "In 2018 the firm sold 99 kettles.", years[4]]
    found = compare(_said(*years), _said(*changed[::-1]))
    assert _counts(found) == (4, 1, 0, 0)
    assert found.changed[0].before.text == years[3]
    assert found.changed[0].changes[0].sentence == "28 → 99"


def test_one_passage_ties_sentences_that_words_alone_do_not() -> None:
    before = "The wheels of this old instrument were cut from bronze sheets with a file."
    after = "Bronze sheets were what its maker used."
    apart = compare([Statement(before)], [Statement(after)])
    together = compare([Statement(before, (1,), (("a", 10, 90),))], [Statement(after, (4,), (("a", 50, 120),))])
    elsewhere = compare([Statement(before, (1,), (("a", 10, 50),))], [Statement(after, (4,), (("a", 50, 120),))])
    assert _counts(apart) == _counts(elsewhere) == (0, 0, 1, 1)
    assert _counts(together) == (1, 0, 0, 0)


@given(statements)
def test_a_report_keeps_all_of_itself(said: list[Statement]) -> None:
    found = compare(said, said)
    assert _counts(found) == (len(said), 0, 0, 0)
    assert not any(kept.reworded for kept in found.kept)


@given(statements, statements)
def test_swapped_reports_swap_gone_and_new(one: list[Statement], other: list[Statement]) -> None:
    there, back = compare(one, other), compare(other, one)
    assert [gone.before for gone in there.gone] == [new.after for new in back.new]
    assert [new.after for new in there.new] == [gone.before for gone in back.gone]
    for mine, theirs in ((there.kept, back.kept), (there.changed, back.changed)):
        assert Counter((p.before, p.after) for p in mine) == Counter((p.after, p.before) for p in theirs)


@given(statements, statements)
def test_every_statement_stands_in_one_place(one: list[Statement], other: list[Statement]) -> None:
    found = compare(one, other)
    paired = (*found.kept, *found.changed)
    assert Counter([*(p.before for p in paired), *(g.before for g in found.gone)]) == Counter(one)
    assert Counter([*(p.after for p in paired), *(n.after for n in found.new)]) == Counter(other)
    assert all(changed.changes for changed in found.changed)


def test_of_two_that_are_equally_close_the_one_in_the_same_place_is_taken() -> None:
    before = _said("Iron rusts in water.", "Sales rose by 5 % in Europe.")
    after = _said("Sales rose by 6 % in Europe.", "Sales rose by 7 % in Europe.")
    assert [changed.after.text for changed in compare(before, after).changed] == ["Sales rose by 7 % in Europe."]

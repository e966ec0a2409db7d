import pytest

from deepwell.stages.compare.changes import changes


@pytest.mark.parametrize(
    ("before", "after", "what", "sentence"),
    [
        ("Sales rose by 12 % in 2023.", "Sales rose by 21 % in 2023.", "number", "12 % → 21 %"),
        ("The firm was founded in 2019.", "The firm was founded in 2020.", "date", "2019 → 2020"),
        ("It earned 3 million euros.", "It earned 3 billion euros.", "number", "3 million euros → 3 billion euros"),
        ("Sales rose in Europe.", "Sales fell in Europe.", "direction", "rose → fell"),
        ("More people came than before.", "Fewer people came than before.", "direction", "More → Fewer"),
        ("The vaccine is available.", "The vaccine is not available.", "negation", "“not” is new"),
        ("It can't be repaired.", "It can be repaired.", "negation", "“can't” is gone"),
        ("It was built by Maria Kessler.", "It was built by Anna Holm.", "name", "Maria Kessler → Anna Holm"),
        ("The gears are made of bronze.", "The gears are made of iron.", "wording", "bronze → iron"),
        ("It opened on Monday.", "It opened on Tuesday.", "date", "Monday → Tuesday"),
        ("It was signed in March 2021.", "It was signed in April 2021.", "date", "March 2021 → April 2021"),
        ("The firm employs one smith.", "The firm employs two smiths.", "number", "one → two"),
        ("Sales rose.", "Sales rose by 5 %.", "number", "“5 %” is new"),
    ],
)
def test_what_changed_is_said(before: str, after: str, what: str, sentence: str) -> None:
    (change,) = changes(before, after)
    assert (change.what, change.sentence) == (what, sentence)
    for text, spot in ((before, change.before), (after, change.after)):
        assert spot is None or text[spot.start : spot.end] == spot.text


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Sales rose to 4.2 million in 2023.", "In 2023, sales climbed to 4,200,000."),
        ("Twelve ships were lost.", "12 ships were lost."),
        ("Kessler founded it in Bremen.", "Maria Kessler was its founder in Bremen."),
        ("It is one of the oldest machines.", "It belongs to the oldest machines."),
        ("It not only measures but also records.", "It measures and also records."),
        ("The old mechanism was found by divers near the island.", "Divers found the mechanism off the island."),
    ],
)
def test_rewording_is_no_change(one: str, other: str) -> None:
    assert changes(one, other) == ()
    assert changes(other, one) == ()


def test_several_changes_stand_in_the_order_of_the_text() -> None:
    found = changes("Sales fell 12 % in 2019.", "Sales rose 21 % in 2020.")
    assert [change.sentence for change in found] == ["fell → rose", "12 % → 21 %", "2019 → 2020"]

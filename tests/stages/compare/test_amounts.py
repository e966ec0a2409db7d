import pytest

from deepwell.stages.compare.amounts import amounts


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("4.2 million", "4,200,000"),
        ("12 %", "12 percent"),
        ("12%", "twelve per cent"),
        ("twenty-five ships", "25 ships"),
        ("two hundred and five thousand", "205,000"),
        ("$3.5bn", "$3.5 billion"),
        ("$3m", "$3,000,000"),
        ("10 km", "10 kilometres"),
        ("7 October 2023", "2023-10-07"),
        ("October 7, 2023", "7 Oct. 2023"),
        ("the 2nd century BC", "the second century BCE"),
        ("150 BC", "150 B.C."),
        ("4.20", "4.2"),
        ("1.234,5", "1,234.5"),
    ],
)
def test_the_same_amount_however_it_is_written(one: str, other: str) -> None:
    assert [a.key for a in amounts(one)] == [a.key for a in amounts(other)] != []


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("12 %", "21 %"),
        ("12 %", "12 percentage points"),
        ("3 million", "3 billion"),
        ("$5", "€5"),
        ("100 km", "100 miles"),
        ("-5 °C", "5 °C"),
        ("150 BC", "150 AD"),
        ("the 2nd century BC", "the 2nd century AD"),
        ("1990", "the 1990s"),
        ("3 m", "$3m"),
        ("12.5", "125"),
        ("October 2023", "October 2022"),
        ("on Monday", "on Tuesday"),
    ],
)
def test_another_amount_however_alike_it_looks(one: str, other: str) -> None:
    assert [a.key for a in amounts(one)] != [a.key for a in amounts(other)]


@pytest.mark.parametrize(
    ("text", "kinds"),
    [
        ("In 2019 sales rose to 2019 units.", [("date", "2019"), ("number", "2019")]),
        ("It was made around 150 BC.", [("date", "150 BC")]),
        ("On 7 October 2023 it fell 12 %.", [("date", "7 October 2023"), ("number", "12 %")]),
        ("The 1990s brought 10-20 km of it.", [("date", "1990s"), ("number", "10"), ("number", "20 km")]),
        ("B12 and version 1.2.3", [("number", "1.2.3")]),
        ("Nothing is counted here.", []),
    ],
)
def test_kinds_and_places(text: str, kinds: list[tuple[str, str]]) -> None:
    found = amounts(text)
    assert [(a.kind, a.spot.text) for a in found] == kinds
    assert all(text[a.spot.start : a.spot.end] == a.spot.text for a in found)

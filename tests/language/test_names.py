from hypothesis import given
from hypothesis import strategies as st

from deepwell.language.figures import days, numbers
from deepwell.language.names import names, quoted
from deepwell.language.stems import stems


def test_names_by_their_capitals() -> None:
    text = "Which scholar at Yale University did Derek de Solla Price's friend J. K. Rowling meet?"
    assert [n.text for n in names(text)] == ["Yale University", "Derek de Solla Price", "J. K. Rowling"]


def test_weak_links_part_two_names() -> None:
    assert [n.text for n in names("He met Tony Freeth and Alexander Jones in Athens.")] == [
        "Tony Freeth",
        "Alexander Jones",
        "Athens",
    ]


def test_quotation_marks_keep_a_title_whole() -> None:
    assert [q.text for q in quoted("Who wrote “Lost in Translation” and 'Brand'?")] == ["Lost in Translation", "Brand"]
    assert quoted("the divers' boats and the museum's halls") == []


def test_days_in_several_notations() -> None:
    text = "On 2023-10-07, October 7, 2023, 7 October 2023 and Oct. 7 2023, not 2023-13-07."
    assert [d.iso for d in days(text)] == ["2023-10-07"] * 4


def test_numbers_as_written() -> None:
    assert [n.text for n in numbers("About 8 tonnes, 12 %, $1,200.50, 3 million and 82nd; B2B has none.")] == [
        "8",
        "12 %",
        "$1,200.50",
        "3 million",
        "82nd",
    ]


def test_word_forms_meet() -> None:
    assert stems("stopped stopping stops") == stems("stop stop stop")
    assert stems("cities") == stems("city")
    assert stems("Café’s") == stems("cafe")


@given(st.text())
def test_offsets_are_exact(text: str) -> None:
    for span in (*names(text), *quoted(text), *numbers(text)):
        assert text[span.start : span.end] == span.text

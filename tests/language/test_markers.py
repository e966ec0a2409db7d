import pytest
from hypothesis import given
from hypothesis import strategies as st

from deepwell.language.markers import as_written, cited, cited_sentences, renumbered, without_markers


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("It rose [1].", (1,)),
        ("It rose [1][3], then fell [2, 4].", (1, 3, 2, 4)),
        ("A [link](http://x) and [2](http://y) and a[0].", ()),
        ("[3]: not a citation", ()),
        ("Twice [1] and again [1].", (1,)),
        ("Years [2019] look alike [2019a].", (2019,)),
    ],
)
def test_what_is_cited(text: str, numbers: tuple[int, ...]) -> None:
    assert cited(text) == numbers


def test_text_without_markers_reads_well() -> None:
    assert without_markers("It rose [1], then fell [2][3].") == "It rose, then fell."


@pytest.mark.parametrize(
    ("claim", "written"),
    [
        ("It rose (see ).", "It rose [1] [2] (see [3])."),
        ("It fell.", "It fell [4]."),
        ("It fell. Then it rose (see ).", None),
        ("It sank.", None),
        ("", None),
    ],
)
def test_a_claim_is_found_as_the_document_has_it(claim: str, written: str | None) -> None:
    assert as_written(claim, "- It rose [1] [2]\n(see [3]). It fell [4].[5]") == (
        written and written.replace(" (see", "\n(see")
    )


def test_markers_behind_the_full_stop_belong_to_the_sentence() -> None:
    assert list(cited_sentences("It rose. [1] It fell [2]. Nothing here. “So it is.” [3]")) == [
        "It rose. [1]",
        "It fell [2].",
        "“So it is.” [3]",
    ]


def test_numbers_are_replaced_and_unknown_ones_vanish() -> None:
    assert renumbered("A [1], b [2, 3] and c [9].", {1: 4, 2: 5, 3: 5}) == "A [4], b [5] and c."


@given(st.text(max_size=80), st.dictionaries(st.integers(0, 9), st.integers(1, 99)))
def test_after_renumbering_only_known_numbers_are_left(text: str, numbers: dict[int, int]) -> None:
    assert set(cited(renumbered(f"{text} [1][2] end", numbers))) <= set(numbers.values())

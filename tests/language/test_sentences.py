import pytest
from hypothesis import given
from hypothesis import strategies as st

from deepwell.language.sentences import sentences


def cut(text: str) -> list[str]:
    return [text[start:end] for start, end in sentences(text)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("One. Two! Three?", ["One.", "Two!", "Three?"]),
        ("It cost $3.5 million. Then it fell.", ["It cost $3.5 million.", "Then it fell."]),
        ("J. K. Rowling wrote it. Dr. Smith read it.", ["J. K. Rowling wrote it.", "Dr. Smith read it."]),
        ("See fig. 3 and No. 5. He said no. Then he left.", ["See fig. 3 and No. 5.", "He said no.", "Then he left."]),
        ("He works at Acme Inc. The firm is old.", ["He works at Acme Inc.", "The firm is old."]),
        ("Acme Inc. Chairman Lee spoke.", ["Acme Inc. Chairman Lee spoke."]),
        ("The U.S. Senate met. It rained.", ["The U.S. Senate met.", "It rained."]),
        ("“Why?” he asked. “Because.” Silence.", ["“Why?” he asked.", "“Because.”", "Silence."]),
        ("Wait... and see. Yahoo! is a name.", ["Wait... and see.", "Yahoo! is a name."]),
        ("これは文です。次の文！「はい。」", ["これは文です。", "次の文！", "「はい。」"]),
        ("A line that\nis wrapped. Next.", ["A line that\nis wrapped.", "Next."]),
        ("No stop here\n\nNew paragraph", ["No stop here", "New paragraph"]),
        ("# A heading\nText below. More.", ["# A heading", "Text below.", "More."]),
        ("Heading\n=======\nText.", ["Heading", "=======", "Text."]),
        ("See:\n- one\n- two. And\n* three", ["See:", "- one", "- two.", "And", "* three"]),
        ("1. four\n2) five", ["1. four", "2) five"]),
        ("| a | b |\n| 1 | 2 |", ["| a | b |", "| 1 | 2 |"]),
        ("On Oct. 7 it began. It ended in Dec. All over.", ["On Oct. 7 it began.", "It ended in Dec.", "All over."]),
        ("", []),
        (" \n\t ", []),
    ],
)
def test_cuts_where_a_reader_would(text: str, expected: list[str]) -> None:
    assert cut(text) == expected


@given(st.text(alphabet=st.sampled_from("aB.!?。 \n#-*1\"'”()é"), max_size=200))
def test_offsets_are_exact_ordered_and_leave_only_white_space_out(text: str) -> None:
    last = 0
    for start, end in sentences(text):
        assert last <= start < end <= len(text)
        assert not text[last:start].strip()
        assert text[start:end].strip() == text[start:end]
        last = end
    assert not text[last:].strip()


@pytest.mark.parametrize("unit", ["?", ".", "a.", '."', "\n", "\n ", "-", "# ", "*", ". ", "\n1. "])
def test_a_megabyte_of_one_sign_ends_soon(unit: str) -> None:
    # A quadratic expression would take hours here, so no clock is needed to notice.
    assert sum(1 for _ in sentences(unit * (1_000_000 // len(unit)) + "x")) >= 1

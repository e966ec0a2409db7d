import unicodedata

from hypothesis import given
from hypothesis import strategies as st

from deepwell.reading.document import clean, one_line, tidy


@given(st.text(st.characters(), max_size=200))
def test_clean_text_can_be_stored_and_stays_as_it_is(text: str) -> None:
    cleaned = clean(text)
    assert clean(cleaned) == cleaned
    assert unicodedata.is_normalized("NFC", cleaned)
    assert not set("\0\r\x0b\u2028") & set(cleaned)
    cleaned.encode("utf-8")


def test_composes_accents_and_unifies_line_ends() -> None:
    assert clean("cafe\u0301\r\nnext\rlast\x0cpage\0") == "café\nnext\nlast\npage"


def test_half_a_character_becomes_a_whole_one() -> None:
    assert clean("a\ud800b") == "a\ufffdb"


def test_tidy_leaves_one_blank_line_and_no_spaces_at_line_ends() -> None:
    assert tidy("\n\na  \n \n\n\n  b\t\n") == "a\n\n  b"


def test_a_title_that_says_nothing_is_none() -> None:
    assert [one_line(text) for text in (None, " ", "None", "untitled", " A \n title ")] == [None] * 4 + ["A title"]

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


def test_nothing_turns_a_text_round() -> None:
    turned = "pay \u202e\u2066000.1\u2069\u202c euro \u202a\u202b\u202d\u2067\u2068\u200fא"
    assert clean(turned) == "pay 000.1 euro \u200fא"
    assert one_line(turned) == "pay 000.1 euro \u200fא"


def test_a_title_without_end_is_cut_at_a_word() -> None:
    assert one_line("words " * 40_000) == f"{'words ' * 50}…"
    assert len(one_line("x" * 200_000) or "") == 302


def test_a_title_that_says_nothing_is_none() -> None:
    assert [one_line(text) for text in (None, " ", "None", "untitled", " A \n title ")] == [None] * 4 + ["A title"]

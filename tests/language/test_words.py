from hypothesis import given
from hypothesis import strategies as st

from deepwell.language.words import STOPWORDS, content_words, words


def test_words_are_lower_case_and_without_punctuation() -> None:
    assert words("Don’t “panic”: Größe 3.5 foo_bar") == ["don", "t", "panic", "größe", "3", "5", "foo", "bar"]


def test_chinese_japanese_and_korean_become_bigrams() -> None:
    assert words("東京都 tower 서울") == ["東京", "京都", "tower", "서울"]
    assert words("水") == ["水"]


def test_stopwords_carry_no_content() -> None:
    assert content_words("The age of the wreck") == {"age", "wreck"}


@given(st.text())
def test_both_views_agree(text: str) -> None:
    assert content_words(text) == frozenset(words(text)) - STOPWORDS

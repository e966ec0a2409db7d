"""The language of a question is told by its script and its small words."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deepwell.language.languages import language_of, small_words
from deepwell.language.names import names
from deepwell.language.stems import fold, folded_words, spellings


@pytest.mark.parametrize(
    ("question", "language"),
    [
        ("Wer gründete die Gezeitenwarte und wie hoch ist ihr Turm?", "de"),
        ("Welche Firmen bauen Elektrofähren?", "de"),
        ("Qui a fondé l’observatoire de Kelsmouth ?", "fr"),
        ("¿Quién fundó el observatorio?", "es"),
        ("Chi ha fondato l’osservatorio di Kelsmouth?", "it"),
        ("Quem fundou o observatório de Kelsmouth?", "pt"),
        ("Wie heeft het observatorium opgericht?", "nl"),
        ("Кто основал обсерваторию?", "ru"),
        ("Що таке їжа?", "uk"),
        ("من أسس مرصد المد في كيلسماوث؟", "ar"),
        ("潮汐观测台是谁建立的？", "zh"),
        ("日本の首都はどこですか", "ja"),
        ("한국의 수도는 어디인가요?", "ko"),
        ("Apple 公司是谁创立的？", "zh"),
    ],
)
def test_other_languages(question: str, language: str) -> None:
    assert language_of(question) == language


@pytest.mark.parametrize(
    "question",
    [
        "Who founded the Kelsmouth Tide Observatory?",
        "Who is Die Antwoord?",
        'What does "la vita è bella" mean in the film?',
        "What does 日本 mean?",
        "El Niño effects on tides",
        "Kelsmouth Tide Observatory",
        "Chi-squared test assumptions",
        "?",
        "",
    ],
)
def test_what_may_be_english_is_english(question: str) -> None:
    assert language_of(question) == "en"


def test_small_words_are_folded() -> None:
    for language in ("de", "fr", "es", "it", "pt", "nl", "ru", "ar"):
        assert small_words(language)
        assert all(fold(word) == word for word in small_words(language))


def test_only_capitals_begin_a_name() -> None:
    assert [span.text for span in names("the film Folie à Deux")] == ["Folie à Deux"]
    assert [span.text for span in names("обсерватория основана кем? Ида Марроу в Москве")] == ["Ида Марроу", "Москве"]
    assert [span.text for span in names("Кто основал Кельсмут", small_words("ru"))] == ["Кельсмут"]


@given(st.text(max_size=60))
def test_every_folded_word_has_a_spelling(text: str) -> None:
    written = spellings(text)
    assert all(word.removesuffix("'s") in written for word in folded_words(text))
    language_of(text)

"""The same search in other words, for engines that found too little: no model is asked for that."""

import re
from collections.abc import Iterator

from deepwell.language.languages import small_words
from deepwell.language.names import names
from deepwell.language.stems import fold
from deepwell.language.synonyms import other_form
from deepwell.language.words import CJK, STOPWORDS, words
from deepwell.search.wording import asked_language
from deepwell.vocabulary.plan import Query

_CJK = re.compile(f"[{CJK}]")
FEW = 3
"""Words that a broad search is made of."""


def other_words(query: Query) -> Iterator[Query]:
    """Broader searches, the closest first, each different from the query and from each other."""
    seen = {_key(query.sentence or query.text)} if not query.phrases else set()
    for text in (*_without_quotes(query), *_keywords(query), *_telling(query), *_answered(query)):
        if text.strip() and _key(text) not in seen:
            seen.add(_key(text))
            yield Query(text, query.context or query.sentence)


def _without_quotes(query: Query) -> Iterator[str]:
    """What had to stand there word for word need not any more."""
    if query.phrases:
        yield " ".join(dict.fromkeys((*query.phrases[0].split(), *query.text.split())))


def _keywords(query: Query) -> Iterator[str]:
    """The bare words in place of the sentence."""
    if query.sentence:
        yield query.text


def _telling(query: Query) -> Iterator[str]:
    """The few words that tell most: those of names first, then the longest, in their own order."""
    small = STOPWORDS | small_words(asked_language(query))
    said = [word for word in dict.fromkeys(words(query.text)) if fold(word) not in small]
    if len(said) > FEW and not _without_spaces(query):
        named = {word for span in names(f"{query.sentence} {query.context}") for word in words(span.text)}
        best = sorted(said, key=lambda word: (word not in named, -len(word)))[:FEW]
        yield " ".join(word for word in said if word in best)


def _answered(query: Query) -> Iterator[str]:
    """With words that an answer would use in place of those of the question."""
    if not _without_spaces(query):
        yield " ".join(other_form(word) or word for word in words(query.text))


def _without_spaces(query: Query) -> bool:
    """Whether its words are pieces of two characters, which no engine is to be asked for."""
    return bool(_CJK.search(query.text))


def _key(text: str) -> frozenset[str]:
    return frozenset(words(text))

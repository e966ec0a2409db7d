"""Words as the index knows them: what goes into FTS5, and queries that it can never misunderstand."""

import re
from collections.abc import Iterable

from deepwell.language.words import CJK, STOPWORDS, words

MAX_TERMS = 64
"""Words of a query that are looked for; a longer text is a document, not a query."""

_RUN = re.compile(rf"[{CJK}]+")
_CLITIC = re.compile(r"(?i)(?<=\w)['’](?:s|t|d|m|re|ve|ll)\b")


def prepared(text: str) -> str:
    """The text with every run of Chinese, Japanese or Korean as pairs, for it has no spaces to find words by."""
    return text if text.isascii() else _RUN.sub(_pairs, text)


def query_terms(text: str) -> list[str]:
    """The distinct content words in order; all words when there are no others."""
    found = list(dict.fromkeys(words(_CLITIC.sub("", text))))
    return ([word for word in found if word not in STOPWORDS] or found)[:MAX_TERMS]


def all_of(terms: Iterable[str]) -> str:
    """An FTS5 expression for passages with every term."""
    return " AND ".join(map(_quoted, terms))


def any_of(terms: Iterable[str]) -> str:
    """An FTS5 expression for passages with at least one term."""
    return " OR ".join(map(_quoted, terms))


def any_phrase(texts: Iterable[str]) -> str:
    """An FTS5 expression for passages with at least one of the texts, its words in a row; empty when none has words."""
    return " OR ".join(filter(None, map(phrase, texts)))


def phrase(text: str) -> str:
    """An FTS5 expression for the words of the text in a row; empty when it has none."""
    found = words(text)
    return _quoted(" ".join(found)) if found else ""


def _pairs(run: re.Match[str]) -> str:
    # The last character also stands alone, so that a query of one character finds it by its beginning.
    text = run.group()
    return f" {' '.join(text[at : at + 2] for at in range(len(text)))} "


def _quoted(term: str) -> str:
    # Quotes make every operator a word. One CJK character stands for all pairs that begin with it.
    return f'"{term}"*' if len(term) == 1 and _RUN.match(term) else f'"{term}"'

"""A closer look at the passages an index found: words, names in one piece, links to other documents, the day."""

from collections.abc import Mapping
from dataclasses import dataclass

from deepwell.language.names import names, quoted
from deepwell.language.relevance import CONTEXT_SHARE, RARITY_CAP, Key, Reading, relevance
from deepwell.language.stems import stem, stems
from deepwell.library.terms import query_terms
from deepwell.vocabulary.plan import Query

NAME_AS_TITLE = 2.0
"""A document whose title is a name of the query is about that name."""
PHRASE_AS_TITLE = 2.0
SAME_DAY = 3.0
"""The query says when it came out: other days rank far behind, but are not shut out."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """A query as weights."""

    terms: Mapping[str, float]
    names: frozenset[Key]
    phrases: Mapping[Key, float]
    published: str | None


def wanted(query: Query, rarities: Mapping[str, float]) -> Wanted:
    """The query's own words at full weight, those of its context at a share; `rarities` knows every term of it."""
    terms = {stem(word): CONTEXT_SHARE * rarities[word] for word in query_terms(query.context)}
    terms |= {stem(word): rarities[word] for word in query_terms(query.text)}
    text = f"{query.text}\n{query.context}"
    called = frozenset(tuple(stems(span.text)) for span in (*names(text), *quoted(text)))
    phrases = {tuple(stems(phrase)): min(rarities[phrase], RARITY_CAP) for phrase in query.phrases}
    return Wanted(terms, called, phrases, query.published)


def score(reading: Reading, asked: Wanted, published: str | None) -> float:
    """Higher is better; comparable for one query."""
    total = relevance(reading, asked.terms) + _linked(reading, asked.phrases)
    if reading.title in asked.names:
        total += NAME_AS_TITLE * sum(asked.terms.get(part, 0.0) for part in reading.title)
    if asked.published and (published or "").startswith(asked.published):
        total *= SAME_DAY
    return total


def _linked(reading: Reading, phrases: Mapping[Key, float]) -> float:
    """The strongest phrase the passage takes up: being about it counts more than naming it."""
    best = 0.0
    for key, weight in phrases.items():
        if reading.title == key:
            best = max(best, PHRASE_AS_TITLE * weight)
        elif weight > best and reading.holds(key):
            best = weight
    return best

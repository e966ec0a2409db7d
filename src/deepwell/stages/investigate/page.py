"""The passages of a whole page that speak best to what was searched for: an engine names pages, not passages."""

from collections.abc import Mapping, Sequence

from deepwell.language.passages import passages
from deepwell.language.relevance import CONTEXT_SHARE, relevance, take_apart
from deepwell.language.stems import stems
from deepwell.vocabulary.plan import Query
from deepwell.vocabulary.source import Source

MOST_CHARACTERS = 120_000
"""Of one page, what is looked at: far more than an article, and no time to speak of."""
EXCERPT_BONUS = 1.5
"""What the engine itself showed of the page is likely to be what it was found for."""

Span = tuple[int, int]


def best_spans(source: Source, queries: Sequence[Query], excerpt: str, most: int) -> list[Span]:
    """At most so many passages of the source, the best first; its beginning when none shares a word with the search."""
    text = source.text[:MOST_CHARACTERS]
    terms = _terms(queries)
    shown = " ".join(excerpt.split())[:200]
    spans = list(passages(text))
    scores = {span: _score(source.title, text[slice(*span)], terms, shown) for span in spans}
    found = sorted((span for span in spans if scores[span] > 0), key=lambda span: -scores[span])
    return found[:most] or spans[:1]


def _terms(queries: Sequence[Query]) -> Mapping[str, float]:
    weights: dict[str, float] = {}
    for query in queries:
        weights |= {stem: CONTEXT_SHARE for stem in stems(query.context) if stem not in weights}
        weights |= dict.fromkeys(stems(" ".join((query.text, *query.phrases))), 1.0)
    return weights


def _score(title: str, body: str, terms: Mapping[str, float], shown: str) -> float:
    score = relevance(take_apart(title, body), terms)
    return score * EXCERPT_BONUS if shown and shown in " ".join(body.split()) else score

"""One order for the hits of several queries, before anything is read."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from deepwell.vocabulary.plan import Query
from deepwell.vocabulary.source import Hit

RANK_CONSTANT = 60
"""The usual damping of reciprocal rank fusion: a first place counts little more than a third."""


@dataclass(frozen=True, slots=True)
class RankedHit:
    """A hit with its place over all queries."""

    hit: Hit
    score: float
    found_by: tuple[Query, ...]


def fused(rankings: Iterable[Sequence[Hit]]) -> list[RankedHit]:
    """Reciprocal rank fusion: what several queries found stands before what one found by chance."""
    hits: dict[tuple[str, tuple[int, int] | None], Hit] = {}
    scores: dict[tuple[str, tuple[int, int] | None], float] = {}
    queries: dict[tuple[str, tuple[int, int] | None], list[Query]] = {}
    for ranking in rankings:
        for rank, hit in enumerate(ranking, start=1):
            key = (hit.source or hit.address, hit.span)
            hits.setdefault(key, hit)
            scores[key] = scores.get(key, 0.0) + 1 / (RANK_CONSTANT + rank)
            queries.setdefault(key, []).append(hit.query)
    order = sorted(hits, key=lambda key: -scores[key])
    return [RankedHit(hits[key], scores[key], tuple(dict.fromkeys(queries[key]))) for key in order]

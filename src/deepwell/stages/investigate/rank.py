"""One order for the hits of several queries, before anything is read."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from deepwell.vocabulary.plan import Query
from deepwell.vocabulary.source import Hit

_Key = tuple[str, tuple[int, int] | None]


@dataclass(frozen=True, slots=True)
class RankedHit:
    """A hit with its place over all queries."""

    hit: Hit
    score: float
    """The best score an engine gave it."""
    found_by: tuple[Query, ...]


def in_turns(rankings: Iterable[Sequence[Hit]]) -> list[RankedHit]:
    """The queries take turns: each gives its best hit, then its second, and so on, a hit counting once.

    On questions with several parts this kept more of the wanted passages than reciprocal rank fusion did: what only
    one of the queries can find is not outvoted by what all of them find.
    """
    lists = list(rankings)
    found: dict[_Key, list[Hit]] = {}
    for rank in range(max(map(len, lists), default=0)):
        for hits in lists:
            if rank < len(hits):
                found.setdefault(_key(hits[rank]), []).append(hits[rank])
    return [_ranked(hits) for hits in found.values()]


def _key(hit: Hit) -> _Key:
    return hit.source or hit.address, hit.span


def _ranked(hits: Sequence[Hit]) -> RankedHit:
    queries = tuple(dict.fromkeys(hit.query for hit in hits))
    return RankedHit(hits[0], max(hit.score for hit in hits), queries)

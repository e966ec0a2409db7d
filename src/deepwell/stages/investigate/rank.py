"""One order for the hits of several queries, before anything is read."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from deepwell.language.addresses import canonical_address
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
    """The queries take turns: the first gives its two best hits, each other one its best, and so on, each hit once.

    On questions with several parts this kept more of the wanted passages than reciprocal rank fusion did: what only
    one of the queries can find is not outvoted by what all of them find. The first query says most fully what is
    wanted, so it counts double.
    """
    queues = [iter(hits) for hits in rankings]
    turn = [*queues[:1], *queues]
    found: dict[_Key, list[Hit]] = {}
    while taken := [hit for queue in turn if (hit := next(queue, None))]:
        for hit in taken:
            found.setdefault(_key(hit), []).append(hit)
    return [_ranked(hits) for hits in found.values()]


def _key(hit: Hit) -> _Key:
    return hit.source or canonical_address(hit.address), hit.span


def _ranked(hits: Sequence[Hit]) -> RankedHit:
    queries = tuple(dict.fromkeys(hit.query for hit in hits))
    return RankedHit(hits[0], max(hit.score for hit in hits), queries)

"""Searches that fail or bring too little are tried again in other words."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import islice

from deepwell.errors import SearchFailed
from deepwell.language.addresses import canonical_address
from deepwell.ports import SearchEngine
from deepwell.search.events import Listener, QueryReworded, unheard
from deepwell.search.failures import FailureKind, failure_of
from deepwell.search.rewording import other_words
from deepwell.vocabulary.plan import Query
from deepwell.vocabulary.source import THIN, Hit

MOST_TRIES = 2
"""Other wordings of one query."""
_MAY_BE_THE_WORDS = frozenset((FailureKind.BAD_REQUEST, FailureKind.MALFORMED, FailureKind.OVERLOAD))
"""Failures that other words may avoid. An engine that is away, or refuses the key, is so for every query."""


class Reformulating:
    """Fulfils the port SearchEngine, around another one."""

    def __init__(self, engine: SearchEngine, on_event: Listener = unheard) -> None:
        self.name = engine.name
        self._engine, self._on_event = engine, on_event

    async def search(self, query: Query, limit: int) -> Sequence[Hit]:
        """What the query finds, and if that is thin, what it finds in other words after it. Raises SearchFailed."""
        answer = await self._asked(query, limit)
        if isinstance(answer, SearchFailed) and failure_of(answer).kind not in _MAY_BE_THE_WORDS:
            raise answer
        hits = [] if isinstance(answer, SearchFailed) else list(answer)
        for other in islice(other_words(query), MOST_TRIES):
            if len(hits) >= min(THIN, limit):
                break
            more = await self._asked(other, limit)
            if isinstance(more, SearchFailed):
                break
            await self._on_event(QueryReworded(query.sentence or query.text, other.text, len(more)))
            hits = _joined(hits, more, query)[:limit]
        if isinstance(answer, SearchFailed) and not hits:
            raise answer
        return hits

    async def _asked(self, query: Query, limit: int) -> Sequence[Hit] | SearchFailed:
        try:
            return await self._engine.search(query, limit)
        except SearchFailed as failure:
            return failure


def _joined(hits: Sequence[Hit], more: Sequence[Hit], query: Query) -> list[Hit]:
    """Each page once; all of them count as found by the query that was meant."""
    found: dict[str, Hit] = {}
    for hit in (*hits, *more):
        found.setdefault(canonical_address(hit.address), hit)
    return [hit if hit.query == query else replace(hit, query=query) for hit in found.values()]

"""Several engines as one: the user's documents and the web are asked together and take turns in the answer."""

import asyncio
from collections.abc import Sequence
from itertools import chain, zip_longest

from deepwell.errors import SearchFailed
from deepwell.ports import SearchEngine
from deepwell.vocabulary.plan import Query
from deepwell.vocabulary.source import Hit


class MixedEngine:
    """One that fails costs only its own hits."""

    name = "mixed"

    def __init__(self, engines: Sequence[SearchEngine]) -> None:
        self._engines = tuple(engines)

    async def search(self, query: Query, limit: int) -> Sequence[Hit]:
        """The hits of all, in turns, at most `limit` of each. Raises SearchFailed when every one of them fails."""
        answers = await asyncio.gather(*(self._asked(engine, query, limit) for engine in self._engines))
        found = [answer for answer in answers if not isinstance(answer, SearchFailed)]
        if not found:
            raise next(answer for answer in answers if isinstance(answer, SearchFailed))
        return [hit for hit in chain.from_iterable(zip_longest(*found)) if hit is not None]

    async def _asked(self, engine: SearchEngine, query: Query, limit: int) -> Sequence[Hit] | SearchFailed:
        try:
            return await engine.search(query, limit)
        except SearchFailed as failure:
            return failure

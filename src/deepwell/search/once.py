"""What one unit has searched for is there for the others: a query is searched once a run."""

import asyncio
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, replace

from deepwell.ports import SearchEngine
from deepwell.vocabulary.plan import Query
from deepwell.vocabulary.source import Hit


def web_key(query: Query) -> Hashable:
    """What web engines read of a query: two that agree in it get the same answer."""
    said = (" ".join(text.casefold().split()) for text in (query.text, query.sentence))
    return *said, *(phrase.casefold() for phrase in query.phrases)


@dataclass(frozen=True, slots=True)
class _Search:
    task: asyncio.Task[Sequence[Hit]]
    limit: int

    def serves(self, limit: int) -> bool:
        """True when it is under way or answered, and brings enough."""
        failed = self.task.done() and (self.task.cancelled() or self.task.exception() is not None)
        return not failed and self.limit >= limit


class SearchOnce:
    """Fulfils the port SearchEngine. Units that ask the same at the same time wait for the same answer."""

    def __init__(self, engine: SearchEngine, key: Callable[[Query], Hashable] = web_key) -> None:
        self.name = engine.name
        self._engine = engine
        self._key = key
        self._searches: dict[Hashable, _Search] = {}
        self._tasks: set[asyncio.Task[Sequence[Hit]]] = set()

    async def search(self, query: Query, limit: int) -> list[Hit]:
        """The best hits first, at most `limit`. Raises SearchFailed; what failed may be tried again."""
        key = self._key(query)
        search = self._searches.get(key)
        if search is None or not search.serves(limit):
            search = self._searches[key] = self._start(query, limit)
        # A unit that is cut off must not take the answer away from the others.
        hits = await asyncio.shield(search.task)
        return [hit if hit.query == query else replace(hit, query=query) for hit in hits[:limit]]

    async def close(self) -> None:
        """End the searches that are under way."""
        under_way = list(self._tasks)
        for task in under_way:
            task.cancel()
        await asyncio.gather(*under_way, return_exceptions=True)

    def _start(self, query: Query, limit: int) -> _Search:
        task = asyncio.create_task(self._answer(query, limit))
        self._tasks.add(task)
        task.add_done_callback(self._ended)
        return _Search(task, limit)

    async def _answer(self, query: Query, limit: int) -> Sequence[Hit]:
        return await self._engine.search(query, limit)

    def _ended(self, task: asyncio.Task[Sequence[Hit]]) -> None:
        self._tasks.discard(task)
        if not task.cancelled():
            # Looked at here: when every asker is gone, nobody else would, and asyncio would complain.
            task.exception()

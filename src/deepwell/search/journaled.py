"""Searches that were made once in a run are not made again after a crash."""

from collections.abc import Sequence
from typing import Literal, cast

from deepwell.errors import SearchFailed
from deepwell.ports import Calls, SearchEngine
from deepwell.vocabulary.calls import Answered, Failed
from deepwell.vocabulary.plan import Query
from deepwell.vocabulary.source import Hit


class JournaledEngine:
    """Fulfils the port SearchEngine, around another one."""

    def __init__(
        self, engine: SearchEngine, calls: Calls, kind: Literal["search", "web_search"], *, wait: bool
    ) -> None:
        """`wait`: hits are used only when they are safely kept, because others were asked for them."""
        self.name = engine.name
        self._engine, self._calls, self._kind, self._wait = engine, calls, kind, wait

    async def search(self, query: Query, limit: int) -> Sequence[Hit]:
        """The hits as they were, or as they are now. Raises SearchFailed."""
        call = self._calls.call(self._kind, query, limit)
        match self._calls.outcome(call):
            case Answered() as known:
                return cast("Sequence[Hit]", known.value)
            case Failed() as known:
                raise SearchFailed(known.sentence)
        try:
            hits = list(await self._engine.search(query, limit))
        except SearchFailed as error:
            await self._calls.keep(call, Failed(str(error)), wait=False)
            raise
        await self._calls.keep(call, Answered(hits), wait=self._wait)
        return hits

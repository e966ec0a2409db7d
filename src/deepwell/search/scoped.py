"""The user's own documents, held to the dates that were asked for."""

from collections.abc import Sequence

from deepwell.ports import SearchEngine
from deepwell.vocabulary.plan import Query
from deepwell.vocabulary.scope import Scope
from deepwell.vocabulary.source import Hit


class DatedEngine:
    """Fulfils the port SearchEngine. What bears no date is let through: it may be from then."""

    def __init__(self, engine: SearchEngine, scope: Scope) -> None:
        self.name = engine.name
        self._engine, self._scope = engine, scope

    async def search(self, query: Query, limit: int) -> Sequence[Hit]:
        """The best hits inside the dates first, at most `limit`. Raises SearchFailed."""
        hits = await self._engine.search(query, 4 * limit)
        return [hit for hit in hits if self._scope.admits_date(hit.published)][:limit]

"""The engine of those who want no search at all: it never finds anything and touches no network."""

from deepwell.search.fitting import Fitting
from deepwell.vocabulary.plan import Query
from deepwell.vocabulary.source import Hit


class NoEngine:
    """Fulfils the port SearchEngine."""

    name = "none"

    def __init__(self, fitting: Fitting | None = None) -> None:
        """Nothing of the fitting is used."""

    async def search(self, query: Query, limit: int) -> list[Hit]:
        """Nothing."""
        return []

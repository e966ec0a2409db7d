"""SearXNG: a server of one's own that asks many engines. https://docs.searxng.org/dev/search_api.html"""

from deepwell.search.failures import FailureKind, Party
from deepwell.search.fitting import Fitting
from deepwell.search.hits import Asked, Found, hits_of
from deepwell.search.http import Parameters
from deepwell.search.shapes import dig, records
from deepwell.search.wording import with_sites
from deepwell.vocabulary.plan import Query
from deepwell.vocabulary.source import Hit

_PARTY = Party(
    "SearXNG",
    advice={FailureKind.AUTH: "Its settings may not allow JSON: add json under search.formats."},
)
_RANGES = {1: "day", 7: "week", 30: "month", 365: "year"}
"""Days back from today, and what SearXNG calls that."""


class SearXNG:
    """Fulfils the port SearchEngine. How many results come back is up to the server."""

    name = "searxng"

    def __init__(self, fitting: Fitting) -> None:
        self._fitting = fitting
        # Its address is often copied from where a browser shows its results.
        self._address = f"{fitting.address.removesuffix('/search')}/search"

    async def search(self, query: Query, limit: int) -> list[Hit]:
        """The best hits first, at most `limit`. Raises NoAnswer."""
        fitting = self._fitting
        answer = await fitting.http.json(_PARTY, self._address, params=self._parameters(query))
        listed = records(answer, "results", _PARTY)
        if not listed and dig(answer, "unresponsive_engines"):
            # Nothing was found because nobody was there to look.
            raise _PARTY.no_answer(FailureKind.OVERLOAD)
        found = [
            Found(one.get("url"), one.get("title"), one.get("content"), one.get("score"), one.get("publishedDate"))
            for one in listed
        ]
        return hits_of(found, Asked(self.name, _PARTY, query, fitting.scope, limit))

    def _parameters(self, query: Query) -> Parameters:
        scope = self._fitting.scope
        language = f"{scope.language}-{scope.region}" if scope.language and scope.region else scope.language
        parameters = {
            "q": with_sites(query, scope),
            "format": "json",
            "language": language,
            "time_range": self._time_range(),
        }
        return {name: value for name, value in parameters.items() if value}

    def _time_range(self) -> str:
        """The shortest range that holds all that is wanted; the rest is filtered afterwards."""
        since = self._fitting.scope.since
        if since is None:
            return ""
        days = (self._fitting.today() - since).days
        return next((name for most, name in _RANGES.items() if days <= most), "")

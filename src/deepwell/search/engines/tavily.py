"""Tavily: a web search made for programs. https://docs.tavily.com/documentation/api-reference/endpoint/search"""

from typing import Any

from deepwell.search.engines.tavily_countries import COUNTRIES
from deepwell.search.failures import Party
from deepwell.search.fitting import Fitting
from deepwell.search.hits import Asked, Found, hits_of
from deepwell.search.shapes import records
from deepwell.search.wording import quoted
from deepwell.vocabulary.plan import Query
from deepwell.vocabulary.source import Hit

_ADDRESS = "https://api.tavily.com"
_PARTY = Party("Tavily", has_key=True)
_MOST_RESULTS = 20


class Tavily:
    """Fulfils the port SearchEngine."""

    name = "tavily"

    def __init__(self, fitting: Fitting) -> None:
        self._fitting = fitting

    async def search(self, query: Query, limit: int) -> list[Hit]:
        """The best hits first, at most `limit`. Raises NoAnswer."""
        fitting = self._fitting
        answer = await fitting.http.json(
            _PARTY,
            f"{fitting.address or _ADDRESS}/search",
            headers={"authorization": f"Bearer {fitting.key}"},
            body=self._body(query, limit),
        )
        found = [
            Found(one.get("url"), one.get("title"), one.get("content"), one.get("score"), one.get("published_date"))
            for one in records(answer, "results", _PARTY)
        ]
        return hits_of(found, Asked(self.name, _PARTY, query, fitting.scope, limit))

    def _body(self, query: Query, limit: int) -> dict[str, Any]:
        scope = self._fitting.scope
        body = {
            "query": quoted(query),
            "max_results": self._fitting.asked_for(limit, _MOST_RESULTS),
            "search_depth": "basic",
            "topic": "general",
            "include_domains": list(scope.include_sites),
            "exclude_domains": list(scope.exclude_sites),
            "start_date": scope.since and scope.since.isoformat(),
            "end_date": scope.until and scope.until.isoformat(),
            "country": COUNTRIES.get(scope.region),
        }
        return {name: value for name, value in body.items() if value}

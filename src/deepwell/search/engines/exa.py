"""Exa: search by meaning over an index of its own. https://exa.ai/docs/reference/search"""

from collections.abc import Mapping
from typing import Any

from deepwell.search.failures import Party
from deepwell.search.fitting import Fitting
from deepwell.search.hits import Asked, Found, hits_of
from deepwell.search.shapes import joined, records
from deepwell.search.wording import bare
from deepwell.vocabulary.plan import Query
from deepwell.vocabulary.source import Hit

_ADDRESS = "https://api.exa.ai"
_PARTY = Party("Exa", has_key=True)
_MOST_RESULTS = 50
_EXCERPT_CHARACTERS = 1200


class Exa:
    """Fulfils the port SearchEngine. It reads sentences: quotes and operators would only be words to it."""

    name = "exa"

    def __init__(self, fitting: Fitting) -> None:
        self._fitting = fitting

    async def search(self, query: Query, limit: int) -> list[Hit]:
        """The best hits first, at most `limit`. Raises NoAnswer."""
        fitting = self._fitting
        answer = await fitting.http.json(
            _PARTY,
            f"{fitting.address or _ADDRESS}/search",
            headers={"x-api-key": fitting.key},
            body=self._body(query, limit),
        )
        found = [_found(one) for one in records(answer, "results", _PARTY)]
        return hits_of(found, Asked(self.name, _PARTY, query, fitting.scope, limit))

    def _body(self, query: Query, limit: int) -> dict[str, Any]:
        scope = self._fitting.scope
        body = {
            "query": bare(query),
            "type": "auto",
            "numResults": self._fitting.asked_for(limit, _MOST_RESULTS),
            "contents": {"highlights": {"maxCharacters": _EXCERPT_CHARACTERS}},
            "includeDomains": list(scope.include_sites),
            "excludeDomains": list(scope.exclude_sites),
            "startPublishedDate": scope.since and f"{scope.since.isoformat()}T00:00:00.000Z",
            "endPublishedDate": scope.until and f"{scope.until.isoformat()}T23:59:59.999Z",
            "userLocation": scope.region,
        }
        return {name: value for name, value in body.items() if value}


def _found(one: Mapping[str, Any]) -> Found:
    excerpt = joined(one.get("highlights")) or one.get("summary") or one.get("text")
    return Found(one.get("url"), one.get("title"), excerpt, one.get("score"), one.get("publishedDate"))

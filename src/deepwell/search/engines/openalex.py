"""OpenAlex: an open catalogue of scholarly works. https://developers.openalex.org/api-reference"""

from collections.abc import Mapping
from typing import Any

from deepwell.search.failures import FailureKind, Party
from deepwell.search.fitting import Fitting
from deepwell.search.hits import Asked, Found, hits_of, web_address
from deepwell.search.http import Parameters
from deepwell.search.shapes import dig, records
from deepwell.search.wording import quoted_keywords
from deepwell.vocabulary.plan import Query
from deepwell.vocabulary.source import Hit

_ADDRESS = "https://api.openalex.org"
_MOST_RESULTS = 50
_FIELDS = (
    "id,doi,display_name,publication_date,relevance_score,abstract_inverted_index,best_oa_location,primary_location"
)
_READABLE_FIRST = ("best_oa_location.landing_page_url", "doi", "primary_location.landing_page_url", "id")
_MOST_ABSTRACT_WORDS = 400


class OpenAlex:
    """Fulfils the port SearchEngine. Without a key it answers a few searches a day.

    The key is part of the address it is asked at: that is the only way that OpenAlex documents. Nothing here logs or
    repeats the address, but OpenAlex does see it in its own logs.
    """

    name = "openalex"

    def __init__(self, fitting: Fitting) -> None:
        self._fitting = fitting
        self._party = Party("OpenAlex", has_key=bool(fitting.key), statuses={403: FailureKind.RATE_LIMIT})

    async def search(self, query: Query, limit: int) -> list[Hit]:
        """The best hits first, at most `limit`. Raises NoAnswer."""
        answer = await self._fitting.http.json(
            self._party, f"{self._fitting.address or _ADDRESS}/works", params=self._parameters(query, limit)
        )
        found = [_found(one) for one in records(answer, "results", self._party)]
        return hits_of(found, Asked(self.name, self._party, query, self._fitting.scope, limit))

    def _parameters(self, query: Query, limit: int) -> Parameters:
        scope = self._fitting.scope
        filters = {
            "from_publication_date": scope.since and scope.since.isoformat(),
            "to_publication_date": scope.until and scope.until.isoformat(),
            "language": scope.language,
        }
        parameters: dict[str, str | int] = {
            "search": quoted_keywords(query),
            "per_page": self._fitting.asked_for(limit, _MOST_RESULTS),
            "select": _FIELDS,
            "filter": ",".join(f"{name}:{value}" for name, value in filters.items() if value),
            "api_key": self._fitting.key,
        }
        return {name: value for name, value in parameters.items() if value}


def _found(one: Mapping[str, Any]) -> Found:
    places = (web_address(dig(one, place)) for place in _READABLE_FIRST)
    return Found(
        next((place for place in places if place), None),
        one.get("display_name"),
        _abstract(one.get("abstract_inverted_index")),
        one.get("relevance_score"),
        one.get("publication_date"),
        dig(one, "primary_location.source.display_name"),
    )


def _abstract(index: object) -> str:
    """An abstract comes as its words with their places; put them back in order."""
    if not isinstance(index, Mapping):
        return ""
    placed = {
        place: word
        for word, places in index.items()
        if isinstance(word, str) and isinstance(places, list)
        for place in places
        if isinstance(place, int) and 0 <= place < _MOST_ABSTRACT_WORDS
    }
    return " ".join(placed[place] for place in sorted(placed))

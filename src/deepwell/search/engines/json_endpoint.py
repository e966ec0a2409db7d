"""Any endpoint that answers a search with JSON: its address is a template, its fields are named by dotted paths."""

import re
from collections.abc import Mapping
from urllib.parse import quote, urlsplit

from deepwell.errors import BadConfiguration
from deepwell.search.failures import Party
from deepwell.search.fitting import Fitting
from deepwell.search.hits import Asked, Found, hits_of
from deepwell.search.own_address import checked_address
from deepwell.search.shapes import dig, joined, records
from deepwell.search.wording import quoted
from deepwell.vocabulary.plan import Query
from deepwell.vocabulary.source import Hit

_MOST_RESULTS = 50
_PLACE = re.compile(r"\{([^{}]{0,40})\}")
_PLACES = ("query", "limit", "since", "until", "language", "region")
_DEFAULT_PATHS = {
    "results": "results",
    "url": "url",
    "title": "title",
    "excerpt": "content",
    "date": "published",
    "score": "score",
}


class JsonEndpoint:
    """Fulfils the port SearchEngine. The key, if there is one, goes into an Authorization header."""

    name = "json"

    def __init__(self, fitting: Fitting) -> None:
        """Raises BadConfiguration for an address or a field that cannot be used."""
        self._fitting = fitting
        self._template = _checked_template(fitting.address)
        self._paths = {**_DEFAULT_PATHS, **_checked_paths(fitting.options)}
        self._party = Party("The JSON endpoint", has_key=bool(fitting.key))

    async def search(self, query: Query, limit: int) -> list[Hit]:
        """The best hits first, at most `limit`. Raises NoAnswer."""
        fitting = self._fitting
        headers = {"authorization": f"Bearer {fitting.key}"} if fitting.key else None
        answer = await fitting.http.json(self._party, self._address(query, limit), headers=headers)
        found = [self._found(one) for one in records(answer, self._paths["results"], self._party)]
        return hits_of(found, Asked(self.name, self._party, query, fitting.scope, limit))

    def _address(self, query: Query, limit: int) -> str:
        scope = self._fitting.scope
        values = {
            "query": quoted(query),
            "limit": str(self._fitting.asked_for(limit, _MOST_RESULTS)),
            "since": scope.since.isoformat() if scope.since else "",
            "until": scope.until.isoformat() if scope.until else "",
            "language": scope.language,
            "region": scope.region,
        }
        return _PLACE.sub(lambda place: quote(values[place[1]], safe=""), self._template)

    def _found(self, one: Mapping[str, object]) -> Found:
        at = {name: dig(one, path) for name, path in self._paths.items() if name != "results"}
        return Found(at["url"], at["title"], joined(at["excerpt"]), at["score"], at["date"])


def _checked_template(template: str) -> str:
    checked_address(_PLACE.sub("x", template), "The address of the JSON endpoint")
    places = _PLACE.findall(template)
    if "{" in urlsplit(template).netloc or "query" not in places or not set(places) <= set(_PLACES):
        known = ", ".join(f"{{{place}}}" for place in _PLACES)
        raise BadConfiguration(
            f"The address of the JSON endpoint must have {{query}} behind its host, and may have of {known}."
        )
    return template.strip()


def _checked_paths(options: Mapping[str, str]) -> Mapping[str, str]:
    unknown = sorted(set(options) - set(_DEFAULT_PATHS))
    if unknown:
        raise BadConfiguration(
            f"The JSON endpoint has no field {unknown[0][:40]!r}; it has {', '.join(_DEFAULT_PATHS)}."
        )
    return options

"""Wikipedia, in the language of the scope, else of the question. https://www.mediawiki.org/wiki/API:Search"""

from urllib.parse import quote

from deepwell.search.failures import FailureKind, Party
from deepwell.search.fitting import Fitting
from deepwell.search.hits import Asked, Found, hits_of
from deepwell.search.shapes import dig, records
from deepwell.search.wording import asked_language, quoted_keywords
from deepwell.vocabulary.plan import Query
from deepwell.vocabulary.source import Hit

_PARTY = Party("Wikipedia")
_MOST_RESULTS = 50
_BUSY = frozenset(("maxlag", "ratelimited", "readonly", "search-backend-error"))


class Wikipedia:
    """Fulfils the port SearchEngine. An article has no date of its own: dates in the scope are passed over."""

    name = "wikipedia"

    def __init__(self, fitting: Fitting) -> None:
        self._fitting = fitting

    async def search(self, query: Query, limit: int) -> list[Hit]:
        """The best hits first, at most `limit`. Raises NoAnswer."""
        site = f"https://{self._fitting.scope.language or asked_language(query)}.wikipedia.org"
        answer = await self._fitting.http.json(
            _PARTY,
            f"{self._fitting.address or site}/w/api.php",
            params={
                "action": "query",
                "list": "search",
                "srsearch": quoted_keywords(query),
                "srlimit": self._fitting.asked_for(limit, _MOST_RESULTS),
                "srprop": "snippet",
                "format": "json",
                "formatversion": 2,
            },
        )
        if error := dig(answer, "error"):
            busy = str(dig(error, "code")) in _BUSY
            raise _PARTY.no_answer(FailureKind.OVERLOAD if busy else FailureKind.BAD_REQUEST)
        found = [
            Found(_address(site, one.get("title")), one.get("title"), one.get("snippet"), publisher="Wikipedia")
            for one in records(answer, "query.search", _PARTY)
        ]
        return hits_of(found, Asked(self.name, _PARTY, query, self._fitting.scope, limit))


def _address(site: str, title: object) -> str | None:
    if not isinstance(title, str) or not title.strip():
        return None
    return f"{site}/wiki/{quote(title.strip().replace(' ', '_'), safe='/:(),_-', errors='replace')}"

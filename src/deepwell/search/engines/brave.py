"""Brave Search: an independent index of the web. https://api-dashboard.search.brave.com/api-reference/web/search/get"""

from datetime import date

from deepwell.search.failures import Party
from deepwell.search.fitting import Fitting
from deepwell.search.hits import Asked, Found, hits_of
from deepwell.search.http import Parameters
from deepwell.search.shapes import dig, records
from deepwell.search.wording import with_sites
from deepwell.vocabulary.plan import Query
from deepwell.vocabulary.source import Hit

_ADDRESS = "https://api.search.brave.com"
_PARTY = Party("Brave Search", has_key=True)
_MOST_RESULTS = 20
_COUNTRIES = frozenset(
    "AR AU AT BE BR CA CL DK FI FR DE GR HK IN ID IT JP KR MY MX NL NZ NO CN PL PT PH RU SA ZA ES SE CH TW TR GB "
    "US".split()
)
_LANGUAGES = frozenset(
    "ar bg bn ca cs da de el en es et eu fi fr gl gu he hi hr hu is it kn ko lt lv ml mr ms nb nl pa pl ro ru sk sl sr "
    "sv ta te th tr uk vi".split()
)
# Codes of its own.
_OWN_LANGUAGES = {"ja": "jp", "zh": "zh-hans", "pt": "pt-pt", "no": "nb"}
_OWN_BY_REGION = {("pt", "BR"): "pt-br", ("zh", "TW"): "zh-hant", ("zh", "HK"): "zh-hant", ("en", "GB"): "en-gb"}
_LONG_AGO = date(1990, 1, 1)


class Brave:
    """Fulfils the port SearchEngine."""

    name = "brave"

    def __init__(self, fitting: Fitting) -> None:
        self._fitting = fitting

    async def search(self, query: Query, limit: int) -> list[Hit]:
        """The best hits first, at most `limit`. Raises NoAnswer."""
        fitting = self._fitting
        answer = await fitting.http.json(
            _PARTY,
            f"{fitting.address or _ADDRESS}/res/v1/web/search",
            headers={"x-subscription-token": fitting.key},
            params=self._parameters(query, limit),
        )
        # Without a single page the whole part on the web is left out.
        nothing = dig(answer, "type") == "search" and dig(answer, "web") is None
        listed = [] if nothing else records(answer, "web.results", _PARTY)
        found = [
            Found(
                one.get("url"),
                one.get("title"),
                one.get("description"),
                None,
                one.get("page_age"),
                dig(one, "profile.name"),
            )
            for one in listed
        ]
        return hits_of(found, Asked(self.name, _PARTY, query, fitting.scope, limit))

    def _parameters(self, query: Query, limit: int) -> Parameters:
        scope = self._fitting.scope
        dated = scope.since or scope.until
        first, last = scope.since or _LONG_AGO, scope.until or self._fitting.today()
        parameters: dict[str, str | int] = {
            "q": with_sites(query, scope),
            "count": self._fitting.asked_for(limit, _MOST_RESULTS),
            "text_decorations": "false",
            "result_filter": "web",
            "freshness": f"{first.isoformat()}to{max(first, last).isoformat()}" if dated else "",
            "country": scope.region if scope.region in _COUNTRIES else "ALL",
            "search_lang": self._language(),
        }
        return {name: value for name, value in parameters.items() if value}

    def _language(self) -> str:
        scope = self._fitting.scope
        own = _OWN_BY_REGION.get((scope.language, scope.region)) or _OWN_LANGUAGES.get(scope.language)
        return own or (scope.language if scope.language in _LANGUAGES else "")

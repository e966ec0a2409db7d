"""DuckDuckGo and kindred engines without a key, through the package `ddgs`, in a process that can be killed.

Not in a thread: the package waits for threads of its own, which no one can end and which Python waits for at exit; and
it takes pages of any size apart while the event loop stands still.
"""

import json
from collections.abc import Awaitable, Callable
from typing import Any

from deepwell.search.child import run_child
from deepwell.search.failures import FailureKind, Party
from deepwell.search.fitting import Fitting
from deepwell.search.hits import Asked, Found, hits_of
from deepwell.search.shapes import dig, records
from deepwell.search.wording import asked_language, with_sites
from deepwell.vocabulary.plan import Query
from deepwell.vocabulary.source import Hit

_PARTY = Party("DuckDuckGo")
_MODULE = "deepwell.search.engines.ddgs_child"
_MOST_RESULTS = 30
_SECONDS = 8.0
_REQUEST_SECONDS = 4

Runner = Callable[[str, bytes, float], Awaitable[bytes]]


class DuckDuckGo:
    """Fulfils the port SearchEngine."""

    name = "duckduckgo"

    def __init__(self, fitting: Fitting, *, run: Runner = run_child, seconds: float = _SECONDS) -> None:
        self._fitting = fitting
        self._run = run
        self._seconds = seconds

    async def search(self, query: Query, limit: int) -> list[Hit]:
        """The best hits first, at most `limit`. Raises NoAnswer."""
        answer = await self._answer(json.dumps(self._wanted(query, limit)).encode())
        if failed := dig(answer, "failed"):
            raise _PARTY.no_answer(_KINDS.get(str(failed), FailureKind.MALFORMED))
        found = [
            Found(one.get("href"), one.get("title"), one.get("body")) for one in records(answer, "results", _PARTY)
        ]
        return hits_of(found, Asked(self.name, _PARTY, query, self._fitting.scope, limit))

    async def _answer(self, job: bytes) -> Any:
        try:
            return json.loads(await self._run(_MODULE, job, self._seconds))
        except TimeoutError:
            raise _PARTY.no_answer(FailureKind.TIMEOUT) from None
        except OSError:
            raise _PARTY.no_answer(FailureKind.UNREACHABLE) from None
        except (ValueError, RecursionError):
            raise _PARTY.no_answer(FailureKind.MALFORMED) from None

    def _wanted(self, query: Query, limit: int) -> dict[str, Any]:
        scope = self._fitting.scope
        wanted: dict[str, Any] = {
            "query": with_sites(query, scope),
            "limit": self._fitting.asked_for(limit, _MOST_RESULTS),
            "region": _region(scope.region, scope.language or asked_language(query)),
            "seconds": _REQUEST_SECONDS,
        }
        if scope.since or scope.until:
            first = scope.since.isoformat() if scope.since else "1990-01-01"
            wanted["dates"] = f"{first}..{(scope.until or self._fitting.today()).isoformat()}"
        return wanted


_KINDS = {
    "rate_limit": FailureKind.RATE_LIMIT,
    "timeout": FailureKind.TIMEOUT,
    "unreachable": FailureKind.UNREACHABLE,
}


_COUNTRIES = {"ar": "xa", "el": "gr", "he": "il", "hi": "in", "ja": "jp", "ko": "kr", "uk": "ua", "zh": "cn"}
_COUNTRIES |= {language: language for language in ("de", "es", "fr", "it", "nl", "pt", "ru", "th")}
"""Of the languages that a question is recognised in."""


def _region(region: str, language: str) -> str:
    """Country and language as these engines write them; theirs is `uk`. A language without a country has its own."""
    country = {"GB": "uk"}.get(region, region.lower())
    return f"{country or _COUNTRIES.get(language, 'us')}-{language}"

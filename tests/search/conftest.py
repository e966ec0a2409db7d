"""Engines whose web is a function of the test's: recorded answers, or whatever fault it wants."""

import json
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from typing import Any

import httpx2
import pytest

from deepwell.ports import SearchEngine
from deepwell.search.engines.duckduckgo import DuckDuckGo
from deepwell.search.fitting import Fitting
from deepwell.search.http import Http
from deepwell.search.registry import link_to
from deepwell.vocabulary.scope import Scope

RECORDED = Path(__file__).parent / "recorded"
KEY = "sk-very-secret-4711"
TODAY = date(2026, 3, 10)
ENVIRONMENT = {
    "TAVILY_API_KEY": KEY,
    "EXA_API_KEY": KEY,
    "BRAVE_API_KEY": KEY,
    "OPENALEX_API_KEY": KEY,
    "NCBI_API_KEY": KEY,
    "SEARXNG_URL": "https://searx.example.org/sub/",
    "DEEPWELL_JSON_SEARCH_URL": "https://own.example.org/find?q={query}&n={limit}&from={since}&lang={language}",
    "DEEPWELL_JSON_SEARCH_KEY": KEY,
    "DEEPWELL_JSON_SEARCH_FIELDS": (
        "results=data.items, title=name, url=link.href, excerpt=passages, date=when,score=rank"
    ),
}

Answer = Callable[[httpx2.Request], httpx2.Response | Awaitable[httpx2.Response]]


@dataclass(slots=True)
class Web:
    """What is there instead of the web."""

    answer: Answer
    requests: list[httpx2.Request] = field(default_factory=list)
    jobs: list[dict[str, Any]] = field(default_factory=list)
    """What the child process of ddgs was asked for."""
    ddgs: bytes = b""
    timeout_s: float = 10.0

    def http(self) -> Http:
        return Http(httpx2.MockTransport(self._answer), timeout_s=self.timeout_s)

    def engine(self, name: str, scope: Scope | None = None) -> SearchEngine:
        """The engine of that name, as the registry builds it."""
        if name == "duckduckgo":
            return DuckDuckGo(Fitting(self.http(), lambda: TODAY, scope or Scope()), run=self._child)
        return link_to(name, self.http(), ENVIRONMENT, today=lambda: TODAY, scope=scope).engine

    def replay(self, name: str, *, empty: bool = False) -> None:
        """Answer as that engine does, or as it does when it finds nothing."""
        suffix = "_empty" if empty else ""
        self.answer = lambda request: _recorded(name, suffix, request)
        results = [] if empty else DDGS
        self.ddgs = json.dumps({"results": results}).encode()

    async def _answer(self, request: httpx2.Request) -> httpx2.Response:
        self.requests.append(request)
        answer = self.answer(request)
        return answer if isinstance(answer, httpx2.Response) else await answer

    async def _child(self, module: str, job: bytes, seconds: float) -> bytes:
        self.jobs.append(json.loads(job))
        return self.ddgs


DDGS = [
    {"href": "https://museum.example.org/antikythera", "title": "The Antikythera mechanism", "body": "Thirty gears."},
    {"href": "https://news.example.com/wreck", "title": "Wreck", "body": "Divers found it."},
    {"href": "https://sky.example.net/astronomy", "title": "Astronomy", "body": ""},
]


def _recorded(name: str, suffix: str, request: httpx2.Request) -> httpx2.Response:
    if request.url.path.endswith("esummary.fcgi"):
        suffix = "_summary"
    ending = "xml" if name == "arxiv" else "json"
    return httpx2.Response(200, content=(RECORDED / f"{name}{suffix}.{ending}").read_bytes())


@pytest.fixture
def web() -> Web:
    """A web on which nothing is found yet."""
    return Web(lambda request: httpx2.Response(404))


@pytest.fixture
def key() -> str:
    """The key that every keyed engine is given."""
    return KEY

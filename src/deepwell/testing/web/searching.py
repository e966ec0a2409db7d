"""The search of a small web: pages by shared words, told in the shapes of two engines."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from deepwell.language.sentences import sentences
from deepwell.language.words import content_words
from deepwell.testing.web.pages import Page
from deepwell.testing.web.wire import HttpRequest, Whole

Engine = Literal["searxng", "tavily"]
PATHS: Mapping[str, Engine] = {"/searxng/search": "searxng", "/tavily/search": "tavily"}
KEY = "loopback-key"
"""What the Tavily-shaped search takes for a key."""
_JSON = "application/json"
_MOST = 10
_EXCERPT = 300


@dataclass(frozen=True, slots=True)
class Listed:
    """A page as a search lists it."""

    target: str
    """Path and query."""
    page: Page
    score: float


def found(query: str, pages: Mapping[str, Page]) -> list[Listed]:
    """The pages that share a word with the query, the most shared first; under each of their addresses."""
    wanted = content_words(query)
    scored = [(len(wanted & content_words(f"{page.title} {page.text}")), path) for path, page in pages.items()]
    best = sorted(((score, path) for score, path in scored if score), key=lambda pair: (-pair[0], pair[1]))
    return [
        Listed(target, pages[path], score / len(wanted)) for score, path in best for target in _targets(path, pages)
    ]


def engine_of(request: HttpRequest) -> Engine | None:
    """The search that a request is for; None: it is for a page."""
    return PATHS.get(request.path)


def query_of(request: HttpRequest) -> str:
    """The words that are searched for."""
    return request.parameter("q") or str(_json_object(request.body).get("query", ""))


def refusal(request: HttpRequest) -> Whole | None:
    """What a search with the wrong method, format or key is told; None when all is right."""
    if engine_of(request) == "searxng":
        is_right = request.method == "GET" and request.parameter("format") == "json"
        return None if is_right else Whole(403, b"Forbidden", "text/plain")
    if request.method != "POST" or not _json_object(request.body).get("query"):
        return _told(400, {"detail": {"error": "Query is missing."}})
    if request.headers.get("authorization") != f"Bearer {KEY}":
        return _told(401, {"detail": {"error": "Unauthorized: missing or invalid API key."}})
    return None


def answer(request: HttpRequest, listed: Sequence[Listed], addresses: Sequence[str]) -> Whole:
    """The search's answer; `addresses` are those of the listed pages."""
    query = query_of(request)
    most = _json_object(request.body).get("max_results", _MOST)
    results = [
        {"url": address, "title": one.page.title, "content": _excerpt(one.page, query), "score": round(one.score, 3)}
        for one, address in zip(listed, addresses, strict=True)
    ]
    return _told(200, {"query": query, "results": results[:most]})


def _targets(path: str, pages: Mapping[str, Page]) -> list[str]:
    return [path, *(f"{path}?{query}" for query in pages[path].also_as)]


def _excerpt(page: Page, query: str) -> str:
    """The sentence that shares most words with the query."""
    wanted = content_words(query)
    told = [page.text[start:end] for start, end in sentences(page.text)] or [""]
    return max(told, key=lambda sentence: len(wanted & content_words(sentence)))[:_EXCERPT]


def _told(status: int, value: Mapping[str, Any]) -> Whole:
    return Whole(status, json.dumps(value, ensure_ascii=False).encode(), _JSON)


def _json_object(body: bytes) -> Mapping[str, Any]:
    try:
        value = json.loads(body or b"{}")
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}

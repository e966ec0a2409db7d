"""What every web engine must keep to, whatever comes back: the conformance suite of the port for the web."""

import asyncio
import gzip
import json
from contextlib import suppress
from datetime import date
from typing import Any
from xml.sax.saxutils import escape

import httpx2
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from deepwell.errors import SearchFailed
from deepwell.search.failures import FailureKind, NoAnswer
from deepwell.search.registry import ENGINES
from deepwell.vocabulary.plan import Query
from deepwell.vocabulary.scope import Scope

OVER_HTTP = sorted(set(ENGINES) - {"duckduckgo", "none"})
FINDING = sorted(set(ENGINES) - {"none"})
GEARS = Query("antikythera mechanism gears", phrases=("thirty gears",), context="bronze")


async def failure_of(engine: Any) -> Any:
    with pytest.raises(SearchFailed) as caught:
        await engine.search(GEARS, 5)
    assert isinstance(caught.value, NoAnswer)
    return caught.value.failure


@pytest.mark.parametrize("name", FINDING)
async def test_hits_have_addresses_titles_and_plain_text(name: str, web: Any) -> None:
    web.replay(name)
    engine = web.engine(name)
    hits = await engine.search(GEARS, 5)
    assert len(hits) >= 2
    assert engine.name == name
    for hit in hits:
        assert hit.address.startswith("https://")
        assert hit.title
        assert hit.engine == name
        assert hit.query == GEARS
        assert not any(
            mark in hit.title + hit.excerpt for mark in ("<b>", "<i>", "<span", "<strong", "&amp;", "&quot;")
        )
    assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)


@pytest.mark.parametrize("name", FINDING)
async def test_no_more_hits_than_asked_for(name: str, web: Any) -> None:
    web.replay(name)
    assert len(await web.engine(name).search(GEARS, 1)) == 1


@pytest.mark.parametrize("name", sorted(ENGINES))
async def test_nothing_found_is_an_answer(name: str, web: Any) -> None:
    web.replay(name, empty=True)
    assert list(await web.engine(name).search(Query("zzz"), 5)) == []


async def test_the_engine_none_finds_nothing_and_asks_nobody(web: Any) -> None:
    web.replay("tavily")
    assert list(await web.engine("none").search(GEARS, 5)) == []
    assert web.requests == []


@pytest.mark.parametrize("name", sorted(set(FINDING) - {"wikipedia", "duckduckgo"}))
async def test_dates_are_told_and_outside_the_scope_nothing_is_kept(name: str, web: Any) -> None:
    web.replay(name)
    assert "2024-03-05" in [hit.published for hit in await web.engine(name).search(GEARS, 5)]
    late = await web.engine(name, Scope(since=date(2025, 1, 1))).search(GEARS, 5)
    assert all(hit.published is None for hit in late)


@pytest.mark.parametrize("name", sorted(set(FINDING) - {"wikipedia", "arxiv", "pubmed", "openalex"}))
async def test_sites_are_kept_to_by_code_where_an_engine_ignores_them(name: str, web: Any) -> None:
    web.replay(name)
    only = await web.engine(name, Scope(include_sites=("example.org",))).search(GEARS, 5)
    assert {hit.address for hit in only} == {"https://museum.example.org/antikythera"}
    others = await web.engine(name, Scope(exclude_sites=("museum.example.org",))).search(GEARS, 5)
    assert others
    assert not any("museum" in hit.address for hit in others)


STATUSES = {
    400: FailureKind.BAD_REQUEST,
    401: FailureKind.AUTH,
    402: FailureKind.QUOTA,
    404: FailureKind.BAD_REQUEST,
    429: FailureKind.RATE_LIMIT,
    500: FailureKind.OVERLOAD,
    503: FailureKind.OVERLOAD,
    504: FailureKind.TIMEOUT,
    204: FailureKind.MALFORMED,
}


@pytest.mark.parametrize("name", OVER_HTTP)
@pytest.mark.parametrize("status", sorted(STATUSES))
async def test_a_status_is_a_kind_of_failure(name: str, status: int, web: Any, key: str) -> None:
    web.answer = lambda request: httpx2.Response(status, text=f"debug: {key} was sent to {request.url}")
    failure = await failure_of(web.engine(name))
    assert failure.kind is STATUSES[status]
    assert failure.retryable is (failure.kind in (FailureKind.RATE_LIMIT, FailureKind.OVERLOAD, FailureKind.TIMEOUT))
    assert_safe(failure.sentence, key)


def assert_safe(sentence: str, key: str) -> None:
    assert key not in sentence
    assert "http" not in sentence
    assert "antikythera" not in sentence
    assert sentence.endswith(".")


@pytest.mark.parametrize("name", OVER_HTTP)
async def test_refused_access(name: str, web: Any, key: str) -> None:
    web.answer = lambda request: httpx2.Response(403)
    failure = await failure_of(web.engine(name))
    # To OpenAlex 403 means that it was asked too fast.
    assert failure.kind is (FailureKind.RATE_LIMIT if name == "openalex" else FailureKind.AUTH)
    if name == "searxng":
        assert "json" in failure.sentence


@pytest.mark.parametrize("name", OVER_HTTP)
async def test_how_long_to_wait_is_told(name: str, web: Any) -> None:
    web.answer = lambda request: httpx2.Response(429, headers={"Retry-After": "7"})
    assert (await failure_of(web.engine(name))).retry_after_s == 7.0


@pytest.mark.parametrize("name", OVER_HTTP)
@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (httpx2.ReadTimeout("{url}"), FailureKind.TIMEOUT),
        (httpx2.ConnectError("{url}"), FailureKind.UNREACHABLE),
        (httpx2.RemoteProtocolError("{url}"), FailureKind.UNREACHABLE),
    ],
)
async def test_a_broken_connection(name: str, error: Exception, kind: FailureKind, web: Any, key: str) -> None:
    def broken(request: httpx2.Request) -> httpx2.Response:
        raise type(error)(str(error).format(url=request.url))

    web.answer = broken
    engine = web.engine(name)
    with pytest.raises(NoAnswer) as caught:
        await engine.search(GEARS, 5)
    assert caught.value.failure.kind is kind
    assert_safe(str(caught.value), key)
    # What the library says holds the address, and some addresses a key: a printed trace must not show it.
    assert caught.value.__cause__ is None
    assert caught.value.__suppress_context__


@pytest.mark.parametrize("name", OVER_HTTP)
async def test_an_engine_that_hangs(name: str, web: Any) -> None:
    async def hang(request: httpx2.Request) -> httpx2.Response:
        await asyncio.Event().wait()
        raise AssertionError

    web.answer, web.timeout_s = hang, 0.01
    assert (await failure_of(web.engine(name))).kind is FailureKind.TIMEOUT


HUGE = b'{"results": [' + b" " * 2_000_001 + b"]}"
UNREADABLE = {
    "empty": b"",
    "html": b"<!doctype html><html><body>Please log in.</body></html>",
    "cut off": b'{"results": [{"url": "https://a.example/"',
    "other json": b'{"status": "ok"}',
    "a number": b"42",
    "a list": b"[]",
    "null results": b'{"results": null, "web": {"results": null}, "query": {"search": 1}, "esearchresult": {}}',
    "no addresses": b'{"results": [{"a": 1}], "web": {"results": [{"a": 1}]}, "query": {"search": [{"a": 1}]}}',
    "deep": b"[" * 200_000,
    "not unicode": b'{"results": "\xff\xfe"}',
    "huge": HUGE,
    "entities": b'<!DOCTYPE x [<!ENTITY a "aaaa">]><feed xmlns="http://www.w3.org/2005/Atom"><id>&a;</id></feed>',
    "other xml": b"<rss><channel/></rss>",
}


@pytest.mark.parametrize("name", OVER_HTTP)
@pytest.mark.parametrize("body", sorted(UNREADABLE))
async def test_an_answer_that_cannot_be_read(name: str, body: str, web: Any) -> None:
    web.answer = lambda request: httpx2.Response(200, content=UNREADABLE[body])
    assert (await failure_of(web.engine(name))).kind is FailureKind.MALFORMED


@pytest.mark.parametrize("name", OVER_HTTP)
async def test_a_small_answer_that_unfolds_to_a_huge_one(name: str, web: Any) -> None:
    bomb = gzip.compress(b" " * 10_000_000)
    web.answer = lambda request: httpx2.Response(200, content=bomb, headers={"content-encoding": "gzip"})
    assert (await failure_of(web.engine(name))).kind is FailureKind.MALFORMED


@pytest.mark.parametrize("name", OVER_HTTP)
@pytest.mark.parametrize(
    "target", ["https://evil.example/x", "http://127.0.0.1/x", "//evil.example", "file:///etc/passwd"]
)
async def test_nobody_is_sent_to_another_host(name: str, target: str, web: Any) -> None:
    web.answer = lambda request: httpx2.Response(302, headers={"location": target})
    assert (await failure_of(web.engine(name))).kind is FailureKind.MALFORMED
    assert len(web.requests) == 1


NAMES = (
    "results web query search error code url title content highlights summary text id doi display_name type result 1 "
    "abstract_inverted_index best_oa_location primary_location landing_page_url source esearchresult idlist authors "
    "name sortpubdate score relevance_score published_date data items link href failed"
).split()
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20) | st.just("https://a.example/b"),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(NAMES), inner, max_size=4),
    max_leaves=25,
)


@pytest.mark.parametrize("name", sorted(set(FINDING) - {"arxiv"}))
@given(body=JSON)
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_json_gives_hits_or_a_failure_and_nothing_else(name: str, body: Any, web: Any) -> None:
    content = json.dumps(body).encode()
    web.answer = lambda request: httpx2.Response(200, content=content)
    web.ddgs = content
    with suppress(SearchFailed):
        hits = asyncio.run(web.engine(name).search(GEARS, 5))
        assert all(hit.address.startswith("http") and hit.title for hit in hits)


@given(title=st.text(), summary=st.text(), identity=st.text())
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_feed_gives_hits_or_a_failure_and_nothing_else(title: str, summary: str, identity: str, web: Any) -> None:
    entry = f"<id>{escape(identity)}</id><title>{escape(title)}</title><summary>{escape(summary)}</summary>"
    feed = f'<feed xmlns="http://www.w3.org/2005/Atom"><entry>{entry}</entry></feed>'
    web.answer = lambda request: httpx2.Response(200, content=feed.encode("utf-8", "replace"))
    with suppress(SearchFailed):
        asyncio.run(web.engine("arxiv").search(GEARS, 5))

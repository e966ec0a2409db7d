"""The way to an engine over real sockets on loopback, and what it takes from the environment: nothing."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import httpx2
import pytest

from deepwell.errors import BadConfiguration
from deepwell.search.failures import FailureKind, NoAnswer, Party, retry_after
from deepwell.search.http import Http
from deepwell.search.own_address import checked_address, checked_base

PARTY = Party("The engine")
Reply = Callable[[bytes], bytes]


def answer(body: bytes = b'{"ok": true}', status: str = "200 OK", headers: str = "") -> bytes:
    return f"HTTP/1.1 {status}\r\nContent-Length: {len(body)}\r\n{headers}Connection: close\r\n\r\n".encode() + body


@asynccontextmanager
async def server(reply: Reply) -> AsyncIterator[tuple[str, list[bytes]]]:
    """Answers each request with what `reply` makes of its head; hands out its address and the heads it got."""
    heads: list[bytes] = []

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        heads.append(await reader.readuntil(b"\r\n\r\n"))
        writer.write(reply(heads[-1]))
        writer.close()

    listening = await asyncio.start_server(serve, "127.0.0.1", 0)
    async with listening:
        yield f"http://127.0.0.1:{listening.sockets[0].getsockname()[1]}", heads


@asynccontextmanager
async def ours(**options: Any) -> AsyncIterator[Http]:
    http = Http(**options)
    try:
        yield http
    finally:
        await http.close()


async def test_no_proxy_of_the_environment_and_no_cookie(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    async with server(lambda head: answer(headers="Set-Cookie: a=b; Path=/\r\n")) as (address, heads), ours() as http:
        for _ in range(2):
            assert await http.json(PARTY, f"{address}/x", params={"q": "a b"}) == {"ok": True}
    assert heads[0].startswith(b"GET /x?q=a")
    assert b"cookie" not in heads[1].lower()


async def test_a_redirect_on_the_same_host_is_followed() -> None:
    def reply(head: bytes) -> bytes:
        moved = answer(b"", "308 Permanent Redirect", "Location: /new?q=1\r\n")
        return moved if head.startswith(b"GET /old") else answer()

    async with server(reply) as (address, heads), ours() as http:
        assert await http.json(PARTY, f"{address}/old", headers={"x-key": "k"}) == {"ok": True}
    assert heads[1].startswith(b"GET /new?q=1 ")
    assert b"x-key: k" in heads[1].lower()


async def test_no_redirect_to_another_port_and_no_loop() -> None:
    async with server(lambda head: answer()) as (elsewhere, not_asked):
        away = answer(b"", "302 Found", f"Location: {elsewhere}/\r\n")
        async with server(lambda head: away) as (address, _), ours() as http:
            assert await kind(http, address) is FailureKind.MALFORMED
    assert not_asked == []
    async with server(lambda head: answer(b"", "302 Found", "Location: /x\r\n")) as (address, heads), ours() as http:
        assert await kind(http, f"{address}/x") is FailureKind.MALFORMED
    assert len(heads) == 3


async def test_a_body_that_never_ends_is_cut_off() -> None:
    endless = b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n" + b" " * 3_000_000
    async with server(lambda head: endless) as (address, _), ours() as http:
        assert await kind(http, address) is FailureKind.MALFORMED


async def test_silence_and_a_closed_port() -> None:
    async with server(lambda head: b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n") as (address, _), ours() as http:
        assert await kind(http, address) is FailureKind.UNREACHABLE
    async with ours() as http:
        assert await kind(http, address) is FailureKind.UNREACHABLE


async def test_nothing_is_logged_that_could_hold_a_key(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level("DEBUG"):
        async with server(lambda head: answer()) as (address, _), ours() as http:
            await http.json(PARTY, address, params={"api_key": "sk-secret"}, headers={"x-api-key": "sk-secret"})
    assert "sk-secret" not in caplog.text


@pytest.mark.parametrize("headers", [{"x-key": "kéy"}, {"x-key": "ключ"}])
async def test_a_key_that_no_header_can_hold(headers: dict[str, str], web: Any) -> None:
    with pytest.raises(NoAnswer) as caught:
        await web.http().json(PARTY, "https://a.example/", headers=headers)
    assert "к" not in str(caught.value)


async def test_a_body_in_a_packing_that_was_not_asked_for(web: Any) -> None:
    web.answer = lambda request: httpx2.Response(200, content=b"garbage", headers={"content-encoding": "gzip"})
    assert await kind(web.http(), "https://a.example/") is FailureKind.MALFORMED


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, None),
        ({"retry-after": "3"}, 3.0),
        ({"retry-after": "-3"}, 0.0),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "nan"}, None),
        ({"retry-after": "Fri, 06 Mar 2026 10:00:30 GMT", "date": "Fri, 06 Mar 2026 10:00:00 GMT"}, 30.0),
        ({"x-ratelimit-reset": "1, 1419704"}, 1.0),
        ({"x-ratelimit-reset": ""}, None),
    ],
)
def test_when_to_come_back(headers: dict[str, str], seconds: float | None) -> None:
    assert retry_after(headers) == seconds


@pytest.mark.parametrize(
    "address", ["", "searx.example.org", "ftp://a.example", "http:///x", "https://a:b@c.example", "http://[x"]
)
def test_an_address_of_the_users_that_cannot_be_used(address: str) -> None:
    with pytest.raises(BadConfiguration, match="SEARXNG_URL") as caught:
        checked_address(address, "SEARXNG_URL")
    assert not address or address not in str(caught.value)


def test_an_address_of_the_users() -> None:
    assert checked_address(" http://127.0.0.1:8080/searx/ ", "SEARXNG_URL") == "http://127.0.0.1:8080/searx"


@pytest.mark.parametrize("ending", ["?x=1", "/?", "#top", "/search?q=a#b"])
def test_what_an_engine_adds_to_must_end_before_a_question(ending: str) -> None:
    with pytest.raises(BadConfiguration, match=r"SEARXNG_URL must end before any \? or #\."):
        checked_base(f"http://127.0.0.1:8080{ending}", "SEARXNG_URL")


async def kind(http: Http, address: str) -> FailureKind:
    with pytest.raises(NoAnswer) as caught:
        await http.json(PARTY, address)
    return caught.value.failure.kind

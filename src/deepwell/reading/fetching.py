"""Pages over HTTP, through one guarded door: every connection goes to an address that was checked, within limits."""

import asyncio
import contextlib
import ssl
import zlib
from collections import defaultdict
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import Enum
from importlib.metadata import version
from types import TracebackType
from typing import Self
from urllib.parse import urljoin

import httpcore2

from deepwell.errors import BadConfiguration, Unreadable
from deepwell.reading.addresses import (
    Refusal,
    Refused,
    WebAddress,
    ambiguous,
)
from deepwell.reading.answers import Answer, Answers
from deepwell.reading.dialing import GuardedBackend, Resolver, TooMuch, resolve
from deepwell.reading.robots import MAX_RULES_BYTES, Forbidden, Robots, RulesUnknown
from deepwell.reading.unpacking import Damaged, Unpacking

MEGABYTE = 1_000_000


class WebFailure(Enum):
    """What kept a page that may be read from being read."""

    TIMEOUT = "timeout"
    STATUS = "status"
    TOO_LARGE = "too_large"
    REDIRECTS = "redirects"
    NETWORK = "network"
    GARBLED = "garbled"
    ROBOTS = "robots"


class FetchFailed(Unreadable):
    """A page could not be had; the message is one safe sentence."""

    def __init__(self, failure: WebFailure, sentence: str, status: int | None = None) -> None:
        super().__init__(sentence)
        self.failure = failure
        self.status = status
        """The HTTP status, where one was the reason."""
        self.final = failure in _NOT_TRIED_AGAIN or (status or 0) in _FOR_GOOD


_NOT_TRIED_AGAIN = frozenset({WebFailure.ROBOTS, WebFailure.TIMEOUT})
"""A page that hung once has cost a run as much time as a page may: there are others to be read."""
_FOR_GOOD = frozenset(range(400, 500)) - {408, 425, 429}
"""Statuses that say: not at this address, or not for this reader."""


@dataclass(frozen=True, slots=True)
class FetchLimits:
    """How much one page may cost, and how many are had at once."""

    seconds: float = 20.0
    """For all of it: waiting for a free place, robots.txt, redirects, the last byte."""
    connect_seconds: float = 5.0
    """For one connection with its TLS handshake."""
    robots_seconds: float = 8.0
    """For one robots.txt."""
    wire_bytes: int = 20 * MEGABYTE
    """As they come over the wire, headers included."""
    body_bytes: int = 25 * MEGABYTE
    """After unpacking."""
    kept_bytes: int = 50 * MEGABYTE
    """Of all pages together: how much is remembered of what was had, for other links that lead to the same pages."""
    redirects: int = 5
    at_once: int = 16
    at_once_per_host: int = 4


@dataclass(frozen=True, slots=True)
class Fetched:
    """A page as it came, unpacked but not yet read."""

    asked: str
    """The address as it was asked for."""
    url: str
    """The address it was had from, after all redirects."""
    status: int
    content_type: str
    """As the server calls it, lower-case and without parameters; empty when it says nothing."""
    charset: str | None
    """As the server calls it, lower-case."""
    body: bytes
    fetched_at: datetime
    headers: Mapping[str, str] = field(default_factory=dict)
    """Those of KEPT_HEADERS that came, by their lower-case names."""


KEPT_HEADERS = frozenset({"content-disposition", "content-language", "etag", "last-modified", "x-robots-tag"})
_MAX_HEADER_CHARACTERS = 500


class Fetcher:
    """Has pages for one run. Close it, or use it in `async with`."""

    def __init__(
        self,
        now: Callable[[], datetime],
        *,
        own_hosts: frozenset[str] = frozenset(),
        limits: FetchLimits | None = None,
        agent: str = "",
        honours_robots: bool = True,
        resolver: Resolver | None = None,
        ssl_context: ssl.SSLContext | None = None,
    ) -> None:
        """`own_hosts` (see `allow_list`) may lie in a private network; `agent` is the User-Agent, its product first."""
        self._now = now
        self._own_hosts = own_hosts
        self._limits = limits or FetchLimits()
        self._agent = agent or f"Deepwell/{version('deepwell')}"
        if not (self._agent.isascii() and self._agent.isprintable()):
            raise BadConfiguration("The user agent may have printable ASCII characters only.")
        self._backend = GuardedBackend(resolver or resolve, own_hosts, self._limits.wire_bytes)
        self._ssl_context = ssl_context
        self._certificates: asyncio.Task[ssl.SSLContext] | None = None
        self._pool: httpcore2.AsyncConnectionPool | None = None
        self._answers = Answers(self._limits.kept_bytes)
        self._robots = Robots(self._rules, self._agent.partition("/")[0]) if honours_robots else None
        self._places = asyncio.Semaphore(self._limits.at_once)
        self._host_places = defaultdict[str, asyncio.Semaphore](
            lambda: asyncio.Semaphore(self._limits.at_once_per_host)
        )

    async def __aenter__(self) -> Self:
        if self._ssl_context is None:
            self._loading()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        """Close every connection and end what is still being loaded."""
        if self._robots:
            await self._robots.close()
        if self._pool:
            await self._pool.aclose()
        if self._certificates:
            await asyncio.gather(self._certificates, return_exceptions=True)

    async def fetch(self, url: str) -> Fetched:
        """The page behind an address. Raises Refused or FetchFailed, both Unreadable, within the limits."""
        address = WebAddress.parse(url, self._own_hosts)
        async with _deadline(self._limits.seconds, address):
            final, answer = await self._followed(address, self._robots)
        return Fetched(
            asked=url,
            url=final.url,
            status=answer.status,
            content_type=answer.content_type,
            charset=answer.charset,
            body=answer.body,
            fetched_at=answer.at,
            headers={
                name: value[:_MAX_HEADER_CHARACTERS] for name, value in answer.headers.items() if name in KEPT_HEADERS
            },
        )

    async def _rules(self, url: str) -> bytes | None:
        """A robots.txt through the same door. Statuses that blame the reader mean: there is none."""
        address = WebAddress.parse(url, self._own_hosts)
        try:
            async with _deadline(self._limits.robots_seconds, address):
                _, answer = await self._followed(address, None, cut_at=MAX_RULES_BYTES)
        except FetchFailed as failed:
            if failed.failure is WebFailure.REDIRECTS or failed.status in _NO_RULES:
                return None
            if failed.failure is WebFailure.NETWORK:  # so the page cannot be had either, and this says why
                raise
            raise RulesUnknown(str(failed)) from failed
        return answer.body

    async def _followed(
        self, address: WebAddress, robots: Robots | None, cut_at: int | None = None
    ) -> tuple[WebAddress, Answer]:
        """The first answer that is no redirect; every hop is checked like the first."""
        first, seen = address, set[str]()
        while address.url not in seen and len(seen) <= self._limits.redirects:
            seen.add(address.url)
            answer = await self._hop(address, robots, cut_at)
            if answer.location is None:
                return address, answer
            address = self._onward(address, answer.location)
        how = "in a circle" if address.url in seen else "on too many times"
        raise FetchFailed(WebFailure.REDIRECTS, f"{first.shown} sends readers {how}.")

    async def _hop(self, address: WebAddress, robots: Robots | None, cut_at: int | None) -> Answer:
        """What one address answers; each is asked once a run, except for rules, which may be cut and no page."""

        async def ask() -> Answer:
            if robots:
                await _heed(robots, address)
            return await self._asked(address, cut_at)

        return await (self._answers.answer(address.url, ask) if cut_at is None else ask())

    def _onward(self, address: WebAddress, location: str) -> WebAddress:
        """Where a redirect leads. From https to http is followed: nothing secret is ever sent, pages on http are read
        as well, and the address that is kept and cited is the last one."""
        if ambiguous(location):  # asked before joining, which would quietly drop such characters
            raise _led_astray(address, Refusal.NOTATION)
        try:
            onward = WebAddress.parse(urljoin(address.url, location), self._own_hosts)
        except Refused as refused:
            raise _led_astray(address, refused.because) from refused
        except ValueError as error:  # brackets that do not match
            raise _led_astray(address, Refusal.NOTATION) from error
        if onward.is_own and not address.is_own:
            # The user allows these hosts to be read, not strangers to choose what is asked of them.
            raise _led_astray(address, Refusal.INSIDE)
        return onward

    async def _asked(self, address: WebAddress, cut_at: int | None) -> Answer:
        request = httpcore2.URL(scheme=address.scheme, host=address.host, port=address.port, target=address.target)
        headers = [
            ("Host", address.netloc),
            ("User-Agent", self._agent),
            ("Accept", "text/html,application/xhtml+xml,application/pdf,text/plain;q=0.9,*/*;q=0.5"),
            ("Accept-Encoding", "gzip, deflate"),
        ]
        timeouts = {"connect": self._limits.connect_seconds}
        async with self._host_places[address.host], self._places:
            with _named_failures(address):
                pool = await self._connections()
                async with pool.stream("GET", request, headers=headers, extensions={"timeout": timeouts}) as response:
                    return await self._answer(address, response, cut_at)

    async def _answer(self, address: WebAddress, response: httpcore2.Response, cut_at: int | None) -> Answer:
        headers = {name.decode("latin-1").lower(): _text(value) for name, value in response.headers}
        if response.status in _REDIRECTS and headers.get("location"):
            return Answer(response.status, headers, b"", self._now(), location=headers["location"])
        # A part of a page, which nobody asked for, must not be quoted as the whole.
        if not 200 <= response.status < 300 or response.status == _PART:
            sentence = f"{address.shown} answered with HTTP status {response.status}."
            raise FetchFailed(WebFailure.STATUS, sentence, response.status)
        limit = self._limits.body_bytes if cut_at is None else cut_at
        if cut_at is None and _announced(headers) > self._limits.wire_bytes:
            raise TooMuch
        body = await _body(
            response, Unpacking.of(headers.get("content-encoding", "")), limit, is_cut=cut_at is not None
        )
        return Answer(response.status, headers, body, self._now())

    def _loading(self) -> asyncio.Task[ssl.SSLContext]:
        """The certificates. Loading them takes a while: it begins early and goes on beside the first searches."""
        if self._certificates is None:
            self._certificates = asyncio.create_task(asyncio.to_thread(httpcore2.default_ssl_context))
        return self._certificates

    async def _connections(self) -> httpcore2.AsyncConnectionPool:
        # Who is cut off must not take the certificates away from the others.
        context = self._ssl_context or await asyncio.shield(self._loading())
        if self._pool is None:
            # Connections are kept briefly: the page mostly follows its robots.txt, and a server that closes first
            # would fail the request.
            self._pool = httpcore2.AsyncConnectionPool(
                ssl_context=context,
                network_backend=self._backend,
                max_connections=None,
                max_keepalive_connections=self._limits.at_once,
                keepalive_expiry=3.0,
            )
        return self._pool


# Answers

_PART = 206
_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_NO_RULES = frozenset(range(400, 500)) - {429}
"""Statuses that mean a site without robots.txt. 429 asks for less, so it is taken like a server's error."""


def _text(value: bytes) -> str:
    try:
        text = value.decode("utf-8")
    except UnicodeDecodeError:
        text = value.decode("latin-1")
    return text.strip()


def _announced(headers: Mapping[str, str]) -> int:
    length = headers.get("content-length", "")
    return int(length) if length.isascii() and length.isdigit() else 0


async def _body(response: httpcore2.Response, unpacking: "Unpacking", limit: int, *, is_cut: bool) -> bytes:
    """The whole body unpacked; beyond the limit it is cut, or fails."""
    body = bytearray()
    async with contextlib.aclosing(response.aiter_stream()) as chunks:
        async for chunk in chunks:
            for piece in unpacking.feed(chunk):
                body += piece
                if len(body) > limit:
                    if is_cut:
                        return bytes(body[:limit])
                    raise TooMuch
                # A kilobyte on the wire can be a megabyte here, or a thousand tiny chunks: others must get their turn.
                await asyncio.sleep(0)
    unpacking.finish()
    return bytes(body)


# Failures as sentences


def _led_astray(address: WebAddress, because: Refusal) -> Refused:
    return Refused(because, f"{address.shown} sends readers on to an address that may not be read.")


@contextlib.asynccontextmanager
async def _deadline(seconds: float, address: WebAddress) -> AsyncIterator[None]:
    try:
        async with asyncio.timeout(seconds):
            yield
    except TimeoutError as error:
        sentence = f"{address.shown} could not be read within {seconds:g} seconds."
        raise FetchFailed(WebFailure.TIMEOUT, sentence) from error


@contextlib.contextmanager
def _named_failures(address: WebAddress) -> Iterator[None]:
    """The errors of the network and of the packages below, as ours."""
    try:
        yield
    except TooMuch as error:
        raise FetchFailed(WebFailure.TOO_LARGE, f"{address.shown} sends more than is read of one page.") from error
    except (Damaged, zlib.error) as error:
        raise FetchFailed(WebFailure.GARBLED, f"{address.shown} sent a page that cannot be unpacked.") from error
    except httpcore2.ProtocolError as error:
        raise FetchFailed(WebFailure.GARBLED, f"{address.shown} did not answer in proper HTTP.") from error
    except httpcore2.TimeoutException as error:
        raise FetchFailed(WebFailure.TIMEOUT, f"{address.shown} took too long to answer.") from error
    except (httpcore2.NetworkError, OSError) as error:
        raise FetchFailed(WebFailure.NETWORK, f"{address.shown} {_trouble(error)}") from error


def _trouble(error: Exception) -> str:
    # The pool cuts the chain of causes, but an error keeps the one it was made from.
    if any(isinstance(cause, ssl.SSLCertVerificationError) for cause in error.args):
        return "has a certificate that cannot be trusted."
    return "could not be reached."


async def _heed(robots: Robots, address: WebAddress) -> None:
    ruling = await robots.ruling(address)
    if isinstance(ruling, Forbidden):
        raise FetchFailed(WebFailure.ROBOTS, ruling.because)
    if ruling.wait_s:
        await asyncio.sleep(ruling.wait_s)

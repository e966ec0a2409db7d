"""The one way to an engine over HTTP: limited in time and size, to one host, with nothing from the environment."""

import asyncio
import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import httpx2
from defusedxml import ElementTree

from deepwell.search.failures import FailureKind, Party

if TYPE_CHECKING:
    # Only the type: documents are parsed by the safe one above.
    from xml.etree.ElementTree import Element

AGENT = "Deepwell (research tool, acting for the person who runs it)"
"""Unless told otherwise. Wikipedia and others ask programs to say who they are."""
MOST_BYTES = 2_000_000
"""Of an answer, unpacked. Twenty hits with long excerpts are a twentieth of it."""
_MOST_REDIRECTS = 2

Parameters = Mapping[str, str | int]


class Http:
    """Asks engines. One for a run: connections are kept and shared.

    The transport is used without the client around it: that one would log addresses, and some hold a key; it would
    also keep cookies.
    """

    def __init__(
        self, transport: httpx2.AsyncBaseTransport | None = None, *, agent: str = AGENT, timeout_s: float = 10.0
    ) -> None:
        self._given = transport
        self._agent = agent
        self._timeout_s = timeout_s

    async def json(
        self,
        party: Party,
        address: str,
        *,
        params: Parameters | None = None,
        headers: Mapping[str, str] | None = None,
        body: Mapping[str, Any] | None = None,
        form: Parameters | None = None,
    ) -> Any:
        """What the engine answers, as JSON; posts the body, or the form, when there is one. Raises NoAnswer."""
        answer = await self._ask(party, self._request(party, address, params, headers, body, "application/json", form))
        try:
            return json.loads(answer)
        except (ValueError, RecursionError):
            raise party.no_answer(FailureKind.MALFORMED) from None

    async def xml(self, party: Party, address: str, *, params: Parameters | None = None) -> "Element":
        """What the engine answers, as XML without entities of its own. Raises NoAnswer."""
        answer = await self._ask(party, self._request(party, address, params, None, None, "application/xml, */*;q=0.5"))
        try:
            return ElementTree.fromstring(answer, forbid_dtd=True)
        except (ElementTree.ParseError, ValueError, LookupError):
            raise party.no_answer(FailureKind.MALFORMED) from None

    async def close(self) -> None:
        """End the connections."""
        if self._given is not None:
            await self._given.aclose()

    @property
    def _transport(self) -> httpx2.AsyncBaseTransport:
        """Made when it is first used: reading the certificates takes a moment."""
        if self._given is None:
            self._given = httpx2.AsyncHTTPTransport(trust_env=False)
        return self._given

    def _request(
        self,
        party: Party,
        address: str,
        params: Parameters | None,
        headers: Mapping[str, str] | None,
        body: Mapping[str, Any] | None,
        accept: str,
        form: Parameters | None = None,
    ) -> httpx2.Request:
        # Only gzip: the library unpacks it bit by bit, so that the limit on size holds.
        sent = {"user-agent": self._agent, "accept": accept, "accept-encoding": "gzip", **(headers or {})}
        limits = dict.fromkeys(("connect", "read", "write", "pool"), self._timeout_s)
        method = "GET" if body is None and form is None else "POST"
        times = {"timeout": limits}
        try:
            return httpx2.Request(
                method, address, params=params or None, headers=sent, json=body, data=form, extensions=times
            )
        except (httpx2.InvalidURL, UnicodeError, ValueError):
            raise party.no_answer(FailureKind.BAD_REQUEST) from None

    async def _ask(self, party: Party, request: httpx2.Request) -> bytes:
        # "from None": what the library says may hold the address, and with it a key.
        try:
            async with asyncio.timeout(self._timeout_s):
                return await self._follow(party, request)
        except (TimeoutError, httpx2.TimeoutException):
            raise party.no_answer(FailureKind.TIMEOUT) from None
        except httpx2.DecodingError:
            raise party.no_answer(FailureKind.MALFORMED) from None
        except (httpx2.TransportError, httpx2.InvalidURL, OSError):
            raise party.no_answer(FailureKind.UNREACHABLE) from None

    async def _follow(self, party: Party, request: httpx2.Request) -> bytes:
        for _ in range(_MOST_REDIRECTS + 1):
            response = await self._transport.handle_async_request(request)
            try:
                body = await _body(party, response)
            finally:
                await response.aclose()
            if response.status_code == 200:
                return body
            onward = _onward(request, response)
            if onward is None:
                raise party.refusal(response.status_code, response.headers, body)
            request = onward
        raise party.no_answer(FailureKind.MALFORMED)


async def _body(party: Party, response: httpx2.Response) -> bytes:
    parts, size = [], 0
    async for part in response.aiter_bytes():
        size += len(part)
        if size > MOST_BYTES:
            raise party.no_answer(FailureKind.MALFORMED)
        parts.append(part)
    return b"".join(parts)


def _onward(request: httpx2.Request, response: httpx2.Response) -> httpx2.Request | None:
    """The same request at the new address, if that is on the same host and no less safe; the key goes nowhere else."""
    if not response.has_redirect_location or request.method != "GET":
        return None
    old = request.url
    new = old.join(response.headers["location"])
    same_port = new.port == old.port or (old.scheme == "http" and old.port is None and new.port is None)
    if new.host != old.host or not same_port or new.scheme not in {old.scheme, "https"}:
        return None
    return httpx2.Request("GET", new, headers=request.headers, extensions=request.extensions)

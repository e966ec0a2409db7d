"""The network below the guarded door: a name is resolved once, every answer checked, only what was checked dialled."""

import asyncio
import contextlib
import socket
import ssl
import threading
from collections.abc import Awaitable, Callable, Iterable, Sequence
from typing import Any

import httpcore2

from deepwell.reading.addresses import (
    IPAddress,
    Refusal,
    Refused,
    is_allowed,
    is_public,
    literal_ip,
    may_be_own,
)

Resolver = Callable[[str, int], Awaitable[Sequence[str]]]
"""From a host name and a port to IP addresses, best first. Raises OSError when there are none."""


class TooMuch(Exception):
    """More came than is read of one page."""


class GuardedBackend(httpcore2.AsyncNetworkBackend):
    """Opens every connection of the pool: resolves the name once, checks all answers, dials what was checked."""

    ATTEMPTS = 3

    def __init__(self, resolver: Resolver, own_hosts: frozenset[str], max_bytes: int) -> None:
        self._resolver = resolver
        self._own_hosts = own_hosts
        self._max_bytes = max_bytes
        self._network = httpcore2.AnyIOBackend()

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,  # noqa: ASYNC109  (the signature of the port)
        local_address: str | None = None,
        socket_options: Iterable[httpcore2.SOCKET_OPTION] | None = None,
    ) -> httpcore2.AsyncNetworkStream:
        """A connection to one of the checked addresses. TLS, if any, is later checked by the name."""
        failure: Exception = OSError("no address")
        for ip in (await self._checked(host, port))[: self.ATTEMPTS]:
            try:
                stream = await self._network.connect_tcp(ip.compressed, port, timeout, None, socket_options)
            except (httpcore2.ConnectError, httpcore2.ConnectTimeout) as error:
                failure = error
            else:
                return _CountedStream(stream, self._max_bytes)
        raise failure

    async def _checked(self, host: str, port: int) -> Sequence[IPAddress]:
        """The addresses of a host, IPv4 first: where IPv6 is broken it hangs. One bad address condemns the name."""
        is_own = is_allowed(host, port, self._own_hosts)
        if literal := literal_ip(host):
            if not is_own and not is_public(literal):
                raise Refused(Refusal.INSIDE)
            return [literal]
        found = [literal_ip(text) for text in dict.fromkeys(await self._resolver(host, port))]
        good = [ip for ip in found if ip and (is_public(ip) or (is_own and may_be_own(ip)))]
        if len(good) < len(found):
            raise Refused(Refusal.INSIDE)
        return sorted(good, key=lambda ip: ip.version)


class _CountedStream(httpcore2.AsyncNetworkStream):
    """A connection that ends an answer which does not end itself: headers, chunk sizes and body all count."""

    def __init__(self, stream: httpcore2.AsyncNetworkStream, max_bytes: int) -> None:
        self._stream = stream
        self._max_bytes = max_bytes
        self._count = 0

    async def read(self, max_bytes: int, timeout: float | None = None) -> bytes:  # noqa: ASYNC109
        data = await self._stream.read(max_bytes, timeout)
        self._count += len(data)
        if self._count > self._max_bytes:
            raise TooMuch
        return data

    async def write(self, buffer: bytes, timeout: float | None = None) -> None:  # noqa: ASYNC109
        self._count = 0  # the next request begins
        await self._stream.write(buffer, timeout)

    async def aclose(self) -> None:
        await self._stream.aclose()

    async def start_tls(
        self,
        ssl_context: ssl.SSLContext,
        server_hostname: str | None = None,
        timeout: float | None = None,  # noqa: ASYNC109
    ) -> httpcore2.AsyncNetworkStream:
        try:
            secured = await self._stream.start_tls(ssl_context, server_hostname, timeout)
        except BaseException:
            await self._stream.aclose()  # who is cancelled in a handshake would leave the socket open
            raise
        return _CountedStream(secured, self._max_bytes)

    def get_extra_info(self, info: str) -> Any:
        return self._stream.get_extra_info(info)


async def resolve(host: str, port: int) -> Sequence[str]:
    """Asks the system. In a thread that nobody waits for: a name server that hangs must not hold up the end of a run,
    as the event loop's own threads would."""
    loop = asyncio.get_running_loop()
    answer: asyncio.Future[list[str]] = loop.create_future()

    def settle(found: list[str] | OSError) -> None:
        if answer.done():
            return
        if isinstance(found, OSError):
            answer.set_exception(found)
        else:
            answer.set_result(found)

    def ask() -> None:
        try:
            # As bytes: the host is ASCII by now, and text would be encoded once more, by older rules.
            entries = socket.getaddrinfo(host.encode("ascii"), port, type=socket.SOCK_STREAM)
            found: list[str] | OSError = [str(entry[4][0]) for entry in entries]
        except OSError as error:
            found = error
        with contextlib.suppress(RuntimeError):  # the loop is closed by now
            loop.call_soon_threadsafe(settle, found)

    threading.Thread(target=ask, name="deepwell-resolve", daemon=True).start()
    return await answer

"""HTTP/1.1 as far as a small web needs it, written by hand: faults need a say over every byte."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from http.client import responses
from typing import Never
from urllib.parse import parse_qs, urlsplit

_CHUNKED = ("Transfer-Encoding", "chunked")


@dataclass(frozen=True, slots=True)
class HttpRequest:
    """A request, read to its end."""

    method: str
    target: str
    """Path and query, as they were sent."""
    headers: Mapping[str, str]
    """Names in lower case."""
    body: bytes

    @property
    def path(self) -> str:
        """The target without its query."""
        return urlsplit(self.target).path

    @property
    def host(self) -> str:
        """The host that was asked for, without its port."""
        return urlsplit(f"//{self.headers.get('host', '')}").hostname or ""

    def parameter(self, name: str) -> str:
        """A parameter of the query; empty when it is not there."""
        return parse_qs(urlsplit(self.target).query).get(name, [""])[0]


@dataclass(frozen=True, slots=True)
class Whole:
    """An answer in one piece."""

    status: int
    body: bytes
    content_type: str = "text/html; charset=utf-8"
    headers: tuple[tuple[str, str], ...] = ()
    closes: bool = False
    """The connection ends after it."""


@dataclass(frozen=True, slots=True)
class Rubbish:
    """These bytes instead of an answer, then the connection closes."""

    data: bytes
    status: int = 0


@dataclass(frozen=True, slots=True)
class Endless:
    """An answer that always goes on."""

    piece: bytes
    """Sent again and again."""
    every_s: float
    """Seconds between two pieces; 0: as fast as the other side takes them."""
    content_type: str = "text/html; charset=utf-8"
    status: int = 200


@dataclass(frozen=True, slots=True)
class Hang:
    """Nothing is sent until the other side has had enough."""

    status: int = 0


Answer = Whole | Rubbish | Endless | Hang


async def read_request(reader: asyncio.StreamReader) -> HttpRequest | None:
    """The next request on the connection; None when the client has closed it."""
    try:
        head = await reader.readuntil(b"\r\n\r\n")
        first, *lines = head.decode("latin-1").split("\r\n")
        method, target, _ = first.split(" ", 2)
        headers = dict(_header(line) for line in lines if line)
        body = await reader.readexactly(int(headers.get("content-length", "0")))
    except asyncio.IncompleteReadError:
        return None
    return HttpRequest(method, target, headers, body)


async def send(answer: Answer, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
    """Send the answer; whether the connection may go on."""
    match answer:
        case Hang():
            await reader.read()
        case Endless():
            await _go_on(answer, writer)
        case Rubbish():
            writer.write(answer.data)
            await writer.drain()
        case Whole():
            writer.write(_whole(answer))
            await writer.drain()
    return isinstance(answer, Whole) and not answer.closes


async def _go_on(answer: Endless, writer: asyncio.StreamWriter) -> Never:
    writer.write(_head(answer.status, answer.content_type, _CHUNKED))
    while True:
        writer.write(b"%x\r\n%b\r\n" % (len(answer.piece), answer.piece))
        await writer.drain()
        await asyncio.sleep(answer.every_s)


def _whole(answer: Whole) -> bytes:
    closing = (("Connection", "close"),) if answer.closes else ()
    length = ("Content-Length", str(len(answer.body)))
    return _head(answer.status, answer.content_type, length, *answer.headers, *closing) + answer.body


def _head(status: int, content_type: str, *headers: tuple[str, str]) -> bytes:
    lines = (f"{name}: {value}\r\n" for name, value in (("Content-Type", content_type), *headers))
    return f"HTTP/1.1 {status} {responses.get(status, 'Unknown')}\r\n{''.join(lines)}\r\n".encode("latin-1")


def _header(line: str) -> tuple[str, str]:
    name, _, value = line.partition(":")
    return name.strip().lower(), value.strip()

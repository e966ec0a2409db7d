"""HTTP/1.1 as far as a test server needs it, written by hand: faults need a say over every byte."""

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from http.client import responses
from typing import Never

_HIDDEN = frozenset({"authorization", "x-api-key", "api-key", "cookie"})
_EVENTS = "text/event-stream; charset=utf-8"
_CHUNKED = ("Transfer-Encoding", "chunked")


@dataclass(frozen=True, slots=True)
class HttpRequest:
    """A request, read to its end."""

    method: str
    path: str
    headers: Mapping[str, str]
    """Names in lower case; credentials are blotted out as they are read."""
    body: bytes


@dataclass(frozen=True, slots=True)
class Whole:
    """An answer in one piece."""

    status: int
    body: bytes
    content_type: str = "application/json"
    headers: tuple[tuple[str, str], ...] = ()
    breaks_off: bool = False
    """Half of the announced body is sent, then the connection closes."""


@dataclass(frozen=True, slots=True)
class Events:
    """An answer as a stream of events."""

    events: tuple[bytes, ...]
    breaks_off: bool = False
    """Half of the events are sent, then the connection closes."""
    status: int = 200


@dataclass(frozen=True, slots=True)
class Drip:
    """An answer that always goes on and never says anything."""

    every_s: float
    status: int = 200


@dataclass(frozen=True, slots=True)
class Hang:
    """Nothing is sent until the other side has had enough."""

    status: int = 0


@dataclass(frozen=True, slots=True)
class Disconnect:
    """The connection closes without a word."""

    status: int = 0


Answer = Whole | Events | Drip | Hang | Disconnect


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
    return HttpRequest(method, target.partition("?")[0], headers, body)


async def send(
    answer: Answer, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, finished: Callable[[], None]
) -> bool:
    """Send the answer; whether the connection may go on. `finished` is called before the client has all of it."""
    if isinstance(answer, Hang):
        await reader.read()
        return False
    if isinstance(answer, Drip):
        await _drip(answer, writer)
    pieces = _pieces(answer)
    for piece in pieces[:-1]:
        writer.write(piece)
        await writer.drain()
    finished()
    writer.write(pieces[-1])
    await writer.drain()
    return isinstance(answer, Whole | Events) and not answer.breaks_off


async def _drip(answer: Drip, writer: asyncio.StreamWriter) -> Never:
    writer.write(_head(answer.status, "application/json", _CHUNKED))
    while True:
        writer.write(_chunk(b"\n"))  # JSON and events may both begin with any number of these
        await writer.drain()
        await asyncio.sleep(answer.every_s)


def _pieces(answer: Whole | Events | Disconnect) -> list[bytes]:
    match answer:
        case Whole():
            return [_whole(answer)]
        case Events(breaks_off=True):
            half = len(answer.events) // 2
            return [_head(answer.status, _EVENTS, _CHUNKED), *map(_chunk, answer.events[:half])]
        case Events():
            return [_head(answer.status, _EVENTS, _CHUNKED), *map(_chunk, (*answer.events, b""))]
        case Disconnect():
            return [b""]


def _whole(answer: Whole) -> bytes:
    head = _head(answer.status, answer.content_type, ("Content-Length", str(len(answer.body))), *answer.headers)
    return head + (answer.body[: len(answer.body) // 2] if answer.breaks_off else answer.body)


def _head(status: int, content_type: str, *headers: tuple[str, str]) -> bytes:
    lines = (f"{name}: {value}\r\n" for name, value in (("Content-Type", content_type), *headers))
    return f"HTTP/1.1 {status} {responses.get(status, 'Unknown')}\r\n{''.join(lines)}\r\n".encode("latin-1")


def _chunk(data: bytes) -> bytes:
    return b"%x\r\n%b\r\n" % (len(data), data)


def _header(line: str) -> tuple[str, str]:
    name, _, value = line.partition(":")
    name = name.strip().lower()
    return name, "(hidden)" if name in _HIDDEN else value.strip()

import asyncio
import gc
import gzip
import socket
import ssl
import threading
import zlib
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from deepwell.errors import BadConfiguration, Unreadable
from deepwell.reading.addresses import Refusal, Refused, allow_list
from deepwell.reading.dialing import GuardedBackend, resolve
from deepwell.reading.fetching import Fetched, Fetcher, FetchFailed, FetchLimits, WebFailure
from deepwell.reading.unpacking import Unpacking
from deepwell.testing import START

PUBLIC, OTHER_PUBLIC = "93.184.215.14", "151.101.1.69"
BARE_TLS = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
"""Trusts nobody, and is there at once: loading certificates can take longer than a short limit allows."""

Behaviour = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]
Answer = bytes | Behaviour


def ok(body: bytes, *headers: str) -> bytes:
    lines = ["HTTP/1.1 200 OK", f"Content-Length: {len(body)}", *headers]
    return "\r\n".join([*lines, "", ""]).encode() + body


def redirect(location: str, status: int = 302) -> bytes:
    return f"HTTP/1.1 {status} Elsewhere\r\nLocation: {location}\r\nContent-Length: 0\r\n\r\n".encode()


def status(number: int) -> bytes:
    return f"HTTP/1.1 {number} So\r\nContent-Length: 0\r\n\r\n".encode()


@dataclass
class Site:
    """A server on loopback that answers each path with the bytes, or the behaviour, that a test gives it."""

    port: int = 0
    pages: dict[str, Answer] = field(default_factory=dict)
    requests: list[tuple[str, dict[str, str]]] = field(default_factory=list)
    connections: int = 0
    ended: asyncio.Event = field(default_factory=asyncio.Event)
    """Set when a client has closed a connection."""
    _tasks: set[asyncio.Task[None]] = field(default_factory=set)

    @property
    def paths(self) -> list[str]:
        return [path for path, _ in self.requests]

    def url(self, path: str = "/") -> str:
        return f"http://127.0.0.1:{self.port}{path}"

    @property
    def netloc(self) -> str:
        return f"127.0.0.1:{self.port}"

    async def converse(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task
        self._tasks.add(task)
        self.connections += 1
        try:
            while request := await reader.readuntil(b"\r\n\r\n"):
                first, *lines = request.decode("latin-1").split("\r\n")[:-2]
                path = first.split(" ")[1]
                self.requests.append((path, {k.lower(): v for k, v in (line.split(": ", 1) for line in lines)}))
                await _say(self.pages.get(path, status(404)), reader, writer)
        except (asyncio.IncompleteReadError, ConnectionError):
            self.ended.set()
        except asyncio.CancelledError:
            pass  # the test is over; Python 3.11 would log a handler that ends so
        finally:
            writer.close()

    async def close(self) -> None:
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)


async def _say(answer: Answer, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    if isinstance(answer, bytes):
        writer.write(answer)
        await writer.drain()
    else:
        await answer(reader, writer)


@asynccontextmanager
async def serving(site: Site, context: ssl.SSLContext | None = None) -> AsyncIterator[Site]:
    server = await asyncio.start_server(site.converse, "127.0.0.1", 0, ssl=context)
    site.port = server.sockets[0].getsockname()[1]
    try:
        yield site
    finally:
        for _ in range(3):  # what the listener has taken must reach `converse`, or nobody would close it
            await asyncio.sleep(0)
        server.close()
        await site.close()
        await server.wait_closed()


@pytest.fixture
async def site() -> AsyncIterator[Site]:
    async with serving(Site()) as made:
        yield made


@dataclass
class Sockets:
    """Every attempt to connect; the open web is mapped to servers on loopback, and nothing else is let out."""

    attempts: list[tuple[str, int]] = field(default_factory=list)
    web: dict[str, int] = field(default_factory=dict)
    """From a public address to the port on loopback that stands for it."""

    def way(self, address: tuple[Any, ...]) -> tuple[Any, ...]:
        self.attempts.append(address[:2])
        if address[0] in self.web:
            return ("127.0.0.1", self.web[address[0]])
        if address[0] != "127.0.0.1":
            raise ConnectionRefusedError
        return address


@pytest.fixture(autouse=True)
def sockets(monkeypatch: pytest.MonkeyPatch) -> Sockets:
    made, connect = Sockets(), socket.socket.connect
    monkeypatch.setattr(socket.socket, "connect", lambda sock, address: connect(sock, made.way(address)))
    return made


@pytest.fixture(autouse=True)
def _no_socket_is_left_open() -> Iterator[None]:
    """A socket that is only collected warns, and a warning is an error."""
    yield
    gc.collect(1)


class Names:
    """A resolver: each name has a list of answers, of which the last one stays."""

    def __init__(self, **answers: Sequence[Sequence[str]]) -> None:
        self.answers = {name.replace("_", "."): list(sets) for name, sets in answers.items()}
        self.asked: list[str] = []

    async def __call__(self, host: str, port: int) -> Sequence[str]:
        self.asked.append(host)
        if host not in self.answers:
            raise socket.gaierror(socket.EAI_NONAME, "unknown")
        sets = self.answers[host]
        return sets.pop(0) if len(sets) > 1 else sets[0]


@asynccontextmanager
async def fetching(site: Site | None = None, **settings: Any) -> AsyncIterator[Fetcher]:
    settings.setdefault("own_hosts", allow_list([site.netloc]) if site else frozenset())
    settings.setdefault("honours_robots", False)
    settings.setdefault("resolver", Names())
    async with Fetcher(lambda: START, **settings) as fetcher:
        yield fetcher


async def fetched(site: Site, answer: Answer, **settings: Any) -> Fetched:
    site.pages["/page"] = answer
    async with fetching(site, **settings) as fetcher:
        return await fetcher.fetch(site.url("/page"))


async def failure(site: Site, answer: Answer, **settings: Any) -> FetchFailed:
    with pytest.raises(FetchFailed) as caught:
        await fetched(site, answer, **settings)
    assert "127.0.0.1" not in str(caught.value)
    assert str(caught.value).endswith(".")
    return caught.value


async def happens(event: asyncio.Event) -> None:
    async with asyncio.timeout(20):  # so that what never happens is a failed test and not a hanging one
        await event.wait()


async def refused(fetcher: Fetcher, url: str) -> Refused:
    with pytest.raises(Refused) as caught:
        await fetcher.fetch(url)
    return caught.value


# A page


async def test_a_page_comes_with_what_is_known_about_it(site: Site) -> None:
    page = await fetched(
        site,
        ok(
            b"<p>Hello",
            'Content-Type: Text/HTML; a=b; Charset="UTF-8"',
            "Last-Modified: Mon, 05 Jan 2026 10:00:00 GMT",
            "Set-Cookie: a=b",
            f"ETag: {'x' * 9000}",
        ),
    )
    assert page == Fetched(
        asked=site.url("/page"),
        url=site.url("/page"),
        status=200,
        content_type="text/html",
        charset="utf-8",
        body=b"<p>Hello",
        fetched_at=START,
        headers={"last-modified": "Mon, 05 Jan 2026 10:00:00 GMT", "etag": "x" * 500},
    )


async def test_a_page_that_says_nothing_about_itself(site: Site) -> None:
    page = await fetched(site, then_closes(b"HTTP/1.0 200 OK\r\n\r\nold ways"))
    assert (page.content_type, page.charset, page.body, page.headers) == ("", None, b"old ways", {})


async def test_the_request_says_who_asks_and_nothing_more(site: Site) -> None:
    site.pages |= {"/1": ok(b"1", "Set-Cookie: secret=1; Path=/"), "/2?q=%C3%A4": ok(b"2")}
    async with fetching(site, agent="Deepwell/9 (+mailto:me@example.org)") as fetcher:
        await fetcher.fetch(site.url("/1"))
        await fetcher.fetch(site.url("/2?q=ä#part"))
    assert site.paths == ["/1", "/2?q=%C3%A4"]
    for _, headers in site.requests:
        assert headers["user-agent"] == "Deepwell/9 (+mailto:me@example.org)"
        assert headers["host"] == site.netloc
        assert headers.keys() == {"host", "user-agent", "accept", "accept-encoding"}


async def test_the_agent_is_deepwell_unless_told(site: Site) -> None:
    await fetched(site, ok(b""))
    assert site.requests[0][1]["user-agent"].startswith("Deepwell/")


@pytest.mark.parametrize("agent", ["Deepwell\r\nCookie: a=b", "Tiefbrunnenjäger"])
def test_an_agent_that_no_header_can_hold_is_refused(agent: str) -> None:
    with pytest.raises(BadConfiguration):
        Fetcher(lambda: START, agent=agent)


async def test_a_proxy_in_the_environment_is_not_used(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "HTTPS_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    assert (await fetched(site, ok(b"direct"))).body == b"direct"


@pytest.mark.parametrize("number", [400, 401, 403, 404, 410, 429, 500, 503, 304, 300, 206])
async def test_a_status_other_than_success_is_a_failure(site: Site, number: int) -> None:
    failed = await failure(site, status(number))
    assert (failed.failure, failed.status) == (WebFailure.STATUS, number)
    assert str(failed) == f"The server answered with HTTP status {number}."


async def test_one_connection_serves_several_pages_of_a_host(site: Site) -> None:
    site.pages |= {"/1": ok(b"1"), "/2": ok(b"2")}
    async with fetching(site) as fetcher:
        assert [(await fetcher.fetch(site.url(path))).body for path in ("/1", "/2")] == [b"1", b"2"]
    assert site.connections == 1


async def test_the_limit_is_that_of_one_page_not_of_its_connection(site: Site) -> None:
    site.pages |= {f"/{number}": ok(b"x" * 300_000) for number in range(3)}
    async with fetching(site, limits=SMALL) as fetcher:
        assert [len((await fetcher.fetch(site.url(f"/{number}"))).body) for number in range(3)] == [300_000] * 3
    assert site.connections == 1


# Addresses: asserted on the sockets


@pytest.mark.parametrize(
    "url",
    [
        "http://127.0.0.1/",
        "http://127.1/",
        "http://2130706433/",
        "http://[::1]/",
        "http://[::ffff:127.0.0.1]/",
        "http://169.254.169.254/latest/meta-data/",
        "http://localhost/",
        "http://metadata.google.internal/",
        "http://user:word@example.org/",
        "http://example.org:8080/",
        "ftp://example.org/",
        "file:///etc/passwd",
        "http://example.org\\@127.0.0.1/",
    ],
)
async def test_a_refused_address_is_neither_resolved_nor_dialled(sockets: Sockets, url: str) -> None:
    names = Names(example_org=[[PUBLIC]])
    async with fetching(resolver=names, honours_robots=True) as fetcher:
        await refused(fetcher, url)
    assert (names.asked, sockets.attempts) == ([], [])


async def test_loopback_is_read_only_where_it_is_allowed(site: Site, sockets: Sockets) -> None:
    async with fetching() as fetcher:
        assert (await refused(fetcher, site.url())).because is Refusal.INSIDE
    async with fetching(own_hosts=allow_list([f"127.0.0.1:{site.port + 1}"])) as fetcher:
        await refused(fetcher, site.url())
    assert sockets.attempts == []


@pytest.mark.parametrize(
    "answer",
    [
        ["127.0.0.1"],
        ["10.0.0.1"],
        ["169.254.169.254"],
        ["100.64.0.1"],
        ["::1"],
        ["::ffff:10.0.0.1"],
        ["fd00::1"],
        ["fe80::1%eth0"],
        ["64:ff9b::a00:1"],
        [PUBLIC, "127.0.0.1"],
        ["127.0.0.1", PUBLIC],
        [PUBLIC, "::1"],
        ["no address"],
    ],
)
async def test_a_name_with_a_private_address_is_not_dialled(sockets: Sockets, answer: list[str]) -> None:
    async with fetching(resolver=Names(example_org=[answer])) as fetcher:
        error = await refused(fetcher, "https://example.org/")
    assert error.because is Refusal.INSIDE
    assert not any(ip in str(error) for ip in answer)
    assert sockets.attempts == []


@pytest.mark.parametrize("host", ["127.0.0.1", "::1", "169.254.169.254"])
async def test_the_door_itself_opens_to_no_inner_address(sockets: Sockets, host: str) -> None:
    door = GuardedBackend(Names(), frozenset(), 1000)
    with pytest.raises(Refused):
        await door.connect_tcp(host, 80)
    assert sockets.attempts == []


async def test_an_allowed_name_may_be_private_but_not_metadata(site: Site, sockets: Sockets) -> None:
    site.pages["/"] = ok(b"ours")
    own = allow_list([f"wiki.corp:{site.port}", "evil.corp"])
    names = Names(wiki_corp=[["127.0.0.1"]], evil_corp=[["169.254.169.254"]])
    async with fetching(own_hosts=own, resolver=names) as fetcher:
        assert (await fetcher.fetch(f"http://wiki.corp:{site.port}/")).body == b"ours"
        await refused(fetcher, "http://evil.corp/")
    assert sockets.attempts == [("127.0.0.1", site.port)]
    assert site.requests[0][1]["host"] == f"wiki.corp:{site.port}"


async def test_a_public_name_is_resolved_once_and_that_address_dialled(site: Site, sockets: Sockets) -> None:
    sockets.web[PUBLIC] = site.port
    site.pages["/"] = ok(b"public")
    names = Names(example_org=[[PUBLIC], ["127.0.0.1"]])
    async with fetching(resolver=names) as fetcher:
        assert (await fetcher.fetch("http://example.org/")).body == b"public"
    assert names.asked == ["example.org"]
    assert sockets.attempts == [(PUBLIC, 80)]


async def test_a_name_that_changes_its_answer_is_checked_at_every_connection(site: Site, sockets: Sockets) -> None:
    sockets.web[PUBLIC] = site.port
    site.pages |= {"/": redirect("/again"), "/again": ok(b"never")}
    names = Names(example_org=[[PUBLIC], ["127.0.0.1"]])
    async with fetching(resolver=names) as fetcher:
        assert (await refused(fetcher, "http://example.org/")).because is Refusal.INSIDE
    assert names.asked == ["example.org", "example.org"]
    assert sockets.attempts == [(PUBLIC, 80)]
    assert site.paths == ["/"]


async def test_the_next_address_is_tried_when_one_does_not_answer(site: Site, sockets: Sockets) -> None:
    sockets.web[OTHER_PUBLIC] = site.port
    site.pages["/"] = ok(b"second")
    async with fetching(resolver=Names(example_org=[["2606:4700::1", PUBLIC, OTHER_PUBLIC]])) as fetcher:
        assert (await fetcher.fetch("http://example.org/")).body == b"second"
    assert sockets.attempts == [(PUBLIC, 80), (OTHER_PUBLIC, 80)]


async def test_a_name_with_many_dead_addresses_is_given_up(sockets: Sockets) -> None:
    names = Names(example_org=[[f"93.184.215.{number}" for number in range(1, 100)]])
    async with fetching(resolver=names) as fetcher:
        with pytest.raises(FetchFailed, match=r"^example\.org could not be reached\.$") as caught:
            await fetcher.fetch("http://example.org/")
    assert caught.value.failure is WebFailure.NETWORK
    assert len(sockets.attempts) == 3


async def test_a_name_that_nobody_knows(sockets: Sockets) -> None:
    async with fetching() as fetcher:
        with pytest.raises(FetchFailed, match=r"^example\.org could not be reached\.$"):
            await fetcher.fetch("http://example.org/")
    assert sockets.attempts == []


async def test_a_name_without_any_address(sockets: Sockets) -> None:
    async with fetching(resolver=Names(example_org=[[]])) as fetcher:
        with pytest.raises(FetchFailed):
            await fetcher.fetch("http://example.org/")
    assert sockets.attempts == []


async def test_a_port_where_nobody_listens(site: Site) -> None:
    own = allow_list(["127.0.0.1:1"])
    async with fetching(own_hosts=own) as fetcher:
        with pytest.raises(FetchFailed, match=r"^The server could not be reached\.$"):
            await fetcher.fetch("http://127.0.0.1:1/")


async def test_the_system_is_asked_for_addresses() -> None:
    assert set(await resolve("localhost", 80)) <= {"127.0.0.1", "::1"}


async def test_a_name_that_the_system_does_not_know(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*asked: Any, **how: Any) -> Any:
        raise socket.gaierror(socket.EAI_NONAME, "unknown")

    monkeypatch.setattr(socket, "getaddrinfo", fails)
    with pytest.raises(OSError, match="unknown"):
        await resolve("example.org", 80)


async def test_an_answer_that_comes_too_late_disturbs_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    loop, asked, go = asyncio.get_running_loop(), asyncio.Event(), threading.Event()

    def slow(*args: Any, **how: Any) -> Any:
        loop.call_soon_threadsafe(asked.set)
        go.wait()
        return []

    monkeypatch.setattr(socket, "getaddrinfo", slow)
    asking = asyncio.create_task(resolve("example.org", 80))
    await happens(asked)
    asking.cancel()
    await asyncio.gather(asking, return_exceptions=True)
    go.set()
    for thread in threading.enumerate():
        if thread.name == "deepwell-resolve":
            thread.join()
    await asyncio.sleep(0)
    assert asking.cancelled()


# Redirects


async def test_redirects_are_followed_to_the_page(site: Site) -> None:
    site.pages |= {
        "/page": redirect("/two", 301),
        "/two": redirect(site.url("/dir/three"), 307),
        "/dir/three": redirect("four?x=y z#part", 308),
        "/dir/four?x=y%20z": ok(b"here"),
    }
    async with fetching(site) as fetcher:
        page = await fetcher.fetch(site.url("/page"))
    assert (page.asked, page.url, page.body) == (site.url("/page"), site.url("/dir/four?x=y%20z"), b"here")


@pytest.mark.parametrize(
    "location",
    [
        "http://127.0.0.1/",
        "http://127.0.0.1:22/",
        "http://169.254.169.254/latest/meta-data/",
        "//localhost/",
        "http://2130706433/",
        "http://[::1]/",
        "http://[::1",
        "ftp://example.org/",
        "file:///etc/passwd",
        "http://me@example.org/",
        "http://example.org:6379/",
        "http://exam\tple.org/",
        "\\\\127.0.0.1/",
        "/\\127.0.0.1/",
        "http://inner.example.org/",
    ],
)
async def test_a_redirect_to_what_is_not_read_goes_nowhere(site: Site, sockets: Sockets, location: str) -> None:
    sockets.web[PUBLIC] = site.port
    site.pages["/"] = redirect(location)
    names = Names(example_org=[[PUBLIC]], inner_example_org=[["10.0.0.1"]])
    async with fetching(resolver=names) as fetcher:
        error = await refused(fetcher, "http://example.org/")
    assert "127.0.0.1" not in str(error)
    assert sockets.attempts == [(PUBLIC, 80)]
    assert site.paths == ["/"]


async def test_a_stranger_may_not_lead_to_the_users_own_hosts(site: Site, sockets: Sockets) -> None:
    sockets.web[PUBLIC] = site.port
    site.pages["/"] = redirect(site.url("/delete?all=yes"))
    async with fetching(site, resolver=Names(example_org=[[PUBLIC]])) as fetcher:
        error = await refused(fetcher, "http://example.org/")
    assert str(error) == "example.org sends readers on to an address that may not be read."
    assert site.paths == ["/"]


async def test_a_circle_of_redirects_is_noticed_at_once(site: Site) -> None:
    site.pages["/two"] = redirect("/page")
    failed = await failure(site, redirect("/two"))
    assert (failed.failure, str(failed)) == (WebFailure.REDIRECTS, "The server sends readers in a circle.")
    assert site.paths == ["/page", "/two"]


async def test_five_redirects_are_followed_and_no_more(site: Site) -> None:
    site.pages |= {f"/{number}": redirect(f"/{number + 1}") for number in range(1, 9)}
    failed = await failure(site, redirect("/1"))
    assert (failed.failure, str(failed)) == (WebFailure.REDIRECTS, "The server sends readers on too many times.")
    assert site.paths == ["/page", "/1", "/2", "/3", "/4", "/5"]
    site.pages["/5"] = ok(b"just so")
    assert (await fetched(site, redirect("/1"))).body == b"just so"


async def test_a_page_that_many_links_lead_to_is_asked_for_once(site: Site) -> None:
    site.pages |= {"/1": redirect("/page"), "/2": redirect("/1"), "/page": ok(b"here")}
    async with fetching(site) as fetcher:
        together = await asyncio.gather(*(fetcher.fetch(site.url(path)) for path in ("/1", "/2", "/page")))
        later = await fetcher.fetch(site.url("/page#part"))
    assert {(page.url, page.body, page.fetched_at) for page in [*together, later]} == {
        (site.url("/page"), b"here", START)
    }
    assert sorted(site.paths) == ["/1", "/2", "/page"]


async def test_what_was_had_keeps_the_time_at_which_it_was_had(site: Site) -> None:
    times = iter(START + timedelta(minutes=minute) for minute in range(9))
    site.pages["/page"] = ok(b"here")
    async with Fetcher(lambda: next(times), own_hosts=allow_list([site.netloc]), honours_robots=False) as fetcher:
        first, again = [await fetcher.fetch(site.url("/page")) for _ in range(2)]
    assert first.fetched_at == again.fetched_at == START


async def test_what_takes_too_much_room_is_asked_for_again(site: Site) -> None:
    site.pages |= {f"/{number}": ok(b"x" * 400) for number in range(3)}
    async with fetching(site, limits=FetchLimits(kept_bytes=1000)) as fetcher:
        for path in ("/0", "/1", "/2", "/2", "/1", "/0"):
            assert len((await fetcher.fetch(site.url(path))).body) == 400
    assert site.paths == ["/0", "/1", "/2", "/0"]


async def test_a_page_that_failed_is_asked_for_again(site: Site) -> None:
    site.pages["/page"] = status(503)
    async with fetching(site) as fetcher:
        with pytest.raises(FetchFailed):
            await fetcher.fetch(site.url("/page"))
        site.pages["/page"] = ok(b"there")
        assert (await fetcher.fetch(site.url("/page"))).body == b"there"


async def test_who_waits_for_a_page_asks_itself_when_the_first_is_cut_off(site: Site) -> None:
    arrived = asyncio.Event()

    async def hang(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        arrived.set()
        await _nothing(reader, writer)

    site.pages["/page"] = hang
    async with fetching(site) as fetcher:
        first, second = [asyncio.create_task(fetcher.fetch(site.url("/page"))) for _ in range(2)]
        await happens(arrived)
        site.pages["/page"] = ok(b"there")
        first.cancel()
        assert (await second).body == b"there"
    assert first.cancelled()


async def test_a_redirect_to_nowhere_is_a_status(site: Site) -> None:
    assert (await failure(site, status(302))).status == 302


# Limits


SMALL = FetchLimits(seconds=30, wire_bytes=400_000, body_bytes=1_000_000)


def zipped(data: bytes) -> bytes:
    """Without the time of day: what is packed becomes the name of a test, on which all workers must agree."""
    return gzip.compress(data, mtime=0)


def gzip_bomb(unpacked: int) -> bytes:
    packer = zlib.compressobj(9, wbits=31)
    return b"".join(packer.compress(bytes(1_000_000)) for _ in range(unpacked // 1_000_000)) + packer.flush()


@pytest.mark.parametrize(
    ("encoding", "packed"),
    [
        ("gzip", zipped(b"text " * 100_000)),
        ("x-gzip", zipped(b"text " * 100_000)),
        ("GZIP", zipped(b"text " * 50_000) + zipped(b"text " * 50_000)),
        ("gzip", zipped(b"text " * 100_000) + b"\0\0padding"),
        ("deflate", zlib.compress(b"text " * 100_000)),
        ("deflate", zlib.compress(b"text " * 100_000)[2:-4]),
        ("identity", b"text " * 100_000),
    ],
)
async def test_packed_pages_are_unpacked(site: Site, encoding: str, packed: bytes) -> None:
    page = await fetched(site, ok(packed, f"Content-Encoding: {encoding}"))
    assert page.body == b"text " * 100_000


def test_unpacking_does_not_depend_on_how_the_bytes_arrive() -> None:
    text = bytes(range(256)) * 5000
    for encoding, packed in (("gzip", zipped(text) * 2), ("deflate", zlib.compress(text) + b"rest")):
        for step in (1, 7, 1000, len(packed)):
            unpacking = Unpacking.of(encoding)
            parts = [packed[place : place + step] for place in range(0, len(packed), step)]
            out = b"".join(piece for part in parts for piece in unpacking.feed(part))
            unpacking.finish()
            assert out == (text * 2 if encoding == "gzip" else text)


def test_nothing_is_left_behind_in_a_full_piece() -> None:
    for more in range(0, 600, 7):
        text, unpacking = bytes(Unpacking.PIECE + more), Unpacking.of("deflate")
        assert b"".join(unpacking.feed(zlib.compress(text, wbits=-15))) == text
        unpacking.finish()


async def test_a_gzip_bomb_is_stopped_at_the_limit(site: Site) -> None:
    bomb = gzip_bomb(100_000_000)
    assert len(bomb) < SMALL.wire_bytes
    failed = await failure(site, ok(bomb, "Content-Encoding: gzip"), limits=SMALL)
    assert (failed.failure, str(failed)) == (WebFailure.TOO_LARGE, "The server sends more than is read of one page.")


@pytest.mark.parametrize(
    ("encoding", "body"),
    [
        ("gzip, gzip", zipped(zipped(b"text"))),
        ("br", b"text"),
        ("zstd", b"text"),
        ("gzip", b"not packed at all"),
        ("gzip", zipped(b"text" * 1000)[:-12]),
        ("deflate", zlib.compress(b"text" * 1000)[:-12]),
        ("gzip", zipped(b"") * 101),
    ],
)
async def test_what_cannot_be_unpacked_is_a_failure(site: Site, encoding: str, body: bytes) -> None:
    failed = await failure(site, ok(body, f"Content-Encoding: {encoding}"))
    assert failed.failure is WebFailure.GARBLED


def endless(head: bytes, again: bytes) -> Behaviour:
    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(head)
        while True:
            writer.write(again)
            await writer.drain()
            await asyncio.sleep(0)

    return answer


OPEN_END = b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n"
CHUNKED = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"


@pytest.mark.parametrize(
    "answer",
    [
        endless(OPEN_END, b"x" * 10_000),
        endless(CHUNKED, b"2710\r\n" + b"x" * 10_000 + b"\r\n"),
        endless(CHUNKED, b"1;" + b"extension" * 500 + b"\r\nx\r\n"),
        endless(b"", b"HTTP/1.1 100 Continue\r\n\r\n" * 200),
        ok(b"x" * 500_000),
        b"HTTP/1.1 200 OK\r\nContent-Length: 99999999999\r\n\r\n",
    ],
    ids=["open end", "chunks", "extensions", "continue", "large", "announced"],
)
async def test_an_endless_answer_is_stopped_at_the_limit(site: Site, answer: Answer) -> None:
    assert (await failure(site, answer, limits=SMALL)).failure is WebFailure.TOO_LARGE
    await happens(site.ended)


async def test_giant_headers_are_not_read(site: Site) -> None:
    failed = await failure(site, endless(b"HTTP/1.1 200 OK\r\n", b"X-Filler: " + b"x" * 8000 + b"\r\n"))
    assert failed.failure is WebFailure.GARBLED
    await happens(site.ended)


async def _nothing(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    await reader.read()  # until the client is gone
    raise ConnectionResetError


async def _half(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\nhalf")
    await _nothing(reader, writer)


@pytest.mark.parametrize(
    "answer",
    [_nothing, _half, endless(OPEN_END, b"x"), endless(b"HTTP/1.1 200 OK\r\nX-Slow: ", b"x")],
    ids=["hang", "hang in body", "drip", "drip in headers"],
)
async def test_an_answer_that_takes_too_long_is_a_timeout(site: Site, answer: Answer) -> None:
    failed = await failure(site, answer, limits=FetchLimits(seconds=0.2), ssl_context=BARE_TLS)
    assert failed.failure is WebFailure.TIMEOUT
    assert str(failed) == "The server could not be read within 0.2 seconds."
    assert failed.final  # nobody waits for it once more
    await happens(site.ended)


async def test_a_name_server_that_hangs_is_a_timeout() -> None:
    async def hangs(host: str, port: int) -> Sequence[str]:
        await asyncio.Event().wait()
        return []

    async with fetching(resolver=hangs, limits=FetchLimits(seconds=0.05)) as fetcher:
        with pytest.raises(FetchFailed) as caught:
            await fetcher.fetch("http://example.org/")
    assert caught.value.failure is WebFailure.TIMEOUT


def then_closes(data: bytes) -> Behaviour:
    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(data)
        await writer.drain()
        raise ConnectionResetError

    return answer


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\x16\x03\x01\x00\xff\x00",
        b"HTTP/1.1 twohundred OK\r\n\r\n",
        b"ICY 200 OK\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\nshort",
        b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nhello",
        b"HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n",
        CHUNKED + b"zz\r\nhello\r\n",
        CHUNKED + b"5\r\nhello\r\n",
        b"HTTP/1.1 101 Switching Protocols\r\n\r\n",
    ],
)
async def test_malformed_answers_are_failures(site: Site, data: bytes) -> None:
    failed = await failure(site, then_closes(data))
    assert failed.failure in (WebFailure.GARBLED, WebFailure.NETWORK, WebFailure.STATUS)


async def test_more_than_was_announced_is_left_alone(site: Site) -> None:
    page = await fetched(site, then_closes(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello and more"))
    assert page.body == b"hello"


# Cancelling, and many at once


async def _cancelled(fetcher: Fetcher, url: str, arrived: asyncio.Event) -> None:
    asking = asyncio.create_task(fetcher.fetch(url))
    await happens(arrived)
    asking.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asking


@pytest.mark.parametrize("begun", [b"", b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\nhalf"])
async def test_cancelling_closes_the_connection(site: Site, begun: bytes) -> None:
    arrived = asyncio.Event()

    async def hang(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(begun)
        await writer.drain()
        arrived.set()
        await _nothing(reader, writer)

    site.pages |= {"/hang": hang, "/fine": ok(b"fine")}
    async with fetching(site, limits=FetchLimits(at_once=1, at_once_per_host=1)) as fetcher:
        await _cancelled(fetcher, site.url("/hang"), arrived)
        await happens(site.ended)
        assert (await fetcher.fetch(site.url("/fine"))).body == b"fine"  # and its place is free again


async def test_cancelling_in_a_handshake_closes_the_connection() -> None:
    arrived, ended = asyncio.Event(), asyncio.Event()

    async def silent(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readexactly(1)
        arrived.set()
        await reader.read()
        writer.close()
        ended.set()

    server = await asyncio.start_server(silent, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    async with fetching(own_hosts=allow_list([f"127.0.0.1:{port}"])) as fetcher:
        await _cancelled(fetcher, f"https://127.0.0.1:{port}/", arrived)
        await happens(ended)
    server.close()
    await server.wait_closed()


async def test_only_so_many_pages_of_a_host_are_had_at_once(site: Site) -> None:
    running = most = 0
    full = asyncio.Event()

    async def counted(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal running, most
        running += 1
        most = max(most, running)
        if running == 2:
            full.set()
        await happens(full)
        for _ in range(20):  # whoever comes too many has time to come
            await asyncio.sleep(0)
        writer.write(ok(b"done"))
        running -= 1

    site.pages |= {f"/{number}": counted for number in range(10)}
    async with fetching(site, limits=FetchLimits(at_once_per_host=2)) as fetcher:
        pages = await asyncio.gather(*(fetcher.fetch(site.url(f"/{number}")) for number in range(10)))
    assert [page.body for page in pages] == [b"done"] * 10
    assert most == 2


async def test_only_so_many_pages_are_had_at_once_in_all(site: Site, sockets: Sockets) -> None:
    running = most = 0

    async def counted(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal running, most
        running += 1
        most = max(most, running)
        await asyncio.sleep(0)
        running -= 1
        writer.write(ok(b"done"))

    sockets.web[PUBLIC] = site.port
    site.pages["/"] = counted
    names = Names(**{f"n{number}_example_org": [[PUBLIC]] for number in range(12)})
    async with fetching(resolver=names, limits=FetchLimits(at_once=3)) as fetcher:
        await asyncio.gather(*(fetcher.fetch(f"http://n{number}.example.org/") for number in range(12)))
    assert most <= 3
    assert len(site.requests) == 12


# TLS


@dataclass(frozen=True)
class Certificate:
    server: ssl.SSLContext
    client: ssl.SSLContext
    names_asked: list[str | None]


def certificate(folder: Path, name: str) -> Certificate:
    x509 = pytest.importorskip("cryptography.x509")
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec

    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, name)])
    today = datetime.now(START.tzinfo)
    made = (
        x509.CertificateBuilder(subject, subject, key.public_key(), x509.random_serial_number())
        .not_valid_before(today - timedelta(days=1))
        .not_valid_after(today + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(name)]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    private = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    public, both = made.public_bytes(serialization.Encoding.PEM), folder / f"{name}.pem"
    both.write_bytes(private + public)
    server, asked = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER), list[str | None]()
    server.load_cert_chain(both)
    server.sni_callback = lambda _socket, name, _context: asked.append(name)
    return Certificate(server, ssl.create_default_context(cadata=public.decode()), asked)


async def test_tls_is_checked_by_the_name_while_the_checked_address_is_dialled(
    tmp_path: Path, sockets: Sockets
) -> None:
    papers = certificate(tmp_path, "example.org")
    async with serving(Site(pages={"/": ok(b"secure")}), papers.server) as site:
        sockets.web[PUBLIC] = site.port
        async with fetching(resolver=Names(example_org=[[PUBLIC]]), ssl_context=papers.client) as fetcher:
            assert (await fetcher.fetch("https://example.org/")).body == b"secure"
    assert papers.names_asked == ["example.org"]
    assert sockets.attempts == [(PUBLIC, 443)]


async def test_a_certificate_for_another_name_is_not_trusted(tmp_path: Path, sockets: Sockets) -> None:
    papers = certificate(tmp_path, "example.com")
    async with serving(Site(), papers.server) as site:
        sockets.web[PUBLIC] = site.port
        async with fetching(resolver=Names(example_org=[[PUBLIC]]), ssl_context=papers.client) as fetcher:
            with pytest.raises(FetchFailed, match=r"^example\.org has a certificate that cannot be trusted\.$"):
                await fetcher.fetch("https://example.org/")
        assert site.requests == []


async def test_a_redirect_from_https_to_http_is_followed_and_told(tmp_path: Path, sockets: Sockets) -> None:
    papers = certificate(tmp_path, "example.org")
    async with (
        serving(Site(pages={"/": redirect("http://example.com/")}), papers.server) as secure,
        serving(Site(pages={"/": ok(b"plain")})) as plain,
    ):
        sockets.web |= {PUBLIC: secure.port, OTHER_PUBLIC: plain.port}
        names = Names(example_org=[[PUBLIC]], example_com=[[OTHER_PUBLIC]])
        async with fetching(resolver=names, ssl_context=papers.client) as fetcher:
            assert (await fetcher.fetch("https://example.org/")).url == "http://example.com/"


# robots.txt, through the same door


FORBID = b"User-agent: *\nDisallow: /page\n"


async def test_a_page_that_the_site_keeps_from_readers_is_not_asked_for(site: Site) -> None:
    site.pages["/robots.txt"] = ok(FORBID)
    failed = await failure(site, ok(b"secret"), honours_robots=True)
    assert failed.failure is WebFailure.ROBOTS
    assert site.paths == ["/robots.txt"]


async def test_robots_can_be_left_unasked(site: Site) -> None:
    site.pages["/robots.txt"] = ok(FORBID)
    assert (await fetched(site, ok(b"page"), honours_robots=False)).body == b"page"
    assert site.paths == ["/page"]


async def test_rules_are_asked_for_once_and_the_page_follows_on_the_same_connection(site: Site) -> None:
    site.pages |= {"/robots.txt": ok(FORBID), "/1": ok(b"1"), "/2": ok(b"2")}
    async with fetching(site, honours_robots=True) as fetcher:
        await fetcher.fetch(site.url("/1"))
        await fetcher.fetch(site.url("/2"))
    assert site.paths == ["/robots.txt", "/1", "/2"]
    assert site.connections == 1


@pytest.mark.parametrize("answer", [status(404), status(403), ok(b""), redirect("/robots.txt")])
async def test_a_site_without_rules_is_read(site: Site, answer: Answer) -> None:
    site.pages["/robots.txt"] = answer
    assert (await fetched(site, ok(b"page"), honours_robots=True)).body == b"page"


@pytest.mark.parametrize(
    "answer",
    [status(500), status(503), status(429), _nothing, then_closes(b"?")],
    ids=["500", "503", "429", "hang", "garbled"],
)
async def test_a_site_that_does_not_tell_its_rules_is_not_read(site: Site, answer: Answer) -> None:
    site.pages["/robots.txt"] = answer
    limits = FetchLimits(robots_seconds=0.2)
    failed = await failure(site, ok(b"page"), honours_robots=True, limits=limits, ssl_context=BARE_TLS)
    assert failed.failure is WebFailure.ROBOTS
    assert set(site.paths) == {"/robots.txt"}


async def test_rules_behind_a_redirect_inside_are_not_asked_for(site: Site, sockets: Sockets) -> None:
    site.pages["/robots.txt"] = redirect("http://127.0.0.1:1/")
    async with fetching(site, honours_robots=True) as fetcher:
        await refused(fetcher, site.url("/page"))
    assert sockets.attempts == [("127.0.0.1", site.port)]


async def test_a_site_that_cannot_be_reached_is_not_blamed_for_its_rules(sockets: Sockets) -> None:
    names = Names(inner_example_org=[["10.0.0.1"]])
    async with fetching(resolver=names, honours_robots=True) as fetcher:
        assert (await refused(fetcher, "http://inner.example.org/")).because is Refusal.INSIDE
        with pytest.raises(FetchFailed, match=r"^example\.org could not be reached\.$"):
            await fetcher.fetch("http://example.org/")
    assert sockets.attempts == []


async def test_rules_without_end_are_cut_off(site: Site) -> None:
    site.pages["/robots.txt"] = endless(OPEN_END, FORBID + b"#" * 10_000 + b"\n")
    assert (await failure(site, ok(b"page"), honours_robots=True)).failure is WebFailure.ROBOTS


async def test_rules_may_lie_behind_a_redirect(site: Site) -> None:
    site.pages |= {"/robots.txt": redirect("/rules"), "/rules": ok(FORBID)}
    assert (await failure(site, ok(b"page"), honours_robots=True)).failure is WebFailure.ROBOTS


async def test_every_hop_of_a_redirect_keeps_to_the_rules(site: Site) -> None:
    site.pages |= {"/robots.txt": ok(FORBID), "/start": redirect("/page"), "/page": ok(b"secret")}
    async with fetching(site, honours_robots=True) as fetcher:
        with pytest.raises(FetchFailed) as caught:
            await fetcher.fetch(site.url("/start"))
    assert caught.value.failure is WebFailure.ROBOTS
    assert site.paths == ["/robots.txt", "/start"]


async def test_closing_ends_the_asking_for_rules(site: Site) -> None:
    arrived = asyncio.Event()

    async def hang(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        arrived.set()
        await _nothing(reader, writer)

    site.pages["/robots.txt"] = hang
    async with fetching(site, honours_robots=True) as fetcher:
        await _cancelled(fetcher, site.url("/page"), arrived)
    await happens(site.ended)


async def test_failures_are_unreadable_pages(site: Site) -> None:
    assert isinstance(await failure(site, status(404)), Unreadable)

"""A small web on loopback: pages, their rules for programs, two searches over them, and a listener nobody may visit."""

import asyncio
import socket
from collections.abc import Callable, Mapping, Sequence
from types import TracebackType
from typing import Any, Self

from deepwell.configuration import Configuration
from deepwell.testing.web.faults import Fault, FaultPlan
from deepwell.testing.web.loopback import Loopback
from deepwell.testing.web.pages import Page, as_page
from deepwell.testing.web.searching import KEY, Engine
from deepwell.testing.web.service import Ports, Service, Site
from deepwell.testing.web.small_web import small_web
from deepwell.testing.web.visits import Kind, Visit, VisitLog

_BACKLOG = 256
_HOME = "127.0.0.1"


class WebServer:
    """A small web on a loopback port, for as long as the `with` block lasts.

    Works in sync and async code alike. An error inside the server ends the connection and is raised again when the
    server closes.
    """

    def __init__(
        self,
        pages: Mapping[str, Page | str | bytes] | None = None,
        *,
        robots: str | None = None,
        search_latency_s: float = 0.0,
        page_latency_s: float = 0.0,
        faults: Sequence[Fault] = (),
        on_visit: Callable[[Visit], None] | None = None,
    ) -> None:
        """`pages` from path to page, or to its markup; without them, `small_web()`. `robots` is a robots.txt.

        `on_visit` is told of every request as it comes in, in the server's thread, before anything is answered.
        """
        self._log = VisitLog()
        self._faults = FaultPlan(faults)
        self.pages = {path: as_page(page, path) for path, page in (pages or small_web()).items()}
        site = Site(self.pages, robots, search_latency_s, page_latency_s, self._faults)
        self._service = Service(site, self._log, lambda: self.ports, on_visit)
        self._ports: Ports | None = None
        self._dead: socket.socket | None = None
        self._loopback: Loopback | None = None
        self._trespasses: list[bytes] = []

    def __enter__(self) -> Self:
        first = socket.create_server((_HOME, 0), backlog=_BACKLOG)
        port = first.getsockname()[1]
        others = [socket.create_server((host, port), backlog=_BACKLOG) for host in sorted(self._hosts() - {_HOME})]
        private = socket.create_server((_HOME, 0))
        # Bound and not listening: the port is ours, and whoever calls there is turned away.
        self._dead = socket.socket()
        self._dead.bind((_HOME, 0))
        self._ports = Ports(port, self._dead.getsockname()[1], private.getsockname()[1])
        listening = [(one, self._service.converse) for one in (first, *others)]
        self._loopback = Loopback([*listening, (private, self._trespassed)], "web-server")
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
        if error is None and self._loopback and self._loopback.errors:
            raise self._loopback.errors[0]

    def close(self) -> None:
        """End every connection, hanging ones too, and the thread. The log stays."""
        if self._loopback and self._dead:
            self._loopback.close()
            self._dead.close()

    @property
    def ports(self) -> Ports:
        """Where things are. The server must have been entered."""
        if self._ports is None:
            raise RuntimeError("The server runs only inside its with block.")
        return self._ports

    def address(self, path: str = "") -> str:
        """The address of a page."""
        host = self.pages[path].host if path in self.pages else _HOME
        return f"http://{host}:{self.ports.open}{path}"

    def search_address(self, engine: Engine) -> str:
        """Where the search in the shape of this engine is; nobody listens there under the fault `refused`."""
        is_dead = self._faults.is_elsewhere("refused", "search", engine=engine)
        return f"http://{_HOME}:{self.ports.dead if is_dead else self.ports.open}/{engine}"

    @property
    def own_hosts(self) -> str:
        """The hosts that a run has to allow, as the setting of that name takes them."""
        names = sorted({_HOME, *(page.host for page in self.pages.values())})
        return ",".join(f"{name}:{port}" for name in names for port in (self.ports.open, self.ports.dead))

    def environment(self, *engines: Engine) -> dict[str, str]:
        """The variables that point a run at this web, with these engines in this order; without any, at SearXNG."""
        return {
            "SEARCH_PROVIDER": ",".join(engines or ("searxng",)),
            "DEEPWELL_OWN_HOSTS": self.own_hosts,
            "SEARXNG_URL": self.search_address("searxng"),
            "TAVILY_BASE_URL": self.search_address("tavily"),
            "TAVILY_API_KEY": KEY,
        }

    def settings(self, *engines: Engine, **more: Any) -> Configuration:
        """The same as a configuration; the addresses and the key of the engines still come from the environment."""
        return Configuration.build(self.environment(*engines), **more)

    @property
    def log(self) -> tuple[Visit, ...]:
        """Every request, in order of arrival, whether it is over or not."""
        return self._log.all()

    def asked(self, kind: Kind) -> list[str]:
        """The words of all searches, or the paths of all pages, in order of arrival."""
        return [visit.what for visit in self.log if visit.kind == kind]

    @property
    def trespasses(self) -> tuple[bytes, ...]:
        """What was said to the listener that nobody may visit; one entry a connection."""
        return tuple(self._trespasses)

    def wait_for_requests(self, count: int, timeout_s: float = 5.0) -> None:
        """Return when so many requests have come in, answered or not. Raises TimeoutError."""
        self._log.wait_for(count, timeout_s)

    def _hosts(self) -> set[str]:
        """The addresses to listen at; `localhost` is home."""
        return {_HOME if page.host == "localhost" else page.host for page in self.pages.values()}

    async def _trespassed(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        place = len(self._trespasses)
        self._trespasses.append(b"")
        self._trespasses[place] = await reader.read(1000)

"""What a small web does with a request: finds the page or searches, lets the faults strike, keeps the visit."""

import asyncio
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from deepwell.testing.web import searching
from deepwell.testing.web.faults import EFFECTS, REBOUND, Fault, FaultPlan, Struck
from deepwell.testing.web.pages import Page
from deepwell.testing.web.searching import Listed
from deepwell.testing.web.visits import Kind, Visit, VisitLog
from deepwell.testing.web.wire import Answer, HttpRequest, Whole, read_request, send

_NOTHING = Whole(404, b"There is nothing here.", "text/plain")


@dataclass(frozen=True, slots=True)
class Site:
    """How the server is set up."""

    pages: Mapping[str, Page]
    robots: str | None
    search_latency_s: float
    page_latency_s: float
    faults: FaultPlan


@dataclass(frozen=True, slots=True)
class Ports:
    """Where things are, once the server runs."""

    open: int
    """The server itself."""
    dead: int
    """Nobody listens there."""
    private: int
    """Somebody listens whom nobody may visit."""


class Service:
    """Answers requests until the connection ends."""

    def __init__(
        self, site: Site, log: VisitLog, ports: Callable[[], Ports], on_visit: Callable[[Visit], None] | None = None
    ) -> None:
        self._site = site
        self._on_visit = on_visit
        self._log = log
        self._ports = ports

    async def converse(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer every request on this connection."""
        goes_on = True
        while goes_on and (request := await read_request(reader)):
            goes_on = await self._answered(request, reader, writer)
            goes_on = goes_on and request.headers.get("connection", "").lower() != "close"

    async def _answered(self, request: HttpRequest, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        visit, fault = self._taken_in(request)
        status = 0
        try:
            is_search = visit.kind == "search"
            await asyncio.sleep(self._site.search_latency_s if is_search else self._site.page_latency_s)
            answer = self._answer(request, visit, fault)
            status = answer.status
            return await send(answer, reader, writer)
        finally:
            self._log.end(replace(visit, ended=time.monotonic(), status=status))

    def _taken_in(self, request: HttpRequest) -> tuple[Visit, Fault | None]:
        kind, engine = _kind_of(request), searching.engine_of(request) or ""
        fault = self._site.faults.strike(kind, request.path, engine)
        what = searching.query_of(request) if kind == "search" else request.target
        visit = Visit(0, kind, what, request.host, engine, time.monotonic(), fault.name if fault else None)
        visit = self._log.arrive(visit)
        if self._on_visit:
            self._on_visit(visit)
        return visit, fault

    def _answer(self, request: HttpRequest, visit: Visit, fault: Fault | None) -> Answer:
        good = self._good(request, visit)
        if fault is None:
            return good
        private = f"http://127.0.0.1:{self._ports().private}/"
        return EFFECTS[fault.name].answer(Struck(fault, visit, good, request.target, private))

    def _good(self, request: HttpRequest, visit: Visit) -> Whole:
        if visit.kind == "search":
            listed = searching.found(visit.what, self._site.pages)
            addresses = [self._address(one) for one in listed]
            return searching.refusal(request) or searching.answer(request, listed, addresses)
        # A name that is looked up only once cannot change its answer.
        closes = request.host == REBOUND
        if visit.kind == "robots":
            return replace(_rules(self._site.robots), closes=closes)
        page = self._site.pages.get(request.path)
        return replace(Whole(200, page.body, page.content_type) if page else _NOTHING, closes=closes)

    def _address(self, listed: Listed) -> str:
        path, ports = listed.target.partition("?")[0], self._ports()
        if self._site.faults.is_elsewhere("dns_rebinding", "page", path):
            return f"http://{REBOUND}{listed.target}"
        is_dead = self._site.faults.is_elsewhere("refused", "page", path)
        return f"http://{listed.page.host}:{ports.dead if is_dead else ports.open}{listed.target}"


def _kind_of(request: HttpRequest) -> Kind:
    if searching.engine_of(request):
        return "search"
    return "robots" if request.path == "/robots.txt" else "page"


def _rules(robots: str | None) -> Whole:
    return _NOTHING if robots is None else Whole(200, robots.encode(), "text/plain; charset=utf-8")

"""Whole runs over a small web on loopback in which searches, pages or rules fail in every way there is a name for."""

import os
import socket
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from deepwell import api
from deepwell.testing.web import FACTS, FAULTS, QUESTION, REBOUND, Fault, RebindingResolver, Visit, WebServer
from deepwell.testing.web.faults import EFFECTS
from deepwell.vocabulary.report import NotFound, Report

SEARCH, PAGE, ROBOTS = frozenset({"search"}), frozenset({"page"}), frozenset({"robots"})
HARMLESS = {"wrong_content_type", "wrong_charset"}
"""Pages are told by their bytes: these are read all the same."""
SOME = frozenset({"/guide/overview", "/news/agency", "/history/founding"})
"""Pages that the run would read among its first."""
TRIES = 3
PUBLIC = "93.184.215.14"
QUICK = {"max_execution_time_s": 5, "fetch_timeout_s": 1}

SEARCH_FAULTS = sorted(name for name in FAULTS if "search" in EFFECTS[name].kinds)
PAGE_FAULTS = sorted(name for name in FAULTS if "page" in EFFECTS[name].kinds and name != "dns_rebinding")
ROBOTS_FAULTS = sorted(name for name in FAULTS if "robots" in EFFECTS[name].kinds)


@dataclass
class Dialled:
    """Every address that somebody tried to connect to; a public one is led to a port on loopback, no other goes out."""

    addresses: list[tuple[Any, ...]] = field(default_factory=list)
    web_port: int = 0

    def way(self, address: Any) -> Any:
        if not isinstance(address, tuple):
            return address
        self.addresses.append(address[:2])
        return ("127.0.0.1", self.web_port) if address[0] == PUBLIC else address


@pytest.fixture(autouse=True)
def dialled(monkeypatch: pytest.MonkeyPatch) -> Dialled:
    seen, connect = Dialled(), socket.socket.connect
    monkeypatch.setattr(socket.socket, "connect", lambda sock, address: connect(sock, seen.way(address)))
    return seen


@contextmanager
def a_web(monkeypatch: pytest.MonkeyPatch, *faults: Fault, engines: tuple[Any, ...] = ()) -> Iterator[WebServer]:
    with WebServer(faults=faults) as web:
        for name, value in web.environment(*engines).items():
            monkeypatch.setenv(name, value)
        yield web


async def run(
    web: WebServer, home: Path, dialled: Dialled, *engines: Any, question: str = QUESTION, **settings: Any
) -> api.Run:
    """A run that ended as every run must end."""
    configuration = web.settings(*engines, **{**QUICK, **settings})
    done = await api.research(api.request(question, [], configuration, home=home))
    assert isinstance(done.outcome, Report | NotFound)
    assert not web.trespasses
    assert {address for address, _ in dialled.addresses} <= {"127.0.0.1", PUBLIC}
    assert {port for _, port in dialled.addresses} <= {web.ports.open, web.ports.dead, 80}
    _asked_once(web.log)
    _cites_what_was_read(done, web)
    return done


def _asked_once(log: tuple[Visit, ...]) -> None:
    """What was answered is never asked for again; what failed, a few times at most."""
    answered = Counter((visit.kind, visit.host, visit.what) for visit in log if not visit.fault)
    assert max(answered.values(), default=1) == 1, answered.most_common(3)
    failed = Counter((visit.kind, visit.engine, visit.host, visit.what) for visit in log if visit.fault)
    assert max(failed.values(), default=1) <= TRIES, failed.most_common(3)


def _cites_what_was_read(done: api.Run, web: WebServer) -> None:
    if isinstance(done.outcome, Report):
        read = {visit.what for visit in web.log if visit.kind == "page" and visit.fault in {None, *HARMLESS}}
        assert done.outcome.sources
        assert all(any(source.address.endswith(what) for what in read) for source in done.outcome.sources)


# Without a fault


async def test_the_small_web_answers_its_question(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, dialled: Dialled
) -> None:
    with a_web(monkeypatch) as web:
        done = await run(web, tmp_path, dialled)
    assert isinstance(done.outcome, Report), done.markdown
    for name in ("founder", "tower", "staff"):
        assert FACTS[name].answer in done.markdown
    assert not [visit for visit in web.log if "utm_" in visit.what or "clid" in visit.what], "a page is read once"


async def test_units_share_what_they_read(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, dialled: Dialled) -> None:
    question = "Who founded the Kelsmouth Tide Observatory? How high is its tower? Who made the tide clock?"
    with a_web(monkeypatch) as web:
        done = await run(web, tmp_path, dialled, question=question)
    assert len(done.record.lanes) > 1
    assert FACTS["clock"].answer in done.markdown


# Searches


@pytest.mark.parametrize("name", SEARCH_FAULTS)
async def test_when_the_only_search_fails(
    name: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, dialled: Dialled
) -> None:
    with a_web(monkeypatch, Fault(name, kinds=SEARCH)) as web:
        done = await run(web, tmp_path, dialled)
    if name == "wrong_content_type":
        assert isinstance(done.outcome, Report), done.markdown
        return
    assert isinstance(done.outcome, NotFound), done.markdown
    assert not web.asked("page")
    if name != "no_results":
        assert "SearXNG" in done.markdown, "the user is told who did not answer"


@pytest.mark.parametrize("name", sorted(set(SEARCH_FAULTS) - {"no_results", "wrong_content_type"}))
async def test_when_one_of_two_searches_fails_the_other_answers(
    name: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, dialled: Dialled
) -> None:
    engines = ("searxng", "tavily")
    with a_web(monkeypatch, Fault(name, kinds=SEARCH, engine="searxng"), engines=engines) as web:
        done = await run(web, tmp_path, dialled, *engines, max_execution_time_s=20)
    assert isinstance(done.outcome, Report), done.markdown
    assert "Ida Marrow" in done.markdown
    assert "SearXNG was not asked any further." in done.markdown
    assert [visit.engine for visit in web.log if visit.kind == "search" and not visit.fault].count("tavily") > 1


async def test_a_search_that_finds_nothing_has_answered(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, dialled: Dialled
) -> None:
    engines = ("searxng", "tavily")
    with a_web(monkeypatch, Fault("no_results", engine="searxng"), engines=engines) as web:
        done = await run(web, tmp_path, dialled, *engines)
    assert isinstance(done.outcome, NotFound)
    assert {visit.engine for visit in web.log} == {"searxng"}
    assert "not asked any further" not in done.markdown


@pytest.mark.parametrize("name", ["500", "429", "malformed", "empty"])
async def test_a_search_that_fails_at_first_costs_nothing(
    name: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, dialled: Dialled
) -> None:
    with a_web(monkeypatch, Fault(name, kinds=SEARCH, first=1)) as web:
        done = await run(web, tmp_path, dialled)
    assert isinstance(done.outcome, Report), done.markdown
    assert "not asked any further" not in done.markdown


async def test_dead_searches_are_exit_code_three(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    command = [sys.executable, "-c", "from deepwell.cli import main; main()", QUESTION, "--quiet"]
    with a_web(monkeypatch, Fault("refused", kinds=SEARCH), engines=("searxng", "tavily")):
        env = {**os.environ, "DEEPWELL_HOME": str(tmp_path)}
        ended = subprocess.run(command, env=env, capture_output=True, text=True, check=False, timeout=60)
    assert ended.returncode == 3, ended.stderr
    assert "Traceback" not in ended.stderr
    assert "could not be reached" in ended.stdout + ended.stderr


# Pages


@pytest.mark.parametrize("name", PAGE_FAULTS)
async def test_pages_that_fail_are_left_out(
    name: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, dialled: Dialled
) -> None:
    with a_web(monkeypatch, Fault(name, kinds=PAGE, paths=SOME)) as web:
        done = await run(web, tmp_path, dialled, max_execution_time_s=20)
    assert isinstance(done.outcome, Report), done.markdown
    cited = {source.address.rpartition(f":{web.ports.open}")[2] for source in done.outcome.sources}
    assert name in HARMLESS or not cited & SOME
    if name != "refused":
        struck = {visit.what for visit in web.log if visit.fault}
        assert struck & SOME, "the fault struck at all"
        unread = {address.rpartition(f":{web.ports.open}")[2] for address in done.record.unread}
        assert unread == (set() if name in HARMLESS else struck)


@pytest.mark.parametrize("name", PAGE_FAULTS)
async def test_when_no_page_can_be_read_nothing_is_made_up(
    name: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, dialled: Dialled
) -> None:
    with a_web(monkeypatch, Fault(name, kinds=PAGE)) as web:
        done = await run(web, tmp_path, dialled, max_retry_attempts=1)
    assert isinstance(done.outcome, Report if name in HARMLESS else NotFound), done.markdown
    assert name in HARMLESS or "Ida Marrow" not in done.markdown


async def test_a_page_in_the_wrong_charset_is_read_as_it_was_meant(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, dialled: Dialled
) -> None:
    with a_web(monkeypatch, Fault("wrong_charset", kinds=PAGE)) as web:
        done = await run(web, tmp_path, dialled)
    assert "\ufffd" not in done.markdown
    assert FACTS["founder"].answer in done.markdown


@pytest.mark.parametrize("name", ROBOTS_FAULTS)
async def test_when_the_rules_of_sites_fail(
    name: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, dialled: Dialled
) -> None:
    with a_web(monkeypatch, Fault(name, kinds=ROBOTS)) as web:
        done = await run(web, tmp_path, dialled, max_retry_attempts=1)
    read = isinstance(done.outcome, Report)
    # RFC 9309: no rules, or rules behind a circle, allow everything; rules that are not told allow nothing.
    assert read == (name in {"empty", "redirect_loop", "endless_body", "gzip_bomb"})
    assert read == bool(web.asked("page"))


async def test_a_name_that_changes_its_answer_leads_nowhere(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, dialled: Dialled
) -> None:
    resolver = RebindingResolver([PUBLIC], ["127.0.0.1"])
    monkeypatch.setattr("deepwell.reading.fetching.resolve", resolver)
    with a_web(monkeypatch, Fault("dns_rebinding")) as web:
        dialled.web_port = web.ports.open
        done = await run(web, tmp_path, dialled)
    assert isinstance(done.outcome, NotFound)
    assert (REBOUND, 80) in resolver.asked
    assert web.asked("robots") == ["/robots.txt"], "the first answer was good"
    assert not web.asked("page")
    assert ("127.0.0.1", 80) not in dialled.addresses


# Addresses that lead inside: nothing is sent, not even a question for the name

INSIDE = (
    "http://127.0.0.1/",
    "http://127.1:80/",
    "http://0177.0.0.1/",
    "http://0x7f000001/",
    "http://2130706433/",
    "http://0/",
    "http://[::1]/",
    "http://[::]/",
    "http://[::ffff:7f00:1]/",
    "http://[64:ff9b::7f00:1]/",
    "http://10.0.0.1/",
    "http://172.16.0.1/",
    "http://192.168.1.1/",
    "http://100.64.0.1/",
    "http://169.254.169.254/latest/meta-data/",
    "http://[fd00:ec2::254]/",
    "http://[fe80::1]/",
    "http://224.0.0.1/",
    "http://255.255.255.255/",
    "http://localhost/",
    "http://localhost.:80/",
    "http://a.localhost/",
    "http://printer.local/",
    "http://metadata.google.internal/",
    "http://user:word@example.org/",
    "http://example.org:22/",
    "http://example.org\\@127.0.0.1/",
    "http://①②⑦.0.0.1/",
    "gopher://127.0.0.1/",
    "file:///etc/passwd",
)
WATCHED = """
import asyncio, os, sys
def watch(event, arguments):
    if event in ("socket.connect", "socket.getaddrinfo", "socket.gethostbyname", "socket.sendto", "socket.sendmsg"):
        os.write(2, f"{event} {arguments}".encode())
        os._exit(99)
from deepwell.assemble import system_clock, web_reader
from deepwell.configuration import Configuration
from deepwell.errors import Unreadable
async def main():
    refused = 0
    async with web_reader(Configuration.build(), system_clock()) as reader:
        for address in sys.argv[1:]:
            try:
                await reader.read(address)
            except Unreadable:
                refused += 1
    print(refused)
sys.addaudithook(watch)
asyncio.run(main())
"""


def test_addresses_that_lead_inside_send_no_packet() -> None:
    command = [sys.executable, "-c", WATCHED, *INSIDE]
    ended = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    assert ended.returncode == 0, ended.stderr
    assert int(ended.stdout) == len(INSIDE)

"""Whole runs in which something outside never answers: there is a report, or an honest refusal, and it is in time."""

import asyncio
import sqlite3
import struct
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from deepwell import api
from deepwell.budget.clock import SystemClock
from deepwell.configuration import Configuration
from deepwell.library import engine, ingest
from deepwell.library.facts import LibraryFacts
from deepwell.models.capabilities import Capabilities, CapabilityCache
from deepwell.reading import workshop
from deepwell.store import runs
from deepwell.testing.model_server import Fault as ModelFault
from deepwell.testing.model_server import ModelServer
from deepwell.testing.web import Fault as WebFault
from deepwell.testing.web import WebServer
from deepwell.vocabulary.decision import StopReason
from deepwell.vocabulary.report import NotFound, Report

QUESTION = (
    "Who founded the supplier of the Falcon kettle, how many people does it employ, and how many kettles were sold?"
)
MODEL = "openai-compatible:colleague"
LIMIT_S = 6.0
LATE_S = 2.0
INVESTIGATING = frozenset({"investigate", "digest"})
WRITING = frozenset({"outline", "write_section"})
HANGING_CHILD = f"import sys, time; sys.stdout.buffer.write({struct.pack('>Q', 5) + b'ready'!r}); sys.stdout.flush()"


class JumpingClock(SystemClock):
    """The machine's clock after the machine has slept."""

    def __init__(self) -> None:
        self.slept = 0.0

    def monotonic(self) -> float:
        return super().monotonic() + self.slept


@pytest.fixture
def never() -> Iterator[Callable[..., Any]]:
    """A call that does not return while the test goes on."""
    over = threading.Event()
    yield lambda *_, **__: over.wait()
    over.set()


@pytest.fixture
def children(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[subprocess.Popen[bytes]]]:
    """Parsers that say they are ready, and then nothing more."""
    started: list[subprocess.Popen[bytes]] = []

    def start(bounds: workshop.Bounds) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-c", f"{HANGING_CHILD}; time.sleep(1000)"]
        started.append(subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE))
        return started[-1]

    monkeypatch.setattr(workshop, "_start", start)
    both = (workshop.web_workshop, workshop.default_workshop)
    for one in both:
        one.cache_clear()
    yield started
    for one in both:
        one().close()
        # Others need one that is open, with children that answer.
        one.cache_clear()


async def in_time(asked: api.Request, limit: float = LIMIT_S) -> api.Run:
    """A run that ended as every run must end, by its own clock."""
    begun = asked.clock.monotonic()
    done = await api.research(asked)
    assert asked.clock.monotonic() - begun <= limit + LATE_S
    assert isinstance(done.outcome, Report | NotFound)
    return done


def over_notes(notes: Path, home: Path, server: ModelServer | None = None, **more: Any) -> api.Request:
    settings: dict[str, Any] = {"max_execution_time_s": more.pop("limit", LIMIT_S)}
    if server:
        settings |= {"orchestrator_model": MODEL, "model_base_url": server.base_url, "model_backoff_s": 0.02}
        known = Capabilities(tools=True, schema=True, probed_at="2099-01-01")
        CapabilityCache(home / "models.json").put(f"{MODEL} {server.base_url}", known)
    return api.request(QUESTION, [notes], Configuration.build(**settings), home=home, **more)


@pytest.mark.parametrize(
    ("purposes", "part"),
    [(None, "the plan"), (INVESTIGATING, "the research on"), (WRITING, "the outline")],
    ids=["always", "investigating", "writing"],
)
async def test_a_model_that_hangs(purposes: frozenset[str] | None, part: str, notes: Path, tmp_path: Path) -> None:
    with ModelServer(faults=(ModelFault("hang", purposes=purposes),)) as server:
        done = await in_time(over_notes(notes, tmp_path, server))
    assert isinstance(done.outcome, Report), done.markdown
    assert any(one.part.startswith(part) for one in done.degradations)
    assert "Made without the model" in done.markdown


@pytest.mark.parametrize("kind", ["search", "page"])
async def test_a_web_that_hangs(kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with WebServer(faults=[WebFault("hang", kinds=frozenset({kind}))]) as web:
        done = await in_time(over_the_web(web, tmp_path, monkeypatch))
    assert isinstance(done.outcome, NotFound), done.markdown
    assert "## Methodology" in done.markdown


def over_the_web(web: WebServer, home: Path, monkeypatch: pytest.MonkeyPatch) -> api.Request:
    for name, value in web.environment().items():
        monkeypatch.setenv(name, value)
    question = "Who founded the Kelsmouth Tide Observatory?"
    return api.request(question, [], web.settings(max_execution_time_s=LIMIT_S), home=home)


async def test_pages_whose_parser_hangs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, children: list[subprocess.Popen[bytes]]
) -> None:
    with WebServer() as web:
        done = await in_time(over_the_web(web, tmp_path, monkeypatch))
    assert isinstance(done.outcome, NotFound), done.markdown
    assert children[0].wait(timeout=10), "nobody waits any more: killed long before its time"
    # One that was just started when everyone gave up had no job yet: it is well, and ends with the workshop.
    workshop.web_workshop().close()
    assert all(child.wait(timeout=10) for child in children)


async def test_a_parser_that_hangs_while_indexing(
    notes: Path, tmp_path: Path, children: list[subprocess.Popen[bytes]]
) -> None:
    done = await in_time(over_notes(notes, tmp_path))
    assert isinstance(done.outcome, Report), done.markdown
    assert "1 documents were not indexed before the time was up; they are left for the next run." in done.markdown
    assert children
    assert all(child.wait(timeout=10) for child in children), "a killed child has an exit code"


async def test_a_file_that_hangs_is_left_for_the_next_run(
    notes: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, never: Callable[..., Any]
) -> None:
    real = ingest.load
    monkeypatch.setattr(
        ingest, "load", lambda path, **more: never() if path.name == "rival.txt" else real(path, **more)
    )
    done = await in_time(over_notes(notes, tmp_path))
    assert isinstance(done.outcome, Report), done.markdown
    assert "left for the next run" in done.markdown
    monkeypatch.undo()
    done = await in_time(over_notes(notes, tmp_path))
    assert "left for the next run" not in done.markdown


async def test_a_folder_that_hangs(
    notes: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, never: Callable[..., Any]
) -> None:
    await in_time(over_notes(notes, tmp_path, limit=60.0), 60.0)
    monkeypatch.setattr(ingest, "walk", never)
    done = await in_time(over_notes(notes, tmp_path))
    assert isinstance(done.outcome, Report), "what was indexed before is used"
    assert "Looking through the folders took too long" in done.markdown


async def test_a_library_that_hangs_while_it_is_searched(
    notes: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, never: Callable[..., Any]
) -> None:
    monkeypatch.setattr(engine._Shelf, "search", never)
    done = await in_time(over_notes(notes, tmp_path))
    assert isinstance(done.outcome, NotFound), done.markdown
    assert done.record.stop is StopReason.TIME
    assert "cut off before the end" in done.markdown


async def test_facts_that_hang(
    notes: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, never: Callable[..., Any]
) -> None:
    monkeypatch.setattr(LibraryFacts, "frequency", never)
    done = await in_time(over_notes(notes, tmp_path))
    assert isinstance(done.outcome, Report), done.markdown


async def test_all_of_it_at_once(
    notes: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, never: Callable[..., Any]
) -> None:
    monkeypatch.setattr(ingest, "load", never)
    monkeypatch.setattr(engine._Shelf, "search", never)
    monkeypatch.setattr(LibraryFacts, "frequency", never)
    with ModelServer(faults=(ModelFault("hang"),)) as server:
        done = await in_time(over_notes(notes, tmp_path, server))
    assert isinstance(done.outcome, NotFound)
    assert "4 documents were not indexed" in done.markdown
    assert "the plan" in done.markdown


async def test_a_machine_that_sleeps_wakes_up_to_write(notes: Path, tmp_path: Path) -> None:
    clock, woken = JumpingClock(), asyncio.Event()

    class Sleeper(api.Watcher):
        def progress(self, payload: dict[str, Any]) -> None:
            if payload.get("research_units") and not woken.is_set():
                clock.slept = 3600.0
                woken.set()

    with ModelServer(faults=(ModelFault("hang", purposes=INVESTIGATING),)) as server:
        asked = over_notes(notes, tmp_path, server, limit=600.0, clock=clock, watcher=Sleeper())
        running = asyncio.create_task(api.research(asked))
        await woken.wait()
        awake = clock.monotonic()
        done = await running
    assert clock.monotonic() - awake < 60, "the deadline is noticed without waiting for it"
    assert isinstance(done.outcome, Report | NotFound)
    assert done.record.stop is StopReason.TIME


async def test_without_a_limit_a_run_ends_by_its_other_limits(notes: Path, tmp_path: Path) -> None:
    done = await api.research(over_notes(notes, tmp_path, limit=None))
    assert isinstance(done.outcome, Report), done.markdown


async def test_a_store_that_another_process_holds_costs_neither_the_time_nor_the_report(
    notes: Path, tmp_path: Path
) -> None:
    held: list[sqlite3.Connection] = []

    class Holding(api.Watcher):
        def phase(self, name: str) -> None:
            if name == "research" and not held:
                held.append(sqlite3.connect(tmp_path / "deepwell.db", isolation_level=None, timeout=5))
                held[0].execute("BEGIN IMMEDIATE")

    try:
        done = await in_time(over_notes(notes, tmp_path, watcher=Holding()))
    finally:
        held[0].close()
    assert isinstance(done.outcome, Report), done.markdown
    assert done.unsaved


async def test_a_disk_that_is_full_takes_nothing_from_the_report(
    notes: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = runs._connected

    def small(path: Path) -> sqlite3.Connection:
        connection = real(path)
        pages = connection.execute("PRAGMA page_count").fetchone()[0]
        connection.execute(f"PRAGMA max_page_count = {pages + 8}")
        return connection

    monkeypatch.setattr(runs, "_connected", small)
    done = await in_time(over_notes(notes, tmp_path))
    assert isinstance(done.outcome, Report), done.markdown
    assert "There is no space left" in str(done.unsaved)

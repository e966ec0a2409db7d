"""`deepwell source` and `deepwell show --sources`: what a run read, and what it quoted from it."""

import asyncio
import io
import json
import os
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from rich.console import Console

from deepwell.cli.source_commands import Quoted, marked, sources
from deepwell.store.runs import RunStore
from deepwell.testing import START, source
from deepwell.testing.command_line import Call
from deepwell.vocabulary.events import SourceRead
from deepwell.vocabulary.evidence import Evidence
from deepwell.vocabulary.run import FinishedRun
from deepwell.vocabulary.source import SourceCard

TEXT = "Bread is old. The bridge was opened in 1890.\tIt was closed in 1987 — for good.\nCafe\u0301 東京."
ADDRESS = "https://example.org/bridge?page=1"
BRIDGE = source(TEXT, ADDRESS, "The bridge", author="Ada Stone", publisher="The Wire", published="2024-05-06")
MILL = source("The mill stands.", "mill.md", "The mill")
RUN = "abcd1234"


def database() -> Path:
    return Path(os.environ["DEEPWELL_HOME"]) / "deepwell.db"


async def stored(finished: FinishedRun, *read: str) -> None:
    async with RunStore.open(database()) as store:
        # Someone else read the same text elsewhere, before.
        await store.keep(replace(BRIDGE, address="https://copy.org/", title="A copy", author="Nobody"))
        await store.keep(MILL)
        await store.begin(RUN, "When?", at=START, version="0", configuration="{}", libraries=[])
        await store.record(RUN, START, [SourceRead("x", name) for name in (BRIDGE.hash, BRIDGE.hash, *read)])
        await store.finish(RUN, finished)


@pytest.fixture
def run() -> str:
    """A run with two sources, whose claims rest on spans that overlap."""
    opened, closed = BRIDGE.cut(14, 44), BRIDGE.cut(32, 66)
    ledger = (
        Evidence("It opened in 1890.", (opened,), (ADDRESS,)),
        Evidence("It closed in 1987.", (closed, MILL.cut(0, 16)), (ADDRESS,)),
        Evidence("It closed in 1987, they say.", (closed,), (ADDRESS,)),
    )
    cards = (SourceCard.of(BRIDGE, 1), SourceCard.of(MILL, 2))
    asyncio.run(stored(FinishedRun("done", START, None, None, {}, cards, ledger), "other-1", "other-2", "other-1"))
    return RUN


def test_the_whole_text_is_printed_with_what_was_quoted_marked(deepwell: Call, run: str) -> None:
    ended = deepwell("source", run[:4], "1")
    assert ended.code == 0, ended.err
    head, _, text = ended.out.partition("\n\n")
    assert head.splitlines() == [
        "title: The bridge",
        "author: Ada Stone",
        "publisher: The Wire",
        "date: 2024-05-06",
        f"address: {ADDRESS}",
        f"read: {START.astimezone():%Y-%m-%d %H:%M %Z}",
        f"sha256: {BRIDGE.hash}",
    ]
    assert text == f"{TEXT[:14]}⟦{TEXT[14:66]}⟧{TEXT[66:]}\n"


def test_only_the_spans_in_their_surroundings(deepwell: Call, run: str) -> None:
    lines = deepwell("source", run, "1", "--spans").out.splitlines()
    assert [line.split(":")[0].strip() for line in lines[-2:]] == ["14-44", "32-66"]
    assert "Bread is old. ⟦The bridge was opened in 1890.⟧ It was" in lines[-2]


def test_json_says_what_rests_on_each_span(deepwell: Call, run: str) -> None:
    told = json.loads(deepwell("source", run, "1", "--json").out)
    assert (told["address"], told["author"], told["text"]) == (ADDRESS, "Ada Stone", TEXT)
    assert [span["text"] for span in told["spans"]] == [TEXT[14:44], TEXT[32:66]]
    assert told["spans"][1]["claims"] == ["It closed in 1987.", "It closed in 1987, they say."]
    assert "text" not in json.loads(deepwell("source", run, "1", "--json", "--spans").out)


def test_the_report_sentences_on_a_span_are_told(deepwell: Call, notes: Path) -> None:
    report = deepwell("How many holiday days are there?", "--docs", str(notes), "--quiet").out
    spans = json.loads(deepwell("source", "last", "1", "--json").out)["spans"]
    assert any("27 days" in sentence for span in spans for sentence in span["sentences"])
    assert all(sentence in report for span in spans for sentence in span["sentences"])


@pytest.mark.parametrize("number", ["0", "3", "99999999999999999999999"])
def test_a_number_the_run_does_not_have(deepwell: Call, run: str, number: str) -> None:
    ended = deepwell("source", run, number)
    assert (ended.code, ended.out) == (2, "")
    assert ended.err == f"deepwell: Run {run} has no source {number}: it has 1 and 2.\n"


def test_a_run_without_sources(deepwell: Call) -> None:
    asyncio.run(stored(FinishedRun("nothing_found", START, None, None, {})))
    ended = deepwell("source", "last", "1")
    assert ended.code == 2
    assert ended.err == f"deepwell: Run {RUN} has no sources: it found nothing that answers the question.\n"
    assert "and 1 more that was read and not cited" in deepwell("show", "last", "--sources").out


def test_a_damaged_text_is_one_sentence(deepwell: Call, run: str) -> None:
    with sqlite3.connect(database()) as connection:
        connection.execute("UPDATE sources SET text = x'00' WHERE hash = ?", (BRIDGE.hash,))
    ended = deepwell("source", run, "1")
    assert (ended.code, ended.out, ended.err.count("\n")) == (6, "", 1)
    assert "is damaged" in ended.err
    assert deepwell("source", run, "2").code == 0


def test_sources_are_listed_as_this_run_had_them(deepwell: Call, run: str) -> None:
    listed = deepwell("show", run, "--sources").out.splitlines()
    read = f"read {START.astimezone():%Y-%m-%d %H:%M %Z}"
    assert listed[:3] == [
        "[1] The bridge",
        f"    {ADDRESS}",
        f"    Ada Stone · The Wire · 2024-05-06 · {read} · sha256 {BRIDGE.hash[:16]}",
    ]
    assert "⟦The mill stands.⟧" in "\n".join(listed)
    assert listed[-1] == "and 2 more that were read and not cited: --journal lists them"
    spans = json.loads(deepwell("show", run, "--json").out)["claims"][0]["spans"]
    assert [(span["address"], span["title"]) for span in spans] == [(ADDRESS, "The bridge")]


async def test_on_a_terminal_web_addresses_are_links_and_no_others() -> None:
    hostile = source("Text.", "https://example.org/\x1b]8;;\x07x", "Odd")
    cards = tuple(SourceCard.of(one, n) for n, one in enumerate((BRIDGE, MILL, hostile), start=1))
    console = Console(file=io.StringIO(), force_terminal=True, color_system="truecolor", width=80)
    await stored(FinishedRun("done", START, None, None, {}, cards[:2]))
    async with RunStore.open(database()) as store:
        await store.keep(hostile)
        run = await store.load(RUN)
        odd = replace(run.sources[0], number=3, hash=hostile.hash, address=hostile.address)
        await sources(console, store, replace(run, sources=(*run.sources, odd)))
    printed = console.file.getvalue()  # type: ignore[attr-defined]
    assert f";{ADDRESS}\x1b\\" in printed
    assert printed.count("\x1b]8;id=") == 1


def test_marks_keep_every_letter() -> None:
    quotes = [Quoted(*span, (), ()) for span in ((0, 3), (2, 5), (5, 7), (9, 10), (9, 12))]
    assert marked("abcdefghijklmn", quotes).plain == "⟦abcde⟧⟦fg⟧hi⟦jkl⟧mn"
    assert marked("", []).plain == ""


@pytest.mark.parametrize(("lines", "is_paged"), [("12", True), ("40", False)])
def test_on_a_terminal_what_is_longer_than_the_screen_goes_through_the_pager(
    run: str, tmp_path: Path, lines: str, is_paged: bool
) -> None:
    paged = tmp_path / "paged"
    ours, theirs = os.openpty()
    look = {"TERM": "xterm-256color", "COLUMNS": "20", "LINES": lines, "PAGER": f"cat > {paged}", "MANPAGER": ""}
    program = [sys.executable, "-c", "from deepwell.cli import main; main()", "source", run, "1"]
    ended = subprocess.run(program, stdin=theirs, stdout=theirs, env=os.environ | look, check=False, timeout=60)
    shown = paged.read_text("utf-8") if is_paged else os.read(ours, 10_000).decode()
    os.close(ours)
    os.close(theirs)
    assert (ended.returncode, paged.exists()) == (0, is_paged)
    assert "\x1b[1;32m⟦The" in shown
    assert ("\x1b]8;" in shown) is not is_paged, "not every pager knows links"


PAGE = """<html><head><title>The bridge at Ulm</title><meta name="author" content="Ada Stone"></head><body><article>
<h1>The bridge at Ulm</h1><p>The bridge at Ulm was opened in 1890 after four years of work by three hundred people, most
of whom lived in the town and went home every night.</p><p>It carried carts at first, then trams, and has been closed to
everything but walkers and bicycles since the spring of 1987.</p></article></body></html>"""


@dataclass
class Web:
    """A search that knows one page, and counts how often the page is read."""

    address: str = ""
    read: list[str] = field(default_factory=list)


@pytest.fixture
def web(monkeypatch: pytest.MonkeyPatch) -> Iterator[Web]:
    state = Web()

    class Site(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            if self.path.startswith("/search"):
                found = {"url": f"{state.address}/bridge", "title": "The bridge at Ulm", "content": "opened in 1890"}
                self._answer(200, "application/json", json.dumps({"query": "q", "results": [found]}))
            elif self.path == "/bridge":
                state.read.append(self.path)
                self._answer(200, "text/html; charset=utf-8", PAGE)
            else:
                self._answer(404, "text/plain", "nothing here")

        def _answer(self, status: int, kind: str, body: str) -> None:
            self.send_response(status)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(body.encode())))
            self.end_headers()
            self.wfile.write(body.encode())

        def log_message(self, *_: object) -> None:
            """Silent."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Site)
    state.address = f"http://127.0.0.1:{server.server_port}"
    monkeypatch.setenv("SEARXNG_URL", state.address)
    monkeypatch.setenv("DEEPWELL_OWN_HOSTS", f"127.0.0.1:{server.server_port}")
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield state
    server.shutdown()
    thread.join()
    server.server_close()


def test_a_page_is_read_once_by_runs_that_follow_each_other(deepwell: Call, web: Web) -> None:
    asked = ("When was the bridge at Ulm opened?", "--search", "searxng", "--quiet")
    assert deepwell(*asked).code == 0
    first = json.loads(deepwell("source", "last", "1", "--json").out)
    assert deepwell(*asked).code == 0
    second = json.loads(deepwell("source", "last", "1", "--json").out)
    assert len(web.read) == 1
    assert second["run"] != first["run"]
    assert {**second, "run": ""} == {**first, "run": ""}, "with the time at which it was really read"
    assert deepwell(*asked, "--set", "page_cache_hours=0").code == 0
    assert len(web.read) == 2
    third = json.loads(deepwell("source", "last", "1", "--json").out)
    assert datetime.fromisoformat(third["retrieved_at"]) > datetime.fromisoformat(first["retrieved_at"])
    assert datetime.fromisoformat(third["retrieved_at"]).tzinfo == UTC


def test_reading_an_address_by_hand_is_always_fresh(deepwell: Call, web: Web) -> None:
    for _ in range(2):
        assert deepwell("read", f"{web.address}/bridge").code == 0
    assert len(web.read) == 2

"""Whole runs over a small web on loopback: a SearXNG-shaped search, a few pages, and what can go wrong with them."""

import json
import subprocess
import sys
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from deepwell import api
from deepwell.configuration import Configuration
from deepwell.errors import BadConfiguration, BadRequest
from deepwell.testing.model_server import ModelServer
from deepwell.vocabulary.report import NotFound, Report

QUESTION = "Who founded Brightline, and how many people does it employ?"
FILLER = "<p>The town lies on the river, has a market twice a week and is known for its bakers and its rain.</p>" * 12
PAGES = {
    "/founding": "<h1>Brightline</h1><p>Brightline was founded by Maria Kessler in Bremen in 1994.</p>",
    "/people": "<h1>Staff</h1><p>Brightline employs 120 people according to its yearly statement of 2023.</p>",
    "/other": "<h1>Weather</h1><p>It rained all day in Bremen, and nobody went out before the evening.</p>",
}


@dataclass
class Web:
    """A search and its pages; can be told to fail."""

    address: str = ""
    failing: bool = False
    searched: list[str] = field(default_factory=list)
    read: list[str] = field(default_factory=list)

    @property
    def host(self) -> str:
        return urlsplit(self.address).netloc

    def settings(self, **more: Any) -> Configuration:
        return Configuration.build(search_provider="searxng", own_hosts=self.host, **more)


@pytest.fixture
def web(monkeypatch: pytest.MonkeyPatch) -> Iterator[Web]:
    state = Web()

    class Site(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            parts = urlsplit(self.path)
            if parts.path == "/search":
                self._search(parse_qs(parts.query).get("q", [""])[0])
            elif parts.path in PAGES:
                state.read.append(parts.path)
                page = f"<html><head><title>Page {parts.path}</title></head><body><article>{PAGES[parts.path]}{FILLER}"
                self._answer(200, "text/html; charset=utf-8", page.encode())
            else:
                self._answer(404, "text/plain", b"nothing here")

        def _search(self, query: str) -> None:
            state.searched.append(query)
            if state.failing:
                self._answer(500, "text/plain", b"no")
                return
            results = [
                {"url": f"{state.address}{path}", "title": path, "content": text[:80]} for path, text in PAGES.items()
            ]
            self._answer(200, "application/json", json.dumps({"query": query, "results": results}).encode())

        def _answer(self, status: int, kind: str, body: bytes) -> None:
            self.send_response(status)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            """Silent."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Site)
    state.address = f"http://127.0.0.1:{server.server_port}"
    monkeypatch.setenv("SEARXNG_URL", state.address)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield state
    server.shutdown()
    thread.join()
    server.server_close()


async def test_a_question_is_answered_from_the_web_without_a_model(web: Web, tmp_path: Path) -> None:
    done = await api.research(api.request(QUESTION, [], web.settings(), home=tmp_path))
    assert isinstance(done.outcome, Report), done.markdown
    assert "Brightline" in done.markdown
    assert all(source.address.startswith(web.address) for source in done.outcome.sources)
    assert len(web.searched) == len(set(web.searched)), "one query is searched once a run"
    assert len(web.read) == len(set(web.read)), "one page is read once a run"


async def test_of_a_long_page_the_passage_that_matters_is_kept(web: Web, tmp_path: Path) -> None:
    done = await api.research(api.request(QUESTION, [], web.settings(), home=tmp_path))
    assert isinstance(done.outcome, Report)
    spans = [passage for citation in done.outcome.citations for passage in citation.passages]
    assert spans
    assert all(len(passage.text) < 1500 for passage in spans)


async def test_documents_and_the_web_are_searched_together(web: Web, notes: Path, tmp_path: Path) -> None:
    done = await api.research(api.request(QUESTION, [notes], web.settings(), home=tmp_path))
    assert isinstance(done.outcome, Report), done.markdown
    addresses = [source.address for source in done.outcome.sources]
    assert any(address.startswith("http") for address in addresses)
    assert any(not address.startswith("http") for address in addresses)


async def test_with_a_model_too(web: Web, tmp_path: Path) -> None:
    with ModelServer() as server:
        settings = web.settings(orchestrator_model="local:colleague", model_base_url=server.base_url)
        done = await api.research(api.request(QUESTION, [], settings, home=tmp_path))
    assert isinstance(done.outcome, Report), done.markdown
    assert not done.degradations
    planned = next(exchange for exchange in server.log if exchange.purpose == "take_in")
    assert "The web, searched through searxng." in planned.messages[-1].text


async def test_when_every_search_fails_there_is_no_report(web: Web, tmp_path: Path) -> None:
    web.failing = True
    done = await api.research(api.request(QUESTION, [], web.settings(max_execution_time_s=20), home=tmp_path))
    assert isinstance(done.outcome, NotFound)
    assert "SearXNG" in done.markdown


async def test_a_search_that_fails_leaves_the_documents(web: Web, notes: Path, tmp_path: Path) -> None:
    web.failing = True
    done = await api.research(api.request(QUESTION, [notes], web.settings(max_execution_time_s=20), home=tmp_path))
    assert isinstance(done.outcome, Report), done.markdown


async def test_pages_on_hosts_that_are_not_allowed_are_not_read(web: Web, tmp_path: Path) -> None:
    settings = Configuration.build(search_provider="searxng", max_execution_time_s=20)
    done = await api.research(api.request(QUESTION, [], settings, home=tmp_path))
    assert isinstance(done.outcome, NotFound)
    assert not web.read


def test_documents_alone_never_touch_the_network(notes: Path) -> None:
    script = (
        "import os, sys\n"
        "def watch(event, arguments):\n"
        "    if event in ('socket.connect', 'socket.getaddrinfo', 'socket.sendto'):\n"
        "        os.write(2, f'{event} {arguments}'.encode()); os._exit(99)\n"
        "sys.addaudithook(watch)\n"
        f"sys.argv = ['deepwell', {QUESTION!r}, '--docs', {str(notes)!r}]\n"
        "from deepwell.cli import main\nmain()"
    )
    ended = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False, timeout=60)
    assert ended.returncode == 0, ended.stderr
    assert "Kessler" in ended.stdout


@pytest.mark.parametrize("where", ["nowhere", "tavily", "none"])
def test_a_search_that_cannot_be_is_one_sentence(where: str, notes: Path) -> None:
    with pytest.raises((BadConfiguration, BadRequest)) as refused:
        api.request(QUESTION, [], Configuration.build(search_provider=where))
    assert str(refused.value).count(".") >= 1


def test_a_missing_package_is_one_sentence_before_the_run(monkeypatch: pytest.MonkeyPatch, notes: Path) -> None:
    monkeypatch.setattr("deepwell.assemble.find_spec", lambda name: None)
    with pytest.raises(BadConfiguration, match=r"deepwell\[web\]"):
        api.request(QUESTION, [], Configuration.build(search_provider="wikipedia"))
    assert api.request(QUESTION, [notes], Configuration.build())

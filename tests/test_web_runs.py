"""Whole runs over a small web on loopback: a SearXNG-shaped search, a few pages, and what can go wrong with them."""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from deepwell import api
from deepwell.configuration import Configuration
from deepwell.errors import BadConfiguration, BadRequest
from deepwell.testing.model_server import ModelServer
from deepwell.testing.web import Fault, WebServer
from deepwell.vocabulary.report import NotFound, Report

QUESTION = "Who founded Brightline, and how many people does it employ?"
FILLER = "<p>The town lies on the river, has a market twice a week and is known for its bakers and its rain.</p>" * 12
PAGES = {
    "/founding": "<h1>Brightline</h1><p>Brightline was founded by Maria Kessler in Bremen in 1994.</p>",
    "/people": "<h1>Staff</h1><p>Brightline employs 120 people according to its yearly statement of 2023.</p>",
    "/other": "<h1>Weather</h1><p>It rained all day in Bremen, and nobody of Brightline went out.</p>",
}
NO_SEARCH = Fault("500", kinds=frozenset({"search"}))


def a_web(*faults: Fault) -> WebServer:
    head = "<html><head><title>A page</title></head><body><article>"
    return WebServer({path: f"{head}{text}{FILLER}" for path, text in PAGES.items()}, faults=faults)


@pytest.fixture
def web(monkeypatch: pytest.MonkeyPatch) -> Iterator[WebServer]:
    with a_web() as server:
        yield pointed_at(server, monkeypatch)


@pytest.fixture
def unsearchable(monkeypatch: pytest.MonkeyPatch) -> Iterator[WebServer]:
    with a_web(NO_SEARCH) as server:
        yield pointed_at(server, monkeypatch)


def pointed_at(server: WebServer, monkeypatch: pytest.MonkeyPatch) -> WebServer:
    for name, value in server.environment().items():
        monkeypatch.setenv(name, value)
    return server


async def test_a_question_is_answered_from_the_web_without_a_model(web: WebServer, tmp_path: Path) -> None:
    done = await api.research(api.request(QUESTION, [], web.settings(), home=tmp_path))
    assert isinstance(done.outcome, Report), done.markdown
    assert "Brightline" in done.markdown
    assert all(source.address.startswith(web.address()) for source in done.outcome.sources)
    searched, read = web.asked("search"), web.asked("page")
    assert len(searched) == len(set(searched)), "one query is searched once a run"
    assert len(read) == len(set(read)), "one page is read once a run"


async def test_of_a_long_page_the_passage_that_matters_is_kept(web: WebServer, tmp_path: Path) -> None:
    done = await api.research(api.request(QUESTION, [], web.settings(), home=tmp_path))
    assert isinstance(done.outcome, Report)
    spans = [passage for citation in done.outcome.citations for passage in citation.passages]
    assert spans
    assert all(len(passage.text) < 1500 for passage in spans)


async def test_documents_and_the_web_are_searched_together(web: WebServer, notes: Path, tmp_path: Path) -> None:
    done = await api.research(api.request(QUESTION, [notes], web.settings(), home=tmp_path))
    assert isinstance(done.outcome, Report), done.markdown
    addresses = [source.address for source in done.outcome.sources]
    assert any(address.startswith("http") for address in addresses)
    assert any(not address.startswith("http") for address in addresses)


async def test_with_a_model_too(web: WebServer, tmp_path: Path) -> None:
    with ModelServer() as server:
        settings = web.settings(orchestrator_model="local:colleague", model_base_url=server.base_url)
        done = await api.research(api.request(QUESTION, [], settings, home=tmp_path))
    assert isinstance(done.outcome, Report), done.markdown
    assert not done.degradations
    planned = next(exchange for exchange in server.log if exchange.purpose == "take_in")
    assert "The web, searched through searxng." in planned.messages[-1].text


async def test_when_every_search_fails_there_is_no_report(unsearchable: WebServer, tmp_path: Path) -> None:
    settings = unsearchable.settings(max_execution_time_s=20)
    done = await api.research(api.request(QUESTION, [], settings, home=tmp_path))
    assert isinstance(done.outcome, NotFound)
    assert "No search was answered, so nothing was searched." in done.markdown
    assert "## What was searched" not in done.markdown
    assert "SearXNG" in done.markdown


async def test_a_search_that_fails_leaves_the_documents(unsearchable: WebServer, notes: Path, tmp_path: Path) -> None:
    settings = unsearchable.settings(max_execution_time_s=20)
    done = await api.research(api.request(QUESTION, [notes], settings, home=tmp_path))
    assert isinstance(done.outcome, Report), done.markdown


async def test_pages_on_hosts_that_are_not_allowed_are_not_read(web: WebServer, tmp_path: Path) -> None:
    settings = web.settings(own_hosts="", max_execution_time_s=20)
    done = await api.research(api.request(QUESTION, [], settings, home=tmp_path))
    assert isinstance(done.outcome, NotFound)
    assert not web.asked("page")
    assert "Pages were found, and none of them could be read." in done.markdown
    assert "(1 try): " in done.markdown, "the reason stands in Methodology"


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

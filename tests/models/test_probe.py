"""A model is tried out before anyone relies on it, and nothing it says of itself can break a run."""

import asyncio
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import date
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from deepwell.errors import BudgetSpent
from deepwell.models.capabilities import Capabilities, CapabilityCache
from deepwell.models.factory import ModelSettings, chat_model
from deepwell.models.failures import ModelFailed
from deepwell.models.names import ModelName
from deepwell.models.probe import Probed, context_tokens, probe
from deepwell.models.wire import Wire
from deepwell.testing import ListCalls, ListJournal
from deepwell.testing.analysts import NAME, Setting
from deepwell.testing.model_server import Fault, ModelServer
from deepwell.vocabulary.events import ModelAsked

TODAY = date(2026, 1, 2)


async def probed(server: ModelServer, journal: ListJournal | None = None, **setting: Any) -> Probed:
    settings = ModelSettings(NAME, server.base_url)
    books = Setting(server, **setting).ledger
    wire = Wire(NAME, ListCalls())
    return await probe(chat_model(settings, 5.0), settings, books, journal or ListJournal(), 5.0, TODAY, wire)


@pytest.mark.parametrize("tools", [True, False, "error"])
@pytest.mark.parametrize("schema", [True, False, "error"])
async def test_what_works_is_found_out(tools: Any, schema: Any) -> None:
    with ModelServer(tools=tools, json_schema=schema) as server:
        found = await probed(server)
    assert (found.capabilities.tools, found.capabilities.schema) == (tools is True, schema is True)
    assert found.lasting


@pytest.mark.parametrize("fault", ["rate_limit", "server_error", "overloaded"])
async def test_a_busy_server_tells_nothing_that_lasts(fault: str) -> None:
    with ModelServer(faults=(Fault(fault),)) as server:
        found = await probed(server)
    assert not found.lasting


@pytest.mark.parametrize("fault", ["auth", "quota", "disconnect"])
async def test_a_hopeless_one_is_said(fault: str) -> None:
    with ModelServer(faults=(Fault(fault),)) as server, pytest.raises(ModelFailed):
        await probed(server)


async def test_without_means_for_both_requests_none_is_made() -> None:
    with ModelServer(faults=(Fault("hang"),)) as server:
        with pytest.raises(BudgetSpent):
            await probed(server, tokens=3000)
        # Clients of earlier tests may be closing themselves in this loop, whenever they are collected.
        others = [task for task in asyncio.all_tasks() if "aclose" not in repr(task.get_coro())]
        assert others == [asyncio.current_task()]
    assert not server.log


async def test_both_requests_are_in_the_journal() -> None:
    journal = ListJournal()
    with ModelServer(json_schema="error") as server:
        await probed(server, journal)
    assert sorted(str(event.failure) for event in journal.of(ModelAsked)) == ["None", "bad_request"]


@contextmanager
def telling(bodies: dict[str, bytes]) -> Iterator[str]:
    """A server that answers these paths with these bodies."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            body = bodies.get(self.path)
            self.send_response(200 if body is not None else 404)
            self.send_header("Content-Length", str(len(body or b"")))
            self.end_headers()
            self.wfile.write(body or b"")

        def do_POST(self) -> None:
            self.do_GET()

        def log_message(self, *_: object) -> None:
            """Silent."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@pytest.mark.parametrize(
    ("bodies", "context"),
    [
        ({"/v1/models": {"data": [{"id": "m", "max_model_len": 32768}, {"id": "x", "max_model_len": 1024}]}}, 32768),
        ({"/props": {"default_generation_settings": {"n_ctx": 4096}}}, 4096),
        ({"/v1/models": {"data": [{"id": "m", "meta": {"n_ctx": 2048}}]}}, 2048),
        ({"/api/v0/models": {"data": [{"id": "m", "loaded_context_length": 8000, "max_context_length": 90000}]}}, 8000),
        ({"/v1/models": {"data": 5}}, None),
        ({"/v1/models": {"data": [{"id": "m", "max_model_len": True}]}}, None),
        ({"/v1/models": {"data": [{"id": "m", "max_model_len": 1}]}}, None),
        ({"/v1/models": [1, 2]}, None),
        ({"/v1/models": "x"}, None),
        ({}, None),
    ],
)
async def test_context_is_read_where_servers_tell_it(bodies: dict[str, Any], context: int | None) -> None:
    with telling({path: json.dumps(body).encode() for path, body in bodies.items()}) as root:
        settings = ModelSettings(ModelName("openai-compatible", "m"), f"{root}/v1")
        assert await context_tokens(chat_model(settings, 5.0), settings, 5.0) == context


async def test_a_body_that_no_parser_takes_is_passed_over() -> None:
    with telling({"/v1/models": b"[" * 200_000, "/props": b"\xff\xfe"}) as root:
        settings = ModelSettings(ModelName("openai-compatible", "m"), f"{root}/v1")
        assert await context_tokens(chat_model(settings, 5.0), settings, 5.0) is None


async def test_ollama_has_the_context_we_reserve() -> None:
    with telling({"/api/show": b'{"model_info": {"llama.context_length": 131072}}'}) as root:
        settings = ModelSettings(ModelName("ollama", "m"), root, context_tokens=12000)
        assert await context_tokens(chat_model(settings, 5.0), settings, 5.0) == 12000


def test_what_is_remembered_comes_back_until_it_is_old(tmp_path: Path) -> None:
    cache = CapabilityCache(tmp_path / "models.json")
    known = Capabilities(tools=True, schema=False, context_tokens=9, probed_at="2026-01-02")
    cache.put("a", known)
    assert cache.get("a", TODAY) == known
    assert cache.get("a", date(2026, 3, 1)) is None
    assert cache.get("b", TODAY) is None


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        '{"a": 5}',
        '{"a": {"tools": true}}',
        '{"a": {"tools": true, "schema": true, "context_tokens": "8k", "probed_at": "2026-01-02"}}',
        '{"a": {"tools": "yes", "schema": true, "probed_at": "2026-01-02"}}',
        '{"a": {"tools": true, "schema": true, "probed_at": "yesterday"}}',
    ],
)
def test_a_file_from_elsewhere_means_one_more_probe(text: str, tmp_path: Path) -> None:
    (tmp_path / "models.json").write_text(text)
    assert CapabilityCache(tmp_path / "models.json").get("a", TODAY) is None


def test_a_folder_that_cannot_be_written_is_no_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    CapabilityCache(tmp_path / "file" / "models.json").put("a", Capabilities(tools=True, schema=True))

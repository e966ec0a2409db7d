"""Finished runs once more, from their journals: the same report with nothing outside, whatever ended or spoilt them."""

import asyncio
import json
import os
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from deepwell import api
from deepwell.assemble import opened_store
from deepwell.configuration import Configuration
from deepwell.errors import BadConfiguration, BadRequest, DeepwellError, UnknownRun
from deepwell.models.capabilities import Capabilities, CapabilityCache
from deepwell.nodes.researcher import ResearchUnit
from deepwell.nodes.wave import UNIT_SETTINGS
from deepwell.search.journaled import JournaledEngine
from deepwell.state import SupervisorState
from deepwell.testing import START, ScriptedAnalyst, TextEngine, bench
from deepwell.testing.model_server import FAULTS, ChatRequest, Colleague, Fault, ModelServer, Reply
from deepwell.testing.web import FAULTS as WEB_FAULTS
from deepwell.testing.web import Fault as WebFault
from deepwell.testing.web import WebServer
from deepwell.vocabulary.decision import StopReason
from deepwell.vocabulary.plan import Query, Topic
from deepwell.vocabulary.question import Brief
from deepwell.vocabulary.record import ResearchRecord
from deepwell.vocabulary.run import NO_PAST

QUESTION = (
    "Who founded the supplier of the Falcon kettle, how many people does it employ, and how many kettles were sold?"
)
MODEL = "openai-compatible:colleague"
ON_THE_WEB = "Who founded Brightline, and how many people does it employ?"
FILLER = "<p>The town lies on the river, has a market twice a week and is known for its bakers and its rain.</p>" * 12
PAGES = {
    "/founding": "<h1>Brightline</h1><p>Brightline was founded by Maria Kessler in Bremen in 1994.</p>",
    "/people": "<h1>Staff</h1><p>Brightline employs 120 people according to its yearly statement of 2023.</p>",
    "/other": "<h1>Weather</h1><p>It rained all day in Bremen, and nobody of Brightline went out.</p>",
}
MUCH_WORK = Colleague(gaps=("The year is open.",), searches_first=1)


class At(api.Watcher):
    """Does something when a phase begins, or when the first unit is back."""

    def __init__(self, when: str, act: Any) -> None:
        self._when, self._act = when, act

    def phase(self, name: str) -> None:
        if name == self._when:
            self._act()

    def progress(self, payload: dict[str, Any]) -> None:
        if self._when == "a unit is back" and any(
            one["status"] == "complete" for one in payload.get("research_units", ())
        ):
            self._act()


def settings_for(home: Path, server: ModelServer, **more: Any) -> Configuration:
    known = Capabilities(tools=True, schema=True, probed_at="2099-01-01")
    CapabilityCache(home / "models.json").put(f"{MODEL} {server.base_url}", known)
    asked = {"orchestrator_model": MODEL, "model_base_url": server.base_url, "model_backoff_s": 0.02}
    return Configuration.build(**{**asked, **more})


async def with_model(notes: Path, home: Path, server: ModelServer, **more: Any) -> api.Run:
    how = {name: more.pop(name) for name in ("clock", "interrupted", "watcher") if name in more}
    return await api.research(api.request(QUESTION, [notes], settings_for(home, server, **more), home=home, **how))


async def without_model(notes: Path, home: Path, **settings: Any) -> api.Run:
    return await api.research(api.request(QUESTION, [notes], Configuration.build(**settings), home=home))


async def same_again(run: api.Run, home: Path) -> api.Run:
    """The replay of a run: it is the same in every part."""
    again = await api.replay(run.id, home=home)
    assert again.missed == ()
    assert again.markdown == run.markdown
    assert again.id != run.id
    async with opened_store(home) as store:
        first, second = await store.load(run.id), await store.load(again.id)
        events = await store.journal(again.id)
    assert (second.claims, second.sources, second.citations) == (first.claims, first.sources, first.citations)
    assert (second.head.status, second.head.stop_reason) == (first.head.status, first.head.stop_reason)
    assert second.configuration == first.configuration
    minutes = [run.phase_state["research"]["time_budget"]["total_minutes"] for run in (first, second)]
    assert minutes[0] == minutes[1]
    assert [event["of"] for event in events if event["kind"] == "RunReplayed"] == [run.id]
    return again


@pytest.fixture
def web(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """A small web with these faults, at which runs are pointed."""
    servers: list[WebServer] = []

    def opened(*faults: WebFault) -> WebServer:
        head = "<html><head><title>A page</title></head><body><article>"
        server = WebServer({path: f"{head}{text}{FILLER}" for path, text in PAGES.items()}, faults=faults)
        servers.append(server.__enter__())
        for name, value in server.environment().items():
            monkeypatch.setenv(name, value)
        return server

    yield opened
    for server in servers:
        server.__exit__(None, None, None)


async def test_a_run_without_a_model_whose_documents_are_gone(notes: Path, tmp_path: Path) -> None:
    run = await without_model(notes, tmp_path)
    shutil.rmtree(notes)
    await same_again(run, tmp_path)


async def test_a_run_that_found_nothing(notes: Path, tmp_path: Path) -> None:
    asked = api.request("Who painted the ceiling of the opera in Manaus?", [notes], Configuration.build())
    run = await api.research(api.Request(asked.question, asked.docs, asked.configuration, tmp_path))
    assert not run.found
    await same_again(run, tmp_path)


async def test_a_run_whose_tier_sets_its_time(notes: Path, tmp_path: Path) -> None:
    settings = Configuration.build(tier="auto")
    run = await api.research(api.request("Who founded Brightline?", [notes], settings, home=tmp_path))
    again = await same_again(run, tmp_path)
    budget = again.record.phase_state["research"]["time_budget"]
    assert budget["total_minutes"] != settings.for_tier("simple").total_minutes, "what planning took is given back"


@pytest.mark.parametrize("colleague", [Colleague(), MUCH_WORK, Colleague(thinks=True)], ids=str)
async def test_a_run_with_a_model_that_is_gone(colleague: Colleague, notes: Path, tmp_path: Path) -> None:
    with ModelServer(colleague) as server:
        run = await with_model(notes, tmp_path, server)
    await same_again(run, tmp_path)


@pytest.mark.parametrize("purposes", [None, {"investigate"}, {"write_section"}], ids=str)
@pytest.mark.parametrize("name", FAULTS)
async def test_a_run_with_a_model_at_fault(name: str, purposes: set[str] | None, notes: Path, tmp_path: Path) -> None:
    fault = Fault(name, purposes=None if purposes is None else frozenset(purposes), drip_s=0.01)
    with ModelServer(faults=(fault,)) as server:
        run = await with_model(notes, tmp_path, server, max_execution_time_s=3.0 if name in ("hang", "drip") else 60.0)
    await same_again(run, tmp_path)


async def test_a_run_whose_model_could_not_be_reached(notes: Path, tmp_path: Path) -> None:
    with ModelServer() as server:
        settings = settings_for(tmp_path, server)
    (tmp_path / "models.json").unlink()
    run = await api.research(api.request(QUESTION, [notes], settings, home=tmp_path))
    assert "Made without the model: the whole run" in run.markdown
    await same_again(run, tmp_path)


@pytest.mark.parametrize("tokens", [9_000, 16_000, 22_000, 30_000])
async def test_a_run_that_ran_short_of_tokens(tokens: int, notes: Path, tmp_path: Path) -> None:
    with ModelServer(MUCH_WORK) as server:
        run = await with_model(notes, tmp_path, server, token_budget=tokens)
    await same_again(run, tmp_path)


async def test_a_run_whose_units_were_cut_off_when_time_was_up(web: Any, notes: Path, tmp_path: Path) -> None:
    hanging = web(WebFault("hang", kinds=frozenset({"page"}), paths=frozenset({"/people"})))
    with ModelServer(MUCH_WORK) as server:
        settings = hanging.settings(
            orchestrator_model=MODEL, model_base_url=server.base_url, max_execution_time_s=4, fetch_timeout_s=20
        )
        run = await api.research(api.request(ON_THE_WEB, [notes], settings, home=tmp_path))
    assert run.record.stop is StopReason.TIME
    assert run.record.cut_off_units
    await same_again(run, tmp_path)


@pytest.mark.parametrize("when", ["research", "a unit is back", "writing"])
async def test_a_run_that_was_told_to_stop(when: str, notes: Path, tmp_path: Path) -> None:
    stop = asyncio.Event()
    with ModelServer(MUCH_WORK) as server:
        run = await with_model(notes, tmp_path, server, interrupted=stop, watcher=At(when, stop.set))
    assert stop.is_set()
    await same_again(run, tmp_path)


@pytest.mark.parametrize("when", ["research", "a unit is back", "writing"])
async def test_a_run_that_was_interrupted_and_resumed(when: str, notes: Path, tmp_path: Path) -> None:
    with ModelServer(Colleague(gaps=("The year is open.",), counts_turns=False)) as server:
        task: asyncio.Task[api.Run]
        watcher = At(when, lambda: task.cancel())
        task = asyncio.create_task(with_model(notes, tmp_path, server, watcher=watcher))
        with pytest.raises(asyncio.CancelledError):
            await task
        run = await api.resume(home=tmp_path)
    await same_again(run, tmp_path)


async def test_a_run_over_the_web(web: Any, tmp_path: Path) -> None:
    run = await api.research(api.request(ON_THE_WEB, [], web().settings(), home=tmp_path))
    assert run.found
    await same_again(run, tmp_path)


async def test_a_run_over_documents_and_the_web(web: Any, notes: Path, tmp_path: Path) -> None:
    run = await api.research(api.request(ON_THE_WEB, [notes], web().settings(), home=tmp_path))
    assert run.found
    shutil.rmtree(notes)
    await same_again(run, tmp_path)


async def test_a_run_over_the_web_with_a_model(web: Any, tmp_path: Path) -> None:
    with ModelServer(MUCH_WORK) as server:
        settings = web().settings(orchestrator_model=MODEL, model_base_url=server.base_url)
        run = await api.research(api.request(ON_THE_WEB, [], settings, home=tmp_path))
    await same_again(run, tmp_path)


@pytest.mark.parametrize("how", [{}, {"first": 1}, {"first": 2, "after": 1}], ids=str)
@pytest.mark.parametrize("name", [name for name in WEB_FAULTS if name != "dns_rebinding"])
async def test_a_run_over_a_web_at_fault(name: str, how: dict[str, int], web: Any, tmp_path: Path) -> None:
    settings = web(WebFault(name, **how)).settings(max_execution_time_s=4, fetch_timeout_s=1)
    run = await api.research(api.request(ON_THE_WEB, [], settings, home=tmp_path))
    await same_again(run, tmp_path)


async def test_a_text_that_was_read_on_another_day_is_of_that_day(notes: Path, tmp_path: Path) -> None:
    run = await without_model(notes, tmp_path)
    with sqlite3.connect(tmp_path / "deepwell.db") as store:
        store.execute("UPDATE sources SET retrieved_at = '2020-01-01T00:00:00+00:00', title = 'another title'")
    await same_again(run, tmp_path)


async def test_units_done_anew_over_the_known_calls_bring_the_same(notes: Path, tmp_path: Path) -> None:
    """A setting that units depend on, and that makes no difference here."""
    with ModelServer(MUCH_WORK) as server:
        run = await with_model(notes, tmp_path, server)
    again = await api.replay(run.id, {"max_source_urls_per_claim": 7}, home=tmp_path)
    assert again.missed == ()
    assert again.markdown == run.markdown


async def test_more_rounds_are_followed_as_far_as_the_journal_goes(notes: Path, tmp_path: Path) -> None:
    with ModelServer(Colleague(gaps=("The year is open.",), follow_ups=9)) as server:
        run = await with_model(notes, tmp_path, server, max_researcher_iterations=2)
        asked = len(server.log)
        again = await api.replay(run.id, {"max_researcher_iterations": "3"}, home=tmp_path)
        assert len(server.log) == asked
    assert run.record.stop is StopReason.ITERATION_CAP
    assert again.missed[0].what == "ask the model what to look into in round 3"
    assert again.record.iteration == 3
    assert again.record.decisions[:1] == run.record.decisions[:1]
    assert f"This is a replay of run {run.id}" in again.markdown
    assert "would have had to ask the model what to look into in round 3" in again.markdown
    async with opened_store(tmp_path) as store:
        events = await store.journal(again.id)
        stored = await store.load(again.id)
    assert [event["what"] for event in events if event["kind"] == "WouldHaveAsked"] == [
        one.what for one in again.missed
    ]
    assert next(event for event in events if event["kind"] == "RunReplayed")["settings"] == [
        "max_researcher_iterations=3"
    ]
    assert stored.configuration["max_researcher_iterations"] == 3
    assert stored.spend == ()


async def test_fewer_rounds_end_earlier(notes: Path, tmp_path: Path) -> None:
    run = await without_model(notes, tmp_path)
    assert run.record.iteration > 1
    again = await api.replay(run.id, {"max_researcher_iterations": 1}, home=tmp_path)
    assert again.record.iteration == 1
    assert again.record.stop is StopReason.ITERATION_CAP
    assert [one.call for one in again.missed] == ["judgement"]


async def test_searches_and_pages_that_are_not_known_are_named(web: Any, tmp_path: Path) -> None:
    run = await api.research(api.request(ON_THE_WEB, [], web().settings(max_passages_per_unit=1), home=tmp_path))
    async with opened_store(tmp_path) as store:
        known = {event["address"] for event in await store.journal(run.id) if event["kind"] == "SourceRead"}
    wider = await api.replay(run.id, {"max_passages_per_unit": 3}, home=tmp_path)
    read = [one.what.removeprefix("read ") for one in wider.missed if one.call == "read"]
    assert read
    assert not known & set(read)
    other = await api.replay(run.id, {"max_search_results": 9}, home=tmp_path)
    assert other.missed[0].call == "search"
    assert other.missed[0].what.startswith("search for “")
    assert not other.found


async def test_a_text_that_is_gone_is_named(notes: Path, tmp_path: Path) -> None:
    run = await without_model(notes, tmp_path)
    with sqlite3.connect(tmp_path / "deepwell.db") as store:
        store.execute("DELETE FROM sources")
    again = await api.replay(run.id, home=tmp_path)
    assert {one.call for one in again.missed} >= {"read"}
    assert not again.found


async def test_a_replay_with_nothing_changed_leaves_the_run_as_it_was(notes: Path, tmp_path: Path) -> None:
    run = await without_model(notes, tmp_path)
    async with opened_store(tmp_path) as store:
        before = await store.load(run.id), await store.journal(run.id)
        await api.replay(run.id, home=tmp_path)
        assert (await store.load(run.id), await store.journal(run.id)) == before
    with sqlite3.connect(tmp_path / "deepwell.db") as rows:
        assert rows.execute("SELECT COUNT(*) FROM calls WHERE run != ?", (run.id,)).fetchone() == (0,)
        assert rows.execute("PRAGMA integrity_check").fetchone() == ("ok",)


async def test_what_is_asked_more_often_comes_out_as_the_last_time(tmp_path: Path) -> None:
    """A run that was resumed counts anew, and units that waited for one answer may ask one by one."""
    engine, query = TextEngine({"a.md": "tea"}), Query("tea")
    async with opened_store(tmp_path) as store:
        await store.begin("abcd1234", "What?", at=START, version="0", configuration="{}", libraries=[])
        live = JournaledEngine(engine, store.calls("abcd1234", NO_PAST, lambda: 0.0), "search", wait=True)
        hits = await live.search(query, 5)
        calls = store.replayed_calls(await store.past("abcd1234"))
        replayed = JournaledEngine(engine, calls, "search", wait=True)
        assert [list(await replayed.search(query, 5)) for _ in range(3)] == [hits] * 3
    assert len(engine.asked) == 1


async def refused(name: str, home: Path, **settings: Any) -> str:
    with pytest.raises(DeepwellError) as sentence:
        await api.replay(name, settings, home=home)
    assert isinstance(sentence.value, BadRequest | BadConfiguration | UnknownRun)
    return str(sentence.value)


async def test_what_cannot_be_replayed_is_one_sentence(notes: Path, tmp_path: Path) -> None:
    assert "no runs yet" in await refused("last", tmp_path)
    run = await without_model(notes, tmp_path)
    again = await api.replay(run.id, home=tmp_path)
    assert f"`deepwell replay {run.id}`" in await refused(again.id, tmp_path)
    assert "orchestrator_model changes nothing" in await refused(run.id, tmp_path, orchestrator_model="a:b")
    assert "no setting rounds" in await refused(run.id, tmp_path, rounds=3)
    assert "max_researcher_iterations" in await refused(run.id, tmp_path, max_researcher_iterations=0)
    with sqlite3.connect(tmp_path / "deepwell.db") as store:
        store.execute("DELETE FROM calls")
    assert "another version" in await refused(run.id, tmp_path)
    with sqlite3.connect(tmp_path / "deepwell.db") as store:
        store.execute("UPDATE runs SET status = 'interrupted' WHERE id = ?", (run.id,))
    assert f"`deepwell resume {run.id}`" in await refused(run.id, tmp_path)


async def test_a_run_that_asked_back_has_nothing_to_replay(notes: Path, tmp_path: Path) -> None:
    def ask_back(request: ChatRequest) -> Reply:
        if request.purpose == "take_in":
            return {"clarification": "Which kettle do you mean?", "subquestions": []}
        return Colleague()(request)

    with ModelServer(ask_back) as server, pytest.raises(BadRequest, match="Which kettle"):
        await with_model(notes, tmp_path, server)
    assert "a question back" in await refused("last", tmp_path)


async def test_all_settings_that_a_unit_looks_at_are_part_of_its_name() -> None:
    """Otherwise a replay with one of them changed would bring back what was found with the old one."""
    looked_at: set[str] = set()

    class Watched(Configuration):
        def __getattribute__(self, name: str) -> Any:
            if name in Configuration.model_fields:
                looked_at.add(name)
            return super().__getattribute__(name)

    tools = bench(ScriptedAnalyst(), TextEngine({"a.md": "One fact.", "b.md": "One more fact."}))
    watched = Watched()
    looked_at.clear()
    state = SupervisorState(
        configuration=watched,
        research_brief=Brief("What fact?"),
        research_record=ResearchRecord(),
        evidence_ledger=[],
    )
    outcome = await ResearchUnit(Topic("One fact", "sq-1"), state, {"configurable": {"workbench": tools}}).run()
    assert outcome.evidence
    assert looked_at
    assert looked_at <= set(UNIT_SETTINGS)


def deepwell(*arguments: str, home: Path, offline: bool = True) -> "subprocess.CompletedProcess[str]":
    """The command line in a process that ends at once when anything tries to leave the machine."""
    watch = (
        "def watch(event, arguments):\n"
        "    if event in ('socket.connect', 'socket.getaddrinfo', 'socket.sendto'):\n"
        "        os.write(2, f'{event} {arguments}'.encode()); os._exit(99)\n"
        "sys.addaudithook(watch)\n"
    )
    script = (
        f"import os, sys\n{watch if offline else ''}"
        f"sys.argv = ['deepwell', *{arguments!r}]\nfrom deepwell.cli import main\nmain()"
    )
    environment = {**os.environ, "DEEPWELL_HOME": str(home)}
    command = [sys.executable, "-c", script]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=60, env=environment)


async def test_a_replay_connects_to_nothing(web: Any, notes: Path, tmp_path: Path) -> None:
    with ModelServer() as server:
        settings = web().settings(orchestrator_model=MODEL, model_base_url=server.base_url)
        run = await api.research(api.request(ON_THE_WEB, [notes], settings, home=tmp_path))
        done = await asyncio.to_thread(deepwell, "replay", run.id, home=tmp_path)
        assert (done.returncode, done.stdout) == (0, run.markdown), done.stderr
        changed = await asyncio.to_thread(
            deepwell, "replay", run.id, "--set", "max_passages_per_unit=1", "--json", home=tmp_path
        )
    assert changed.returncode in (0, 3), changed.stderr
    assert "The journal ends here: this run would have had to ask the model" in changed.stderr
    told = json.loads(changed.stdout)["replay"]
    assert (told["of"], told["settings"]) == (run.id, ["max_passages_per_unit=1"])
    assert told["would_have_asked"][0]["what"].startswith("ask the model")


def test_the_command_line_writes_the_replay_to_a_file(notes: Path, tmp_path: Path) -> None:
    asked = deepwell(QUESTION, "--docs", str(notes), home=tmp_path)
    out = tmp_path / "report.md"
    done = deepwell("replay", "last", "--out", str(out), "--quiet", home=tmp_path)
    assert done.returncode == 0, done.stderr
    assert out.read_text(encoding="utf-8") == asked.stdout
    wrong = deepwell("replay", "last", "--set", "rounds", home=tmp_path)
    assert wrong.returncode == 2
    assert "--set takes NAME=VALUE" in wrong.stderr

"""Runs that are killed and gone on with: nothing is lost, nothing is paid twice, one process has a run at a time."""

import json
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from deepwell import api
from deepwell.assemble import opened_store
from deepwell.cli.exit_codes import Exit, exit_code
from deepwell.configuration import Configuration
from deepwell.errors import BadRequest, RunHeld, StoreNewer, UnknownRun
from deepwell.testing import ManualClock
from deepwell.testing.crashing import Killer, is_sound, left_behind, started
from deepwell.testing.model_server import Colleague, ModelServer
from deepwell.testing.web import QUESTION as WEB_QUESTION
from deepwell.testing.web import WebServer
from deepwell.vocabulary.budget import total_spend
from deepwell.vocabulary.run import StoredRun

QUESTION = (
    "Who founded the supplier of the Falcon kettle, how many people does it employ, and how many kettles were sold?"
)
LATENCY_S = 0.03
UNDISTURBED: dict[Path, str] = {}
DYING = "import os, signal\ndef die(*_, **__): os.kill(os.getpid(), signal.SIGKILL)\n"


@dataclass(frozen=True)
class Scene:
    """A model, a web if there is one, documents if there are any, and the home of the runs."""

    killer: Killer
    model: ModelServer
    web: WebServer | None
    docs: Path | None
    folder: Path

    @property
    def home(self) -> Path:
        return self.folder / "home"

    @property
    def settings(self) -> dict[str, Any]:
        engines = {"search_provider": "searxng", "own_hosts": self.web.own_hosts} if self.web else {}
        return {"orchestrator_model": "local:colleague", "model_base_url": self.model.base_url, **engines}

    @property
    def question(self) -> str:
        return WEB_QUESTION if self.web else QUESTION

    async def undisturbed(self) -> str:
        """The report as it is without a crash; over documents alone it is the same for every test."""
        if self.web is None and self.docs in UNDISTURBED:
            return UNDISTURBED[self.docs]
        docs = [self.docs] if self.docs else []
        asked = api.request(self.question, docs, Configuration.build(**self.settings), home=self.folder / "clean")
        report = (await api.research(asked)).markdown
        if self.web is None and self.docs:
            UNDISTURBED[self.docs] = report
        return report

    def die(self, first: str = "", **settings: Any) -> None:
        """Ask in a process that is killed before it has finished, and leaves nothing behind."""
        docs = ["--docs", str(self.docs)] if self.docs else []
        values = [f"--set={name}={value}" for name, value in {**self.settings, **settings}.items()]
        self._watched(started([self.question, *docs, *values, "--quiet"], self.environment, first))

    def die_again(self) -> None:
        self._watched(started(["resume", "--quiet"], self.environment))

    def _watched(self, victim: Any) -> None:
        with self.killer.follow(victim):
            _, said = victim.communicate(timeout=60)
        self.killer.ended()
        assert victim.returncode == -9, said
        assert not left_behind(victim.pid)

    @property
    def environment(self) -> dict[str, str]:
        scratch = self.folder / "scratch"
        scratch.mkdir(exist_ok=True)
        return {"DEEPWELL_HOME": str(self.home), "TMPDIR": str(scratch)}

    async def resumed(self, **more: Any) -> api.Run:
        return await api.resume(home=self.home, **more)

    async def stored(self, name: str = "last") -> StoredRun:
        async with opened_store(self.home) as store:
            return await store.load(await store.find(name))

    async def check(self, run: api.Run) -> None:
        """What every run must be after all: whole, traceable, and no dearer than it would have been."""
        log = [*self.model.log, *(self.web.log if self.web else ())]
        assert not self.killer.repeated(log)
        assert is_sound(self.home / "deepwell.db")
        assert not list((self.folder / "scratch").iterdir())
        stored = await self.stored()
        assert (stored.head.status, stored.report) == ("done", run.markdown)
        assert stored.citations
        async with opened_store(self.home) as store:
            for _, numbers, spans in stored.citations:
                assert set(numbers) <= {source.number for source in stored.sources}
                assert all([(await store.fetch(source)).text[start:end] for source, start, end in spans])


MakeScene = Callable[..., Scene]


@pytest.fixture(scope="module")
def documents(tmp_path_factory: pytest.TempPathFactory) -> Path:
    texts = {
        "kettle.md": "# Falcon kettle\n\nSales of the Falcon kettle rose to 4,200 units in 2023. Its thermostat comes "
        "from the supplier Brightline.",
        "brightline.md": "# Brightline\n\nBrightline was founded by Maria Kessler in Bremen. It employs 80 people.",
        "rival.txt": "Brightline, a firm in Bremen, employs 120 people according to its yearly statement.",
    }
    folder = tmp_path_factory.mktemp("documents")
    for name, text in texts.items():
        (folder / name).write_text(text, encoding="utf-8")
    return folder


@pytest.fixture
def scene(tmp_path: Path, documents: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[MakeScene]:
    """Scenes over documents, the web or both, each with who is to be killed when."""
    open_servers: list[Any] = []

    def made(killer: Killer | None = None, *, over: str = "documents", latency_s: float = LATENCY_S) -> Scene:
        killer = killer or Killer()
        colleague = Colleague(searches_first=1, gaps=("the price of it",), counts_turns=False)
        model = ModelServer(colleague, latency_s=latency_s, on_request=killer.on_request)
        open_servers.append(model.__enter__())
        web = None
        if over != "documents":
            web = WebServer(search_latency_s=latency_s, page_latency_s=latency_s, on_visit=killer.on_visit)
            open_servers.append(web.__enter__())
            for name, value in web.environment().items():
                monkeypatch.setenv(name, value)
        (tmp_path / "scratch").mkdir()
        return Scene(killer, model, web, None if over == "web" else documents, tmp_path)

    yield made
    for server in open_servers:
        server.close()


@pytest.mark.parametrize(
    ("over", "purpose", "nth"),
    [
        ("documents", "take_in", 1),
        ("documents", "investigate", 2),
        ("documents", "investigate", 5),
        ("documents", "supervise", 1),
        ("documents", "investigate", 8),
        ("documents", "outline", 1),
        ("documents", "write_section", 1),
        ("documents", "write_section", 2),
        ("web", "search", 2),
        ("web", "page", 2),
        ("web", "supervise", 1),
        ("both", "search", 9),
        ("both", "page", 4),
    ],
)
async def test_a_run_killed_in_any_phase_comes_to_the_same_report_at_the_same_cost(
    over: str, purpose: str, nth: int, scene: MakeScene
) -> None:
    stage = scene(Killer.of(purpose, nth), over=over)
    clean = await stage.undisturbed()
    stage.die()
    run = await stage.resumed()
    assert run.markdown == clean
    assert total_spend((await stage.stored()).spend).tokens > 0
    if stage.web and purpose == "supervise":
        assert not stage.killer.fetched_again(stage.web.log), "between rounds every page is read"
    await stage.check(run)


@pytest.mark.parametrize("nth", [2, 4])
async def test_a_run_killed_at_a_checkpoint_goes_on_from_there(nth: int, scene: MakeScene) -> None:
    stage = scene()
    clean = await stage.undisturbed()
    stage.die(
        f"{DYING}from deepwell.store import checkpoints\nput, left = checkpoints.LeanSaver.aput, [{nth}]\n"
        "async def counted(self, config, checkpoint, metadata, versions):\n"
        "    named = await put(self, config, checkpoint, metadata, versions)\n"
        "    left[0] -= metadata.get('step', 1) >= 1\n"
        "    return named if left[0] else die()\n"
        "checkpoints.LeanSaver.aput = counted"
    )
    run = await stage.resumed()
    assert run.markdown == clean
    await stage.check(run)


async def test_a_run_that_was_only_entered_starts_with_its_question(scene: MakeScene) -> None:
    stage = scene()
    clean = await stage.undisturbed()
    stage.die(f"{DYING}import deepwell.api\ndeepwell.api.leased = die")
    assert (await stage.stored()).head.status == "interrupted"
    run = await stage.resumed()
    assert run.markdown == clean
    await stage.check(run)


@pytest.mark.parametrize("judgement", [1, 14])
async def test_what_was_billed_but_not_yet_judged_is_not_billed_again(judgement: int, scene: MakeScene) -> None:
    """The first judgement is the intake, the fourteenth the second section, of which the first is kept."""
    stage = scene()
    clean = await stage.undisturbed()
    stage.die(
        f"{DYING}from deepwell.store.calls import RunCalls\nkeep, left = RunCalls.keep, [{judgement}]\n"
        "async def kept(self, call, outcome, *, wait=True):\n"
        "    left[0] -= call.kind == 'judgement'\n"
        "    if not left[0]:\n        await self._scribe.settled()\n        die()\n"
        "    await keep(self, call, outcome, wait=wait)\n"
        "RunCalls.keep = kept"
    )
    run = await stage.resumed()
    assert run.markdown == clean
    await stage.check(run)


async def test_a_run_that_is_killed_again_while_it_goes_on_loses_nothing_either(scene: MakeScene) -> None:
    first, second = Killer.of("investigate", 3), Killer.of("write_section")
    stage = scene(first)
    clean = await stage.undisturbed()
    stage.die()
    first.hand_over(second)
    stage.die_again()
    assert not first.repeated(stage.model.log)
    run = await stage.resumed()
    assert run.markdown == clean
    assert not second.repeated(stage.model.log)
    await stage.check(run)


async def test_without_documents_read_there_is_no_run_to_go_on_with(scene: MakeScene) -> None:
    stage = scene()
    stage.die(f"{DYING}import deepwell.assemble\ndeepwell.assemble.indexed = die")
    with pytest.raises(UnknownRun, match="No run waits to be resumed") as nothing:
        await stage.resumed()
    assert exit_code(nothing.value) is Exit.USAGE


async def test_what_cannot_be_gone_on_with_is_said_in_a_sentence(scene: MakeScene) -> None:
    stage = scene(Killer.of("outline"))
    stage.die()
    run = await stage.resumed()
    with pytest.raises(BadRequest, match="is finished") as finished:
        await api.resume(run.id, home=stage.home)
    assert exit_code(finished.value) is Exit.USAGE
    with pytest.raises(UnknownRun, match="No run goes by the id 'zz'"):
        await api.resume("zz", home=stage.home)
    with pytest.raises(UnknownRun, match="No run waits"):
        await stage.resumed()


async def test_of_two_processes_only_one_goes_on(scene: MakeScene) -> None:
    stage = scene(Killer.of("investigate", 4), latency_s=0.3)
    stage.die()
    both = [started(["resume", "last"], stage.environment) for _ in range(2)]
    ended = [(one, one.communicate(timeout=60)) for one in both]
    worked = [said for one, said in ended if one.returncode == Exit.REPORT]
    [(refused, (_, sentence))] = [(one, said) for one, said in ended if one.returncode != Exit.REPORT]
    assert len(worked) == 1
    assert refused.returncode == Exit.STORE, sentence
    assert sentence.startswith("deepwell: Another process works on run")
    assert not stage.killer.repeated(stage.model.log)
    async with opened_store(stage.home) as store:
        [head] = await store.runs()
        events = [event["kind"] for event in await store.journal(head.id)]
    assert (head.status, events.count("RunResumed")) == ("done", 1)


async def test_a_run_that_is_at_work_is_left_alone(scene: MakeScene) -> None:
    stage = scene(Killer.of("never"), latency_s=30.0)
    with started([QUESTION, "--docs", str(stage.docs), *_set(stage)], stage.environment) as busy:
        stage.model.wait_for_requests(2, 30)
        with pytest.raises(UnknownRun):
            await stage.resumed()
        with pytest.raises(RunHeld) as held:
            await api.resume("last", home=stage.home)
        busy.kill()
    assert exit_code(held.value) is Exit.STORE
    assert (await stage.stored()).head.status == "interrupted"


async def test_without_an_id_the_newest_that_was_interrupted_is_taken(scene: MakeScene) -> None:
    stage = scene(Killer.of("take_in"))
    stage.die()
    older = (await stage.stored()).head.id
    stage.killer.hand_over(Killer.of("take_in"))
    stage.die()
    newer = (await stage.stored()).head.id
    assert (await stage.resumed()).id == newer
    assert (await stage.resumed()).id == older


async def test_after_an_upgrade_it_starts_with_the_question_and_pays_for_nothing_again(
    scene: MakeScene, monkeypatch: pytest.MonkeyPatch
) -> None:
    stage = scene(Killer.of("outline"))
    clean = await stage.undisturbed()
    stage.die()
    monkeypatch.setattr("deepwell.store.serializer.shape", lambda also=(): "another")
    monkeypatch.setattr("deepwell.store.checkpoints.shape", lambda also=(): "another")
    run = await stage.resumed()
    assert run.markdown == clean
    await stage.check(run)


async def test_an_upgrade_never_takes_away_what_was_found(scene: MakeScene, monkeypatch: pytest.MonkeyPatch) -> None:
    stage = scene(Killer.of("outline"))
    stage.die(max_execution_time_s=300)
    _use_up(stage.home, 1000.0)
    monkeypatch.setattr("deepwell.store.serializer.shape", lambda also=(): "another")
    monkeypatch.setattr("deepwell.store.checkpoints.shape", lambda also=(): "another")
    assert not (await stage.resumed()).found
    assert (await stage.stored()).claims


async def test_a_store_of_a_newer_program_is_not_touched(scene: MakeScene) -> None:
    stage = scene(Killer.of("take_in"))
    stage.die()
    with closing(sqlite3.connect(stage.home / "deepwell.db")) as store:
        store.execute("PRAGMA user_version = 999")
    with pytest.raises(StoreNewer):
        await stage.resumed()


async def test_what_an_interrupted_run_has_found_can_be_exported(scene: MakeScene) -> None:
    stage = scene(Killer.of("supervise"))
    stage.die()
    with started(["show", "last", "--json"], stage.environment) as shown:
        out, _ = shown.communicate(timeout=60)
    told = json.loads(out)
    assert (told["status"], told["report"]) == ("interrupted", None)
    assert told["sources"]
    assert all(span["text"] for claim in told["claims"] for span in claim["spans"])
    before = len(told["claims"])
    assert before
    with started(["show", "last", "--sources"], stage.environment) as shown:
        out, _ = shown.communicate(timeout=60)
    assert "[1]" in out
    await stage.resumed()
    assert len((await stage.stored()).claims) >= before


async def test_a_run_that_is_given_up_keeps_what_it_has_found(
    scene: MakeScene, monkeypatch: pytest.MonkeyPatch
) -> None:
    stage = scene(Killer.of("supervise"))
    stage.die()
    monkeypatch.setattr("deepwell.nodes.report.compose.numbered", _broken)
    with pytest.raises(ZeroDivisionError):
        await stage.resumed()
    stored = await stage.stored()
    assert stored.head.status == "failed"
    assert stored.claims
    monkeypatch.undo()
    assert (await api.resume(stored.head.id, home=stage.home)).found


def _broken(*_: Any) -> Any:
    raise ZeroDivisionError


async def test_time_that_was_used_stays_used_and_time_in_between_does_not_count(scene: MakeScene) -> None:
    stage = scene(Killer.of("supervise"))
    stage.die(max_execution_time_s=300)
    _use_up(stage.home, 120.0)
    seen: list[dict[str, Any]] = []

    class Watcher(api.Watcher):
        def progress(self, payload: dict[str, Any]) -> None:
            seen.append(payload)

    clock = ManualClock(elapsed=1e6)
    assert (await stage.resumed(clock=clock, watcher=Watcher())).found
    told = {(payload["elapsed_minutes"], round(payload["remaining_minutes"], 3)) for payload in seen}
    assert told == {(2.0, 3.0)}


async def test_a_run_whose_time_is_over_is_written_at_once_from_what_there_is(scene: MakeScene) -> None:
    stage = scene(Killer.of("supervise"))
    stage.die(max_execution_time_s=300)
    _use_up(stage.home, 1000.0)
    asked = len(stage.model.log)
    run = await stage.resumed()
    assert run.found
    assert stage.model.purposes()[asked:] in ((), ("supervise",))  # the one in flight, whose end is logged late
    await stage.check(run)


def _use_up(home: Path, seconds: float) -> None:
    with closing(sqlite3.connect(home / "deepwell.db")) as store, store:
        store.execute("UPDATE runs SET used_s = ?", (seconds,))


@pytest.mark.parametrize("purpose", ["investigate", "outline"])
async def test_tokens_that_were_spent_stay_spent(purpose: str, scene: MakeScene) -> None:
    stage, budget = scene(Killer.of(purpose)), 16_000
    stage.die(token_budget=budget)
    before = total_spend((await stage.stored()).spend).tokens
    run = await stage.resumed()
    after = total_spend((await stage.stored()).spend).tokens
    assert before < after <= budget
    assert f"{after:,} tokens in all" in run.markdown
    assert not stage.killer.repeated(stage.model.log)


def _set(stage: Scene) -> list[str]:
    return [f"--set={name}={value}" for name, value in stage.settings.items()]

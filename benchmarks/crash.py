"""What a crash costs: runs that are killed at every request, at every checkpoint and at random moments, and gone on
with; and what it costs to be ready for that, in time and on the disk."""

import asyncio
import os
import random
import shutil
import sqlite3
import tempfile
import threading
import time
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager, closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from statistics import mean
from typing import Any

from deepwell import api, assemble
from deepwell.configuration import Configuration
from deepwell.errors import BadRequest
from deepwell.graph import app
from deepwell.store.calls import RunCalls
from deepwell.store.runs import RunStore
from deepwell.testing.crashing import Killer, is_sound, left_behind, started
from deepwell.testing.model_server import Colleague, ModelServer
from deepwell.testing.web import QUESTION as WEB_QUESTION
from deepwell.testing.web import WebServer
from deepwell.vocabulary.report import Report

DOCS = Path("examples/antikythera")
QUESTION = "Who found the Antikythera mechanism, when was it made, and what did it compute?"
TWO_WAVES = Colleague(searches_first=1, gaps=("the price of the ship's cargo",), counts_turns=False)
LATENCY_S = 0.03
RANDOM_KILLS = 14
"""For each of the three kinds of run."""
CHECKPOINTS = 8
REPEATS = 25
SEED = 5
_AT_CHECKPOINT = """
import os, signal
from deepwell.store.checkpoints import LeanSaver
put, left = LeanSaver.aput, [{nth}]
async def counted(self, config, checkpoint, metadata, versions):
    named = await put(self, config, checkpoint, metadata, versions)
    left[0] -= metadata.get("step", 1) >= 1
    return named if left[0] else os.kill(os.getpid(), signal.SIGKILL)
LeanSaver.aput = counted
"""


@dataclass(slots=True)
class Tally:
    """What became of the kills of one kind."""

    kills: int = 0
    completed: int = 0
    same: int = 0
    """Reports that are those of an undisturbed run, byte for byte."""
    traced: int = 0
    """Reports in which every citation leads to a passage of a kept source."""
    sound: int = 0
    """Stores that pass SQLite's checks, with no process left behind."""
    answered_again: list[int] = field(default_factory=list)
    """Requests to models and searches that had been answered and were made again, by kill."""
    fetched_again: list[int] = field(default_factory=list)
    """Pages that had come, were still being parsed, and were fetched again."""
    in_flight_again: list[int] = field(default_factory=list)


class Scene:
    """A model, a web if one is searched, and the report that comes when nothing disturbs it."""

    def __init__(self, over: str, folder: Path) -> None:
        self._over, self._folder, self._kills = over, folder, 0
        self.killer = Killer()
        self.model = ModelServer(TWO_WAVES, latency_s=LATENCY_S, on_request=lambda *told: self.killer.on_request(*told))
        self.web = None if over == "documents" else self._web()

    def _web(self) -> WebServer:
        return WebServer(
            search_latency_s=LATENCY_S, page_latency_s=LATENCY_S, on_visit=lambda visit: self.killer.on_visit(visit)
        )

    @contextmanager
    def open(self) -> Iterator["Scene"]:
        """Start the servers, and run once undisturbed."""
        with self.model:
            if self.web is None:
                yield self._prepared()
                return
            with self.web:
                os.environ.update(self.web.environment())
                yield self._prepared()
                os.environ["SEARCH_PROVIDER"] = "none"

    def _prepared(self) -> "Scene":
        self.undisturbed()
        before, began = self.requests, time.monotonic()
        self.clean = self.undisturbed()
        self.clean_s, self.clean_requests = time.monotonic() - began, self.requests - before
        return self

    @property
    def requests(self) -> int:
        return len(self.log)

    @property
    def log(self) -> list[Any]:
        return [*self.model.log, *(self.web.log if self.web else ())]

    @property
    def settings(self) -> dict[str, Any]:
        engines = {"search_provider": "searxng", "own_hosts": self.web.own_hosts} if self.web else {}
        return {"orchestrator_model": "local:colleague", "model_base_url": self.model.base_url, **engines}

    @property
    def question(self) -> str:
        return WEB_QUESTION if self.web else QUESTION

    @property
    def docs(self) -> list[Path]:
        return [] if self._over == "web" else [DOCS]

    def undisturbed(self) -> str:
        """The report as it is without a crash, with a model that has to be tried out first."""
        home = self._folder / "clean"
        shutil.rmtree(home, ignore_errors=True)
        asked = api.request(self.question, self.docs, Configuration.build(**self.settings), home=home)
        return asyncio.run(api.research(asked)).markdown

    def kill(self, killer: Killer, tally: Tally, first: str = "") -> None:
        """One run that is killed, gone on with, and looked at."""
        self._kills, self.killer = self._kills + 1, killer
        home = self._folder / f"{self._over}-{self._kills}"
        docs = [part for path in self.docs for part in ("--docs", str(path))]
        values = [f"--set={name}={value}" for name, value in self.settings.items()]
        victim = started([self.question, *docs, *values, "--quiet"], {"DEEPWELL_HOME": str(home)}, first)
        with killer.follow(victim):
            victim.communicate()
        killer.ended()
        if victim.returncode != 0 and (home / "deepwell.db").exists():
            self._go_on(home, tally, not left_behind(victim.pid))
        shutil.rmtree(home, ignore_errors=True)

    def _go_on(self, home: Path, tally: Tally, clean: bool) -> None:
        try:
            run = asyncio.run(api.resume(home=home))
        except BadRequest:  # it was killed before there was a run, or after it had finished
            return
        tally.kills += 1
        tally.completed += run.found
        tally.same += run.markdown == self.clean
        tally.traced += asyncio.run(_is_traced(home, run))
        tally.sound += clean and is_sound(home / "deepwell.db")
        tally.answered_again.append(self.killer.repeated(self.log).total())
        tally.fetched_again.append(self.killer.fetched_again(self.log).total())
        tally.in_flight_again.append(self.killer.in_flight(self.log).total())


def main() -> None:
    """Print everything."""
    print()
    os.environ.update({"SEARCH_PROVIDER": "none", "DEEPRESEARCH_ENV_FILE": ""})
    _kills()
    _costs()


def _kills() -> None:
    chance = random.Random(SEED)  # noqa: S311 - a sample, not a secret
    tallies: dict[str, Tally] = {}
    with tempfile.TemporaryDirectory() as folder:
        for over in ("documents", "web", "both"):
            with Scene(over, Path(folder)).open() as scene:
                _every_request(scene, tallies.setdefault(f"{over}, at every request", Tally()))
                _random_moments(scene, tallies.setdefault(f"{over}, at random", Tally()), chance)
                if over == "documents":
                    _every_checkpoint(scene, tallies.setdefault("documents, at every checkpoint", Tally()))
    print("kills | n | completed | same report | traced | sound | answered again | fetched again | in flight again")
    for name, tally in tallies.items():
        print(f"{name:30} | {_row(tally)}")
    print(f"{'in all':30} | {_row(_sum(list(tallies.values())))}")


def _every_request(scene: Scene, tally: Tally) -> None:
    """Of a run over both, every third: the rest is like the other two."""
    for nth in range(1, scene.clean_requests + 1, 3 if scene.web and scene.docs else 1):
        scene.kill(Killer(lambda number, purpose, nth=nth: number == nth), tally)  # type: ignore[misc]


def _every_checkpoint(scene: Scene, tally: Tally) -> None:
    for nth in range(1, CHECKPOINTS + 1):
        scene.kill(Killer(), tally, _AT_CHECKPOINT.format(nth=nth))


def _random_moments(scene: Scene, tally: Tally, chance: random.Random) -> None:
    """Between the first request and a little after the end."""
    for _ in range(RANDOM_KILLS):
        scene.kill(_later(chance.uniform(0, 1.1 * scene.clean_s)), tally)


def _later(seconds: float) -> Killer:
    def matches(number: int, purpose: str) -> bool:
        if number == 1:
            threading.Timer(seconds, killer.strike).start()
        return False

    killer = Killer(matches)
    return killer


def _sum(tallies: Sequence[Tally]) -> Tally:
    numbers = [sum(getattr(one, name) for one in tallies) for name in ("kills", "completed", "same", "traced", "sound")]
    lists = (
        [n for one in tallies for n in getattr(one, name)]
        for name in ("answered_again", "fetched_again", "in_flight_again")
    )
    return Tally(*numbers, *lists)


def _row(tally: Tally) -> str:
    made_again = (tally.answered_again, tally.fetched_again, tally.in_flight_again)
    again = (f"max {max(n, default=0)}, mean {mean(n or [0]):.2f}" for n in made_again)
    counts = (tally.kills, tally.completed, tally.same, tally.traced, tally.sound)
    return " | ".join([*map(str, counts), *again])


async def _is_traced(home: Path, run: api.Run) -> bool:
    if not isinstance(run.outcome, Report):
        return False
    async with assemble.opened_store(home) as store:
        stored = await store.load(run.id)
        known = {source.number for source in stored.sources}
        cited = [span for _, _, spans in stored.citations for span in spans]
        texts = [(await store.fetch(source)).text[start:end] for source, start, end in cited]
    return bool(stored.citations) and all(texts) and all(set(numbers) <= known for _, numbers, _ in stored.citations)


def _costs() -> None:
    """A run without latency, with and without being ready for a crash; what it leaves on the disk."""
    for name, script in (
        ("no model", None),
        ("model, one wave", Colleague(counts_turns=False)),
        ("model, two waves", TWO_WAVES),
    ):
        with tempfile.TemporaryDirectory() as folder, ModelServer(script) as server:
            home, settings = Path(folder), {} if script is None else _model(server)
            with_it, without = asyncio.run(_compared(home, settings))
            share = 100 * (with_it / without - 1)
            kept, at_work = asyncio.run(_bytes(home / "one", settings))
        print(
            f"ready for a crash, {name}: {with_it * 1000:.0f} ms instead of {without * 1000:.0f}, {share:+.1f} % "
            f"(at most 5); {kept / 1000:.0f} KB in the store, {at_work / 1000:.0f} KB before that (at most 3 MB)"
        )


def _model(server: ModelServer) -> dict[str, Any]:
    return {"orchestrator_model": "local:colleague", "model_base_url": server.base_url}


async def _compared(home: Path, settings: dict[str, Any]) -> tuple[float, float]:
    """Shortest times: on a machine that is shared, what is longer is others' work."""
    with_it, without = [], []
    for _ in range(REPEATS):
        with_it.append(await _timed(home, settings))
        with _unready():
            without.append(await _timed(home, settings))
    return min(with_it), min(without)


async def _timed(home: Path, settings: dict[str, Any]) -> float:
    asked = api.request(QUESTION, [DOCS], Configuration.build(**settings), home=home)
    began = time.perf_counter()
    await api.research(asked)
    return time.perf_counter() - began


async def _bytes(home: Path, settings: dict[str, Any]) -> tuple[int, int]:
    """What one run adds to a store: when it has finished, and just before."""
    async with assemble.opened_store(home) as store:
        path, seen = store.path, []
    empty, finish = _used_bytes(path), RunStore.finish

    async def watched(store: RunStore, *told: Any) -> None:
        await store.scribe.settled()
        seen.append(_used_bytes(path))
        await finish(store, *told)

    with _patched((RunStore, "finish", watched)):
        await _timed(home, settings)
    return _used_bytes(path) - empty, seen[0] - empty


def _used_bytes(path: Path) -> int:
    with closing(sqlite3.connect(path)) as connection:
        pages, free, size = (
            connection.execute(f"PRAGMA {name}").fetchone()[0] for name in ("page_count", "freelist_count", "page_size")
        )
    return int((pages - free) * size)


@contextmanager
def _unready() -> Iterator[None]:
    """Runs that keep neither calls nor steps nor what was found on the way: a crash loses all."""

    async def nothing(*_: Any, **__: Any) -> None: ...
    async def never(*_: Any) -> bool:
        return False

    with _patched(
        (RunCalls, "keep", nothing),
        (RunStore, "keep_evidence", nothing),
        (assemble, "checkpointed_app", _unsaved),
        (assemble, "can_go_on", never),
    ):
        yield


@asynccontextmanager
async def _unsaved(store: RunStore) -> AsyncIterator[Any]:
    yield _Unsaved()


class _Unsaved:
    """The path without a saver, which then must not be waited for."""

    def astream(self, given: Any, config: Any, *, durability: str, **more: Any) -> Any:
        """As the path."""
        return app.astream(given, config, **more)


@contextmanager
def _patched(*changes: tuple[Any, str, Callable[..., Any]]) -> Iterator[None]:
    before = [(place, name, getattr(place, name)) for place, name, _ in changes]
    try:
        for place, name, value in changes:
            setattr(place, name, value)
        yield
    finally:
        for place, name, value in before:
            setattr(place, name, value)


if __name__ == "__main__":
    main()

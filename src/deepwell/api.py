"""Research as a library: ask a question, get a report and the run that made it."""

import asyncio
import secrets
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, cast

from langchain_core.messages import HumanMessage
from langchain_core.runnables import RunnableConfig

from deepwell import __version__, assemble, replaying
from deepwell.budget.run_clock import RunClock
from deepwell.budget.waiting import SecondsLeft
from deepwell.configuration import Configuration, home
from deepwell.errors import BadRequest, Interrupted, RunHeld, Unreadable
from deepwell.graph import ResearchGraph
from deepwell.library.refreshing import Libraries
from deepwell.models.choosing import Chosen, check, chosen
from deepwell.ports import Clock, Journal, Workbench
from deepwell.saving import LEAST_TO_SAVE_S, MOST_TO_SAVE_S, save, seconds_to_save
from deepwell.stages.intake import accepted_question
from deepwell.stages.judge.ranking import kept_passages
from deepwell.state import ResearchState
from deepwell.store.leases import Lease, leased, unless_lost
from deepwell.store.runs import RunStore
from deepwell.vocabulary.budget import Budget
from deepwell.vocabulary.events import Degraded, RunEnded, RunResumed, RunStarted, WouldHaveAsked
from deepwell.vocabulary.record import ResearchRecord
from deepwell.vocabulary.report import Outcome, Report
from deepwell.vocabulary.run import NO_PAST, FinishedRun, Past, RunStatus, StoredRun, span_of
from deepwell.vocabulary.source import Source

INDEXING_SHARE = 0.5
"""Share of the research time that indexing may take; what is not indexed by then waits for the next run."""


class Watcher:
    """Told what a run does while it does it; override what is of interest."""

    def indexing(self, done: int, total: int) -> None:
        """One more document has been looked at."""

    def indexed(self, libraries: Libraries) -> None:
        """The library is up to date."""

    def phase(self, name: str) -> None:
        """planning, research or writing has begun."""

    def progress(self, payload: dict[str, Any]) -> None:
        """The runtime's own account of the phase, `runtime_progress`: at every change, and every two seconds."""


@dataclass(frozen=True, slots=True)
class Run:
    """A finished run."""

    id: str
    outcome: Outcome
    record: ResearchRecord
    degradations: tuple[Degraded, ...] = ()
    """What had to be done without the model, and why."""
    unsaved: str | None = None
    """Why the run could not be saved, in a sentence; None: it is."""
    missed: tuple[WouldHaveAsked, ...] = ()
    """What a replay would have had to ask outside, because the journal does not tell it."""

    @property
    def found(self) -> bool:
        """True when there is a report."""
        return isinstance(self.outcome, Report)

    @property
    def markdown(self) -> str:
        """The report, or the statement that nothing was found."""
        return self.outcome.markdown


@dataclass(frozen=True, slots=True)
class Request:
    """What a run is asked to do."""

    question: str
    docs: tuple[Path, ...]
    configuration: Configuration
    home: Path
    models: Chosen | None = None
    """The models to ask; None: work without one."""
    engines: tuple[str, ...] = ()
    """The engines to search the web with; empty: the web is not touched."""
    clock: Clock = field(default_factory=assemble.system_clock)
    interrupted: asyncio.Event = field(default_factory=asyncio.Event)
    watcher: Watcher = field(default_factory=Watcher)


def request(
    question: str, docs: Sequence[str | Path], configuration: Configuration | None = None, **more: Any
) -> Request:
    """A checked request. Raises BadRequest."""
    more.setdefault("home", home())
    configuration = configuration or Configuration.build()
    engines = assemble.web_engines(configuration, documents=bool(docs))
    if not docs and not engines:
        raise BadRequest("There is nothing to search: give a folder of documents with --docs DIR, or --search web.")
    models = chosen(configuration)
    if models:
        check(models, configuration)
    return Request(
        accepted_question(question), tuple(Path(d) for d in docs), configuration, models=models, engines=engines, **more
    )


async def research(asked: Request) -> Run:
    """Research the question and keep everything. Raises DeepwellError; a run that found nothing is no error."""
    asked = replace(asked, clock=RunClock(asked.clock))
    budget = assemble.new_budget(asked.configuration, asked.clock)
    run = secrets.token_hex(4)
    libraries = await _indexed(asked, budget) if asked.docs else None
    async with assemble.opened_store(asked.home) as store:
        await _begin(store, run, asked, budget)
        async with leased(store, run, used_s=asked.clock.monotonic) as lease:
            return await _pursued(store, lease, asked, libraries, budget, NO_PAST)


async def resume(name: str = "", **more: Any) -> Run:
    """Go on with a run that was interrupted; by default the newest. What was answered before is not asked again.

    Takes `home`, `clock`, `interrupted` and `watcher` as a request does. Raises DeepwellError.
    """
    async with assemble.opened_store(more.setdefault("home", home())) as store:
        run = await store.find(name) if name else await store.newest_unfinished()
        _check_unfinished(await store.load(run))
        machine = more.pop("clock", None) or assemble.system_clock()
        clock = RunClock(machine, await store.used_s(run), await store.last_event_at(run))
        async with leased(store, run, used_s=clock.monotonic) as lease:
            # Read when nobody else can change it any more.
            stored, past = await store.load(run), await store.past(run)
            _check_unfinished(stored)
            asked = _as_it_was(stored, clock, more)
            budget = assemble.budget_from(asked.configuration, stored.head.started_at)
            await store.reopen(run)
            await assemble.RunJournal(store, run, clock.now).record(RunResumed(__version__, round(past.used_s, 3)))
            libraries = await _indexed_again(asked, budget, run) if asked.docs else None
            return await _pursued(store, lease, asked, libraries, budget, past)


async def replay(name: str, settings: Mapping[str, Any] | None = None, **more: Any) -> Run:
    """A finished run once more, offline, as far as its journal goes. Takes `home` and `clock`. Raises DeepwellError."""
    run, clock = secrets.token_hex(4), RunClock(more.pop("clock", None) or assemble.system_clock())
    async with assemble.opened_store(more.setdefault("home", home())) as store:
        kept = await replaying.kept_run(store, name)
        configuration, engines = replaying.changed(kept.stored, settings or {}), kept.stored.engines
        question, docs = kept.stored.head.question, _documents_of(kept.stored)
        asked = Request(question, docs, configuration, engines=engines, clock=clock, **more)
        budget = assemble.new_budget(configuration, clock)
        again = await replaying.replayed(store, kept, configuration, budget, clock)
        await _begin(store, run, asked, budget)
        journal = assemble.RunJournal(store, run, clock.now)
        await journal.record(*again.events)
        finished = await _finish(store, run, again.state, clock, journal, MOST_TO_SAVE_S)
        return replace(finished, missed=again.missed)


async def _indexed_again(asked: Request, budget: Budget, run: str) -> Libraries:
    try:
        return await _indexed(asked, budget)
    except Unreadable as error:
        raise Unreadable(f"{error} Run {run} is kept: `deepwell show {run} --sources` has what was found.") from error


def _check_unfinished(stored: StoredRun) -> None:
    run, status = stored.head.id, stored.head.status
    if status in ("done", "nothing_found"):
        raise BadRequest(f"Run {run} is finished: `deepwell show {run}` prints it.")
    if status == "clarify":
        raise BadRequest(f"Run {run} waits for an answer: put it into the question, and ask that.")


def _as_it_was(stored: StoredRun, clock: Clock, more: dict[str, Any]) -> Request:
    """The request of a run that was begun before, with its own settings. Raises BadConfiguration."""
    configuration = Configuration.build({}, **stored.chosen_settings)
    docs = _documents_of(stored)
    return Request(
        stored.head.question,
        docs,
        configuration,
        models=chosen(configuration),
        engines=assemble.web_engines(configuration, documents=bool(docs)) if stored.engines else (),
        clock=clock,
        **more,
    )


def _documents_of(stored: StoredRun) -> tuple[Path, ...]:
    """As they were typed where that means the same: addresses of sources begin with them."""
    is_there = Path.cwd() == Path(stored.folder)
    return tuple(Path(path) if is_there else Path(stored.folder) / path for path in stored.libraries)


async def _pursued(
    store: RunStore, lease: Lease, asked: Request, libraries: Libraries | None, budget: Budget, past: Past
) -> Run:
    """Work on the run until it has an outcome. Whatever ends it, it is kept."""
    run, journal = lease.run, assemble.RunJournal(store, lease.run, asked.clock.now)
    try:
        work = _carried_out(store, run, asked, libraries, budget, past)
        state, degradations = await unless_lost(lease, work)
    except RunHeld:
        # It is another one's now: nothing of ours may be written over theirs.
        raise
    except BaseException as error:
        await asyncio.shield(_give_up(store, run, asked.clock, journal, error))
        raise
    if state.get("awaiting_clarification"):
        await store.finish(run, FinishedRun("clarify", asked.clock.now(), None, None, {}))
        raise BadRequest(f"Say first: {state['messages'][-1].text}")
    seconds = seconds_to_save(state["budget"], asked.clock)
    finished = await _finish(store, run, state, asked.clock, journal, seconds)
    return replace(finished, degradations=degradations)


async def _indexed(asked: Request, budget: Budget) -> Libraries:
    left = _indexing_left(asked, budget)
    libraries = await assemble.indexed(asked.docs, asked.home, asked.configuration, _stoppable(asked, left), left)
    if asked.interrupted.is_set():
        done = f"{libraries.documents} of {libraries.documents + libraries.left}"
        raise Interrupted(f"Stopped after indexing {done} documents; the next run goes on from there.")
    asked.watcher.indexed(libraries)
    return libraries


async def _carried_out(
    store: RunStore, run: str, asked: Request, libraries: Libraries | None, budget: Budget, past: Past
) -> tuple[ResearchState, tuple[Degraded, ...]]:
    tools = assemble.workbench(
        store,
        run,
        libraries,
        asked.configuration,
        budget,
        asked.interrupted,
        asked.clock,
        asked.models,
        asked.engines,
        asked.question,
        past,
    )
    # Told before a model is tried out, which may take a while.
    asked.watcher.phase("planning")
    async with tools as bench:
        state = await _walk(store, run, asked, bench)
        return state, tuple(bench.degradations)


def _indexing_left(asked: Request, budget: Budget) -> SecondsLeft:
    """Seconds that indexing may still take: half of the time for research, and none when the user says stop."""
    began = asked.clock.monotonic()
    allowed = budget.research_seconds_left(began)

    def left() -> float | None:
        if asked.interrupted.is_set():
            return 0.0
        spent = asked.clock.monotonic() - began
        return None if allowed is None else INDEXING_SHARE * allowed - spent

    return left


def _stoppable(asked: Request, left: SecondsLeft) -> Callable[[int, int], bool]:
    """Tells the watcher of the indexing, and ends it when no time is left for it."""

    def progress(done: int, total: int) -> bool:
        asked.watcher.indexing(done, total)
        seconds = left()
        return seconds is None or seconds > 0

    return progress


async def read_source(target: str, configuration: Configuration | None = None) -> Source:
    """A web address through exactly the door that a run uses, or a file. Raises Unreadable with a safe sentence."""
    configuration, clock = configuration or Configuration.build(), assemble.system_clock()
    if "://" in target:
        async with assemble.web_reader(configuration, clock) as reader:
            return await reader.read(target)
    return await asyncio.to_thread(assemble.file_source, Path(target), clock)


def ask(question: str, docs: Sequence[str | Path], configuration: Configuration | None = None) -> Run:
    """The same, for code without an event loop."""
    return asyncio.run(_ask(question, docs, configuration))


async def _ask(question: str, docs: Sequence[str | Path], configuration: Configuration | None) -> Run:
    return await research(request(question, docs, configuration))


async def _begin(store: RunStore, run: str, asked: Request, budget: Budget) -> None:
    await store.begin(
        run,
        asked.question,
        at=budget.started_at,
        version=__version__,
        configuration=asked.configuration.model_dump_json(),
        libraries=[str(path) for path in asked.docs],
        engines=asked.engines,
        chosen=sorted(asked.configuration.model_fields_set),
    )
    await assemble.RunJournal(store, run, asked.clock.now).record(RunStarted(asked.question, __version__))


async def _walk(store: RunStore, run: str, asked: Request, bench: Workbench) -> ResearchState:
    """Follow the path from the question to the outcome, telling the watcher what happens."""
    state: ResearchState = {}
    config: RunnableConfig = {"configurable": {"thread_id": run, "workbench": bench}, "recursion_limit": 1000}
    async with assemble.checkpointed_app(store) as app:
        stream = app.astream(
            await _start(app, config, asked, bench),
            config,
            context=asked.configuration,
            stream_mode=["custom", "updates", "values"],
            subgraphs=True,
            durability="sync",
        )
        async for namespace, mode, chunk in cast("Any", stream):
            if mode == "values" and not namespace:
                state = chunk
            elif mode == "custom":
                asked.watcher.progress(chunk["runtime_progress"])
            elif mode == "updates":
                _tell(asked.watcher, namespace, chunk)
    return state


async def _start(app: ResearchGraph, config: RunnableConfig, asked: Request, bench: Workbench) -> ResearchState | None:
    """The question; nothing for a run that goes on from where it was.

    Without a checkpoint that this program can read, it starts anew: what was answered before is still known.
    """
    if not await assemble.can_go_on(app, config["configurable"]["thread_id"]):
        return {"messages": [HumanMessage(asked.question)]}
    kept = (await app.aget_state(config)).values
    # The tier may have set another time than the run began with.
    bench.account.budget = kept.get("budget", bench.account.budget)
    return None


def _tell(watcher: Watcher, namespace: tuple[str, ...], chunk: dict[str, Any]) -> None:
    taken = chunk.get("scope_intake")
    if not namespace and taken and not taken.get("awaiting_clarification"):
        watcher.phase("research")
    if not namespace and "research_supervisor" in chunk:
        watcher.phase("writing")
    update = chunk.get("supervisor_tools")
    if update and update.get("runtime_progress"):
        watcher.progress(update["runtime_progress"])


async def _finish(
    store: RunStore, run: str, state: ResearchState, clock: Clock, journal: Journal, seconds: float
) -> Run:
    outcome, record = state["outcome"], state["research_record"]
    status: RunStatus = "done" if isinstance(outcome, Report) else "nothing_found"
    finished = FinishedRun(
        status,
        clock.now(),
        outcome,
        record.stop,
        record.phase_state,
        tuple(state["catalogue"]),
        tuple(state["evidence_ledger"]),
        tuple(map(span_of, kept_passages(record.lanes))),
    )
    await journal.record(RunEnded(status, record.stop))
    return Run(run, outcome, record, unsaved=await save(store, run, finished, seconds))


async def _give_up(store: RunStore, run: str, clock: Clock, journal: Journal, error: BaseException) -> None:
    """The run is kept as far as it came; its checkpoints and its journal stay."""
    status: RunStatus = "interrupted" if isinstance(error, asyncio.CancelledError | KeyboardInterrupt) else "failed"
    await journal.record(RunEnded(status, None))
    await save(store, run, FinishedRun(status, clock.now(), None, None, {}), LEAST_TO_SAVE_S)

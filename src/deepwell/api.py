"""Research as a library: ask a question, get a report and the run that made it."""

import asyncio
import secrets
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, cast

from langchain_core.messages import HumanMessage

from deepwell import __version__, assemble
from deepwell.configuration import Configuration, home
from deepwell.errors import BadRequest, Interrupted
from deepwell.library.refreshing import Libraries
from deepwell.models.choosing import Chosen, check, chosen
from deepwell.ports import Clock, Journal, Workbench
from deepwell.stages.intake import accepted_question
from deepwell.stages.judge.ranking import kept_passages
from deepwell.state import ResearchState
from deepwell.store.runs import RunStore
from deepwell.vocabulary.budget import Budget
from deepwell.vocabulary.events import Degraded, RunEnded, RunStarted
from deepwell.vocabulary.record import ResearchRecord
from deepwell.vocabulary.report import Outcome, Report
from deepwell.vocabulary.run import FinishedRun, RunStatus, Span
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
        """The runtime's own account of the round."""


@dataclass(frozen=True, slots=True)
class Run:
    """A finished run."""

    id: str
    outcome: Outcome
    record: ResearchRecord
    degradations: tuple[Degraded, ...] = ()
    """What had to be done without the model, and why."""

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
    budget = assemble.new_budget(asked.configuration, asked.clock)
    run = secrets.token_hex(4)
    libraries = await _indexed(asked, budget) if asked.docs else None
    async with assemble.opened_store(asked.home) as store:
        journal = assemble.RunJournal(store, run, asked.clock.now)
        await _begin(store, run, asked, budget, journal)
        try:
            state, degradations = await _carried_out(store, run, asked, libraries, budget)
        except BaseException as error:
            await asyncio.shield(_give_up(store, run, asked.clock, journal, error))
            raise
        if state.get("awaiting_clarification"):
            await store.finish(run, FinishedRun("clarify", asked.clock.now(), None, None, {}))
            raise BadRequest(f"Say first: {state['messages'][-1].text}")
        finished = await _finish(store, run, state, asked.clock, journal)
        return replace(finished, degradations=degradations)


async def _indexed(asked: Request, budget: Budget) -> Libraries:
    libraries = await assemble.indexed(asked.docs, asked.home, asked.configuration, _stoppable(asked, budget))
    if asked.interrupted.is_set():
        done = f"{libraries.documents} of {libraries.documents + libraries.left}"
        raise Interrupted(f"Stopped after indexing {done} documents; the next run goes on from there.")
    asked.watcher.indexed(libraries)
    return libraries


async def _carried_out(
    store: RunStore, run: str, asked: Request, libraries: Libraries | None, budget: Budget
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
    )
    async with tools as bench:
        state = await _walk(store, run, asked, bench)
        return state, tuple(bench.degradations)


def _stoppable(asked: Request, budget: Budget) -> Callable[[int, int], bool]:
    """Tells the watcher of the indexing, and ends it when the user says stop or half of the research time is gone."""
    allowed = budget.research_seconds_left(budget.started_monotonic)

    def progress(done: int, total: int) -> bool:
        asked.watcher.indexing(done, total)
        spent = asked.clock.monotonic() - budget.started_monotonic
        in_time = allowed is None or spent < INDEXING_SHARE * allowed
        return in_time and not asked.interrupted.is_set()

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


async def _begin(store: RunStore, run: str, asked: Request, budget: Budget, journal: Journal) -> None:
    await store.begin(
        run,
        asked.question,
        at=budget.started_at,
        version=__version__,
        configuration=asked.configuration.model_dump_json(),
        libraries=[str(path) for path in asked.docs],
    )
    await journal.record(RunStarted(asked.question, __version__))


async def _walk(store: RunStore, run: str, asked: Request, bench: Workbench) -> ResearchState:
    """Follow the path from the question to the outcome, telling the watcher what happens."""
    state: ResearchState = {}
    asked.watcher.phase("planning")
    async with assemble.checkpointed_app(store) as app:
        stream = app.astream(
            {"messages": [HumanMessage(asked.question)]},
            {"configurable": {"thread_id": run, "workbench": bench}, "recursion_limit": 1000},
            context=asked.configuration,
            stream_mode=["custom", "updates", "values"],
            subgraphs=True,
        )
        async for namespace, mode, chunk in cast("Any", stream):
            if mode == "values" and not namespace:
                state = chunk
            elif mode == "custom":
                asked.watcher.progress(chunk["runtime_progress"])
            elif mode == "updates":
                _tell(asked.watcher, namespace, chunk)
    return state


def _tell(watcher: Watcher, namespace: tuple[str, ...], chunk: dict[str, Any]) -> None:
    taken = chunk.get("scope_intake")
    if not namespace and taken and not taken.get("awaiting_clarification"):
        watcher.phase("research")
    if not namespace and "research_supervisor" in chunk:
        watcher.phase("writing")
    update = chunk.get("supervisor_tools")
    if update and update.get("runtime_progress"):
        watcher.progress(update["runtime_progress"])


async def _finish(store: RunStore, run: str, state: ResearchState, clock: Clock, journal: Journal) -> Run:
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
        tuple(_span(handle) for handle in kept_passages(record.lanes)),
    )
    await store.finish(run, finished)
    await journal.record(RunEnded(status, record.stop))
    return Run(run, outcome, record)


async def _give_up(store: RunStore, run: str, clock: Clock, journal: Journal, error: BaseException) -> None:
    """The run is kept as far as it came; its checkpoints and its journal stay."""
    status: RunStatus = "interrupted" if isinstance(error, asyncio.CancelledError | KeyboardInterrupt) else "failed"
    await store.finish(run, FinishedRun(status, clock.now(), None, None, {}))
    await journal.record(RunEnded(status, None))


def _span(handle: str) -> Span:
    source, _, span = handle.partition(":")
    start, _, end = span.partition("-")
    return source, int(start), int(end)

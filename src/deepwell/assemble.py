"""From a configuration to the tools a run needs: the only place where adapters are named."""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path

from deepwell.analyst.extractive import ExtractiveAnalyst
from deepwell.analyst.resilient import ResilientAnalyst
from deepwell.budget.clock import SystemClock
from deepwell.budget.ledger import Ledger
from deepwell.budget.stopping import unless_stopped
from deepwell.configuration import Configuration
from deepwell.errors import AnalystFailed
from deepwell.graph import ResearchGraph, app
from deepwell.library.engine import LibraryEngine
from deepwell.library.facts import LibraryFacts
from deepwell.library.refreshing import Libraries, refresh_libraries
from deepwell.library.vectors import Embedder, default_embedder
from deepwell.models.choosing import Chosen
from deepwell.models.factory import ModelSettings
from deepwell.ports import Clock, Workbench
from deepwell.reading.once import ReadOnce
from deepwell.store.checkpoints import checkpoints
from deepwell.store.runs import RunStore
from deepwell.store.sqlite import translated
from deepwell.vocabulary.budget import Budget
from deepwell.vocabulary.events import Degraded, Event
from deepwell.vocabulary.source import Source

MOST_TITLES = 20
"""Titles of documents that a model is told of when it plans."""
IndexProgress = Callable[[int, int], bool | None]


@dataclass(frozen=True, slots=True)
class RunJournal:
    """The store's journal, for one run."""

    store: RunStore
    run: str
    now: Callable[[], datetime]

    async def record(self, *events: Event) -> None:
        """Append the events in their order."""
        if events:
            await self.store.record(self.run, self.now(), events)


@dataclass(frozen=True, slots=True)
class RunShelf:
    """The store's kept sources; what this run has kept already is not written again."""

    store: RunStore
    kept: set[str]

    async def keep(self, source: Source) -> None:
        """Keep the text for good."""
        if source.hash not in self.kept:
            await self.store.keep(source)
            self.kept.add(source.hash)

    async def fetch(self, content_hash: str) -> Source:
        """The source kept under that hash."""
        return await self.store.fetch(content_hash)


@asynccontextmanager
async def opened_store(home: Path) -> AsyncIterator[RunStore]:
    """The user's runs."""
    async with RunStore.open(home / "deepwell.db") as store:
        yield store


@asynccontextmanager
async def checkpointed_app(store: RunStore) -> AsyncIterator[ResearchGraph]:
    """The compiled path, saving its steps in the store's file."""
    async with checkpoints(store.path) as saver:
        with translated(store.path):
            yield app.copy({"checkpointer": saver})


async def indexed(
    docs: Sequence[Path], home: Path, configuration: Configuration, on_progress: IndexProgress | None = None
) -> Libraries:
    """Bring the indexes of these folders up to date."""
    return await asyncio.to_thread(refresh_libraries, docs, home, on_progress, _embedder(configuration))


def _embedder(configuration: Configuration) -> Embedder | None:
    return default_embedder() if configuration.dense else None


def new_budget(configuration: Configuration, clock: Clock) -> Budget:
    """The budget of a run that starts now."""
    return Budget(
        configuration.total_minutes,
        clock.now(),
        clock.monotonic(),
        configuration.token_budget,
        configuration.cost_budget_usd,
    )


@asynccontextmanager
async def workbench(
    store: RunStore,
    run: str,
    libraries: Libraries,
    configuration: Configuration,
    budget: Budget,
    interrupted: asyncio.Event,
    clock: Clock,
    models: Chosen | None = None,
) -> AsyncIterator[Workbench]:
    """Everything a run over the user's own documents works with."""
    engine = LibraryEngine(libraries.libraries, clock.now, embedder=_embedder(configuration))
    facts = LibraryFacts(libraries.libraries)
    reader = ReadOnce(engine)
    ledger = Ledger(budget, clock.monotonic, models.prices if models else {})
    extractive = ExtractiveAnalyst(facts)
    bench = Workbench(
        analyst=extractive,
        stand_in=extractive,
        engine=engine,
        reader=reader,
        shelf=RunShelf(store, set()),
        journal=RunJournal(store, run, clock.now),
        clock=clock,
        budget=budget,
        account=ledger,
        interrupted=interrupted,
        limits=libraries.limits,
    )
    try:
        if models:
            sources = _sources_in_words(libraries.documents, list(facts.titles()))
            bench = await with_models(bench, models, ledger, configuration, store.path.parent, sources)
        yield bench
    finally:
        await reader.close()
        engine.close()
        facts.close()


def _sources_in_words(documents: int, titles: Sequence[str]) -> str:
    """What a planner should know of the documents: how many, how they are searched, and some of their titles."""
    some = "; ".join(" ".join(title.split())[:80] for title in titles[:MOST_TITLES])
    return f"The user's own documents, {documents} of them, searched by words. Among them: {some}."


async def with_models(
    bench: Workbench, models: Chosen, ledger: Ledger, configuration: Configuration, home: Path, sources: str
) -> Workbench:
    """The same bench with an analyst that asks the models, and falls back on the one that needs none."""
    # Provider packages and what asks them are loaded only here, when a model is really used.
    from deepwell.models.working import working_models

    async def degraded(event: Degraded) -> None:
        bench.degradations.append(event)
        await bench.journal.record(event)

    try:
        built = working_models(models, ledger, bench.journal, bench.clock, configuration, home)
        lead, researcher = await unless_stopped(bench.interrupted, built)
    except AnalystFailed as error:
        await degraded(Degraded("the whole run", str(error)))
        return bench
    from deepwell.analyst.model import ModelAnalyst

    asking = ModelAnalyst(lead, researcher, sources, configuration.report_language)
    return replace(
        bench, analyst=ResilientAnalyst(asking, bench.stand_in, ledger.seconds_left, degraded, bench.interrupted)
    )


async def probed_again(settings: ModelSettings, configuration: Configuration, home: Path) -> None:
    """Try a model out, whatever is known of it already. Raises AnalystFailed or BadConfiguration."""
    from deepwell.models import working

    await working.probed_again(settings, configuration, SystemClock(), home)


def system_clock() -> Clock:
    """The machine's own clock."""
    return SystemClock()

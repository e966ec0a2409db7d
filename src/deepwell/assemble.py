"""From a configuration to the tools a run needs: the only place where adapters are named."""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, closing
from dataclasses import dataclass, replace
from datetime import datetime
from importlib.util import find_spec
from pathlib import Path

from deepwell.analyst.extractive import ExtractiveAnalyst
from deepwell.analyst.resilient import ResilientAnalyst
from deepwell.budget.clock import SystemClock
from deepwell.budget.ledger import Ledger
from deepwell.budget.stopping import unless_stopped
from deepwell.configuration import Configuration, environment, secret
from deepwell.errors import AnalystFailed, BadConfiguration
from deepwell.graph import ResearchGraph, app
from deepwell.library.engine import LibraryEngine
from deepwell.library.facts import LibraryFacts
from deepwell.library.refreshing import Libraries, refresh_libraries
from deepwell.library.vectors import Embedder, default_embedder
from deepwell.models.choosing import Chosen
from deepwell.models.factory import ModelSettings
from deepwell.ports import Clock, Reader, SearchEngine, Workbench
from deepwell.reading.files import read_file
from deepwell.reading.once import ReadOnce
from deepwell.reading.routed import RoutedReader
from deepwell.search.mixed import MixedEngine
from deepwell.store.checkpoints import checkpoints
from deepwell.store.runs import RunStore
from deepwell.store.sqlite import translated
from deepwell.vocabulary.budget import Budget
from deepwell.vocabulary.events import Degraded, Event
from deepwell.vocabulary.source import Source, content_hash

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
    libraries: Libraries | None,
    configuration: Configuration,
    budget: Budget,
    interrupted: asyncio.Event,
    clock: Clock,
    models: Chosen | None = None,
    engines: tuple[str, ...] = (),
) -> AsyncIterator[Workbench]:
    """Everything a run works with: over the user's documents, over the web by these engines, or over both."""
    async with AsyncExitStack() as stack:
        library = _opened_library(libraries, configuration, clock, stack) if libraries else None
        facts = stack.enter_context(closing(LibraryFacts(libraries.libraries if libraries else ())))
        web = await stack.enter_async_context(_web(engines, configuration, clock)) if engines else None
        reader = ReadOnce(RoutedReader(library, web.reader if web else None))
        stack.push_async_callback(reader.close)
        ledger = Ledger(budget, clock.monotonic, models.prices if models else {})
        extractive = ExtractiveAnalyst(facts if libraries else None)
        asked = [engine for engine in (library, web.engine if web else None) if engine]
        bench = Workbench(
            analyst=extractive,
            stand_in=extractive,
            engine=asked[0] if len(asked) == 1 else MixedEngine(asked),
            reader=reader,
            shelf=RunShelf(store, set()),
            journal=RunJournal(store, run, clock.now),
            clock=clock,
            budget=budget,
            account=ledger,
            interrupted=interrupted,
            limits=libraries.limits if libraries else (),
            search_limits=web.limits if web else tuple,
            own_documents=web is None,
        )
        if models:
            sources = _sources_in_words(libraries.documents if libraries else 0, list(facts.titles()), engines)
            bench = await with_models(bench, models, ledger, configuration, store.path.parent, sources)
        yield bench


def _opened_library(
    libraries: Libraries, configuration: Configuration, clock: Clock, stack: AsyncExitStack
) -> LibraryEngine:
    engine = LibraryEngine(libraries.libraries, clock.now, embedder=_embedder(configuration))
    stack.callback(engine.close)
    return engine


@dataclass(frozen=True, slots=True)
class Web:
    """What a run needs to search and read the web."""

    engine: SearchEngine
    reader: Reader
    limits: Callable[[], tuple[str, ...]]


@asynccontextmanager
async def _web(engines: Sequence[str], configuration: Configuration, clock: Clock) -> AsyncIterator[Web]:
    # Nothing of the web is loaded by a run that swears it off.
    from deepwell.search.chain import Chain
    from deepwell.search.http import Http
    from deepwell.search.once import SearchOnce
    from deepwell.search.registry import link_to

    env = environment()
    http = Http(agent=configuration.user_agent) if configuration.user_agent else Http()
    links = [link_to(name, http, env, today=lambda: clock.now().date(), secret=secret) for name in engines]
    chain = Chain(links, clock)
    once = SearchOnce(chain)
    async with web_reader(configuration, clock) as reader:
        try:
            yield Web(once, reader, lambda: chain.degraded)
        finally:
            await once.close()
            await http.close()


def check_web(configuration: Configuration) -> None:
    """Raises BadConfiguration when what reads robots.txt is not installed; what else the extra brings can be missed."""
    if configuration.honour_robots and find_spec("protego") is None:
        raise BadConfiguration('Reading the web needs one more package: pip install "deepwell[web]".')


def web_engines(configuration: Configuration, *, documents: bool) -> tuple[str, ...]:
    """The engines that a run searches the web with; none when documents are given and nothing else is said.

    Raises BadConfiguration for a name that is none, and when there is nothing to search with.
    """
    wanted = configuration.search_provider.strip().lower() or ("none" if documents else "web")
    if wanted == "none":
        return ()
    check_web(configuration)
    from deepwell.search.registry import available, default_chain, spec_of

    env = environment()
    if wanted == "web":
        return default_chain(env, secret=secret)
    named = tuple(spec_of(name).name for name in wanted.split(",") if name.strip())
    for one in available(env, secret=secret):
        if one.spec.name in named and not one.usable:
            raise BadConfiguration(f"{one.spec.title} cannot be used. {one.because}")
    return named


def _sources_in_words(documents: int, titles: Sequence[str], engines: Sequence[str] = ()) -> str:
    """What a planner should know: where is searched, how many documents there are, and some of their titles."""
    told = [f"The web, searched through {', '.join(engines)}."] if engines else []
    if documents:
        some = "; ".join(" ".join(title.split())[:80] for title in titles[:MOST_TITLES])
        told.append(f"The user's own documents, {documents} of them, searched by words. Among them: {some}.")
    return " ".join(told)


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


def file_source(path: Path, clock: Clock) -> Source:
    """A file as a run would read it. Raises Unreadable."""
    document = read_file(path)
    facts = (document.kind, document.author, document.publisher, document.published)
    return Source(str(path), document.title, document.text, content_hash(document.text), clock.now(), *facts)


@asynccontextmanager
async def web_reader(configuration: Configuration, clock: Clock) -> AsyncIterator[Reader]:
    """What reads web addresses, through the guarded door. Raises BadConfiguration for hosts that are none."""
    check_web(configuration)
    # Nothing of the web is loaded by a run that swears it off.
    from deepwell.reading.addresses import allow_list
    from deepwell.reading.fetching import Fetcher, FetchLimits
    from deepwell.reading.web import WebReader
    from deepwell.reading.workshop import default_workshop

    fetcher = Fetcher(
        clock.now,
        own_hosts=allow_list(host for host in configuration.own_hosts.split(",") if host.strip()),
        limits=FetchLimits(seconds=configuration.fetch_timeout_s),
        agent=configuration.user_agent,
        honours_robots=configuration.honour_robots,
    )
    async with fetcher:
        yield WebReader(fetcher, default_workshop())


async def probed_again(settings: ModelSettings, configuration: Configuration, home: Path) -> None:
    """Try a model out, whatever is known of it already. Raises AnalystFailed or BadConfiguration."""
    from deepwell.models import working

    await working.probed_again(settings, configuration, SystemClock(), home)


def system_clock() -> Clock:
    """The machine's own clock."""
    return SystemClock()

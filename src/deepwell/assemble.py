"""From a configuration to the tools a run needs: the only place where adapters are named."""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from importlib.util import find_spec
from pathlib import Path
from typing import Any, cast

from deepwell.analyst.extractive import ExtractiveAnalyst
from deepwell.analyst.journaled import JournaledAnalyst
from deepwell.analyst.resilient import ResilientAnalyst
from deepwell.budget.clock import SystemClock
from deepwell.budget.ledger import Ledger
from deepwell.budget.stopping import unless_stopped
from deepwell.budget.threads import in_thread
from deepwell.budget.waiting import SecondsLeft, closed_in_time
from deepwell.configuration import Configuration, environment, secret
from deepwell.errors import AnalystFailed, BadConfiguration
from deepwell.graph import ResearchGraph, app
from deepwell.library.engine import LibraryEngine
from deepwell.library.facts import LibraryFacts
from deepwell.library.indexing import indexed_in_time
from deepwell.library.patient_facts import PatientFacts
from deepwell.library.refreshing import Libraries
from deepwell.library.vectors import Embedder, default_embedder
from deepwell.models.choosing import Chosen
from deepwell.models.factory import ModelSettings
from deepwell.models.loading import load
from deepwell.ports import Calls, Clock, Reader, SearchEngine, Workbench
from deepwell.reading.cached import CachedReader
from deepwell.reading.document import READING_VERSION
from deepwell.reading.files import read_file
from deepwell.reading.journaled import JournaledReader
from deepwell.reading.once import ReadOnce
from deepwell.reading.routed import RoutedReader
from deepwell.search.journaled import JournaledEngine
from deepwell.search.mixed import MixedEngine
from deepwell.search.public import PublicHits, PublicOnly, PublicReader, PublicWords
from deepwell.search.scoped import DatedEngine
from deepwell.store.checkpoints import LeanSaver, checkpoints
from deepwell.store.moments import KeptMoments
from deepwell.store.runs import RunStore
from deepwell.store.sqlite import translated
from deepwell.vocabulary.budget import Budget
from deepwell.vocabulary.events import Degraded, Event
from deepwell.vocabulary.evidence import Evidence
from deepwell.vocabulary.run import NO_PAST, Past, span_of
from deepwell.vocabulary.scope import Scope
from deepwell.vocabulary.source import Source, SourceCard, content_hash

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
    run: str
    kept: set[str]

    async def keep(self, source: Source) -> None:
        """Keep the text for good."""
        if source.hash not in self.kept:
            await self.store.keep(source)
            self.kept.add(source.hash)

    async def fetch(self, content_hash: str) -> Source:
        """The source kept under that hash."""
        return await self.store.fetch(content_hash)

    async def keep_evidence(
        self, catalogue: Sequence[SourceCard], ledger: Sequence[Evidence], kept: Sequence[str]
    ) -> None:
        """Keep what was found so far."""
        await self.store.keep_evidence(self.run, catalogue, ledger, tuple(map(span_of, kept)))


@asynccontextmanager
async def opened_store(home: Path) -> AsyncIterator[RunStore]:
    """The user's runs."""
    async with RunStore.open(home / "deepwell.db") as store:
        yield store


@asynccontextmanager
async def checkpointed_app(store: RunStore) -> AsyncIterator[ResearchGraph]:
    """The compiled path, saving its steps in the store's file."""
    saver = await checkpoints(store.scribe, _steps(app))
    with translated(store.path):
        yield app.copy({"checkpointer": saver})


def _steps(graph: ResearchGraph) -> list[str]:
    """The nodes and channels of a graph and of those in it: a checkpoint says by these names how to go on."""
    graphs: list[tuple[str, Any]] = [("", graph), *graph.get_subgraphs(recurse=True)]
    return sorted(f"{within}/{name}" for within, one in graphs for name in (*one.nodes, *one.channels))


async def can_go_on(graph: ResearchGraph, run: str) -> bool:
    """Whether the run has a checkpoint that this program can read; if not, what there is of it is removed."""
    saver = cast("LeanSaver", graph.checkpointer)
    if await saver.usable(run):
        return True
    await saver.adelete_thread(run)
    return False


async def indexed(
    docs: Sequence[Path],
    home: Path,
    configuration: Configuration,
    on_progress: IndexProgress | None = None,
    left: SecondsLeft = lambda: None,
) -> Libraries:
    """Bring the indexes of these folders up to date, as far as the time allows."""
    return await indexed_in_time(docs, home, on_progress, _embedder(configuration), left)


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


def budget_from(configuration: Configuration, started_at: datetime) -> Budget:
    """The budget of a run that began then and goes on: its own clock counts from its beginning."""
    return Budget(
        configuration.total_minutes, started_at, 0.0, configuration.token_budget, configuration.cost_budget_usd
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
    question: str = "",
    past: Past = NO_PAST,
) -> AsyncIterator[Workbench]:
    """Everything a run works with: over the user's documents, over the web by these engines, or over both."""
    journal, shelf = RunJournal(store, run, clock.now), RunShelf(store, run, set())
    calls = store.calls(run, past, clock.monotonic)
    async with closed_in_time() as stack:
        library = _opened_library(libraries, configuration, clock, stack) if libraries else None
        facts = LibraryFacts(libraries.libraries if libraries else ())
        stack.push_async_callback(in_thread, "library", facts.close)
        opened = _web(engines, configuration, clock, store, journal, calls, past) if engines else None
        web = await stack.enter_async_context(opened) if opened else None
        public = PublicWords(question, facts) if web and library else None
        web = _without_own_words(web, public, journal, past) if web and public else web
        kept = JournaledReader(RoutedReader(library, web.reader if web else None), calls, shelf)
        reader = ReadOnce(PublicReader(kept, public) if public else kept)
        stack.push_async_callback(reader.close)
        ledger = Ledger(budget, clock.monotonic, models.prices if models else {}, past.spend)
        patient = PatientFacts(facts)
        extractive = ExtractiveAnalyst(patient if libraries else None)
        # Nobody waits for these: what was asked outside for them is safe already, inside.
        known = JournaledEngine(_searched(library, web, configuration.scope), calls, "search", wait=False)
        bench = Workbench(
            analyst=JournaledAnalyst(extractive, calls, wait=False),
            stand_in=extractive,
            engine=PublicHits(known, public) if public else known,
            reader=reader,
            shelf=shelf,
            journal=journal,
            clock=clock,
            budget=budget,
            account=ledger,
            interrupted=interrupted,
            moments=KeptMoments(calls),
            degradations=list(past.degradations),
            limits=libraries.limits if libraries else (),
            search_limits=web.limits if web else tuple,
            own_documents=web is None,
        )
        if models:
            titles = sorted(await in_thread("judging", patient.titles))
            sources = _sources_in_words(libraries.documents if libraries else 0, titles, engines)
            bench = await with_models(bench, models, ledger, calls, configuration, store.path.parent, sources)
        yield bench


def _opened_library(
    libraries: Libraries, configuration: Configuration, clock: Clock, stack: AsyncExitStack
) -> LibraryEngine:
    engine = LibraryEngine(libraries.libraries, clock.now, embedder=_embedder(configuration))
    stack.push_async_callback(in_thread, "library", engine.close)
    return engine


@dataclass(frozen=True, slots=True)
class Web:
    """What a run needs to search and read the web."""

    engine: SearchEngine
    reader: Reader
    limits: Callable[[], tuple[str, ...]]


def _searched(library: LibraryEngine | None, web: Web | None, scope: Scope) -> SearchEngine:
    """The documents, held to the dates that were asked for, and the web: one of them, or both in turns."""
    documents = DatedEngine(library, scope) if library and scope.narrows else library
    asked = [engine for engine in (documents, web.engine if web else None) if engine]
    return asked[0] if len(asked) == 1 else MixedEngine(asked)


def _without_own_words(web: Web, public: PublicWords, journal: RunJournal, past: Past) -> Web:
    """The same web, to which no word goes that only the user's documents can have told."""
    engine = PublicOnly(web.engine, public, journal.record, past.narrowed)
    return Web(engine, web.reader, lambda: (*web.limits(), *engine.limits))


@asynccontextmanager
async def _web(
    engines: Sequence[str],
    configuration: Configuration,
    clock: Clock,
    store: RunStore,
    journal: RunJournal,
    calls: Calls,
    past: Past,
) -> AsyncIterator[Web]:
    # Nothing of the web is loaded by a run that swears it off.
    from deepwell.reading.scoped import ScopedReader
    from deepwell.search.chain import Chain
    from deepwell.search.http import Http
    from deepwell.search.once import SearchOnce
    from deepwell.search.reformulating import Reformulating
    from deepwell.search.registry import link_to

    env = environment()
    http = Http(agent=configuration.user_agent) if configuration.user_agent else Http()
    today, scope = lambda: clock.now().date(), configuration.scope
    links = [link_to(name, http, env, today=today, scope=scope, secret=secret) for name in engines]
    chain = Chain(links, clock, on_event=journal.record, given_up=past.given_up)
    once = SearchOnce(JournaledEngine(chain, calls, "web_search", wait=True))
    async with web_reader(configuration, clock) as reader:
        try:
            yield Web(
                Reformulating(once, journal.record),
                ScopedReader(_cached(reader, configuration, clock, store), scope),
                lambda: chain.degraded,
            )
        finally:
            await once.close()
            await http.close()


def _cached(reader: Reader, configuration: Configuration, clock: Clock, store: RunStore) -> Reader:
    robots = "" if configuration.honour_robots else "whatever robots.txt says"
    # What was read by an earlier version may look different now.
    parts = (f"reading {READING_VERSION}", robots, configuration.own_hosts.strip().lower())
    door = " ".join(part for part in parts if part)
    return CachedReader(reader, store, timedelta(hours=configuration.page_cache_hours), clock.now, door)


def check_web(configuration: Configuration) -> None:
    """Raises BadConfiguration when what reads robots.txt is not installed; what else the extra brings can be missed."""
    if configuration.honour_robots and find_spec("protego") is None:
        raise BadConfiguration('Reading the web needs one more package: pip install "deepwell[web]".')


def web_engines(configuration: Configuration, *, documents: bool) -> tuple[str, ...]:
    """The engines that a run searches the web with; none when documents are given and nothing else is said.

    Raises BadConfiguration for a name that is none, for one that cannot be used, and for none beside others.
    """
    wanted = configuration.search_provider.strip().lower() or ("none" if documents else "web")
    if wanted == "none":
        return ()
    check_web(configuration)
    from deepwell.search.registry import chain_of

    return chain_of(wanted, environment(), configuration.scope, secret=secret)


def _sources_in_words(documents: int, titles: Sequence[str], engines: Sequence[str] = ()) -> str:
    """What a planner should know: where is searched, how many documents there are, and some of their titles.

    Where the web is searched, too, the titles are left out: what is planned then cannot be made of them.
    """
    told = [f"The web, searched through {', '.join(engines)}."] if engines else []
    if documents:
        some = "; ".join(" ".join(title.split())[:80] for title in titles[:MOST_TITLES])
        among = "" if engines else f" Among them: {some}."
        told.append(f"The user's own documents, {documents} of them, searched by words.{among}")
    return " ".join(told)


async def with_models(
    bench: Workbench,
    models: Chosen,
    ledger: Ledger,
    calls: Calls,
    configuration: Configuration,
    home: Path,
    sources: str,
) -> Workbench:
    """The same bench with an analyst that asks the models, and falls back on the one that needs none."""

    async def degraded(event: Degraded) -> None:
        bench.degradations.append(event)
        await bench.journal.record(event)

    try:
        # Provider packages and what asks them are loaded only here, when a model is really used.
        await unless_stopped(bench.interrupted, load(models, lambda: ledger.seconds_left("planning")))
        from deepwell.models.working import working_models

        built = working_models(models, ledger, bench.journal, calls, bench.clock, configuration, home)
        lead, researcher = await unless_stopped(bench.interrupted, built)
    except AnalystFailed as error:
        await degraded(Degraded("the whole run", str(error)))
        return bench
    from deepwell.analyst.model import ModelAnalyst

    asking = ModelAnalyst(lead, researcher, sources, configuration.report_language)
    resilient = ResilientAnalyst(asking, bench.stand_in, ledger.seconds_left, degraded, bench.interrupted)
    return replace(bench, analyst=JournaledAnalyst(resilient, calls, wait=False), asks_model=True)


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
    from deepwell.reading.workshop import web_workshop

    fetcher = Fetcher(
        clock.now,
        own_hosts=allow_list(host for host in configuration.own_hosts.split(",") if host.strip()),
        limits=FetchLimits(seconds=configuration.fetch_timeout_s),
        agent=configuration.user_agent,
        honours_robots=configuration.honour_robots,
    )
    async with fetcher:
        yield WebReader(fetcher, web_workshop())


async def probed_again(settings: ModelSettings, configuration: Configuration, home: Path) -> None:
    """Try a model out, whatever is known of it already. Raises AnalystFailed or BadConfiguration."""
    from deepwell.models import working

    await working.probed_again(settings, configuration, SystemClock(), home)


def system_clock() -> Clock:
    """The machine's own clock."""
    return SystemClock()

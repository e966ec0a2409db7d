"""A finished run once more, from its journal: the same path with offline parts, on the moments of the run."""

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from langchain_core.messages import HumanMessage
from langchain_core.runnables import RunnableConfig

from deepwell.analyst.extractive import ExtractiveAnalyst
from deepwell.analyst.journaled import JournaledAnalyst
from deepwell.budget.ledger import Ledger
from deepwell.configuration import Configuration
from deepwell.errors import BadRequest
from deepwell.graph import app
from deepwell.offline import Adviser, HeldJournal, OfflineAnalyst, OfflineEngine, OfflineReader, OfflineShelf
from deepwell.ports import Clock, Workbench
from deepwell.reading.journaled import JournaledReader
from deepwell.reading.once import ReadOnce
from deepwell.search.journaled import JournaledEngine
from deepwell.state import ResearchState
from deepwell.store.moments import RecalledMoments
from deepwell.store.runs import RunStore
from deepwell.vocabulary.budget import Budget
from deepwell.vocabulary.events import Event, RunReplayed, WouldHaveAsked
from deepwell.vocabulary.run import Past, StoredRun

OUTSIDE_ONLY = frozenset(
    {
        "search_provider",
        "search_since",
        "search_until",
        "search_sites",
        "search_excluded_sites",
        "search_language",
        "search_region",
        "own_hosts",
        "honour_robots",
        "fetch_timeout_s",
        "page_cache_hours",
        "user_agent",
        "dense",
        "orchestrator_model",
        "subagent_model",
        "model_base_url",
        "subagent_base_url",
        "model_temperature",
        "model_timeout_s",
        "max_model_retries",
        "model_backoff_s",
        "max_prompt_tokens",
        "model_prices",
        "report_language",
    }
)
"""Settings that matter only where something outside is asked: to change them in a replay would change nothing."""


@dataclass(frozen=True, slots=True)
class KeptRun:
    """A finished run with all that its journal tells."""

    stored: StoredRun
    past: Past

    @property
    def id(self) -> str:
        """Of the run."""
        return self.stored.head.id


@dataclass(frozen=True, slots=True)
class Replayed:
    """What came of a replay."""

    state: ResearchState
    events: tuple[Event, ...]
    missed: tuple[WouldHaveAsked, ...]
    """What the journal does not tell, in the order it was wanted."""


async def kept_run(store: RunStore, name: str) -> KeptRun:
    """The run to replay. Raises UnknownRun, and BadRequest for one that cannot be replayed."""
    run = await store.find(name)
    stored = await store.load(run)
    if stored.head.status == "clarify":
        raise BadRequest(f"Run {run} ended with a question back: there is nothing to replay.")
    if stored.head.status not in ("done", "nothing_found"):
        raise BadRequest(f"Run {run} is not finished: `deepwell resume {run}` goes on with it.")
    first = next((event["of"] for event in await store.journal(run) if event["kind"] == RunReplayed.__name__), None)
    if first:
        raise BadRequest(f"Run {run} is itself a replay: try `deepwell replay {first}`.")
    past = await store.past(run)
    if not any(kind == "moment" for kind, _, _ in past.calls):
        raise BadRequest(f"Run {run} was made by another version, whose journal cannot be replayed: ask it anew.")
    return KeptRun(stored, past)


def changed(stored: StoredRun, settings: Mapping[str, Any]) -> Configuration:
    """The settings of the run, but for these. Raises BadRequest and BadConfiguration."""
    configuration = Configuration.build({}, **{**stored.chosen_settings, **settings})
    idle = sorted(OUTSIDE_ONLY & set(settings))
    if idle:
        raise BadRequest(f"A replay asks nothing outside, so {idle[0]} changes nothing in it: ask the question anew.")
    return configuration


async def replayed(
    store: RunStore, run: KeptRun, configuration: Configuration, budget: Budget, clock: Clock
) -> Replayed:
    """Follow the path from the question to the outcome; nothing outside is asked, and nothing is written."""
    journal = HeldJournal()
    bench = _workbench(store, run, budget, clock, journal)
    config: RunnableConfig = {"configurable": {"workbench": bench}, "recursion_limit": 1000}
    start: ResearchState = {"messages": [HumanMessage(run.stored.head.question)]}
    state = cast("ResearchState", await app.ainvoke(start, config, context=configuration))
    begun = RunReplayed(run.id, tuple(_changes(run.stored, configuration)))
    return Replayed(state, (begun, *journal.events), journal.missed)


def _changes(stored: StoredRun, configuration: Configuration) -> Iterator[str]:
    for name, value in configuration.model_dump(mode="json").items():
        if value != stored.configuration.get(name):
            yield f"{name}={value}"


def in_words(missed: Sequence[WouldHaveAsked]) -> str:
    """What a replay would have had to ask, as the end of a sentence."""
    more = f" ({len(missed)} such steps in all)" if len(missed) > 1 else ""
    return f"would have had to {missed[0].what}{more}"


def _workbench(store: RunStore, run: KeptRun, budget: Budget, clock: Clock, journal: HeldJournal) -> Workbench:
    calls, shelf = store.replayed_calls(run.past), OfflineShelf(store.fetch)
    stand_in = ExtractiveAnalyst()
    analyst = OfflineAnalyst(stand_in, _adviser(run.stored), journal.note)
    return Workbench(
        analyst=JournaledAnalyst(analyst, calls, wait=False),
        stand_in=stand_in,
        engine=JournaledEngine(OfflineEngine(journal.note), calls, "search", wait=False),
        reader=ReadOnce(JournaledReader(OfflineReader(journal.note), calls, shelf)),
        shelf=shelf,
        journal=journal,
        clock=clock,
        budget=budget,
        account=Ledger(budget, clock.monotonic, {}, run.past.spend),
        # The user's stop of then is a moment; there is nothing to stop now.
        interrupted=asyncio.Event(),
        moments=RecalledMoments(calls),
        search_limits=lambda: _limits(run, journal.missed),
        own_documents=not run.stored.engines,
    )


def _adviser(stored: StoredRun) -> Adviser:
    if stored.configuration.get("orchestrator_model", "").strip().lower() not in ("", "none"):
        return "model"
    return "index" if stored.libraries else "nobody"


def _limits(run: KeptRun, missed: Sequence[WouldHaveAsked]) -> tuple[str, ...]:
    """What the report has to say when the journal did not reach."""
    if not missed:
        return ()
    said = f"This is a replay of run {run.id}, whose journal does not tell all of it: it {in_words(missed)}."
    asked_model = run.past.spend or run.past.degradations
    as_it_was = " What is said of the model, and what it cost, is as it was in that run." if asked_model else ""
    return (f"{said}{as_it_was}",)

"""A round's units: sent out in a run, and in a replay brought back as they were."""

from collections.abc import Callable
from dataclasses import replace

from langchain_core.runnables import RunnableConfig

from deepwell.nodes.bench import workbench
from deepwell.nodes.researcher import ResearchUnit
from deepwell.ports import Shelf, Workbench
from deepwell.stages import supervise
from deepwell.stages.investigate.unit import known_of
from deepwell.state import SupervisorState
from deepwell.vocabulary.evidence import ReadPassage, UnitOutcome, UnitStatus
from deepwell.vocabulary.moments import RoundMoment
from deepwell.vocabulary.plan import Topic
from deepwell.vocabulary.source import Source

UNIT_SETTINGS = (
    "chars_per_source",
    "max_evidence_claims_per_research_unit",
    "max_passages_per_unit",
    "max_react_tool_calls",
    "max_retry_attempts",
    "max_search_results",
    "max_source_urls_per_claim",
    "researcher_search_budget",
)
"""What a unit does depends on these; where one is changed, a replay does the unit's work anew."""

OnChange = Callable[[int, UnitStatus, UnitOutcome | None], None]


async def researched(state: SupervisorState, config: RunnableConfig, on_change: OnChange) -> list[UnitOutcome]:
    """What the units of the round bring back, in the order of dispatch.

    Whom the clock cut off, and who came first to a page that could be read only once, is chance: so outcomes are put
    down whole, and a replay need not be as lucky.
    """
    bench, topics = workbench(config), state["wave"].accepted
    known = [await _recalled(topic, state, bench) for topic in topics]
    for index, outcome in enumerate(known):
        if outcome:
            on_change(index, outcome.status, outcome)
    sent = [index for index, outcome in enumerate(known) if outcome is None]
    fresh = await supervise.run_wave(
        [ResearchUnit(topics[index], state, config) for index in sent],
        at_once=state["configuration"].max_concurrent_research_units,
        seconds_left=lambda: state["budget"].research_seconds_left(bench.clock.monotonic()),
        interrupted=bench.interrupted,
        on_change=lambda place, status, outcome: on_change(sent[place], status, outcome),
    )
    for outcome in fresh:
        await bench.moments.taken(_name(outcome.topic, state), _without_texts(outcome))
    back = iter(fresh)
    return [outcome or next(back) for outcome in known]


async def how_things_stand(state: SupervisorState, bench: Workbench) -> RoundMoment:
    """What the decision on the round rests on, besides what the units brought."""
    now = RoundMoment(
        bench.clock.monotonic() - state["budget"].started_monotonic,
        bench.interrupted.is_set(),
        bench.account.spend,
        bench.account.runs_low,
        bool(bench.search_limits()),
        dict(bench.failed_reads),
        dict(bench.unread_because),
    )
    then = await bench.moments.taken(("round", state["research_record"].iteration + 1), now)
    return replace(
        then,
        failed_reads={**now.failed_reads, **then.failed_reads},
        unread_because={**now.unread_because, **then.unread_because},
    )


async def _recalled(topic: Topic, state: SupervisorState, bench: Workbench) -> UnitOutcome | None:
    outcome: UnitOutcome | None = await bench.moments.recalled(_name(topic, state))
    try:
        return outcome and await _with_texts(outcome, bench.shelf)
    except KeyError:
        # A text is gone: the unit has to read again what it can.
        return None


def _name(topic: Topic, state: SupervisorState) -> tuple[object, ...]:
    """The unit, by all that its work depends on."""
    record, configuration = state["research_record"], state["configuration"]
    known = known_of(topic, record.lanes, state["evidence_ledger"])
    settings = [getattr(configuration, name) for name in UNIT_SETTINGS]
    return "unit", record.iteration + 1, topic, state["research_brief"], known, settings


def _without_texts(outcome: UnitOutcome) -> UnitOutcome:
    """Without what is on the shelf anyway."""
    passages = (
        replace(item, passage=replace(item.passage, text=""), source=replace(item.source, text=""))
        for item in outcome.passages
    )
    return replace(outcome, passages=tuple(passages))


async def _with_texts(outcome: UnitOutcome, shelf: Shelf) -> UnitOutcome:
    """As it was. Raises KeyError when a text is not on the shelf."""
    hashes = dict.fromkeys(item.source.hash for item in outcome.passages)
    texts = {name: (await shelf.fetch(name)).text for name in hashes}
    return replace(outcome, passages=tuple(_filled(item, texts[item.source.hash]) for item in outcome.passages))


def _filled(item: ReadPassage, text: str) -> ReadPassage:
    source: Source = replace(item.source, text=text)
    return replace(item, source=source, passage=source.cut(item.passage.start, item.passage.end))

"""One research unit: `researcher` and `researcher_tools` take turns, then `digest` sums up."""

from dataclasses import replace
from typing import Any, Literal, cast

from langchain_core.runnables import RunnableConfig
from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph

from deepwell import trace
from deepwell.analyst.protocol import Analyst
from deepwell.nodes.bench import workbench
from deepwell.stages.investigate import unit as investigate
from deepwell.stages.investigate.unit import Desk
from deepwell.stages.judge.claims import extract_evidence
from deepwell.state import ResearcherState, SupervisorState
from deepwell.vocabulary.events import Degraded
from deepwell.vocabulary.evidence import Findings, UnitOutcome, UnitStatus
from deepwell.vocabulary.moves import FetchUrl, SearchWeb
from deepwell.vocabulary.plan import Topic


async def researcher(state: ResearcherState, config: RunnableConfig) -> dict[str, Any]:
    """Decide the next turn; the first one is served without asking anyone."""
    desk, configuration = state["desk"], state["configuration"]
    if desk.turns == 0:
        moves = investigate.first_moves(state["topic"])
    else:
        notebook = investigate.notebook(state["research_brief"], state["topic"], desk, configuration, state["known"])
        moves = list(await workbench(config).analyst.investigate(notebook)) if notebook.tool_calls_left else []
    return {"moves": moves, "researcher_messages": [trace.proposal(moves, _turn(desk))]}


async def researcher_tools(state: ResearcherState, config: RunnableConfig) -> dict[str, Any]:
    """Search and read as proposed."""
    before = state["desk"]
    desk = await investigate.carry_out(state["moves"], before, workbench(config), state["configuration"])
    said = f"{len(desk.passages)} passages from {len({p.source.hash for p in desk.passages})} sources at hand"
    answers = [
        trace.answer(move, _turn(before), i, said)
        for i, move in enumerate(state["moves"])
        if isinstance(move, SearchWeb | FetchUrl)
    ]
    return {"desk": desk, "researcher_messages": answers}


async def digest(state: ResearcherState, config: RunnableConfig) -> dict[str, Any]:
    """Say what the passages answer, unless the analyst has done so already."""
    found = investigate.findings_of(state["moves"])
    return {"findings": found or await _digested(state, workbench(config).analyst)}


async def _digested(state: ResearcherState, analyst: Analyst) -> Findings:
    passages = state["desk"].passages
    if not passages:
        return Findings("", gaps=(f"Nothing was found on: {state['topic'].text}",))
    return await analyst.digest(state["research_brief"], state["topic"], passages)


def route_researcher(state: ResearcherState) -> Literal["researcher_tools", "digest"]:
    """On to the tools while the analyst asks for something."""
    return "digest" if investigate.is_done(state["moves"]) else "researcher_tools"


def _turn(desk: Desk) -> str:
    return f"turn-{desk.turns + 1}"


def build_researcher() -> CompiledStateGraph[ResearcherState, None, ResearcherState, ResearcherState]:
    """The unit's graph. It is not checkpointed: a unit is short, and its passages are whole texts."""
    builder = StateGraph(ResearcherState)
    builder.add_node("researcher", researcher)
    builder.add_node("researcher_tools", researcher_tools)
    builder.add_node("digest", digest)
    builder.add_edge(START, "researcher")
    builder.add_conditional_edges("researcher", route_researcher)
    builder.add_edge("researcher_tools", "researcher")
    builder.add_edge("digest", END)
    return builder.compile(checkpointer=False, name="researcher")


researcher_graph = build_researcher()

_DURABILITY = "__pregel_durability"
"""Under this name a graph hands to those inside it when to wait for its saver."""


def _unsaved(config: RunnableConfig) -> RunnableConfig:
    """The same without the run's durability: a unit has no saver, and LangGraph fails where it would wait for it."""
    kept = {name: value for name, value in config["configurable"].items() if name != _DURABILITY}
    return {**config, "configurable": kept}


class ResearchUnit:
    """One unit at work; what it has gathered can be had at any moment."""

    def __init__(self, topic: Topic, state: SupervisorState, config: RunnableConfig) -> None:
        self.topic = topic
        self._config = config
        self._clock = workbench(config).clock
        self._started = self._clock.monotonic()
        # A resumed run starts with an empty bench: what the record knows is put back.
        for address, tries in state["research_record"].unread.items():
            workbench(config).failed_reads.setdefault(address, tries)
        self._latest = ResearcherState(
            configuration=state["configuration"],
            research_brief=state["research_brief"],
            topic=topic,
            desk=Desk(),
            known=investigate.known_of(topic, state["research_record"].lanes, state["evidence_ledger"]),
            researcher_messages=[],
        )

    async def run(self) -> UnitOutcome:
        """Research the topic to its end."""
        self._started = self._clock.monotonic()
        async for values in researcher_graph.astream(self._latest, _unsaved(self._config), stream_mode="values"):
            self._latest = cast("ResearcherState", values)
        return self._outcome(self._latest["findings"])

    async def salvage(self) -> UnitOutcome:
        """Sum up what was at hand when the unit was cut off, waiting for nothing outside."""
        found = investigate.findings_of(self._latest.get("moves", []))
        return self._outcome(found or await self._picked_over(), cut_off=True)

    async def _picked_over(self) -> Findings:
        """The stand-in's findings; the passages count as unread, so that a later unit may look at them again."""
        bench = workbench(self._config)
        if bench.asks_model and self._latest["desk"].passages:
            degraded = Degraded(
                f"the research on “{self.topic.text}”", "The unit was cut off before the model answered."
            )
            bench.degradations.append(degraded)
            await bench.journal.record(degraded)
        return replace(await _digested(self._latest, bench.stand_in), read=())

    def _outcome(self, findings: Findings, *, cut_off: bool = False) -> UnitOutcome:
        desk = self._latest["desk"]
        evidence = extract_evidence(findings.answer, desk.passages, self.topic, self._latest["configuration"])
        status: UnitStatus = "cancelled" if cut_off else "complete" if evidence else "empty"
        return UnitOutcome(
            topic=self.topic,
            status=status,
            duration_s=self._clock.monotonic() - self._started,
            answer=findings.answer,
            passages=desk.passages,
            evidence=evidence,
            gaps=findings.gaps,
            leads=findings.leads,
            queries=desk.queries,
            unanswered=desk.unanswered,
            read=findings.read,
        )

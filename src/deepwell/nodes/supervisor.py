"""The loop: `supervisor` proposes a round, `supervisor_tools` carries it out and decides whether there is another."""

import logging
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any, Literal

from langchain_core.messages import ToolMessage
from langchain_core.runnables import RunnableConfig
from langgraph.types import Command, StreamWriter

from deepwell import trace
from deepwell.nodes.bench import workbench
from deepwell.nodes.progress import NextRoundBoard, ProgressBoard, pulsing
from deepwell.nodes.wave import how_things_stand, researched
from deepwell.ports import Workbench
from deepwell.stages import supervise
from deepwell.stages.judge import compact
from deepwell.stages.judge.ranking import kept_passages
from deepwell.stages.judge.round import ClosedRound, Known, close_round
from deepwell.stages.judge.triage import triage
from deepwell.state import SupervisorState
from deepwell.vocabulary.decision import Skip, Stop, StopReason, Triage
from deepwell.vocabulary.events import Compacted, Decided, GateAsked, TopicDispatched, TopicSkipped, UnitEnded
from deepwell.vocabulary.evidence import UnitOutcome
from deepwell.vocabulary.moves import ConductResearch, ResearchComplete, SupervisorMove, Think

logger = logging.getLogger(__name__)


async def supervisor(state: SupervisorState, config: RunnableConfig, *, writer: StreamWriter) -> dict[str, Any]:
    """Propose the next round and sort out what of it is dispatched."""
    bench, configuration, record = workbench(config), state["configuration"], state["research_record"]
    if record.iteration == 0:
        moves = supervise.first_wave(state["plan"])
    else:
        board = supervise.board(state["research_brief"], state["plan"], record, state["notes"], configuration)
        async with pulsing(NextRoundBoard(state, bench, writer).tell):
            moves = list(await bench.analyst.supervise(board))
    wave = triage(supervise.topics_of(moves), record.dispatched_topics, record.by_subquestion, configuration)
    await _record_wave(wave, record.iteration + 1, bench)
    return {
        "moves": moves,
        "wave": wave,
        "dispatched_topics": [topic.text for topic in wave.accepted],
        "skipped_topics": [skip.topic.text for skip in wave.skipped],
        "supervisor_messages": [trace.proposal(moves, _turn(record.iteration + 1))],
    }


async def supervisor_tools(
    state: SupervisorState, config: RunnableConfig, *, writer: StreamWriter
) -> Command[Literal["supervisor", "__end__"]]:
    """Send the units, merge what they bring back, and decide whether there is another round."""
    bench, configuration, record = workbench(config), state["configuration"], state["research_record"]
    progress = ProgressBoard(state, bench, writer)
    async with pulsing(progress.tell):
        outcomes = await researched(state, config, progress.unit_changed)
    stands = await how_things_stand(state, bench)
    closed = close_round(
        outcomes,
        state["wave"],
        Known(state["catalogue"], state["evidence_ledger"], state["notes"], record),
        failed_reads=stands.failed_reads,
        called_complete=any(isinstance(move, ResearchComplete) for move in state["moves"]),
        interrupted=stands.interrupted,
        now=state["budget"].started_monotonic + stands.used_s,
        budget=state["budget"],
        configuration=configuration,
        spend=stands.spend,
        search_limited=stands.search_limited,
        unread_because=stands.unread_because,
    )
    await _record_round(closed, outcomes, bench)
    await _keep_evidence(state, closed, bench)
    said = await _kept_small(state, closed, _answers(state, outcomes, closed), bench, runs_low=stands.runs_low)
    return Command(
        goto="supervisor" if closed.decision.should_continue else "__end__",
        update={
            **said,
            "raw_notes": list(closed.gathered.handles),
            "evidence_ledger": list(closed.gathered.evidence),
            "catalogue": list(closed.gathered.cards),
            "research_iterations": closed.record.iteration,
            "research_record": closed.record,
            "runtime_progress": progress.closing(closed),
        },
    )


async def _kept_small(
    state: SupervisorState, closed: ClosedRound, answers: list[ToolMessage], bench: Workbench, *, runs_low: bool
) -> dict[str, Any]:
    """The round's notes and messages for the state; when it grows too large, the older ones are shortened."""
    notes = [*state["notes"], *closed.gathered.notes]
    messages = [*state["supervisor_messages"], *answers]
    ledger = [*state["evidence_ledger"], *closed.gathered.evidence]
    size = partial(compact.state_tokens, evidence=ledger)
    before = size(notes, messages=[str(message.content) for message in messages])
    reason = compact.trigger(runs_low=runs_low, tokens=before, ending=not closed.decision.should_continue)
    if reason is None:
        return {"supervisor_messages": answers, "notes": list(closed.gathered.notes)}
    newest = 0 if reason is compact.Trigger.SYNTHESIS else len(closed.gathered.notes)
    notes = compact.compacted(notes, newest)
    messages = trace.compacted(messages, compact.summary, len(answers) if newest else 0)
    after = size(notes, messages=[str(message.content) for message in messages])
    if after < before:
        await bench.journal.record(Compacted(reason, before, after))
    return {"supervisor_messages": _override(messages), "notes": _override(notes)}


def _override(value: list[Any]) -> dict[str, Any]:
    return {"type": "override", "value": value}


def _turn(iteration: int) -> str:
    return f"round-{iteration}"


async def _record_wave(wave: Triage, iteration: int, bench: Workbench) -> None:
    for skip in wave.skipped:
        logger.info("topic skipped: %s: %s", skip.topic.text, skip.reason)
    await bench.journal.record(
        *(TopicDispatched(iteration, t.text, t.subquestion, t.attempt_number) for t in wave.accepted),
        *(TopicSkipped(iteration, skip.topic.text, skip.reason) for skip in wave.skipped),
    )


async def _record_round(closed: ClosedRound, outcomes: Sequence[UnitOutcome], bench: Workbench) -> None:
    iteration, course = closed.record.iteration, closed.decision.course
    because = course.because if isinstance(course, Stop) else None
    if because:
        logger.info("research ended after round %d: %s", iteration, because.sentence)
    gate = () if closed.gate.status == "none" else (GateAsked(iteration, closed.gate.status, closed.gate.reason),)
    await bench.journal.record(
        *(_ended(iteration, outcome) for outcome in outcomes),
        *gate,
        Decided(iteration, because is None, because, closed.novelty),
    )


async def _keep_evidence(state: SupervisorState, closed: ClosedRound, bench: Workbench) -> None:
    """Whatever becomes of the run, what it found up to here can be looked at."""
    catalogue = [*state["catalogue"], *closed.gathered.cards]
    ledger = [*state["evidence_ledger"], *closed.gathered.evidence]
    await bench.shelf.keep_evidence(catalogue, ledger, kept_passages(closed.record.lanes))


def _ended(iteration: int, outcome: UnitOutcome) -> UnitEnded:
    return UnitEnded(
        iteration,
        outcome.topic.text,
        outcome.status,
        outcome.attempt_number,
        len(outcome.evidence),
        round(outcome.duration_s, 3),
        outcome.failure_reason,
    )


def _answers(state: SupervisorState, outcomes: Sequence[UnitOutcome], closed: ClosedRound) -> list[ToolMessage]:
    """What became of each proposed move, for the trace."""
    turn, moves = _turn(closed.record.iteration), state["moves"]
    back = iter(outcomes)
    fates = iter(
        f"[Not dispatched: {fate.reason}]" if isinstance(fate, Skip) else _unit_answer(next(back))
        for fate in state["wave"].fates
    )
    messages = [trace.answer(move, turn, i, _answer(move, fates, closed)) for i, move in enumerate(moves)]
    if closed.decision.course == Stop(StopReason.NOVELTY):
        threshold = state["configuration"].min_novelty_threshold
        messages.append(trace.early_stop(turn, len(moves) - 1, closed.novelty or 0.0, threshold))
    return messages


def _answer(move: SupervisorMove, fates: Iterator[str], closed: ClosedRound) -> str:
    match move:
        case ConductResearch():
            return next(fates)
        case ResearchComplete():
            if closed.gate.status == "retry":
                return f"[ResearchComplete rejected: {closed.gate.reason}]"
            return "[ResearchComplete accepted]"
        case Think():
            return f"Reflection recorded: {move.reflection}"


def _unit_answer(outcome: UnitOutcome) -> str:
    if outcome.answer:
        return f"{outcome.answer}\n\n(attempt_number: {outcome.attempt_number})"
    reason = outcome.failure_reason or "nothing was found"
    return f"[No findings: {reason}] (attempt_number: {outcome.attempt_number})"

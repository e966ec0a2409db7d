"""After every round: go on, or stop because."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from deepwell.configuration import Configuration
from deepwell.vocabulary.budget import NOTHING_SPENT, Budget, Spend
from deepwell.vocabulary.decision import Continue, Course, GateResult, LoopDecision, Stop, StopReason
from deepwell.vocabulary.evidence import Gap


@dataclass(frozen=True, slots=True)
class Situation:
    """Everything the decision rests on."""

    iteration: int
    """Rounds done, this one included."""
    gaps: tuple[Gap, ...]
    units: int
    """Units dispatched in the whole run."""
    novelty: float | None
    """Of this round; None when it cannot be told."""
    gate: GateResult
    """`pass` only if the analyst called research complete and the gate agreed."""
    remaining_minutes: float | None
    spend: Spend = NOTHING_SPENT
    interrupted: bool = False
    summary: str = ""


def decide(situation: Situation, budget: Budget, configuration: Configuration) -> LoopDecision:
    """The first reason to stop, or the next topic."""
    reason = next(_reasons(situation, budget, configuration), None)
    course: Course = Stop(reason) if reason else Continue()
    return LoopDecision(
        iteration=situation.iteration,
        summary=situation.summary,
        gaps=tuple(gap.text for gap in situation.gaps),
        course=course,
        next_search_topic=_next_topic(situation.gaps) if reason is None else None,
        time_remaining_minutes=situation.remaining_minutes,
    )


def _reasons(situation: Situation, budget: Budget, configuration: Configuration) -> Iterator[StopReason]:
    yield from _budget_reasons(situation, budget)
    yield from _evidence_reasons(situation, configuration)
    if situation.iteration >= configuration.max_researcher_iterations:
        yield StopReason.ITERATION_CAP
    if situation.units >= configuration.max_research_units:
        yield StopReason.UNIT_CAP


def _budget_reasons(situation: Situation, budget: Budget) -> Iterator[StopReason]:
    if situation.interrupted:
        yield StopReason.INTERRUPTED
    if situation.remaining_minutes is not None and situation.remaining_minutes < budget.synthesis_reserve_minutes:
        yield StopReason.TIME
    spend = situation.spend
    if spend.short_of == "tokens" or (budget.tokens is not None and spend.tokens >= budget.tokens):
        yield StopReason.TOKENS
    if spend.short_of == "money" or (budget.cost_usd is not None and spend.cost_usd >= budget.cost_usd > 0):
        yield StopReason.MONEY


def _evidence_reasons(situation: Situation, configuration: Configuration) -> Iterator[StopReason]:
    if situation.gate.status == "pass":
        yield StopReason.RESEARCH_COMPLETE
    if not situation.gaps:
        yield StopReason.GAPS_EMPTY
    if situation.gaps and all(gap.exhausted for gap in situation.gaps):
        yield StopReason.GAPS_EXHAUSTED
    if _repeats_itself(situation.novelty, configuration):
        yield StopReason.NOVELTY


def _repeats_itself(score: float | None, configuration: Configuration) -> bool:
    return configuration.enable_early_termination and score is not None and score < configuration.min_novelty_threshold


def _next_topic(gaps: Sequence[Gap]) -> str | None:
    return next((gap.text for gap in gaps if not gap.exhausted), None)

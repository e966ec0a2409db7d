"""The payload that every view renders."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta

from deepwell.configuration import Configuration
from deepwell.stages.judge.gate import source_domains
from deepwell.vocabulary.budget import NOTHING_SPENT, Budget, Spend
from deepwell.vocabulary.decision import GATE_NOT_ASKED, GateResult
from deepwell.vocabulary.evidence import Evidence, UnitOutcome, UnitStatus
from deepwell.vocabulary.plan import Topic
from deepwell.vocabulary.progress import (
    Forecast,
    Means,
    PlanningProgress,
    RuntimeProgress,
    SectionProgress,
    UnitProgress,
    WritingProgress,
)


@dataclass(frozen=True, slots=True)
class Round:
    """How far a round of research has come."""

    iteration: int
    units: Sequence[UnitProgress]
    skipped: int
    ledger: Sequence[Evidence]
    """With what the units that are back have brought."""
    gate: GateResult = GATE_NOT_ASKED
    novelty: float | None = None
    gaps: Sequence[str] = ()
    stop_reason: str | None = None
    rounds_s: Sequence[float] = ()
    """The rounds of the run that have ended."""
    units_s: Sequence[float] = ()
    """The units of the run that have ended."""


def means(
    budget: Budget,
    now: float,
    forecast: Forecast,
    *,
    spend: Spend = NOTHING_SPENT,
    planning_s: float | None = None,
    degraded_mode: bool = False,
    deadline_settled: bool = True,
) -> Means:
    """What every payload tells of time, tokens, money and limits."""
    remaining = budget.remaining_minutes(now) if deadline_settled else None
    return Means(
        elapsed_minutes=round((now - budget.started_monotonic) / 60, 4),
        remaining_minutes=remaining,
        deadline=_deadline(budget) if deadline_settled else None,
        estimated_remaining_minutes=_minutes(forecast.likely_s, remaining),
        estimated_remaining_minutes_high=_minutes(forecast.high_s, remaining),
        tokens_spent=spend.tokens,
        token_budget=budget.tokens,
        cost_usd=round(spend.cost_usd, 6),
        cost_budget_usd=budget.cost_usd,
        planning_seconds=None if planning_s is None else round(planning_s, 3),
        degraded_mode=degraded_mode,
    )


def planning_progress(common: Means) -> PlanningProgress:
    """The question is being read."""
    return PlanningProgress(phase="planning", **common)


def unit_progress(
    topic: Topic, status: UnitStatus, outcome: UnitOutcome | None = None, running_s: float | None = None
) -> UnitProgress:
    """One line of the current round."""
    return UnitProgress(
        topic=topic.text,
        status=status,
        duration_s=round(outcome.duration_s, 3) if outcome else None,
        running_s=None if running_s is None else round(running_s, 3),
        failure_reason=outcome.failure_reason if outcome else None,
        attempt_number=topic.attempt_number,
        evidence=len(outcome.evidence) if outcome else 0,
    )


def runtime_progress(common: Means, at: Round, budget: Budget, now: float, limits: Configuration) -> RuntimeProgress:
    """The state of the round as plain data."""
    domains = source_domains(at.ledger)
    left = budget.research_seconds_left(now)
    return RuntimeProgress(
        phase="research",
        supervisor_iteration=at.iteration,
        max_iterations=limits.max_researcher_iterations,
        dispatched_research_units=len(at.units),
        skipped_research_units=at.skipped,
        quality_gate_status=at.gate.status,
        quality_gate_reason=at.gate.reason,
        min_evidence_records=limits.min_evidence_records,
        min_source_domains=limits.min_source_domains,
        evidence_record_count=len(at.ledger),
        source_domain_count=len(domains),
        source_domains=list(domains),
        research_units=list(at.units),
        novelty=at.novelty,
        gaps=list(at.gaps),
        stop_reason=at.stop_reason,
        research_remaining_minutes=None if left is None else round(left / 60, 4),
        round_seconds=[round(seconds, 3) for seconds in at.rounds_s],
        unit_seconds=[round(seconds, 3) for seconds in at.units_s],
        **common,
    )


def writing_progress(
    common: Means, sections: Sequence[SectionProgress] | None, ledger: Sequence[Evidence], stop_reason: str | None
) -> WritingProgress:
    """How far the report has come; `sections` is None until there is an outline."""
    return WritingProgress(
        phase="writing",
        sections_written=sum(1 for section in sections or () if section["status"] == "written"),
        sections_total=None if sections is None else len(sections),
        sections=list(sections or ()),
        evidence_record_count=len(ledger),
        source_domain_count=len(source_domains(ledger)),
        stop_reason=stop_reason,
        **common,
    )


def _deadline(budget: Budget) -> str | None:
    if budget.total_minutes is None:
        return None
    return (budget.started_at + timedelta(minutes=budget.total_minutes)).isoformat(timespec="seconds")


def _minutes(seconds: float | None, remaining: float | None) -> float | None:
    """Rounded, but not up past the deadline."""
    if seconds is None:
        return None
    rounded = round(seconds / 60, 4)
    return rounded if remaining is None else min(rounded, remaining)

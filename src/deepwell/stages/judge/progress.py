"""The payload that every view renders."""

from collections.abc import Sequence

from deepwell.configuration import Configuration
from deepwell.stages.judge.gate import source_domains
from deepwell.vocabulary.budget import NOTHING_SPENT, Budget, Spend
from deepwell.vocabulary.decision import GATE_NOT_ASKED, GateResult
from deepwell.vocabulary.evidence import Evidence, UnitOutcome, UnitStatus
from deepwell.vocabulary.plan import Topic
from deepwell.vocabulary.progress import RuntimeProgress, UnitProgress


def unit_progress(topic: Topic, status: UnitStatus, outcome: UnitOutcome | None = None) -> UnitProgress:
    """One line of the current round."""
    return UnitProgress(
        topic=topic.text,
        status=status,
        duration_s=round(outcome.duration_s, 3) if outcome else None,
        failure_reason=outcome.failure_reason if outcome else None,
        attempt_number=topic.attempt_number,
        evidence=len(outcome.evidence) if outcome else 0,
    )


def runtime_progress(
    *,
    iteration: int,
    configuration: Configuration,
    budget: Budget,
    now: float,
    units: Sequence[UnitProgress],
    skipped: int,
    ledger: Sequence[Evidence],
    gate: GateResult = GATE_NOT_ASKED,
    novelty: float | None = None,
    gaps: Sequence[str] = (),
    stop_reason: str | None = None,
    spend: Spend = NOTHING_SPENT,
    degraded_mode: bool = False,
) -> RuntimeProgress:
    """The state of the round as plain data."""
    domains = source_domains(ledger)
    left = budget.research_seconds_left(now)
    return RuntimeProgress(
        phase="research",
        supervisor_iteration=iteration,
        max_iterations=configuration.max_researcher_iterations,
        dispatched_research_units=len(units),
        skipped_research_units=skipped,
        quality_gate_status=gate.status,
        quality_gate_reason=gate.reason,
        min_evidence_records=configuration.min_evidence_records,
        min_source_domains=configuration.min_source_domains,
        evidence_record_count=len(ledger),
        source_domain_count=len(domains),
        source_domains=list(domains),
        research_units=list(units),
        novelty=novelty,
        gaps=list(gaps),
        stop_reason=stop_reason,
        elapsed_minutes=round((now - budget.started_monotonic) / 60, 4),
        remaining_minutes=budget.remaining_minutes(now),
        research_remaining_minutes=None if left is None else round(left / 60, 4),
        degraded_mode=degraded_mode,
        tokens_spent=spend.tokens,
        cost_usd=round(spend.cost_usd, 6),
    )

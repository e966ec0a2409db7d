"""Closing a round: merge what came back, measure it, and decide."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from deepwell.configuration import Configuration
from deepwell.stages.judge.decide import Situation, decide
from deepwell.stages.judge.gate import quality_gate
from deepwell.stages.judge.merge import Gathered, merged
from deepwell.stages.judge.novelty import novelty
from deepwell.stages.judge.phase_state import phase_state
from deepwell.stages.judge.standing import open_gaps, updated
from deepwell.vocabulary.budget import NOTHING_SPENT, Budget, Spend
from deepwell.vocabulary.decision import GATE_NOT_ASKED, GateResult, LoopDecision, Triage
from deepwell.vocabulary.evidence import Evidence, UnitOutcome
from deepwell.vocabulary.plan import Query
from deepwell.vocabulary.record import Lane, ResearchRecord
from deepwell.vocabulary.source import SourceCard


@dataclass(frozen=True, slots=True)
class Known:
    """What the run knew before the round."""

    catalogue: Sequence[SourceCard]
    ledger: Sequence[Evidence]
    notes: Sequence[str]
    record: ResearchRecord


@dataclass(frozen=True, slots=True)
class ClosedRound:
    """What the round adds, and what was decided on it."""

    gathered: Gathered
    gate: GateResult
    """`none` unless the analyst called research complete."""
    novelty: float | None
    decision: LoopDecision
    record: ResearchRecord


def close_round(
    outcomes: Sequence[UnitOutcome],
    wave: Triage,
    known: Known,
    *,
    failed_reads: Mapping[str, int],
    called_complete: bool,
    interrupted: bool,
    now: float,
    budget: Budget,
    configuration: Configuration,
    spend: Spend = NOTHING_SPENT,
    search_limited: bool = False,
    unread_because: Mapping[str, str] | None = None,
) -> ClosedRound:
    """Merge, measure, decide, record."""
    gathered = merged(outcomes, known.catalogue, known.ledger, configuration.max_sources)
    verdict = quality_gate([*known.ledger, *gathered.evidence], configuration)
    # Notes may have been shortened since; the claims taken from them never are.
    score = novelty(gathered.notes, [*known.notes, *(item.claim for item in known.ledger)])
    extended = _extended(known.record, outcomes, wave, verdict, score, configuration)
    record = replace(
        extended,
        unread={address: tries for address, tries in failed_reads.items() if tries},
        unread_because={**extended.unread_because, **(unread_because or {})},
        degraded_mode=extended.degraded_mode or search_limited,
    )
    situation = Situation(
        iteration=record.iteration,
        gaps=open_gaps(record.by_subquestion),
        units=len(record.dispatched_topics),
        novelty=score,
        gate=verdict if called_complete else GATE_NOT_ASKED,
        remaining_minutes=budget.remaining_minutes(now),
        spend=spend,
        interrupted=interrupted,
        summary=_summary(record.iteration, outcomes, gathered),
    )
    decision = decide(situation, budget, configuration)
    return ClosedRound(gathered, situation.gate, score, decision, _decided(record, decision, budget, configuration))


def _extended(
    record: ResearchRecord,
    outcomes: Sequence[UnitOutcome],
    wave: Triage,
    gate: GateResult,
    score: float | None,
    configuration: Configuration,
) -> ResearchRecord:
    missed = [_asked(query) for outcome in outcomes for query in outcome.unanswered]
    asked = (_asked(query) for outcome in outcomes for query in outcome.queries if query not in outcome.unanswered)
    return replace(
        record,
        iteration=record.iteration + 1,
        standings=tuple(updated(record.by_subquestion, outcomes, configuration.max_retry_attempts).values()),
        gate=gate,
        novelty=(*record.novelty, score),
        dispatched_topics=(*record.dispatched_topics, *(topic.text for topic in wave.accepted)),
        skipped_topics=(*record.skipped_topics, *(skip.topic.text for skip in wave.skipped)),
        searched=tuple(dict.fromkeys((*record.searched, *asked))),
        unanswered=tuple(dict.fromkeys((*record.unanswered, *missed))),
        cut_off_units=record.cut_off_units + sum(1 for o in outcomes if o.status == "cancelled"),
        failed_units=record.failed_units + sum(1 for o in outcomes if o.status == "failed"),
        lanes=(*record.lanes, *(_lane(record.iteration + 1, outcome) for outcome in outcomes)),
    )


def _asked(query: Query) -> str:
    return query.sentence or query.text


def _lane(iteration: int, outcome: UnitOutcome) -> Lane:
    lead = outcome.topic.lead
    return Lane(
        iteration,
        outcome.topic.text,
        tuple(item.passage.handle for item in outcome.passages),
        tuple(item.score for item in outcome.passages),
        lead.origin if lead else "",
        lead.score if lead else 0.0,
        outcome.topic.subquestion,
        outcome.handles_read,
    )


def _decided(
    record: ResearchRecord, decision: LoopDecision, budget: Budget, configuration: Configuration
) -> ResearchRecord:
    return replace(
        record,
        decisions=(*record.decisions, decision),
        phase_state=phase_state(
            budget, record.iteration, configuration.max_researcher_iterations, record.by_subquestion, decision
        ),
    )


def _summary(iteration: int, outcomes: Sequence[UnitOutcome], gathered: Gathered) -> str:
    back = sum(1 for outcome in outcomes if outcome.succeeded)
    return (
        f"Round {iteration}: {back} of {len(outcomes)} units brought evidence, "
        f"{len(gathered.evidence)} new claims, {len(gathered.cards)} new sources."
    )

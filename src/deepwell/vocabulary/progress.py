"""What every view of a running research shows, and all it may show."""

from typing import Literal, TypedDict

from deepwell.vocabulary.decision import GateStatus
from deepwell.vocabulary.evidence import UnitStatus


class UnitProgress(TypedDict):
    """One research unit of the current round."""

    topic: str
    status: UnitStatus
    duration_s: float | None
    failure_reason: str | None
    attempt_number: int
    evidence: int


class RuntimeProgress(TypedDict):
    """The payload that `supervisor_tools` emits: views render it and infer nothing."""

    phase: Literal["research"]
    supervisor_iteration: int
    max_iterations: int
    dispatched_research_units: int
    skipped_research_units: int
    quality_gate_status: GateStatus
    quality_gate_reason: str | None
    min_evidence_records: int
    min_source_domains: int
    evidence_record_count: int
    source_domain_count: int
    source_domains: list[str]
    research_units: list[UnitProgress]
    novelty: float | None
    gaps: list[str]
    stop_reason: str | None
    elapsed_minutes: float
    remaining_minutes: float | None
    research_remaining_minutes: float | None
    degraded_mode: bool
    """True when searching is limited, because an engine had to be given up."""
    tokens_spent: int
    cost_usd: float
    """Of the models whose price is known."""

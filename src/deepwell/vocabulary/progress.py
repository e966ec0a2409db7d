"""What every view of a running research shows, and all it may show."""

from dataclasses import dataclass
from typing import Literal, TypedDict

from deepwell.vocabulary.decision import GateStatus
from deepwell.vocabulary.evidence import UnitStatus


@dataclass(frozen=True, slots=True)
class Forecast:
    """When a run will end, in seconds from now."""

    likely_s: float | None
    """As things stand; None: nothing was measured yet that it could be told from."""
    high_s: float | None
    """If every round that is still allowed is needed. Never after the deadline; without one, an estimate like the
    other; None: as above, and there is no deadline."""


class Means(TypedDict):
    """Time, tokens, money and limits: what the payload of every phase holds."""

    elapsed_minutes: float
    remaining_minutes: float | None
    """Until the deadline. None: no limit in time, or none that is settled yet."""
    deadline: str | None
    """The time of day in UTC at which the run must be over, in ISO form; None as above."""
    estimated_remaining_minutes: float | None
    """Until the end of the run as things stand, never after the deadline; None: nothing is known to tell it from."""
    estimated_remaining_minutes_high: float | None
    """The same if every round that is still allowed is needed; None: unknown, and there is no deadline."""
    tokens_spent: int
    token_budget: int | None
    """None: no limit."""
    cost_usd: float
    """Of the models whose price is known."""
    cost_budget_usd: float | None
    """None: no limit."""
    planning_seconds: float | None
    """How long the question was read; None until that is over."""
    degraded_mode: bool
    """True when searching is limited, because an engine had to be given up."""


class UnitProgress(TypedDict):
    """One research unit of the current round."""

    topic: str
    status: UnitStatus
    duration_s: float | None
    running_s: float | None
    """How long it has been at work when the payload was made; None unless it is."""
    failure_reason: str | None
    attempt_number: int
    evidence: int


class PlanningProgress(Means):
    """Emitted by `scope_intake` while the question is read."""

    phase: Literal["planning"]


class RuntimeProgress(Means):
    """Emitted by `supervisor_tools` while a round runs, and by `supervisor` while the next one is planned."""

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
    """What the units that are back have brought is counted at once."""
    source_domain_count: int
    source_domains: list[str]
    research_units: list[UnitProgress]
    novelty: float | None
    gaps: list[str]
    stop_reason: str | None
    research_remaining_minutes: float | None
    round_seconds: list[float]
    """How long each round took that has ended, with the planning of it."""
    unit_seconds: list[float]
    """How long each unit took that has ended, in the whole run."""


SectionStatus = Literal["waiting", "writing", "written"]


class SectionProgress(TypedDict):
    """One section of the report."""

    heading: str
    status: SectionStatus
    running_s: float | None
    """How long it has been written at when the payload was made; None unless it is."""


class WritingProgress(Means):
    """Emitted by `final_report_generation` while the report is written."""

    phase: Literal["writing"]
    sections_written: int
    sections_total: int | None
    """None: the outline is still being made."""
    sections: list[SectionProgress]
    evidence_record_count: int
    source_domain_count: int
    stop_reason: str | None


Progress = PlanningProgress | RuntimeProgress | WritingProgress
"""The payload `runtime_progress`: views render it and infer nothing."""

"""What flows between the nodes, and how updates are merged. Page text never enters: it is kept by hash."""

import operator
from typing import Annotated, Any, Literal, TypedDict

from langchain_core.messages import AnyMessage
from langgraph.graph.message import add_messages

from deepwell.configuration import Configuration
from deepwell.stages.investigate.unit import Desk, Known
from deepwell.vocabulary.budget import Budget
from deepwell.vocabulary.decision import Triage
from deepwell.vocabulary.evidence import Evidence, Findings
from deepwell.vocabulary.moves import ResearcherMove, SupervisorMove
from deepwell.vocabulary.plan import Plan, Topic
from deepwell.vocabulary.question import Brief
from deepwell.vocabulary.record import ResearchRecord
from deepwell.vocabulary.report import Outcome
from deepwell.vocabulary.source import SourceCard


def override_reducer(current: Any, update: Any) -> Any:
    """Add to a list, or replace it with `{"type": "override", "value": …}`."""
    if isinstance(update, dict) and update.get("type") == "override":
        return update.get("value", [])
    return operator.add(current, update)


class ResearchState(TypedDict, total=False):
    """The main path. What the supervisor brings back overwrites: a new turn starts from nothing stale."""

    messages: Annotated[list[AnyMessage], add_messages]
    configuration: Configuration
    """The configuration with its tier resolved, from intake on."""
    budget: Budget
    """The run's budget, its time as the tier sets it."""
    research_brief: Brief
    plan: Plan
    intake_decision: Literal["clarify", "proceed"]
    awaiting_clarification: bool
    supervisor_messages: list[AnyMessage]
    notes: list[str]
    raw_notes: list[str]
    evidence_ledger: list[Evidence]
    catalogue: list[SourceCard]
    research_record: ResearchRecord
    runtime_progress: dict[str, Any]
    """The last payload of the phase or round that is over; later estimates start from what it measured."""
    final_report: str
    outcome: Outcome


class SupervisorState(TypedDict, total=False):
    """The supervisor's loop. Notes, evidence and messages only grow while it runs."""

    supervisor_messages: Annotated[list[AnyMessage], override_reducer]
    configuration: Configuration
    budget: Budget
    research_brief: Brief
    plan: Plan
    notes: Annotated[list[str], override_reducer]
    raw_notes: Annotated[list[str], override_reducer]
    """Handles of the kept passages, best first within a unit; the text is in the store."""
    evidence_ledger: Annotated[list[Evidence], override_reducer]
    catalogue: Annotated[list[SourceCard], override_reducer]
    dispatched_topics: Annotated[list[str], override_reducer]
    skipped_topics: Annotated[list[str], override_reducer]
    research_iterations: int
    runtime_progress: dict[str, Any]
    research_record: ResearchRecord
    moves: list[SupervisorMove]
    """What the analyst proposed for this round; overwritten every round."""
    wave: Triage
    """What becomes of the proposed topics; written before any unit starts, so that a resumed round is the same."""


class ResearcherState(TypedDict, total=False):
    """One unit. It holds whole passages and is never checkpointed: the unit is the grain of what a crash repeats."""

    researcher_messages: Annotated[list[AnyMessage], operator.add]
    configuration: Configuration
    research_brief: Brief
    topic: Topic
    desk: Desk
    known: Known
    moves: list[ResearcherMove]
    findings: Findings

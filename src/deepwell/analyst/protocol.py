"""The judgements a run asks for. Control stays with the runtime: an analyst only proposes."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from typing import Protocol

from deepwell.vocabulary.evidence import Findings, ReadPassage, Standing
from deepwell.vocabulary.moves import ResearcherMove, SupervisorMove
from deepwell.vocabulary.plan import Plan, Query, Topic
from deepwell.vocabulary.question import Brief, Clarification, Conversation, Intake
from deepwell.vocabulary.report import NumberedEvidence, Outline, Section, Unanswerable, WrittenSection
from deepwell.vocabulary.source import Hit


@dataclass(frozen=True, slots=True)
class Board:
    """The whole state of research as the supervisor sees it."""

    brief: Brief
    plan: Plan
    iteration: int
    """The round that is about to be planned, from 1."""
    standings: tuple[Standing, ...]
    dispatched_topics: tuple[str, ...]
    skipped_topics: tuple[str, ...]
    notes: tuple[str, ...]
    gate_reason: str | None
    """What the quality gate missed when it was last asked."""
    queries_left: int
    """How many searches the next round may plan."""


@dataclass(frozen=True, slots=True)
class Notebook:
    """What one unit has found so far."""

    brief: Brief
    topic: Topic
    passages: tuple[ReadPassage, ...]
    """Best first."""
    queries: tuple[Query, ...]
    """The searches already run."""
    thin_queries: tuple[Query, ...]
    """Those of them that brought fewer than three hits."""
    tool_calls_left: int
    """Searches and reads together."""
    searches_left: int = 100
    """Of these, searches. 0: only what was found can be read."""
    seen: frozenset[str] = frozenset()
    """Handles of passages that an earlier unit on the same sub-question has summed up already."""
    notes: tuple[str, ...] = ()
    """What those units found."""
    unread: tuple[Hit, ...] = ()
    """What the searches brought up and was not read, best first."""


class Analyst(Protocol):
    """Answers the questions of judgement that come up in a run."""

    name: str

    async def take_in(self, conversation: Conversation, today: date) -> Clarification | Intake:
        """What the question means, and how to look for the answer."""
        ...

    async def supervise(self, board: Board) -> Sequence[SupervisorMove]:
        """What to look into next, or that enough is known."""
        ...

    async def investigate(self, notebook: Notebook) -> Sequence[ResearcherMove]:
        """What the unit should do next, or that it is done."""
        ...

    async def digest(self, brief: Brief, topic: Topic, passages: Sequence[ReadPassage]) -> Findings:
        """What the passages say to the topic, with `[n]` counting the passages from 1."""
        ...

    async def outline(
        self, brief: Brief, plan: Plan, evidence: Sequence[NumberedEvidence], gaps: Sequence[str]
    ) -> Outline | Unanswerable:
        """The parts of the report, each with its own evidence; `gaps` is what stayed open."""
        ...

    async def write_section(
        self, brief: Brief, outline: Outline, section: Section, so_far: Sequence[WrittenSection]
    ) -> str:
        """The section's text in Markdown, citing by `[source id]` only; the outline says what the others cover."""
        ...

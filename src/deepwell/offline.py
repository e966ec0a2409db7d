"""The parts of a replay: they stand where a run has those that go outside, go nowhere, and note what was wanted."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from datetime import date
from typing import Literal

from deepwell.analyst.protocol import Analyst, Board, Notebook
from deepwell.errors import SearchFailed, Unreadable
from deepwell.vocabulary.events import Event, WouldHaveAsked
from deepwell.vocabulary.evidence import Evidence, Findings, ReadPassage
from deepwell.vocabulary.moves import ResearcherMove, SupervisorMove
from deepwell.vocabulary.plan import Plan, Query, Topic
from deepwell.vocabulary.question import Brief, Clarification, Conversation, Intake
from deepwell.vocabulary.report import NumberedEvidence, Outline, Section, Unanswerable, WrittenSection
from deepwell.vocabulary.source import Hit, Source, SourceCard

Adviser = Literal["model", "index", "nobody"]
"""Whom the run's analyst looked to: a model, the documents' index, or nobody but itself."""
Note = Callable[[WouldHaveAsked], None]


@dataclass(slots=True)
class HeldJournal:
    """Fulfils the port Journal. A replay that does not come to its end leaves nothing behind."""

    events: list[Event] = field(default_factory=list)

    async def record(self, *events: Event) -> None:
        """Hold them."""
        self.events.extend(events)

    def note(self, wanted: WouldHaveAsked) -> None:
        """Hold it, once: who wants the same again wants nothing new."""
        if wanted not in self.events:
            self.events.append(wanted)

    @property
    def missed(self) -> tuple[WouldHaveAsked, ...]:
        """What the replayed journal does not tell, in the order it was wanted."""
        return tuple(event for event in self.events if isinstance(event, WouldHaveAsked))


@dataclass(frozen=True, slots=True)
class OfflineShelf:
    """Fulfils the port Shelf. What a replay reads is on the shelf already."""

    fetch_kept: Callable[[str], Awaitable[Source]]

    async def keep(self, source: Source) -> None:
        """Nothing to do."""

    async def fetch(self, content_hash: str) -> Source:
        """The source kept under that hash. Raises KeyError."""
        return await self.fetch_kept(content_hash)

    async def keep_evidence(
        self, catalogue: Sequence[SourceCard], ledger: Sequence[Evidence], kept: Sequence[str]
    ) -> None:
        """Nothing to do: it is kept when the replay has come to its end."""


@dataclass(slots=True)
class OfflineEngine:
    """Fulfils the port SearchEngine."""

    note: Note
    name: str = "offline"

    async def search(self, query: Query, limit: int) -> Sequence[Hit]:
        """Raises SearchFailed."""
        self.note(WouldHaveAsked("search", f"search for “{query.text}”"))
        raise SearchFailed("The replayed journal does not tell what this search brings.")


@dataclass(frozen=True, slots=True)
class OfflineReader:
    """Fulfils the port Reader."""

    note: Note

    async def read(self, address: str) -> Source:
        """Raises Unreadable: there is no use in trying again."""
        self.note(WouldHaveAsked("read", f"read {address}"))
        error = Unreadable("The replayed journal does not tell what stands there.")
        error.final = True
        raise error


@dataclass(slots=True)
class OfflineAnalyst:
    """Fulfils the protocol Analyst: one that needs nobody judges in place of the one whose judgement is not known."""

    stand_in: Analyst
    adviser: Adviser
    note: Note
    name: str = "offline"

    async def take_in(self, conversation: Conversation, today: date) -> Clarification | Intake:
        """As the stand-in."""
        self._wanted("for a plan", "for a plan")
        return await self.stand_in.take_in(conversation, today)

    async def supervise(self, board: Board) -> Sequence[SupervisorMove]:
        """As the stand-in."""
        self._wanted(f"what to look into in round {board.iteration}")
        return await self.stand_in.supervise(board)

    async def investigate(self, notebook: Notebook) -> Sequence[ResearcherMove]:
        """As the stand-in."""
        about = f"“{notebook.topic.text}”"
        self._wanted(f"what to do next about {about}", f"for other searches on {about}")
        return await self.stand_in.investigate(notebook)

    async def digest(self, brief: Brief, topic: Topic, passages: Sequence[ReadPassage]) -> Findings:
        """As the stand-in."""
        self._wanted(f"to sum up the research on “{topic.text}”", f"for what matters in the passages on “{topic.text}”")
        return await self.stand_in.digest(brief, topic, passages)

    async def outline(
        self, brief: Brief, plan: Plan, evidence: Sequence[NumberedEvidence], gaps: Sequence[str]
    ) -> Outline | Unanswerable:
        """As the stand-in."""
        self._wanted("for an outline", "for an outline")
        return await self.stand_in.outline(brief, plan, evidence, gaps)

    async def write_section(
        self, brief: Brief, outline: Outline, section: Section, so_far: Sequence[WrittenSection]
    ) -> str:
        """As the stand-in."""
        self._wanted(f"to write the section “{section.heading or outline.title}”")
        return await self.stand_in.write_section(brief, outline, section, so_far)

    def _wanted(self, of_a_model: str, of_an_index: str | None = None) -> None:
        """None: the analyst without a model judges this by itself, and the replay as well as the run."""
        if self.adviser == "model":
            self.note(WouldHaveAsked("judgement", f"ask the model {of_a_model}"))
        elif self.adviser == "index" and of_an_index:
            self.note(WouldHaveAsked("judgement", f"look into the documents' index {of_an_index}"))

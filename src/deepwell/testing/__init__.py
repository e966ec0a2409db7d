"""Parts for tests of Deepwell and of code that uses it: a clock that is set by hand, a search engine over texts in
memory, a journal that can be looked at, an analyst that follows a script."""

import asyncio
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from typing import Any, TypeVar

from deepwell.analyst.protocol import Board, Notebook
from deepwell.budget.ledger import Ledger
from deepwell.errors import SearchFailed, Unreadable
from deepwell.language.words import words
from deepwell.ports import Workbench
from deepwell.vocabulary.budget import Budget
from deepwell.vocabulary.calls import Call, CallKind, CallOutcome, fingerprint
from deepwell.vocabulary.events import Event
from deepwell.vocabulary.evidence import Evidence, Findings, ReadPassage
from deepwell.vocabulary.moves import Done, ResearchComplete, ResearcherMove, SupervisorMove
from deepwell.vocabulary.plan import Plan, Query, SubQuestion, Topic
from deepwell.vocabulary.question import Brief, Clarification, Conversation, Intake
from deepwell.vocabulary.report import NumberedEvidence, Outline, Section, Unanswerable, WrittenSection
from deepwell.vocabulary.source import Hit, Source, SourceCard, content_hash

START = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
R = TypeVar("R")


@dataclass(slots=True)
class ManualClock:
    """Time stands still until it is moved."""

    elapsed: float = 0.0

    def monotonic(self) -> float:
        """Seconds since the clock was made."""
        return self.elapsed

    def now(self) -> datetime:
        """The start plus what has elapsed."""
        return START + timedelta(seconds=self.elapsed)

    def move(self, seconds: float) -> None:
        """Let time pass."""
        self.elapsed += seconds


@dataclass(slots=True)
class ListJournal:
    """Keeps the events in a list."""

    events: list[Event] = field(default_factory=list)

    async def record(self, *events: Event) -> None:
        """Append."""
        self.events.extend(events)

    def of(self, kind: type[Event]) -> list[Any]:
        """The events of one kind."""
        return [event for event in self.events if isinstance(event, kind)]


@dataclass(slots=True)
class ListCalls:
    """Keeps calls in a list, and knows those it was given."""

    known: dict[Call, CallOutcome] = field(default_factory=dict)
    kept: list[tuple[Call, CallOutcome]] = field(default_factory=list)
    asked: Counter[tuple[CallKind, str]] = field(default_factory=Counter)

    def call(self, kind: CallKind, *asked: object) -> Call:
        """The call by what is asked."""
        key = fingerprint(*asked)
        self.asked[kind, key] += 1
        return Call(kind, key, self.asked[kind, key] - 1)

    def outcome(self, call: Call) -> CallOutcome | None:
        """What it was given."""
        return self.known.get(call)

    def is_billed(self, call: Call) -> bool:
        """What it was given was paid for by others."""
        return call in self.known

    async def keep(self, call: Call, outcome: CallOutcome, *, wait: bool = True) -> None:
        """Append."""
        self.kept.append((call, outcome))


class PassingMoments:
    """Moments that nobody keeps."""

    async def taken(self, name: Sequence[object], reading: R) -> R:
        """The reading."""
        return reading

    async def recalled(self, name: Sequence[object]) -> Any | None:
        """Nothing."""
        return None


@dataclass(slots=True)
class DictShelf:
    """Keeps sources in a dictionary."""

    kept: dict[str, Source] = field(default_factory=dict)
    evidence: tuple[Evidence, ...] = ()

    async def keep(self, source: Source) -> None:
        """Keep it."""
        self.kept.setdefault(source.hash, source)

    async def fetch(self, content_hash: str) -> Source:
        """Give it back."""
        return self.kept[content_hash]

    async def keep_evidence(
        self, catalogue: Sequence[SourceCard], ledger: Sequence[Evidence], kept: Sequence[str]
    ) -> None:
        """Keep what was found so far."""
        self.evidence = tuple(ledger)


@dataclass(slots=True)
class TextEngine:
    """Searches texts in memory by shared words and reads them; can be made to fail."""

    texts: Mapping[str, str]
    failing: bool = False
    unreadable: frozenset[str] = frozenset()
    name: str = "texts"
    asked: list[Query] = field(default_factory=list)

    async def search(self, query: Query, limit: int) -> Sequence[Hit]:
        """Texts that share a word with the query, the most shared first."""
        self.asked.append(query)
        if self.failing:
            raise SearchFailed("The engine did not answer.")
        wanted = set(words(query.text))
        scored = sorted(((len(wanted & set(words(t))), a) for a, t in self.texts.items()), key=lambda p: (-p[0], p[1]))
        return [self._hit(a, float(s), query) for s, a in scored if s][:limit]

    async def read(self, address: str) -> Source:
        """The whole text."""
        if address in self.unreadable or address not in self.texts:
            raise Unreadable(f"{address} cannot be read.")
        return source(self.texts[address], address)

    def _hit(self, address: str, score: float, query: Query) -> Hit:
        text = self.texts[address]
        return Hit(address, address, text, score, self.name, query, (0, len(text)), content_hash(text))


@dataclass(slots=True)
class ScriptedAnalyst:
    """Answers each judgement with what the script says; without a script, in the plainest way there is."""

    intake: Clarification | Intake | None = None
    supervised: Callable[[Board], Sequence[SupervisorMove]] = lambda board: [ResearchComplete()]
    investigated: Callable[[Notebook], Sequence[ResearcherMove]] = lambda notebook: [Done()]
    digested: Callable[[Topic, Sequence[ReadPassage]], Findings] | None = None
    outlined: Callable[[Sequence[NumberedEvidence]], Outline | Unanswerable] | None = None
    section: Callable[[Section], str] | None = None
    name: str = "scripted"
    boards: list[Board] = field(default_factory=list)

    async def take_in(self, conversation: Conversation, today: date) -> Clarification | Intake:
        """The scripted intake, or a plan of one."""
        question = conversation[-1].text
        return self.intake or Intake(Brief(question), Plan((SubQuestion("sq-1", question),)))

    async def supervise(self, board: Board) -> Sequence[SupervisorMove]:
        """The scripted moves."""
        self.boards.append(board)
        return self.supervised(board)

    async def investigate(self, notebook: Notebook) -> Sequence[ResearcherMove]:
        """The scripted moves."""
        return self.investigated(notebook)

    async def digest(self, brief: Brief, topic: Topic, passages: Sequence[ReadPassage]) -> Findings:
        """The scripted findings, or every passage quoted whole."""
        if self.digested:
            return self.digested(topic, passages)
        return Findings(" ".join(f"{p.passage.text} [{i}]" for i, p in enumerate(passages, start=1)))

    async def outline(
        self, brief: Brief, plan: Plan, evidence: Sequence[NumberedEvidence], gaps: Sequence[str]
    ) -> Outline | Unanswerable:
        """The scripted outline, or one section with everything."""
        if self.outlined:
            return self.outlined(evidence)
        return Outline(brief.question, (Section("Answer", "all of it", tuple(evidence)),))

    async def write_section(
        self, brief: Brief, outline: Outline, section: Section, so_far: Sequence[WrittenSection]
    ) -> str:
        """The scripted text, or each claim with its marker."""
        if self.section:
            return self.section(section)
        return " ".join(f"{item.evidence.claim} {item.marker}" for item in section.evidence)


def source(text: str, address: str = "a.md", title: str | None = None, **facts: Any) -> Source:
    """A source with this text, read at the start of time."""
    return Source(address, title or address, text, content_hash(text), START, **facts)


def bench(
    analyst: Any, engine: TextEngine, clock: ManualClock | None = None, *, minutes: float | None = 5.0
) -> Workbench:
    """A workbench of the parts above."""
    clock = clock or ManualClock()
    budget = Budget(minutes, clock.now(), clock.monotonic())
    return Workbench(
        analyst=analyst,
        stand_in=analyst,
        engine=engine,
        reader=engine,
        shelf=DictShelf(),
        journal=ListJournal(),
        clock=clock,
        budget=budget,
        account=Ledger(budget, clock.monotonic, {}),
        interrupted=asyncio.Event(),
        moments=PassingMoments(),
    )

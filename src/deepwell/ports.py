"""What the stages need from outside, as protocols. Adapters fulfil them; `assemble` chooses which."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Protocol, TypeVar

from deepwell.analyst.protocol import Analyst
from deepwell.vocabulary.budget import Budget, Spend, SpendLine
from deepwell.vocabulary.calls import Call, CallKind, CallOutcome
from deepwell.vocabulary.events import Degraded, Event
from deepwell.vocabulary.evidence import Evidence
from deepwell.vocabulary.plan import Query
from deepwell.vocabulary.source import Hit, Source, SourceCard

R = TypeVar("R")


class Clock(Protocol):
    """The run's only sense of time."""

    def monotonic(self) -> float:
        """Seconds that never run backwards."""
        ...

    def now(self) -> datetime:
        """The time of day, with its zone."""
        ...


class SearchEngine(Protocol):
    """Anything that answers a query with hits: the library, a web engine, a chain of them."""

    name: str

    async def search(self, query: Query, limit: int) -> Sequence[Hit]:
        """The best hits first, at most `limit`. Raises SearchFailed when the engine does not answer."""
        ...


class Reader(Protocol):
    """Turns the address of a hit into the source behind it."""

    async def read(self, address: str) -> Source:
        """The whole source. Raises Unreadable with a safe sentence."""
        ...


class Shelf(Protocol):
    """Where the texts of read sources are kept, by their content hash."""

    async def keep(self, source: Source) -> None:
        """Keep the text for good; keeping it again changes nothing."""
        ...

    async def fetch(self, content_hash: str) -> Source:
        """The source kept under that hash. Raises KeyError when there is none."""
        ...

    async def keep_evidence(
        self, catalogue: Sequence[SourceCard], ledger: Sequence[Evidence], kept: Sequence[str]
    ) -> None:
        """Keep what the run has found so far, in place of what it had before: `kept` are handles, best first."""
        ...


class Journal(Protocol):
    """The append-only record of one run."""

    async def record(self, *events: Event) -> None:
        """Append the events in their order."""
        ...


class Calls(Protocol):
    """What was asked outside in this run: what was answered once is not asked again."""

    def call(self, kind: CallKind, *asked: object) -> Call:
        """The call by what is asked; the same again is another call."""
        ...

    def outcome(self, call: Call) -> CallOutcome | None:
        """What came of it when it was made before; None: it has to be made."""
        ...

    def is_billed(self, call: Call) -> bool:
        """Whether the account has it already, from before a crash."""
        ...

    async def keep(self, call: Call, outcome: CallOutcome, *, wait: bool = True) -> None:
        """Put down what came of it; by default the value is not used before it is safe."""
        ...


class Moments(Protocol):
    """What decisions rest on besides answers from outside: clocks, spend, what was cut off and when.

    A run puts it down, a replay gets it back. The first part of a name says what it is, the others what it depends on:
    where they differ, the moment is another one.
    """

    async def taken(self, name: Sequence[object], reading: R) -> R:
        """What a decision is to rest on: this reading, or in a replay the one that was put down."""
        ...

    async def recalled(self, name: Sequence[object]) -> Any | None:
        """What was put down; None when nothing was, and always in a run that is no replay."""
        ...


class Account(Protocol):
    """What the run has spent on models so far."""

    budget: Budget
    """May be replaced while the run goes on: the tier sets its time only after the question was understood."""

    @property
    def lines(self) -> tuple[SpendLine, ...]:
        """By phase and model."""
        ...

    @property
    def spend(self) -> Spend:
        """In all."""
        ...

    @property
    def runs_low(self) -> bool:
        """True when less than a quarter of the token budget is left."""
        ...


@dataclass(frozen=True, slots=True)
class Workbench:
    """What a run works with."""

    analyst: Analyst
    stand_in: Analyst
    """The analyst that waits for nothing outside: for what has to be judged when no time is left."""
    engine: SearchEngine
    reader: Reader
    shelf: Shelf
    journal: Journal
    clock: Clock
    budget: Budget
    account: Account
    interrupted: asyncio.Event
    """Set when the user wants the report now, from what there is."""
    moments: Moments
    asks_model: bool = False
    """True when a model has a part in the judgements."""
    limits: tuple[str, ...] = ()
    """What limited the sources before research began, such as files that could not be read; full sentences."""
    failed_reads: dict[str, int] = field(default_factory=dict)
    """How often reading an address has failed in this run, over all units."""
    unread_because: dict[str, str] = field(default_factory=dict)
    """What kept these addresses from being read when it was last tried; full sentences."""
    closed: set[str] = field(default_factory=set)
    """Addresses that need not be tried again: they would answer the same."""
    degradations: list[Degraded] = field(default_factory=list)
    """What had to be judged without the model, and why, in the order it happened."""
    search_limits: Callable[[], tuple[str, ...]] = tuple
    """What limited the searching so far, such as engines that were given up; full sentences."""
    own_documents: bool = True
    """True when the run is over the user's own documents alone: a "domain" is then a document."""

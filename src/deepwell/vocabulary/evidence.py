"""Claims with their passages, and what a unit brings back."""

from dataclasses import dataclass
from typing import Literal

from deepwell.vocabulary.plan import Lead, Query, Topic
from deepwell.vocabulary.source import Passage, Source


@dataclass(frozen=True, slots=True)
class Evidence:
    """A claim with its passages and what they say to it."""

    claim: str
    """One checkable statement."""
    passages: tuple[Passage, ...]
    """The exact spans the claim rests on; never empty."""
    source_urls: tuple[str, ...]
    """The addresses of the passages' sources, in the same order, each once."""
    confidence: float = 0.5
    """The prior without a model, always the same."""
    support: float | None = None
    """What verification measured; None: not measured."""
    contradiction_or_uncertainty: str | None = None
    """The words in the claim that make it uncertain or disputed, if any."""
    subquestion: str = ""
    topic: str = ""


@dataclass(frozen=True, slots=True)
class ReadPassage:
    """A passage together with the source it was cut from, as an analyst is shown it."""

    passage: Passage
    source: Source
    found_by: tuple[Query, ...] = ()
    score: float = 0.0
    """How well it speaks to the query that found it best, as the engine sees it; higher is better."""


@dataclass(frozen=True, slots=True)
class Findings:
    """What an analyst makes of a unit's passages."""

    answer: str
    """Sentences with `[n]`, where n counts the passages the analyst was given, from 1."""
    gaps: tuple[str, ...] = ()
    """What of the topic stays open, each in one sentence; empty when it is settled."""
    leads: tuple[Lead, ...] = ()
    """Names and terms met on the way that the question did not contain, best first."""
    read: tuple[int, ...] | None = None
    """Which passages were taken in, counted from 1; None: all of them."""


UnitStatus = Literal["waiting", "running", "complete", "empty", "failed", "cancelled"]


@dataclass(frozen=True, slots=True)
class UnitOutcome:
    """How one research unit ended and what it brought back. It holds whole texts: it never enters the state."""

    topic: Topic
    status: UnitStatus
    duration_s: float
    failure_reason: str | None = None
    """A safe sentence; None unless the unit failed."""
    answer: str = ""
    """The findings' answer; its `[n]` count `passages` from 1."""
    passages: tuple[ReadPassage, ...] = ()
    """The best passages, best first."""
    evidence: tuple[Evidence, ...] = ()
    gaps: tuple[str, ...] = ()
    leads: tuple[Lead, ...] = ()
    queries: tuple[Query, ...] = ()
    """Every search the unit ran."""
    unanswered: tuple[Query, ...] = ()
    """Those of them that no engine answered."""
    read: tuple[int, ...] | None = None
    """Which of the passages the analyst took in, counted from 1; None: all of them."""

    @property
    def handles_read(self) -> tuple[str, ...]:
        """The handles of the passages that were taken in."""
        numbers = range(1, len(self.passages) + 1) if self.read is None else self.read
        return tuple(self.passages[n - 1].passage.handle for n in numbers if 1 <= n <= len(self.passages))

    @property
    def attempt_number(self) -> int:
        """Which try at its sub-question this was, from 1."""
        return self.topic.attempt_number

    @property
    def succeeded(self) -> bool:
        """True when the unit brought back evidence, however it ended."""
        return bool(self.evidence)


@dataclass(frozen=True, slots=True)
class Standing:
    """How far one sub-question has come."""

    id: str
    text: str
    attempts: int = 0
    """Tries until there was evidence, and those after it that brought none."""
    failures: int = 0
    """Units that came back without evidence."""
    evidence: int = 0
    gaps: tuple[str, ...] = ()
    leads: tuple[Lead, ...] = ()
    exhausted: bool = False
    """True when it failed as often as allowed: it is never tried again."""

    @property
    def status(self) -> Literal["pending", "complete", "exhausted"]:
        """The word under which retry tracking lists it."""
        if self.exhausted and (self.gaps or not self.evidence):
            return "exhausted"
        return "complete" if self.evidence else "pending"


@dataclass(frozen=True, slots=True)
class Gap:
    """What of a sub-question stays open."""

    subquestion: str
    text: str
    exhausted: bool = False

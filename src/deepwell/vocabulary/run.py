"""A run as the store keeps it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal

from deepwell.vocabulary.budget import SpendLine
from deepwell.vocabulary.calls import CallKind, CallOutcome
from deepwell.vocabulary.events import Degraded
from deepwell.vocabulary.evidence import Evidence
from deepwell.vocabulary.report import Outcome
from deepwell.vocabulary.source import SourceCard

RunStatus = Literal["running", "done", "nothing_found", "clarify", "interrupted", "failed"]
Span = tuple[str, int, int]
"""Content hash of the source, start, end."""


def span_of(handle: str) -> Span:
    """The span that a passage's handle stands for."""
    source, _, span = handle.partition(":")
    start, _, end = span.partition("-")
    return source, int(start), int(end)


@dataclass(frozen=True, slots=True)
class FinishedRun:
    """What a run leaves behind."""

    status: RunStatus
    at: datetime
    outcome: Outcome | None
    stop_reason: str | None
    phase_state: Mapping[str, Any]
    catalogue: tuple[SourceCard, ...] = ()
    ledger: tuple[Evidence, ...] = ()
    kept: tuple[Span, ...] = ()
    """The passages the run kept, best first."""


@dataclass(frozen=True, slots=True)
class Past:
    """What earlier processes did of a run that goes on, or all of a run that is replayed."""

    used_s: float = 0.0
    """Seconds of its time that are used up."""
    calls: Mapping[tuple[CallKind, str, int], CallOutcome] = field(default_factory=dict)
    """What was asked outside, and what came of it, by kind, key and how often before."""
    spend: tuple[SpendLine, ...] = ()
    billed: frozenset[str] = frozenset()
    """Keys of the models' replies that `spend` has."""
    degradations: tuple[Degraded, ...] = ()
    given_up: Mapping[str, str] = field(default_factory=dict)
    """Engines that were given up, and why."""
    narrowed: Mapping[str, bool] = field(default_factory=dict)
    """Searches of the web that were narrowed, and whether they were sent all the same."""


NO_PAST = Past()


@dataclass(frozen=True, slots=True)
class RunHead:
    """One line in the list of runs."""

    id: str
    question: str
    status: RunStatus
    started_at: datetime
    finished_at: datetime | None
    version: str
    stop_reason: str | None
    claims: int
    sources: int


@dataclass(frozen=True, slots=True)
class KeptSource:
    """A numbered source of a stored run."""

    number: int
    hash: str
    address: str
    title: str
    retrieved_at: str
    kind: str
    author: str | None
    publisher: str | None
    published: str | None


@dataclass(frozen=True, slots=True)
class KeptClaim:
    """A claim of a stored run with the spans it rests on."""

    claim: str
    subquestion: str
    topic: str
    confidence: float
    support: float | None
    uncertainty: str | None
    spans: tuple[Span, ...]


@dataclass(frozen=True, slots=True)
class StoredRun:
    """A run read back from the store."""

    head: RunHead
    configuration: Mapping[str, Any]
    libraries: tuple[str, ...]
    """Paths as they were typed."""
    report: str | None
    phase_state: Mapping[str, Any]
    sources: tuple[KeptSource, ...]
    claims: tuple[KeptClaim, ...]
    passages: tuple[Span, ...]
    citations: tuple[tuple[str, tuple[int, ...], tuple[Span, ...]], ...]
    """Sentence, source ids, spans."""
    spend: tuple[SpendLine, ...] = ()
    """What was spent on models, by phase and model."""
    folder: str = ""
    """Where the paths were typed."""
    engines: tuple[str, ...] = ()
    """The engines that the web was searched with; empty: it was not."""
    chosen: tuple[str, ...] | None = None
    """Names of the settings that were chosen, not left to the tier. None: not known."""

    @property
    def chosen_settings(self) -> Mapping[str, Any]:
        """The settings that were chosen, with their values."""
        chosen = self.configuration if self.chosen is None else self.chosen
        return {name: self.configuration[name] for name in chosen if name in self.configuration}

    @property
    def kept_hashes(self) -> tuple[str, ...]:
        """Every source that anything of the run points to, each once."""
        listed = [source.hash for source in self.sources]
        spans = [*self.passages, *(s for claim in self.claims for s in claim.spans), *self._cited]
        return tuple(dict.fromkeys([*listed, *(content_hash for content_hash, _, _ in spans)]))

    @property
    def _cited(self) -> list[Span]:
        return [span for _, _, spans in self.citations for span in spans]

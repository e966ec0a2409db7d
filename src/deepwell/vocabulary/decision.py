"""Go on, or stop because: what the runtime decides after every round."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Literal

from deepwell.vocabulary.plan import Topic


class StopReason(StrEnum):
    """Why research ended; the value stands in the record, the sentence in the report."""

    RESEARCH_COMPLETE = "research_complete"
    GAPS_EMPTY = "gaps_empty"
    GAPS_EXHAUSTED = "gaps_exhausted"
    NOVELTY = "novelty"
    ITERATION_CAP = "iteration_cap"
    UNIT_CAP = "unit_cap"
    TIME = "time"
    TOKENS = "tokens"
    MONEY = "money"
    INTERRUPTED = "interrupted"

    @property
    def sentence(self) -> str:
        """The reason in words for a reader."""
        return _SENTENCES[self]

    @property
    def is_limit(self) -> bool:
        """True when a limit ended research, not its own completion."""
        return self not in (StopReason.RESEARCH_COMPLETE, StopReason.GAPS_EMPTY)


_SENTENCES = {
    StopReason.RESEARCH_COMPLETE: "the research was judged complete and passed the quality gate",
    StopReason.GAPS_EMPTY: "no gap was left that seemed worth another round",
    StopReason.GAPS_EXHAUSTED: "every open gap had been tried as often as allowed",
    StopReason.NOVELTY: "the last round brought almost nothing new",
    StopReason.ITERATION_CAP: "the allowed number of rounds was used up",
    StopReason.UNIT_CAP: "the allowed number of research units was used up",
    StopReason.TIME: "the time for research was used up",
    StopReason.TOKENS: "the token budget was used up",
    StopReason.MONEY: "the money budget was used up",
    StopReason.INTERRUPTED: "the user ended the research",
}


@dataclass(frozen=True, slots=True)
class Continue:
    """Research goes on."""


@dataclass(frozen=True, slots=True)
class Stop:
    """Research is over; the report must say why."""

    because: StopReason


Course = Continue | Stop


@dataclass(frozen=True, slots=True)
class LoopDecision:
    """The recorded decision after a round."""

    iteration: int
    summary: str
    gaps: tuple[str, ...]
    course: Course
    next_search_topic: str | None = None
    url_to_search: str | None = None
    time_remaining_minutes: float | None = None
    """None: no limit in time."""

    @property
    def should_continue(self) -> bool:
        """True when another round follows."""
        return isinstance(self.course, Continue)

    def record(self) -> dict[str, Any]:
        """The decision under exactly the seven keys that readers of the record rely on."""
        return {
            "iteration": self.iteration,
            "summary": self.summary,
            "gaps": list(self.gaps),
            "shouldContinue": self.should_continue,
            "nextSearchTopic": self.next_search_topic,
            "urlToSearch": self.url_to_search,
            "timeRemainingMinutes": self.time_remaining_minutes,
        }


RETRY_EXHAUSTED = "#RETRY_EXHAUSTED"
"""The tag of what was given up after as many tries as allowed."""

GateStatus = Literal["none", "pass", "retry"]


@dataclass(frozen=True, slots=True)
class GateResult:
    """What the quality gate says to the evidence so far."""

    status: GateStatus
    reason: str | None = None
    """What is missing, in words; None unless the gate says retry."""


GATE_NOT_ASKED = GateResult("none")


@dataclass(frozen=True, slots=True)
class Skip:
    """A topic that is not dispatched, and why, in a sentence."""

    topic: Topic
    reason: str


@dataclass(frozen=True, slots=True)
class Triage:
    """What becomes of the topics proposed for a round, in the order of the proposal."""

    fates: tuple[Topic | Skip, ...]

    @property
    def accepted(self) -> tuple[Topic, ...]:
        """What is dispatched."""
        return tuple(fate for fate in self.fates if isinstance(fate, Topic))

    @property
    def skipped(self) -> tuple[Skip, ...]:
        """What is not."""
        return tuple(fate for fate in self.fates if isinstance(fate, Skip))

"""What a run remembers of its control flow, from the first round to the report."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from deepwell.vocabulary.decision import GATE_NOT_ASKED, GateResult, LoopDecision, Stop, StopReason
from deepwell.vocabulary.evidence import Standing


@dataclass(frozen=True, slots=True)
class Lane:
    """The passages one unit kept, by their handles, best first."""

    iteration: int
    topic: str
    handles: tuple[str, ...]
    scores: tuple[float, ...] = ()
    """How well each speaks to what was asked of the unit."""
    origin: str = ""
    """The passage whose lead the unit followed; empty for the plan's own."""
    origin_score: float = 0.0
    subquestion: str = ""
    read: tuple[str, ...] = ()
    """Those of the handles whose passages were summed up, and need not be again."""


@dataclass(frozen=True, slots=True)
class ResearchRecord:
    """The loop so far."""

    iteration: int = 0
    standings: tuple[Standing, ...] = ()
    decisions: tuple[LoopDecision, ...] = ()
    gate: GateResult = GATE_NOT_ASKED
    """What the gate would say to the evidence now, asked or not."""
    novelty: tuple[float | None, ...] = ()
    """One value a round."""
    dispatched_topics: tuple[str, ...] = ()
    skipped_topics: tuple[str, ...] = ()
    searched: tuple[str, ...] = ()
    """Every query that was answered, if only with nothing, in order, each once."""
    unanswered: tuple[str, ...] = ()
    """Every query that no engine answered."""
    unread: Mapping[str, int] = field(default_factory=dict)
    """Addresses that could not be read, with how often that was tried."""
    unread_because: Mapping[str, str] = field(default_factory=dict)
    """Why, in a sentence, by address."""
    cut_off_units: int = 0
    """Units that the clock or the user ended before they were done."""
    failed_units: int = 0
    degraded_mode: bool = False
    """True when searching was limited, because an engine had to be given up."""
    lanes: tuple[Lane, ...] = ()
    """What each unit kept, in the order of dispatch."""
    phase_state: Mapping[str, Any] = field(default_factory=dict)

    @property
    def stop(self) -> StopReason | None:
        """Why research ended; None while it goes on."""
        if self.decisions and isinstance(self.decisions[-1].course, Stop):
            return self.decisions[-1].course.because
        return None

    @property
    def by_subquestion(self) -> dict[str, Standing]:
        """The standings by their ids, in the order of the plan."""
        return {standing.id: standing for standing in self.standings}

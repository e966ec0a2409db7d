"""Keeps the payload of the current round up to date and hands it to whoever watches."""

from collections.abc import Callable
from typing import Any

from deepwell.ports import Workbench
from deepwell.stages.judge.progress import runtime_progress, unit_progress
from deepwell.stages.judge.round import ClosedRound
from deepwell.state import SupervisorState
from deepwell.vocabulary.decision import Stop
from deepwell.vocabulary.evidence import Evidence, UnitOutcome, UnitStatus
from deepwell.vocabulary.progress import RuntimeProgress


class ProgressBoard:
    """The units of one round, as they come and go."""

    def __init__(self, state: SupervisorState, bench: Workbench, write: Callable[[Any], None]) -> None:
        self._state, self._bench, self._write = state, bench, write
        self._topics = state["wave"].accepted
        self._units = [unit_progress(topic, "waiting") for topic in self._topics]
        self._write({"runtime_progress": self._payload(state["evidence_ledger"])})

    def unit_changed(self, index: int, status: UnitStatus, outcome: UnitOutcome | None) -> None:
        """Show a unit's new state at once."""
        self._units[index] = unit_progress(self._topics[index], status, outcome)
        self._write({"runtime_progress": self._payload(self._state["evidence_ledger"])})

    def closing(self, closed: ClosedRound) -> RuntimeProgress:
        """The round's last word, which also enters the state."""
        course = closed.decision.course
        return self._payload(
            [*self._state["evidence_ledger"], *closed.gathered.evidence],
            iteration=closed.record.iteration,
            gate=closed.gate,
            novelty=closed.novelty,
            gaps=closed.decision.gaps,
            stop_reason=course.because.value if isinstance(course, Stop) else None,
        )

    def _payload(self, ledger: list[Evidence], **closing: Any) -> RuntimeProgress:
        return runtime_progress(
            configuration=self._state["configuration"],
            budget=self._state["budget"],
            now=self._bench.clock.monotonic(),
            units=self._units,
            skipped=len(self._state["wave"].skipped),
            ledger=ledger,
            spend=self._bench.account.spend,
            degraded_mode=bool(self._bench.search_limits()),
            **{"iteration": self._state["research_record"].iteration + 1} | closing,
        )

"""Keeps the payload of the current phase up to date and hands it to whoever watches."""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, cast

from deepwell.configuration import Configuration
from deepwell.ports import Workbench
from deepwell.stages.judge.forecast import (
    UNTOLD,
    RoundsAhead,
    Work,
    between_rounds,
    forecast,
    rounds_ahead,
    usual,
    writing_s,
)
from deepwell.stages.judge.merge import merged
from deepwell.stages.judge.progress import Round, means, planning_progress, runtime_progress, unit_progress
from deepwell.stages.judge.round import ClosedRound
from deepwell.stages.judge.standing import updated
from deepwell.state import SupervisorState
from deepwell.vocabulary.budget import Budget
from deepwell.vocabulary.decision import Stop
from deepwell.vocabulary.evidence import Evidence, UnitOutcome, UnitStatus
from deepwell.vocabulary.progress import Forecast, Means, PlanningProgress, Progress, RuntimeProgress

PULSE_S = 2.0
"""Between two payloads while nothing changes but clocks, spend and estimate."""

Write = Callable[[Any], None]
"""Puts something into the stream."""


@asynccontextmanager
async def pulsing(tell: Callable[[], None]) -> AsyncIterator[None]:
    """Tell at once, and again and again while the work inside goes on."""
    tell()
    pulse = asyncio.create_task(_again(tell))
    try:
        yield
    finally:
        pulse.cancel()
        await asyncio.gather(pulse, return_exceptions=True)


async def _again(tell: Callable[[], None]) -> None:
    while True:
        await asyncio.sleep(PULSE_S)
        tell()


@dataclass(frozen=True, slots=True)
class Past:
    """What was measured of the run before the current phase or round."""

    ended: float
    """The clock when the phase or round before this one was over."""
    planning_s: float | None
    rounds_s: tuple[float, ...]
    units_s: tuple[float, ...]

    @classmethod
    def of(cls, payload: Mapping[str, Any] | None, budget: Budget, now: float) -> "Past":
        """From the last payload of that phase or round."""
        if not payload:
            return cls(now, None, (), ())
        ended = budget.started_monotonic + payload["elapsed_minutes"] * 60
        rounds, units = payload.get("round_seconds", ()), payload.get("unit_seconds", ())
        return cls(min(ended, now), payload["planning_seconds"], tuple(rounds), tuple(units))


class PlanningBoard:
    """The question being read."""

    def __init__(self, bench: Workbench, configuration: Configuration, write: Write) -> None:
        self._bench, self._write = bench, write
        self._began = bench.clock.monotonic()
        # With `auto` the plan will set the time, so there is no deadline to promise yet.
        self._settled = configuration.tier != "auto" or "max_execution_time_s" in configuration.model_fields_set

    def tell(self) -> None:
        """Show the clocks and the spend."""
        now = self._bench.clock.monotonic()
        left = seconds_left(self._bench.budget, now) if self._settled else None
        untold = forecast(UNTOLD, left_s=left)
        common = current_means(self._bench, self._bench.budget, now, untold, deadline_settled=self._settled)
        emit(self._write, planning_progress(common))

    def closing(self, budget: Budget) -> PlanningProgress:
        """The phase's last word, which enters the state: later estimates start from how long it took."""
        now = self._bench.clock.monotonic()
        untold = forecast(UNTOLD, left_s=seconds_left(budget, now))
        return planning_progress(current_means(self._bench, budget, now, untold, now - self._began))


class ProgressBoard:
    """The units of one round, as they come and go."""

    def __init__(self, state: SupervisorState, bench: Workbench, write: Write) -> None:
        self._state, self._bench, self._write = state, bench, write
        self._limits, self._budget, self._record = state["configuration"], state["budget"], state["research_record"]
        self._topics = state["wave"].accepted
        self._past = Past.of(state.get("runtime_progress"), self._budget, bench.clock.monotonic())
        self._statuses: list[UnitStatus] = ["waiting"] * len(self._topics)
        self._began: dict[int, float] = {}
        self._back: dict[int, UnitOutcome] = {}
        self._took: list[float] = []
        self._ledger = state["evidence_ledger"]

    def tell(self) -> None:
        """Show the round as it is."""
        now = self._bench.clock.monotonic()
        emit(self._write, self._payload(now, self._ledger, self._expected(now)))

    def unit_changed(self, index: int, status: UnitStatus, outcome: UnitOutcome | None) -> None:
        """Show a unit's new state, and what it brought, at once."""
        now = self._bench.clock.monotonic()
        self._statuses[index] = status
        if outcome is None:
            self._began[index] = now
        else:
            self._take_in(index, outcome, now)
        self.tell()

    def closing(self, closed: ClosedRound) -> RuntimeProgress:
        """The round's last word, which also enters the state."""
        now, course = self._bench.clock.monotonic(), closed.decision.course
        rounds = (*self._past.rounds_s, max(0.0, now - self._past.ended))
        return self._payload(
            now,
            [*self._state["evidence_ledger"], *closed.gathered.evidence],
            between_rounds(closed.record.iteration, rounds, self._limits, 0.0, ended=isinstance(course, Stop)),
            gate=closed.gate,
            novelty=closed.novelty,
            gaps=closed.decision.gaps,
            stop_reason=course.because.value if isinstance(course, Stop) else None,
            rounds_s=rounds,
        )

    def _take_in(self, index: int, outcome: UnitOutcome, now: float) -> None:
        began = self._began.pop(index, None)
        if began is not None and outcome.status != "cancelled":
            self._took.append(now - began)
        self._back[index] = outcome
        outcomes = [self._back[i] for i in sorted(self._back)]
        known = self._state["evidence_ledger"]
        gathered = merged(outcomes, self._state["catalogue"], known, self._limits.max_sources)
        self._ledger = [*known, *gathered.evidence]

    def _expected(self, now: float) -> tuple[Work, RoundsAhead]:
        """The units still to come, and the rounds after them."""
        guess = self._past.planning_s if _planned_by_a_model(self._bench) else None
        work = Work(
            tuple(now - began for began in self._began.values()),
            self._statuses.count("waiting"),
            self._limits.max_concurrent_research_units,
            usual((*self._past.units_s, *self._took), guess),
        )
        if self._bench.interrupted.is_set() or self._bench.account.spend.short_of:
            return work, RoundsAhead()
        whole = None if work.rest_s is None else now - self._past.ended + work.rest_s
        return work, rounds_ahead(
            updated(self._record.by_subquestion, list(self._back.values()), self._limits.max_retry_attempts),
            {topic.subquestion for i, topic in enumerate(self._topics) if i not in self._back},
            iteration=self._record.iteration + 1,
            units=len(self._record.dispatched_topics) + len(self._topics),
            limits=self._limits,
            round_s=usual(self._past.rounds_s, whole),
        )

    def _payload(
        self, now: float, ledger: list[Evidence], expected: tuple[Work, RoundsAhead], **closing: Any
    ) -> RuntimeProgress:
        told = _research_forecast(self._state, self._past, expected, now)
        common = current_means(self._bench, self._budget, now, told, self._past.planning_s)
        at = Round(
            self._record.iteration + 1,
            [self._unit(i, now) for i in range(len(self._topics))],
            len(self._state["wave"].skipped),
            ledger,
            units_s=(*self._past.units_s, *self._took),
            **{"rounds_s": self._past.rounds_s} | closing,
        )
        return runtime_progress(common, at, self._budget, now, self._limits)

    def _unit(self, index: int, now: float) -> Any:
        began = self._began.get(index)
        running = None if began is None else now - began
        return unit_progress(self._topics[index], self._statuses[index], self._back.get(index), running)


class NextRoundBoard:
    """The round that has ended, while the next one is planned."""

    def __init__(self, state: SupervisorState, bench: Workbench, write: Write) -> None:
        self._state, self._bench, self._write = state, bench, write
        self._past = Past.of(state.get("runtime_progress"), state["budget"], bench.clock.monotonic())

    def tell(self) -> None:
        """Show the same round with the clocks, the spend and the estimate of now."""
        payload = self._state.get("runtime_progress")
        if not payload:
            return
        now, budget = self._bench.clock.monotonic(), self._state["budget"]
        iteration, rounds = self._state["research_record"].iteration, self._past.rounds_s
        expected = between_rounds(iteration, rounds, self._state["configuration"], now - self._past.ended)
        told = _research_forecast(self._state, self._past, expected, now)
        common = current_means(self._bench, budget, now, told, self._past.planning_s)
        left = budget.research_seconds_left(now)
        clocks = {"research_remaining_minutes": None if left is None else round(left / 60, 4)}
        emit(self._write, cast("RuntimeProgress", {**payload, **common, **clocks}))


def current_means(
    bench: Workbench,
    budget: Budget,
    now: float,
    told: Forecast,
    planning_s: float | None = None,
    *,
    deadline_settled: bool = True,
) -> Means:
    """Clocks, spend and limits at the clock's `now`."""
    return means(
        budget,
        now,
        told,
        spend=bench.account.spend,
        planning_s=planning_s,
        degraded_mode=bool(bench.search_limits()),
        deadline_settled=deadline_settled,
    )


def emit(write: Write, payload: Progress) -> None:
    """Into the stream."""
    write({"runtime_progress": payload})


def seconds_left(budget: Budget, now: float) -> float | None:
    """Until the deadline; None: no limit in time."""
    remaining = budget.remaining_minutes(now)
    return None if remaining is None else remaining * 60


def _research_forecast(state: SupervisorState, past: Past, expected: tuple[Work, RoundsAhead], now: float) -> Forecast:
    budget = state["budget"]
    return forecast(
        *expected,
        writing_s(past.planning_s, len(state["plan"].subquestions), state["configuration"]),
        research_left_s=budget.research_seconds_left(now),
        left_s=seconds_left(budget, now),
    )


def _planned_by_a_model(bench: Workbench) -> bool:
    """Then reading the question took about what a unit's judgement takes; without one it tells nothing of a unit."""
    return any(line.phase == "planning" for line in bench.account.lines)

"""The supervisor's turn: the board it sees, the first wave, and units at work side by side until the clock rings."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from typing import Any, Protocol

from deepwell.analyst.protocol import Board
from deepwell.budget.waiting import SecondsLeft, ended, until
from deepwell.configuration import Configuration
from deepwell.errors import DeepwellError
from deepwell.vocabulary.evidence import UnitOutcome, UnitStatus
from deepwell.vocabulary.moves import ConductResearch, SupervisorMove
from deepwell.vocabulary.plan import Plan, Topic
from deepwell.vocabulary.question import Brief
from deepwell.vocabulary.record import ResearchRecord

logger = logging.getLogger(__name__)


class Unit(Protocol):
    """A researcher that can be sent, and cut off."""

    topic: Topic

    async def run(self) -> UnitOutcome:
        """Research the topic to its end."""
        ...

    async def salvage(self) -> UnitOutcome:
        """What the unit had gathered when it was cut off; waits for nothing outside."""
        ...


def first_wave(plan: Plan) -> list[SupervisorMove]:
    """The plan's sub-questions are the first round: nobody has to be asked for them again."""
    return [ConductResearch(part.text, part.id, queries=part.queries) for part in plan.subquestions]


def topics_of(moves: Sequence[SupervisorMove]) -> list[Topic]:
    """The topics among the proposed moves."""
    return [
        Topic(move.topic, move.subquestion or move.topic, move.queries, move.gap, move.lead)
        for move in moves
        if isinstance(move, ConductResearch)
    ]


def board(
    brief: Brief, plan: Plan, record: ResearchRecord, notes: Sequence[str], configuration: Configuration
) -> Board:
    """Everything the supervisor may know when it plans the next round."""
    return Board(
        brief=brief,
        plan=plan,
        iteration=record.iteration + 1,
        standings=record.standings,
        dispatched_topics=record.dispatched_topics,
        skipped_topics=record.skipped_topics,
        notes=_newest(notes, configuration),
        gate_reason=record.gate.reason,
        queries_left=configuration.max_queries,
    )


async def run_wave(
    units: Sequence[Unit],
    *,
    at_once: int,
    seconds_left: SecondsLeft,
    interrupted: asyncio.Event,
    on_change: Callable[[int, UnitStatus, UnitOutcome | None], None],
) -> list[UnitOutcome]:
    """Run the units, at most `at_once` together, until all are back, no time is left or the user says stop."""
    if not units:
        return []
    places = asyncio.Semaphore(at_once)
    tasks = [asyncio.create_task(_run(i, unit, places, on_change)) for i, unit in enumerate(units)]
    bell = asyncio.create_task(interrupted.wait())
    try:
        await _until_done(tasks, bell, seconds_left)
    finally:
        await ended(bell, *tasks)
    return [await _collect(i, unit, task, on_change) for i, (unit, task) in enumerate(zip(units, tasks, strict=True))]


async def _run(
    index: int, unit: Unit, places: asyncio.Semaphore, on_change: Callable[[int, UnitStatus, UnitOutcome | None], None]
) -> UnitOutcome:
    async with places:
        on_change(index, "running", None)
        outcome = await _guarded(unit.topic, unit.run())
        on_change(index, outcome.status, outcome)
        return outcome


async def _guarded(topic: Topic, work: Awaitable[UnitOutcome]) -> UnitOutcome:
    """The unit's own outcome, or its failure as a safe sentence: one unit never takes the run down with it."""
    try:
        return await work
    except DeepwellError as error:
        reason = str(error)
    except TimeoutError:
        reason = "research unit timed out"
    except Exception:
        # A defect in one unit is logged in full here and must not cost the user the other units' work.
        logger.exception("research unit failed: %s", topic.text)
        reason = "research unit execution failed"
    return UnitOutcome(topic, "failed", 0.0, failure_reason=reason)


async def _until_done(
    tasks: Sequence[asyncio.Task[UnitOutcome]], bell: asyncio.Task[Any], seconds_left: SecondsLeft
) -> None:
    all_back: Coroutine[Any, Any, Any] = asyncio.wait(tasks)
    finish = asyncio.create_task(all_back)
    try:
        await until(seconds_left, finish, bell)
    finally:
        finish.cancel()


async def _collect(
    index: int,
    unit: Unit,
    task: asyncio.Task[UnitOutcome],
    on_change: Callable[[int, UnitStatus, UnitOutcome | None], None],
) -> UnitOutcome:
    # One that would not end when it was told to is not waited for either.
    if task.done() and not task.cancelled():
        return task.result()
    outcome = await _guarded(unit.topic, unit.salvage())
    on_change(index, outcome.status, outcome)
    return outcome


def _newest(notes: Sequence[str], configuration: Configuration) -> tuple[str, ...]:
    """The newest notes that fit the supervisor's allowance, in their order."""
    kept: list[str] = []
    words = 0
    for note in reversed(notes[-configuration.supervisor_notes_max_bullets :]):
        words += len(note.split())
        if kept and words > configuration.supervisor_notes_word_budget:
            break
        kept.append(note)
    return tuple(reversed(kept))

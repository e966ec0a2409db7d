"""Asks one analyst, and another one when the first fails or takes too long: there is always an answer."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from datetime import date
from typing import TypeVar

from deepwell.analyst.protocol import Analyst, Board, Notebook
from deepwell.budget.stopping import unless_stopped
from deepwell.budget.waiting import SecondsLeft, within
from deepwell.errors import AnalystFailed
from deepwell.vocabulary.budget import Phase
from deepwell.vocabulary.events import Degraded
from deepwell.vocabulary.evidence import Findings, ReadPassage
from deepwell.vocabulary.moves import Done, ResearcherMove, SupervisorMove
from deepwell.vocabulary.plan import Plan, Topic
from deepwell.vocabulary.question import Brief, Clarification, Conversation, Intake
from deepwell.vocabulary.report import NumberedEvidence, Outline, Section, Unanswerable, WrittenSection

R = TypeVar("R")
SHARE = 0.9
"""Of a phase's remaining time, what the first analyst may take at most: the second needs a moment of its own."""
LATE = "The model did not answer in time."
WRITING_GRACE_S = 15.0
"""Who says stop still wants a report, and has this much patience for a better one."""


class ResilientAnalyst:
    """The first analyst's judgement, or the second's where the first could not give one; which, is recorded."""

    def __init__(
        self,
        first: Analyst,
        second: Analyst,
        seconds_left: Callable[[Phase], float | None],
        on_degraded: Callable[[Degraded], Awaitable[None]],
        interrupted: asyncio.Event,
    ) -> None:
        self.name = first.name
        self._first, self._second = first, second
        self._seconds_left, self._on_degraded, self._interrupted = seconds_left, on_degraded, interrupted

    async def take_in(self, conversation: Conversation, today: date) -> Clarification | Intake:
        """What the question means, and how to look for the answer."""
        return await self._either("planning", "the plan", lambda one: one.take_in(conversation, today))

    async def supervise(self, board: Board) -> Sequence[SupervisorMove]:
        """What to look into next, or that enough is known."""
        part = f"the planning of round {board.iteration}"
        return await self._either("research", part, lambda one: one.supervise(board))

    async def investigate(self, notebook: Notebook) -> Sequence[ResearcherMove]:
        """What the unit should do next, or that it is done."""
        part = f"the research on “{notebook.topic.text}”"
        return await self._either(
            "research", part, lambda one: one.investigate(notebook), lambda one: _finished(one, notebook)
        )

    async def digest(self, brief: Brief, topic: Topic, passages: Sequence[ReadPassage]) -> Findings:
        """What the passages say to the topic."""
        part = f"the research on “{topic.text}”"
        return await self._either(
            "research",
            part,
            lambda one: one.digest(brief, topic, passages),
            lambda one: _picked_over(one, brief, topic, passages),
        )

    async def outline(
        self, brief: Brief, plan: Plan, evidence: Sequence[NumberedEvidence], gaps: Sequence[str]
    ) -> Outline | Unanswerable:
        """The parts of the report."""
        return await self._either("writing", "the outline", lambda one: one.outline(brief, plan, evidence, gaps))

    async def write_section(
        self, brief: Brief, outline: Outline, section: Section, so_far: Sequence[WrittenSection]
    ) -> str:
        """The section's text."""
        part = f"the section “{section.heading or outline.title}”"
        return await self._either("writing", part, lambda one: one.write_section(brief, outline, section, so_far))

    async def _either(
        self,
        phase: Phase,
        part: str,
        judgement: Callable[[Analyst], Awaitable[R]],
        otherwise: Callable[[Analyst], Awaitable[R]] | None = None,
    ) -> R:
        async def asked() -> R:
            grace = WRITING_GRACE_S if phase == "writing" else 0.0
            return await unless_stopped(self._interrupted, judgement(self._first), grace)

        try:
            return await within(self._share_of(phase), asked())
        except AnalystFailed as error:
            reason = str(error)
        except TimeoutError:
            reason = LATE
        await self._on_degraded(Degraded(part, reason))
        return await (otherwise or judgement)(self._second)

    def _share_of(self, phase: Phase) -> SecondsLeft:
        """What is left now for the first analyst to have; the rest is the second's."""
        kept = (1 - SHARE) * (self._seconds_left(phase) or 0.0)

        def left() -> float | None:
            seconds = self._seconds_left(phase)
            return None if seconds is None else seconds - kept

        return left


async def _finished(analyst: Analyst, notebook: Notebook) -> Sequence[ResearcherMove]:
    """A unit that is done without the first analyst is also summed up without it: it is not asked again in vain."""
    moves = await analyst.investigate(notebook)
    if not notebook.passages or not any(isinstance(move, Done) for move in moves):
        return moves
    return [Done(findings=await _picked_over(analyst, notebook.brief, notebook.topic, notebook.passages))]


async def _picked_over(analyst: Analyst, brief: Brief, topic: Topic, passages: Sequence[ReadPassage]) -> Findings:
    """The passages count as unread: once the first analyst works again, it may look at them itself."""
    return replace(await analyst.digest(brief, topic, passages), read=())

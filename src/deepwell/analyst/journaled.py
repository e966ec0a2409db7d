"""Judgements that were made once in a run are not asked for again."""

from collections.abc import Awaitable, Callable, Sequence
from datetime import date
from typing import TypeVar, cast

from deepwell.analyst.protocol import Analyst, Board, Notebook
from deepwell.ports import Calls
from deepwell.vocabulary.calls import Answered
from deepwell.vocabulary.evidence import Findings, ReadPassage
from deepwell.vocabulary.moves import ResearcherMove, SupervisorMove
from deepwell.vocabulary.plan import Plan, Topic
from deepwell.vocabulary.question import Brief, Clarification, Conversation, Intake
from deepwell.vocabulary.report import NumberedEvidence, Outline, Section, Unanswerable, WrittenSection

R = TypeVar("R")


class JournaledAnalyst:
    """Fulfils the protocol Analyst, around another one.

    It stands outside of everything that decides how a judgement is come by: retries, budgets, falling back. A run that
    goes on after a crash, and a replay, get the judgement as it was.
    """

    def __init__(self, analyst: Analyst, calls: Calls, *, wait: bool) -> None:
        """`wait`: a judgement is used only when it is safely kept; needless where the replies it was made of are."""
        self.name = analyst.name
        self._analyst, self._calls, self._wait = analyst, calls, wait

    async def take_in(self, conversation: Conversation, today: date) -> Clarification | Intake:
        """As the analyst."""
        return await self._once("take_in", self._analyst.take_in, conversation, today)

    async def supervise(self, board: Board) -> Sequence[SupervisorMove]:
        """As the analyst."""
        return await self._once("supervise", self._analyst.supervise, board)

    async def investigate(self, notebook: Notebook) -> Sequence[ResearcherMove]:
        """As the analyst."""
        return await self._once("investigate", self._analyst.investigate, notebook)

    async def digest(self, brief: Brief, topic: Topic, passages: Sequence[ReadPassage]) -> Findings:
        """As the analyst."""
        return await self._once("digest", self._analyst.digest, brief, topic, passages)

    async def outline(
        self, brief: Brief, plan: Plan, evidence: Sequence[NumberedEvidence], gaps: Sequence[str]
    ) -> Outline | Unanswerable:
        """As the analyst."""
        return await self._once("outline", self._analyst.outline, brief, plan, evidence, gaps)

    async def write_section(
        self, brief: Brief, outline: Outline, section: Section, so_far: Sequence[WrittenSection]
    ) -> str:
        """As the analyst."""
        return await self._once("write_section", self._analyst.write_section, brief, outline, section, so_far)

    async def _once(self, purpose: str, judge: Callable[..., Awaitable[R]], *case: object) -> R:
        call = self._calls.call("judgement", purpose, *case)
        known = self._calls.outcome(call)
        if isinstance(known, Answered):
            return cast("R", known.value)
        judgement = await judge(*case)
        await self._calls.keep(call, Answered(judgement), wait=self._wait)
        return judgement

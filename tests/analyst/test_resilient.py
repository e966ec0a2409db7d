"""There is always an answer, and it is recorded whose it was not."""

import asyncio
from collections.abc import Awaitable, Callable
from datetime import date

import pytest

from deepwell.analyst.protocol import Notebook
from deepwell.analyst.resilient import LATE, ResilientAnalyst
from deepwell.budget.clock import SystemClock
from deepwell.budget.stopping import STOPPED
from deepwell.errors import AnalystFailed
from deepwell.testing import ScriptedAnalyst, source
from deepwell.vocabulary.budget import Phase
from deepwell.vocabulary.events import Degraded
from deepwell.vocabulary.evidence import Findings, ReadPassage
from deepwell.vocabulary.moves import Done, SearchWeb
from deepwell.vocabulary.plan import Query, Topic
from deepwell.vocabulary.question import Brief, Conversation, Intake, Turn

ASKED: Conversation = (Turn("user", "Who?"),)
TODAY = date(2026, 1, 2)


class Failing(ScriptedAnalyst):
    """Does with every judgement what it is told to."""

    def __init__(self, how: Callable[[], Awaitable[None]]) -> None:
        super().__init__()
        self.how = how

    async def take_in(self, conversation: Conversation, today: date) -> Intake:  # type: ignore[override]
        await self.how()
        raise AssertionError("not reached")

    async def investigate(self, notebook: Notebook) -> list[Done]:  # type: ignore[override]
        await self.how()
        raise AssertionError("not reached")


async def fail() -> None:
    raise AnalystFailed("It does not work.")


async def hang() -> None:
    await asyncio.Event().wait()


def resilient(
    first: ScriptedAnalyst, second: ScriptedAnalyst, seconds: float | None = None, stop: asyncio.Event | None = None
) -> tuple[ResilientAnalyst, list[Degraded]]:
    noted: list[Degraded] = []

    async def note(event: Degraded) -> None:
        noted.append(event)

    started = SystemClock().monotonic()

    def left(phase: Phase) -> float | None:
        return None if seconds is None else seconds - (SystemClock().monotonic() - started)

    return ResilientAnalyst(first, second, left, note, stop or asyncio.Event()), noted


async def test_a_first_answer_is_the_answer() -> None:
    analyst, noted = resilient(ScriptedAnalyst(name="first"), ScriptedAnalyst(name="second"))
    assert isinstance(await analyst.take_in(ASKED, TODAY), Intake)
    assert analyst.name == "first"
    assert not noted


async def test_a_failure_is_made_good_and_said() -> None:
    analyst, noted = resilient(Failing(fail), ScriptedAnalyst())
    assert isinstance(await analyst.take_in(ASKED, TODAY), Intake)
    assert noted == [Degraded("the plan", "It does not work.")]


async def test_waiting_has_an_end() -> None:
    analyst, noted = resilient(Failing(hang), ScriptedAnalyst(), seconds=0.02)
    assert isinstance(await analyst.take_in(ASKED, TODAY), Intake)
    assert noted == [Degraded("the plan", LATE)]


async def test_a_user_who_says_stop_does_not_wait_for_a_plan() -> None:
    stop = asyncio.Event()
    stop.set()
    analyst, noted = resilient(Failing(hang), ScriptedAnalyst(), stop=stop)
    assert isinstance(await analyst.take_in(ASKED, TODAY), Intake)
    assert noted == [Degraded("the plan", STOPPED)]


async def test_a_defect_is_not_hidden() -> None:
    async def defect() -> None:
        raise ZeroDivisionError

    analyst, _ = resilient(Failing(defect), ScriptedAnalyst())
    with pytest.raises(ZeroDivisionError):
        await analyst.take_in(ASKED, TODAY)


async def test_a_unit_that_is_finished_without_the_first_is_summed_up_without_it() -> None:
    kept = source("A fact.")
    passages = (ReadPassage(kept.cut(0, 7), kept),)
    notebook = Notebook(Brief("Who?"), Topic("Who?", "sq-1"), passages, (Query("who"),), (), 2)
    analyst, noted = resilient(Failing(fail), ScriptedAnalyst())
    assert await analyst.investigate(notebook) == [Done(findings=Findings("A fact. [1]", read=()))]
    searching = ScriptedAnalyst(investigated=lambda notebook: [SearchWeb(Query("more"))])
    analyst, noted = resilient(Failing(fail), searching)
    assert await analyst.investigate(notebook) == [SearchWeb(Query("more"))]
    assert [event.part for event in noted] == ["the research on “Who?”"]

"""What the runtime tells of a run while it goes on, phase by phase."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

import pytest
from langchain_core.messages import HumanMessage

from deepwell.configuration import Configuration
from deepwell.graph import app
from deepwell.nodes import progress
from deepwell.ports import Workbench
from deepwell.testing import START, ManualClock, ScriptedAnalyst, TextEngine, bench
from deepwell.vocabulary.evidence import Findings, ReadPassage
from deepwell.vocabulary.moves import ConductResearch, SupervisorMove
from deepwell.vocabulary.plan import Plan, Query, SubQuestion, Topic
from deepwell.vocabulary.question import Brief, Intake
from deepwell.vocabulary.report import Outline, Section

TEXTS = {"gears.md": "The device has thirty gears.", "wreck.md": "The wreck sank near Antikythera."}
PLAN = Plan(tuple(SubQuestion(f"sq-{i}", text, (Query(text),)) for i, text in enumerate(("gears", "wreck"), start=1)))
Payload = dict[str, Any]


class Timed(ScriptedAnalyst):
    """Every judgement takes three seconds of a clock that is set by hand; two sections, and a gap at first."""

    def __init__(self, clock: ManualClock, *, gap: bool = False) -> None:
        super().__init__(Intake(Brief("What is known?"), PLAN), supervised=self._again)
        self.clock, self.gap, self.left = clock, gap, 2

    async def take_in(self, *args: Any) -> Any:
        self.clock.move(3)
        return await super().take_in(*args)

    async def digest(self, brief: Brief, topic: Topic, passages: Sequence[ReadPassage]) -> Findings:
        self.clock.move(3)
        gaps = ("More is wanted.",) if self.gap and self.left > 0 else ()
        self.left -= 1
        return Findings(f"{passages[0].passage.text} [1]", gaps=gaps)

    async def outline(self, brief: Brief, plan: Plan, evidence: Any, gaps: Any) -> Outline:
        self.clock.move(3)
        return Outline("All", tuple(Section(name, "it", tuple(evidence)) for name in ("Answer", "Details")))

    async def write_section(self, *args: Any) -> str:
        self.clock.move(3)
        return await super().write_section(*args)

    def _again(self, board: Any) -> list[SupervisorMove]:
        self.clock.move(3)
        return [ConductResearch("the place where the wreck lies", "sq-2")]


async def told(at: Workbench, **knobs: Any) -> list[Payload]:
    """Every payload of a run, those of the stream and those that enter the state, in their order."""
    payloads: list[Payload] = []
    async for _, mode, chunk in app.astream(
        {"messages": [HumanMessage("What is known?")]},
        {"configurable": {"thread_id": "t", "workbench": at}},
        context=Configuration.build({}, **knobs),
        stream_mode=["updates", "custom"],
        subgraphs=True,
    ):
        if mode == "custom":
            payloads.append(chunk["runtime_progress"])
        elif "supervisor_tools" in chunk:
            payloads.append(chunk["supervisor_tools"]["runtime_progress"])
    return payloads


async def timed(*, gap: bool = False, minutes: float | None = 5.0, **knobs: Any) -> list[Payload]:
    clock = ManualClock()
    analyst = Timed(clock, gap=gap)
    return await told(bench(analyst, TextEngine(TEXTS), clock, minutes=minutes), **knobs)


def of(phase: str, payloads: list[Payload]) -> list[Payload]:
    return [payload for payload in payloads if payload["phase"] == phase]


async def test_every_phase_tells_its_clocks_spend_and_deadline() -> None:
    payloads = await timed()
    assert list(dict.fromkeys(payload["phase"] for payload in payloads)) == ["planning", "research", "writing"]
    for payload in payloads:
        assert payload["elapsed_minutes"] + payload["remaining_minutes"] == pytest.approx(5.0, abs=0.001)
        assert payload["deadline"] == START.replace(minute=9).isoformat()
        assert payload["tokens_spent"] == 0
        assert payload["token_budget"] is payload["cost_budget_usd"] is None
        assert payload["degraded_mode"] is False
    assert all(earlier["elapsed_minutes"] <= later["elapsed_minutes"] for earlier, later in pairwise(payloads))


async def test_the_estimate_stays_between_now_and_the_deadline() -> None:
    for payload in await timed(gap=True):
        likely, high = payload["estimated_remaining_minutes"], payload["estimated_remaining_minutes_high"]
        assert high is not None
        assert (0 if likely is None else likely) <= high <= payload["remaining_minutes"]


async def test_at_first_nothing_is_estimated_and_at_the_end_nothing_is_left() -> None:
    payloads = await timed()
    assert payloads[0]["estimated_remaining_minutes"] is None
    assert payloads[-1]["estimated_remaining_minutes"] == 0.0


async def test_evidence_counts_as_soon_as_a_unit_is_back() -> None:
    research = of("research", await timed(max_concurrent_research_units=1))
    assert [payload["evidence_record_count"] for payload in research] == [0, 0, 1, 1, 2, 2]
    running = [[unit["running_s"] for unit in payload["research_units"]] for payload in research]
    assert running == [[None, None], [0.0, None], [None, None], [None, 0.0], [None, None], [None, None]]


async def test_an_estimate_rests_on_the_units_that_ended_and_on_the_planning() -> None:
    research = of("research", await timed(max_concurrent_research_units=1))
    likely = [payload["estimated_remaining_minutes"] for payload in research]
    unit, writing = 3.0, 2 * 3.0
    assert likely[:2] == [None, None], "nothing has ended yet"
    assert likely[2] == pytest.approx((unit + writing) / 60, abs=0.001)
    assert likely[-1] == pytest.approx(writing / 60, abs=0.001)


async def test_an_open_gap_adds_a_round_to_the_estimate() -> None:
    research = of("research", await timed(gap=True, max_researcher_iterations=2, enable_early_termination=False))
    ended = [payload for payload in research if payload["novelty"] is not None]
    first, last = ended[0], ended[-1]
    assert first["round_seconds"] == [6.0]
    assert first["estimated_remaining_minutes"] == pytest.approx((6.0 + 6.0) / 60, abs=0.001)
    assert len(last["round_seconds"]) == 2
    assert len(last["unit_seconds"]) == 3


async def test_while_the_next_round_is_planned_the_last_one_is_shown() -> None:
    research = of("research", await timed(gap=True, max_researcher_iterations=2, enable_early_termination=False))
    iterations = [payload["supervisor_iteration"] for payload in research]
    assert iterations == sorted(iterations)
    closed = next(i for i, payload in enumerate(research) if payload["novelty"] is not None)
    again = research[closed + 1]
    assert again["research_units"] == research[closed]["research_units"]
    assert again["supervisor_iteration"] == 1


async def test_writing_tells_how_many_sections_are_written() -> None:
    writing = of("writing", await timed(section_mode="sequential"))
    assert [(p["sections_written"], p["sections_total"]) for p in writing] == [
        (0, None),
        (0, 2),
        (0, 2),
        (1, 2),
        (1, 2),
        (2, 2),
    ]
    assert [section["status"] for section in writing[4]["sections"]] == ["written", "writing"]
    assert writing[0]["estimated_remaining_minutes"] == pytest.approx(9.0 / 60, abs=0.001)
    assert writing[3]["estimated_remaining_minutes"] == pytest.approx(3.0 / 60, abs=0.001)
    assert writing[-1]["evidence_record_count"] == 2
    assert writing[-1]["stop_reason"] == "gaps_empty"


async def test_while_the_tier_is_open_no_deadline_is_promised() -> None:
    payloads = await timed(tier="auto")
    planning, research = of("planning", payloads)[0], of("research", payloads)[0]
    assert planning["deadline"] is planning["remaining_minutes"] is None
    assert planning["estimated_remaining_minutes_high"] is None
    assert research["deadline"] is not None
    settled = of("planning", await timed(tier="auto", max_execution_time_s=300.0))[0]
    assert settled["deadline"] is not None


async def test_without_a_limit_in_time_there_is_no_deadline() -> None:
    payloads = await timed(minutes=None)
    assert all(payload["deadline"] is payload["remaining_minutes"] is None for payload in payloads)
    assert payloads[0]["estimated_remaining_minutes_high"] is None
    assert payloads[-1]["estimated_remaining_minutes_high"] == 0.0


async def test_limited_searching_is_told() -> None:
    clock = ManualClock()
    at = replace(bench(Timed(clock), TextEngine(TEXTS), clock), search_limits=lambda: ("An engine was given up.",))
    assert all(payload["degraded_mode"] for payload in await told(at))


async def test_the_clock_is_told_again_while_work_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "PULSE_S", 0.0)
    heard: list[int] = []
    enough = asyncio.Event()

    def tell() -> None:
        heard.append(len(heard))
        if len(heard) == 3:
            enough.set()

    async with progress.pulsing(tell):
        assert heard == [0], "told at once"
        async with asyncio.timeout(10):
            await enough.wait()
    assert asyncio.all_tasks() == {asyncio.current_task()}, "nothing goes on when the work is done"

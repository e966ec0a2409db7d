"""The whole path with scripted parts: what the runtime does, whatever the analyst proposes."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage

from deepwell.configuration import Configuration
from deepwell.errors import AnalystFailed
from deepwell.graph import app
from deepwell.language.markers import cited
from deepwell.ports import Workbench
from deepwell.testing import ListJournal, ManualClock, ScriptedAnalyst, TextEngine, bench
from deepwell.vocabulary.decision import StopReason
from deepwell.vocabulary.events import Decided, TopicDispatched
from deepwell.vocabulary.evidence import Findings, ReadPassage
from deepwell.vocabulary.moves import (
    ConductResearch,
    Done,
    FetchUrl,
    ResearchComplete,
    ResearcherMove,
    SearchWeb,
    SupervisorMove,
    Think,
)
from deepwell.vocabulary.plan import Plan, Query, SubQuestion, Topic
from deepwell.vocabulary.question import Brief, Clarification, Intake
from deepwell.vocabulary.report import NotFound, Report, Unanswerable

TEXTS = {
    "gears.md": "The device has thirty gears.",
    "wreck.md": "The wreck sank near Antikythera.",
    "price.md": "Price published a study of the device in 1974.",
    "yale.md": "Yale employed Price as a professor.",
    "divers.md": "Sponge divers found the wreck in 1900.",
}


@dataclass
class Walked:
    """What a walk along the path left behind."""

    state: dict[str, Any]
    progress: list[dict[str, Any]]
    supervisor: dict[str, Any]
    bench: Workbench

    @property
    def rounds(self) -> list[dict[str, Any]]:
        return [payload for payload in self.progress if payload["phase"] == "research"]

    @property
    def stop(self) -> StopReason | None:
        return cast("StopReason | None", self.state["research_record"].stop)


def intake(*texts: str) -> Intake:
    parts = tuple(SubQuestion(f"sq-{i}", text, (Query(text),)) for i, text in enumerate(texts, start=1))
    return Intake(Brief("What is known of the device?"), Plan(parts))


def gap(text: str = "more is wanted") -> Any:
    def digest(topic: Topic, passages: Sequence[ReadPassage]) -> Findings:
        answer = " ".join(f"{p.passage.text} [{i}]" for i, p in enumerate(passages, start=1))
        return Findings(answer, gaps=(f"{text}: {topic.text}",))

    return digest


async def walk(analyst: Any, *, engine: TextEngine | None = None, at: Workbench | None = None, **knobs: Any) -> Walked:
    tools = at or bench(analyst, engine or TextEngine(TEXTS))
    state: dict[str, Any] = {}
    supervisor: dict[str, Any] = {}
    progress = []
    async for namespace, mode, chunk in app.astream(
        {"messages": [HumanMessage("What is known of the device?")]},
        {"configurable": {"thread_id": "t", "workbench": tools}, "recursion_limit": 1000},
        context=Configuration.build({}, **knobs),
        stream_mode=["values", "custom"],
        subgraphs=True,
    ):
        if mode == "custom":
            progress.append(chunk["runtime_progress"])
        elif not namespace:
            state = chunk
        elif len(namespace) == 1:
            supervisor = chunk
    return Walked(state, progress, supervisor, tools)


async def test_a_question_becomes_a_report_whose_citations_resolve() -> None:
    walked = await walk(ScriptedAnalyst(intake("device gears", "wreck")))
    report = walked.state["outcome"]
    assert isinstance(report, Report)
    assert walked.stop is StopReason.GAPS_EMPTY
    listed = {source.id for source in report.sources}
    assert set(cited(report.markdown)) == listed
    for line in report.markdown.split("## Sources\n\n")[1].split("\n\n"):
        assert line.startswith("[")
    assert report.citations
    for citation in report.citations:
        for passage in citation.passages:
            kept = await walked.bench.shelf.fetch(passage.source)
            assert kept.text[passage.start : passage.end] == passage.text


async def test_the_state_holds_what_it_promises() -> None:
    walked = await walk(ScriptedAnalyst(intake("device gears")))
    for name in (
        "messages",
        "research_brief",
        "intake_decision",
        "awaiting_clarification",
        "supervisor_messages",
        "notes",
        "raw_notes",
        "evidence_ledger",
        "final_report",
    ):
        assert name in walked.state, name
    assert "dispatched_topics" not in walked.state
    assert walked.supervisor["dispatched_topics"] == ["device gears"]
    assert walked.supervisor["skipped_topics"] == []
    assert walked.supervisor["research_iterations"] == 1
    assert walked.state["intake_decision"] == "proceed"
    assert walked.state["messages"][-1].text == walked.state["final_report"]


async def test_a_clarification_ends_the_turn() -> None:
    walked = await walk(ScriptedAnalyst(Clarification("Which device?")))
    assert walked.state["intake_decision"] == "clarify"
    assert walked.state["awaiting_clarification"] is True
    assert walked.state["messages"][-1].text == "Which device?"
    assert "final_report" not in walked.state


async def test_the_plan_is_the_first_wave_and_nobody_is_asked_for_it() -> None:
    analyst = ScriptedAnalyst(intake("device gears", "wreck"))
    walked = await walk(analyst)
    assert analyst.boards == []
    first = walked.state["supervisor_messages"][0]
    assert isinstance(first, AIMessage)
    assert [call["args"]["research_topic"] for call in first.tool_calls] == ["device gears", "wreck"]


async def test_a_duplicate_is_answered_and_not_dispatched() -> None:
    again = [ConductResearch("the gears of the device", "sq-1"), ConductResearch("Price of Yale", "sq-1")]
    analyst = ScriptedAnalyst(intake("device gears"), supervised=lambda board: again, digested=gap())
    walked = await walk(analyst, max_researcher_iterations=2)
    assert walked.supervisor["skipped_topics"] == ["the gears of the device"]
    messages = [m for m in walked.state["supervisor_messages"] if isinstance(m, ToolMessage)]
    assert "“device gears” (similarity 1.00)" in messages[1].text
    assert walked.rounds[-1]["skipped_research_units"] == 1
    journal = cast("ListJournal", walked.bench.journal)
    assert [e.topic for e in journal.of(TopicDispatched)] == ["device gears", "Price of Yale"]


async def test_of_two_equal_topics_in_one_batch_the_second_gets_its_own_answer() -> None:
    twice = [ConductResearch("sponge divers", "sq-1"), ConductResearch("sponge divers", "sq-1")]
    analyst = ScriptedAnalyst(intake("device gears"), supervised=lambda board: twice, digested=gap())
    walked = await walk(analyst, max_researcher_iterations=2)
    said = [m.text for m in walked.state["supervisor_messages"] if isinstance(m, ToolMessage)]
    assert said[1].startswith("Sponge divers found the wreck")
    assert said[2].startswith(
        "[Not dispatched: it repeats the topic already dispatched: “sponge divers” (similarity 1.00)"
    )


async def test_a_round_without_news_ends_the_loop_and_says_so() -> None:
    analyst = ScriptedAnalyst(
        intake("device gears"),
        supervised=lambda board: [ConductResearch("thirty wheels", "sq-1", queries=(Query("device gears"),))],
        digested=gap(),
    )
    walked = await walk(analyst, max_researcher_iterations=5)
    assert walked.stop is StopReason.NOVELTY
    assert len(analyst.boards) == 1
    last = walked.state["supervisor_messages"][-1]
    assert isinstance(last, ToolMessage)
    assert "0%" in last.text
    assert "15%" in last.text
    assert "## Methodology" in walked.state["final_report"]
    assert "almost nothing new" in walked.state["final_report"]


async def test_early_termination_can_be_switched_off() -> None:
    topics = iter(["alpha", "beta", "gamma", "delta"])
    analyst = ScriptedAnalyst(
        intake("device gears"),
        supervised=lambda board: [ConductResearch(next(topics), "sq-1", queries=(Query("device gears"),))],
        digested=gap(),
    )
    walked = await walk(analyst, max_researcher_iterations=4, enable_early_termination=False)
    assert walked.stop is StopReason.ITERATION_CAP
    assert walked.supervisor["research_iterations"] == 4


async def test_the_gate_rejects_and_the_loop_goes_on() -> None:
    answers: list[list[SupervisorMove]] = [
        [Think("enough?"), ResearchComplete()],
        [ConductResearch("sponge divers wreck", "sq-1"), ConductResearch("Yale professor", "sq-1"), ResearchComplete()],
    ]
    script = iter(answers)
    analyst = ScriptedAnalyst(intake("device gears"), supervised=lambda board: next(script), digested=gap())
    walked = await walk(analyst, max_researcher_iterations=5, max_search_results=1, min_novelty_threshold=0.0)
    said = [m.text for m in walked.state["supervisor_messages"] if isinstance(m, ToolMessage)]
    assert any(text.startswith("[ResearchComplete rejected: only 2 of at least 5") for text in said)
    assert "[ResearchComplete accepted]" in said
    assert walked.stop is StopReason.RESEARCH_COMPLETE
    assert [p["quality_gate_status"] for p in _closing(walked)] == ["none", "retry", "pass"]


def _closing(walked: Walked) -> list[dict[str, Any]]:
    """The last payload of each round, as it stands in the state."""
    journal = cast("ListJournal", walked.bench.journal)
    rounds = len(journal.of(Decided))
    gates = {e.iteration: e.status for e in journal.events if type(e).__name__ == "GateAsked"}
    return [{"quality_gate_status": gates.get(i, "none")} for i in range(1, rounds + 1)]


async def test_what_the_gate_misses_is_said_in_the_report() -> None:
    walked = await walk(ScriptedAnalyst(intake("thirty")))
    assert "below the quality gate: only 1 of at least 5 evidence records" in walked.state["final_report"]


async def test_three_failures_exhaust_a_subquestion_and_stop_the_loop() -> None:
    topics = iter(["zwei", "drei", "vier", "fünf"])
    analyst = ScriptedAnalyst(intake("eins"), supervised=lambda board: [ConductResearch(next(topics), "sq-1")])
    walked = await walk(analyst, max_researcher_iterations=10)
    assert walked.stop is StopReason.GAPS_EXHAUSTED
    assert isinstance(walked.state["outcome"], NotFound)
    tracking = walked.state["research_record"].phase_state["research"]["retry_tracking"]
    assert tracking == {"subquestions": {"sq-1": {"attempts": 3, "status": "exhausted"}}, "total_exhausted": 1}
    assert "#RETRY_EXHAUSTED" in walked.state["final_report"]
    assert "Not found in these documents" in walked.state["final_report"]


async def test_the_phase_state_has_the_known_shape() -> None:
    walked = await walk(ScriptedAnalyst(intake("device gears")))
    research = walked.state["research_record"].phase_state["research"]
    assert list(research) == ["time_budget", "iteration", "retry_tracking", "gap_analysis"]
    assert research["time_budget"]["total_minutes"] == 5.0
    assert research["time_budget"]["synthesis_reserve_minutes"] == 1.5
    assert research["iteration"] == {"current": 1, "max": 3}
    assert research["gap_analysis"]["loop_decision"]["shouldContinue"] is False


async def test_the_progress_payload_names_what_views_need() -> None:
    walked = await walk(ScriptedAnalyst(intake("device gears", "wreck")))
    first, last = walked.rounds[0], walked.supervisor["runtime_progress"]
    assert [unit["status"] for unit in first["research_units"]] == ["waiting", "waiting"]
    assert [unit["status"] for unit in last["research_units"]] == ["complete", "complete"]
    for name in (
        "supervisor_iteration",
        "dispatched_research_units",
        "skipped_research_units",
        "quality_gate_status",
        "quality_gate_reason",
        "evidence_record_count",
        "source_domain_count",
        "source_domains",
        "research_units",
    ):
        assert name in last
    assert last["evidence_record_count"] == len(walked.state["evidence_ledger"])
    assert {"topic", "status", "duration_s", "failure_reason"} <= set(last["research_units"][0])


async def test_the_plan_may_pick_the_tier_with_its_time() -> None:
    walked = await walk(ScriptedAnalyst(replace(intake("device gears"), tier="simple")), tier="auto")
    research = walked.state["research_record"].phase_state["research"]
    assert research["time_budget"]["total_minutes"] == 2.0
    assert research["iteration"]["max"] == 2


async def test_time_below_the_reserve_ends_research() -> None:
    clock = ManualClock()
    engine = TextEngine(TEXTS)

    def slow(topic: Topic, passages: Sequence[ReadPassage]) -> Findings:
        clock.move(4 * 60)
        return cast("Findings", gap()(topic, passages))

    analyst = ScriptedAnalyst(intake("device gears"), digested=slow)
    walked = await walk(analyst, at=bench(analyst, engine, clock))
    assert walked.stop is StopReason.TIME
    assert "time for research was used up" in walked.state["final_report"]
    decision = walked.state["research_record"].phase_state["research"]["gap_analysis"]["loop_decision"]
    assert decision["timeRemainingMinutes"] == 1.0


async def test_units_in_flight_are_cut_off_and_what_they_had_is_kept() -> None:
    hanging = asyncio.Event()
    at_work = asyncio.Event()

    class Hanging(ScriptedAnalyst):
        async def investigate(self, notebook: Any) -> Sequence[ResearcherMove]:
            at_work.set()
            await hanging.wait()
            return [Done()]

    analyst = Hanging(intake("device gears"))
    tools = bench(analyst, TextEngine(TEXTS), minutes=None)
    task = asyncio.create_task(walk(analyst, at=tools))
    await at_work.wait()
    tools.interrupted.set()
    walked = await task
    assert walked.stop is StopReason.INTERRUPTED
    assert walked.supervisor["runtime_progress"]["research_units"][0]["status"] == "cancelled"
    assert isinstance(walked.state["outcome"], Report)
    assert "The device has thirty gears." in walked.state["final_report"]
    assert "1 research unit cut off" in walked.state["final_report"]


async def test_one_failing_unit_does_not_take_the_others_along(caplog: pytest.LogCaptureFixture) -> None:
    def digest(topic: Topic, passages: Sequence[ReadPassage]) -> Findings:
        if topic.text == "wreck":
            raise RuntimeError("http://internal.host:8080 exploded")
        return Findings(f"{passages[0].passage.text} [1]")

    walked = await walk(ScriptedAnalyst(intake("device gears", "wreck"), digested=digest), max_researcher_iterations=1)
    units = walked.supervisor["runtime_progress"]["research_units"]
    assert [unit["failure_reason"] for unit in units] == [None, "research unit execution failed"]
    assert "internal.host" not in str(walked.state["supervisor_messages"])
    assert isinstance(walked.state["outcome"], Report)


async def test_an_engine_that_never_answers_gives_an_honest_refusal() -> None:
    engine = TextEngine(TEXTS, failing=True)
    walked = await walk(ScriptedAnalyst(intake("device gears")), engine=engine)
    assert isinstance(walked.state["outcome"], NotFound)
    assert walked.state["evidence_ledger"] == []


async def test_an_address_is_tried_three_times_and_then_never_again() -> None:
    topics = iter(["a device", "some device there", "device again and more", "device five times over"])
    engine = TextEngine(
        {"gears.md": TEXTS["gears.md"], "wreck.md": TEXTS["wreck.md"]}, unreadable=frozenset({"gears.md"})
    )
    analyst = ScriptedAnalyst(
        intake("wreck device"),
        supervised=lambda board: [ConductResearch(next(topics), "sq-1", queries=(Query("device wreck"),))],
        digested=gap(),
    )
    walked = await walk(
        analyst,
        engine=engine,
        max_researcher_iterations=5,
        enable_early_termination=False,
        duplicate_topic_similarity_threshold=1.0,
    )
    assert walked.state["research_record"].unread == {"gears.md": 3}
    assert (
        "gears.md could not be read (3 tries): gears.md cannot be read. #RETRY_EXHAUSTED"
        in walked.state["final_report"]
    )


async def test_units_side_by_side_share_the_tries_of_an_address() -> None:
    engine = TextEngine(
        {f"{n}.md": f"alpha beta gamma delta epsilon {n}" for n in "a"} | TEXTS, unreadable=frozenset({"a.md"})
    )
    walked = await walk(
        ScriptedAnalyst(intake("alpha", "beta", "gamma", "delta", "epsilon")),
        engine=engine,
        max_researcher_iterations=1,
    )
    assert walked.state["research_record"].unread == {"a.md": 3}


async def test_what_was_given_up_is_tagged_even_where_there_is_evidence() -> None:
    topics = iter(["zwei", "drei", "vier", "fünf"])
    analyst = ScriptedAnalyst(
        intake("device gears"), supervised=lambda board: [ConductResearch(next(topics), "sq-1")], digested=gap()
    )
    walked = await walk(analyst, max_researcher_iterations=10)
    assert walked.stop is StopReason.GAPS_EXHAUSTED
    tracking = walked.state["research_record"].phase_state["research"]["retry_tracking"]
    assert tracking == {"subquestions": {"sq-1": {"attempts": 4, "status": "exhausted"}}, "total_exhausted": 1}
    assert "#RETRY_EXHAUSTED: “device gears”" in walked.state["final_report"]


async def test_a_unit_that_cannot_even_be_summed_up_does_not_cost_the_report() -> None:
    def digest(topic: Topic, passages: Sequence[ReadPassage]) -> Findings:
        raise AnalystFailed("The model did not answer.")

    analyst = ScriptedAnalyst(intake("device gears"), digested=digest)
    tools = bench(analyst, TextEngine(TEXTS))
    tools.interrupted.set()
    walked = await walk(analyst, at=tools)
    assert walked.stop is StopReason.INTERRUPTED
    assert "stopped before anything was found" in walked.state["final_report"]


async def test_an_invented_citation_never_survives() -> None:
    analyst = ScriptedAnalyst(
        intake("device gears"), section=lambda s: "It has thirty gears [1]. It was made of gold [99]."
    )
    walked = await walk(analyst)
    report = walked.state["final_report"]
    assert "[99]" not in report
    assert "1 citation to unknown sources removed" in report
    assert "It was made of gold." in report


async def test_evidence_that_does_not_answer_is_not_a_report() -> None:
    analyst = ScriptedAnalyst(intake("device gears"), outlined=lambda evidence: Unanswerable(("the weight",)))
    walked = await walk(analyst)
    assert isinstance(walked.state["outcome"], NotFound)
    assert "the weight" in walked.state["final_report"]


async def test_a_unit_follows_the_analyst_within_its_allowance() -> None:
    asked: list[int] = []

    def investigate(notebook: Any) -> Sequence[ResearcherMove]:
        asked.append(notebook.tool_calls_left)
        return [SearchWeb(Query(f"wreck {len(asked)} {i}")) for i in range(2)] + [FetchUrl("http://evil.example/")]

    engine = TextEngine(TEXTS)
    await walk(ScriptedAnalyst(intake("device gears"), investigated=investigate), engine=engine, max_react_tool_calls=4)
    assert asked == [4, 1]
    assert len(engine.asked) == 1 + 2 + 1


async def test_no_more_sources_than_allowed_and_citations_only_to_them() -> None:
    walked = await walk(ScriptedAnalyst(intake("device wreck price divers")), max_sources=2)
    assert [card.id for card in walked.state["catalogue"]] == [1, 2]
    assert set(cited(walked.state["final_report"])) <= {1, 2}


async def test_sections_may_be_written_one_after_the_other() -> None:
    walked = await walk(ScriptedAnalyst(intake("device gears")), section_mode="sequential")
    assert isinstance(walked.state["outcome"], Report)


moves = st.one_of(
    st.builds(ConductResearch, st.text(max_size=20), st.sampled_from(["sq-1", "sq-2", "", "x"])),
    st.just(ResearchComplete()),
    st.builds(Think, st.text(max_size=10)),
)


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.lists(moves, max_size=4), max_size=8), st.integers(1, 5))
def test_the_loop_always_ends_and_always_has_an_answer(script: list[list[SupervisorMove]], rounds: int) -> None:
    answers = iter(script)
    always = [ConductResearch("more", "sq-1")]
    analyst = ScriptedAnalyst(
        intake("device gears", "wreck"), supervised=lambda board: next(answers, always), digested=gap()
    )
    walked = asyncio.run(walk(analyst, max_researcher_iterations=rounds))
    assert walked.stop is not None
    assert walked.supervisor["research_iterations"] <= rounds
    assert walked.state["final_report"]
    known = {card.id for card in walked.state["catalogue"]}
    assert set(cited(walked.state["final_report"])) <= known
    assert [card.id for card in walked.state["catalogue"]] == list(range(1, len(known) + 1))

"""scope_intake: understand the question and plan, or ask back."""

from dataclasses import replace
from typing import Any, Literal

from langchain_core.messages import AIMessage, AnyMessage, HumanMessage
from langchain_core.runnables import RunnableConfig
from langgraph.runtime import get_runtime
from langgraph.types import Command, StreamWriter

from deepwell.configuration import Configuration
from deepwell.nodes.bench import workbench
from deepwell.nodes.progress import PlanningBoard, pulsing
from deepwell.stages import intake
from deepwell.stages.judge.standing import first_standings
from deepwell.state import ResearchState
from deepwell.vocabulary.budget import Budget
from deepwell.vocabulary.events import ClarificationAsked, ScopeTaken
from deepwell.vocabulary.question import Clarification, Intake, Turn
from deepwell.vocabulary.record import ResearchRecord


async def scope_intake(
    state: ResearchState, config: RunnableConfig, *, writer: StreamWriter
) -> Command[Literal["research_supervisor", "__end__"]]:
    """Go on to research with a brief and a plan, or stop here with a question to the user."""
    bench, configuration = workbench(config), get_runtime(Configuration).context
    conversation = tuple(_turn(message) for message in state["messages"])
    progress = PlanningBoard(bench, configuration, writer)
    async with pulsing(progress.tell):
        taken = await intake.take_in(conversation, bench.analyst, configuration, bench.clock.now().date())
    if isinstance(taken, Clarification):
        await bench.journal.record(ClarificationAsked(taken.question))
        return Command(goto="__end__", update=_question_back(taken))
    budget = bench.budget
    if configuration.tier == "auto":
        configuration = configuration.for_tier(taken.tier)
        budget = _retimed(budget, configuration.total_minutes, bench.clock.monotonic())
        minutes = await bench.moments.taken(("minutes", configuration.total_minutes), budget.total_minutes)
        budget = replace(budget, total_minutes=minutes)
    bench.account.budget = budget
    parts = tuple(part.text for part in taken.plan.subquestions)
    await bench.journal.record(ScopeTaken(taken.brief.kind, configuration.tier, parts))
    update = _start(taken, configuration, budget) | {"runtime_progress": progress.closing(budget)}
    return Command(goto="research_supervisor", update=update)


def _retimed(budget: Budget, minutes: float | None, now: float) -> Budget:
    """The tier's time, counted from now, but not longer than the tier's or what the run was promised before."""
    if minutes is None or budget.total_minutes is None:
        return replace(budget, total_minutes=minutes)
    spent = (now - budget.started_monotonic) / 60
    return replace(budget, total_minutes=min(max(minutes, budget.total_minutes), minutes + spent))


def _question_back(asked: Clarification) -> dict[str, Any]:
    return {"messages": [AIMessage(asked.question)], "intake_decision": "clarify", "awaiting_clarification": True}


def _start(taken: Intake, configuration: Configuration, budget: Budget) -> dict[str, Any]:
    # A new turn starts clean: nothing of an earlier question in this thread may leak into the new report.
    clean: dict[str, list[Any]] = {
        name: [] for name in ("supervisor_messages", "notes", "raw_notes", "evidence_ledger", "catalogue")
    }
    return {
        **clean,
        "configuration": configuration,
        "budget": budget,
        "research_brief": taken.brief,
        "plan": taken.plan,
        "intake_decision": "proceed",
        "awaiting_clarification": False,
        "research_record": ResearchRecord(standings=tuple(first_standings(taken.plan).values())),
    }


def _turn(message: AnyMessage) -> Turn:
    return Turn("user" if isinstance(message, HumanMessage) else "assistant", str(message.text))

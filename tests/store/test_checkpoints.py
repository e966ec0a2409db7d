import operator
import sqlite3
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Annotated, Any, TypedDict

import pytest
from langchain_core.messages import HumanMessage
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import Checkpoint, empty_checkpoint
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer
from langgraph.graph import START, StateGraph
from langgraph.graph.state import CompiledStateGraph
from langgraph.types import Command, interrupt

from deepwell.configuration import Configuration
from deepwell.errors import StoreDamaged
from deepwell.graph import app
from deepwell.store.checkpoints import LeanSaver, SavedSteps, checkpoints
from deepwell.store.runs import RunStore
from deepwell.testing import ScriptedAnalyst, TextEngine, bench
from deepwell.vocabulary.moves import ConductResearch, SupervisorMove
from deepwell.vocabulary.report import Report

QUESTION = {"messages": [HumanMessage("What fact?")]}
TEXTS = {"a.md": "One fact.", "b.md": "Another fact."}


@asynccontextmanager
async def opened(path: Path, also: Sequence[str] = ()) -> AsyncIterator[LeanSaver]:
    async with RunStore.open(path) as store:
        yield await checkpoints(store.scribe, also)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "deepwell.db"


def analyst() -> ScriptedAnalyst:
    """Wants a second round, so that the loop is saved more than once."""

    def supervised(board: Any) -> list[SupervisorMove]:
        return [ConductResearch("another fact")]

    return ScriptedAnalyst(supervised=supervised)


def thread(run: str = "r", **more: Any) -> RunnableConfig:
    return {"configurable": {"thread_id": run, "workbench": bench(analyst(), TextEngine(TEXTS)), **more}}


async def walk(saver: LeanSaver, given: Any, *, steps: int | None = None) -> tuple[dict[str, Any], int]:
    """Follow the path, at most so many steps; the state of the outer graph, and how many steps were taken."""
    state: dict[str, Any] = {}
    taken = 0
    stream = app.copy({"checkpointer": saver}).astream(
        given,
        thread(),
        context=Configuration(),
        stream_mode=["updates", "values"],
        subgraphs=True,
        durability="sync",
    )
    async for namespace, mode, chunk in stream:  # type: ignore[misc]
        if mode == "values" and not namespace:
            state = chunk
        taken += mode == "updates"
        if taken == steps:
            await stream.aclose()  # type: ignore[attr-defined]
            break
    return state, taken


def rows(path: Path, query: str) -> list[Any]:
    connection = sqlite3.connect(path)
    try:
        return connection.execute(query).fetchall()
    finally:
        connection.close()


def change(path: Path, statement: str, *values: Any) -> None:
    connection = sqlite3.connect(path)
    try:
        assert connection.execute(statement, values).rowcount > 0
        connection.commit()
    finally:
        connection.close()


async def test_the_state_comes_back_from_the_file_as_it_was(path: Path) -> None:
    async with opened(path) as saver:
        state, _ = await walk(saver, QUESTION)
    async with opened(path) as saver:
        loaded = (await app.copy({"checkpointer": saver}).aget_state(thread())).values
    assert isinstance(loaded["outcome"], Report)
    names = "outcome research_record catalogue evidence_ledger plan configuration research_brief messages budget"
    for name in names.split():
        assert loaded[name] == state[name], name


async def test_a_run_that_ends_at_any_step_goes_on_to_the_same_report(path: Path, tmp_path: Path) -> None:
    async with opened(path) as saver:
        whole, steps = await walk(saver, QUESTION)
    assert steps > 5
    for n in range(1, steps):
        cut = tmp_path / f"{n}.db"
        async with opened(cut) as saver:
            await walk(saver, QUESTION, steps=n)
        async with opened(cut) as saver:
            usable = await saver.usable("r")
            state, taken = await walk(saver, None if usable else QUESTION)
        assert state["outcome"] == whole["outcome"], n
        assert taken < steps or not usable


async def test_only_the_newest_checkpoint_of_each_graph_is_kept(path: Path) -> None:
    async with opened(path) as saver:
        await walk(saver, QUESTION)
    kept = rows(path, "SELECT DISTINCT checkpoint_ns FROM checkpoints")
    assert len(kept) == 2
    assert rows(path, "SELECT COUNT(*) FROM checkpoints") == [(2,)]
    assert rows(path, "SELECT COUNT(*) FROM writes") == [(0,)]


async def test_a_forgotten_run_leaves_nothing_and_others_stay(path: Path) -> None:
    async with opened(path) as saver:
        for run in ("one", "two"):
            await put(saver, run, "1", ["a"])
            await saver.aput_writes(thread(run, checkpoint_id="1"), [("__error__", "no")], "task")
        await saver.adelete_thread("one")
        assert await saver.aget_tuple(thread("one")) is None
        assert await saver.aget_tuple(thread("two")) is not None
    assert rows(path, "SELECT DISTINCT thread_id FROM checkpoints") == [("two",)]
    assert rows(path, "SELECT DISTINCT thread_id FROM writes") == [("two",)]


async def put(saver: LeanSaver, run: str, name: str, values: list[str], **more: Any) -> RunnableConfig:
    checkpoint: Checkpoint = {**empty_checkpoint(), "id": name, "channel_values": {"values": values}}
    return await saver.aput(thread(run), checkpoint, {"source": "loop", "step": 1, **more}, {})


async def kept_values(saver: LeanSaver, run: str = "r") -> Any:
    found = await saver.aget_tuple(thread(run))
    return found and found.checkpoint["channel_values"]["values"]


async def test_the_last_one_put_is_the_one_kept_even_if_the_clock_was_set_back(path: Path) -> None:
    async with opened(path) as saver:
        await put(saver, "r", "2", ["first"])
        await put(saver, "r", "1", ["second"])
        assert await kept_values(saver) == ["second"]


async def test_a_value_that_changed_is_written_anew_whoever_had_it_before(path: Path) -> None:
    same = ["same"]
    async with opened(path) as saver:
        for run, values in (("one", same), ("two", same), ("one", [*same, "more"]), ("two", same)):
            await put(saver, run, "1", values)
            assert await kept_values(saver, run) == values
    async with opened(path) as saver:
        assert await kept_values(saver, "one") == ["same", "more"]
        assert await kept_values(saver, "two") == ["same"]


async def test_what_is_kept_can_be_listed(path: Path) -> None:
    async with opened(path) as saver:
        for run, name, step in (("one", "1", 1), ("two", "2", 2), ("three", "3", 0)):
            await put(saver, run, name, [run], step=step)

        async def listed(config: RunnableConfig | None = None, **more: Any) -> list[str]:
            return [one.config["configurable"]["thread_id"] async for one in saver.alist(config, **more)]

        assert await listed() == ["three", "two", "one"]
        assert await listed(limit=1) == ["three"]
        assert await listed(before=thread(checkpoint_id="3")) == ["two", "one"]
        assert await listed(filter={"step": 2}) == ["two"]
        assert await listed(thread("one")) == ["one"]
        assert await listed(thread("one", checkpoint_id="2")) == []


async def test_a_checkpoint_is_found_by_its_name_alone(path: Path) -> None:
    async with opened(path) as saver:
        config = await put(saver, "r", "1", ["a"])
        assert (found := await saver.aget_tuple(config))
        assert found.config == config
        assert await saver.aget_tuple(thread(checkpoint_id="0")) is None


class Talk(TypedDict):
    said: Annotated[list[str], operator.add]


def asking(word: str) -> Any:
    def ask(state: Talk) -> Talk:
        return {"said": [interrupt(f"{word}?")]}

    return ask


def talk() -> CompiledStateGraph[Talk, None, Talk, Talk]:
    """Asks in its very first step, then in the first step of a graph inside."""
    inner = StateGraph(Talk)
    inner.add_node("review", asking("plan"))
    inner.add_edge(START, "review")
    outer = StateGraph(Talk)
    outer.add_node("intake", asking("question"))
    outer.add_node("inside", inner.compile())
    outer.add_edge(START, "intake")
    outer.add_edge("intake", "inside")
    return outer.compile()


async def test_a_question_back_to_the_user_outlives_the_process(path: Path) -> None:
    given: Any = {"said": []}
    for expected in ("question?", "plan?", None):
        async with opened(path) as saver:
            graph = talk().copy({"checkpointer": saver})
            state = await graph.ainvoke(given, thread(), durability="sync")
        asked = [one.value for one in state.get("__interrupt__", [])]
        assert asked == ([expected] if expected else [])
        given = Command(resume=f"{expected} yes")
    assert state["said"][-2:] == ["question? yes", "plan? yes"]


async def test_what_a_finished_task_wrote_is_left_to_the_next_checkpoint(path: Path) -> None:
    async with opened(path) as saver:
        config = await put(saver, "r", "1", ["a"])
        await saver.aput_writes(config, [("values", ["b"]), ("__interrupt__", "wait")], "task")
        found = await saver.aget_tuple(thread())
    assert found is not None
    assert found.pending_writes == [("task", "__interrupt__", "wait")]


async def test_steps_before_the_first_node_has_ended_reach_no_disk_but_can_be_read(path: Path) -> None:
    async with opened(path) as saver:
        await put(saver, "r", "1", ["a"], step=0)
        assert await saver.saved("r") is SavedSteps.MISSING
        assert await kept_values(saver) == ["a"]


async def test_a_run_without_steps_has_nothing_to_go_on_from(path: Path) -> None:
    async with opened(path) as saver:
        assert await saver.saved("r") is SavedSteps.MISSING
        assert not await saver.usable("r")


async def test_a_run_is_usable_by_a_program_with_the_same_types_and_nodes(path: Path) -> None:
    async with opened(path, ["a", "b"]) as saver:
        await walk(saver, QUESTION, steps=3)
    async with opened(path, ["a", "b"]) as saver:
        assert await saver.usable("r")
    async with opened(path, ["a", "c"]) as saver:
        assert await saver.saved("r") is SavedSteps.OTHER_SHAPE


async def test_checkpoints_of_earlier_formats_are_not_usable(path: Path) -> None:
    async with opened(path) as saver:
        await walk(saver, QUESTION, steps=3)
        found = await saver.aget_tuple(thread())
    assert found
    kind, plain = JsonPlusSerializer().dumps_typed(found.checkpoint)
    change(path, "UPDATE checkpoints SET type = ?, checkpoint = ?, metadata = ?", kind, plain, b'{"step": 1}')
    async with opened(path) as saver:
        assert await saver.saved("r") is SavedSteps.OTHER_SHAPE
        assert await saver.aget_tuple(thread())


@pytest.mark.parametrize(
    "damage",
    [
        "checkpoint = x'00'",
        "checkpoint = NULL",
        "checkpoint = substr(checkpoint, 1, length(checkpoint) / 2)",
        "checkpoint = CAST(substr(checkpoint, 1, 900) || x'00' || substr(checkpoint, 902) AS BLOB)",
        "type = 'pickle'",
        "type = NULL",
    ],
)
async def test_a_damaged_checkpoint_is_not_usable_and_says_so(path: Path, damage: str) -> None:
    async with opened(path) as saver:
        await walk(saver, QUESTION)
    change(path, f"UPDATE checkpoints SET {damage} WHERE checkpoint_ns = ''")  # noqa: S608
    async with opened(path) as saver:
        assert await saver.saved("r") is SavedSteps.DAMAGED
        with pytest.raises(StoreDamaged, match="start it again"):
            await saver.aget_tuple(thread())


@pytest.mark.parametrize("said", [b"{", b"[1, 2]", b"\xff\xfe", b"null"])
async def test_damaged_facts_about_a_checkpoint_make_it_unusable(path: Path, said: bytes) -> None:
    async with opened(path) as saver:
        await walk(saver, QUESTION, steps=3)
    change(path, "UPDATE checkpoints SET metadata = ?", said)
    async with opened(path) as saver:
        assert await saver.saved("r") is SavedSteps.DAMAGED


async def test_a_damaged_checkpoint_of_the_graph_inside_is_noticed_too(path: Path) -> None:
    async with opened(path) as saver:
        await walk(saver, QUESTION)
    change(path, "UPDATE checkpoints SET checkpoint = x'00' WHERE checkpoint_ns != ''")
    async with opened(path) as saver:
        assert not await saver.usable("r")

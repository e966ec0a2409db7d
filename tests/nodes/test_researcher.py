"""A unit inside a run that is saved step by step."""

from pathlib import Path

from langchain_core.messages import HumanMessage

from deepwell.configuration import Configuration
from deepwell.graph import app
from deepwell.store.checkpoints import checkpoints
from deepwell.store.runs import RunStore
from deepwell.testing import ScriptedAnalyst, TextEngine, bench
from deepwell.vocabulary.report import Report


async def test_units_work_while_the_run_waits_for_its_saver(tmp_path: Path) -> None:
    """A unit has no saver of its own: told to wait for one, it would fail, and the run would find nothing."""
    tools = bench(ScriptedAnalyst(), TextEngine({"a.md": "One fact."}))
    async with RunStore.open(tmp_path / "deepwell.db") as store:
        graph = app.copy({"checkpointer": await checkpoints(store.scribe)})
        state = await graph.ainvoke(
            {"messages": [HumanMessage("What fact?")]},
            {"configurable": {"thread_id": "r", "workbench": tools}},
            context=Configuration(),
            durability="sync",
        )
    assert isinstance(state["outcome"], Report)

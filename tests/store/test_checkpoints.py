from pathlib import Path

from langchain_core.messages import HumanMessage

from deepwell.configuration import Configuration
from deepwell.graph import app
from deepwell.store.checkpoints import allowed_types, checkpoints
from deepwell.store.runs import RunStore
from deepwell.testing import ScriptedAnalyst, TextEngine, bench
from deepwell.vocabulary.report import Report


async def test_the_state_comes_back_from_the_file_as_it_was(tmp_path: Path) -> None:
    path = tmp_path / "deepwell.db"
    config = {
        "configurable": {"thread_id": "r", "workbench": bench(ScriptedAnalyst(), TextEngine({"a.md": "One fact."}))}
    }
    async with RunStore.open(path), checkpoints(path) as saver:
        state = await app.copy({"checkpointer": saver}).ainvoke(
            {"messages": [HumanMessage("What fact?")]}, config, context=Configuration()
        )
    async with checkpoints(path) as saver:
        loaded = (await app.copy({"checkpointer": saver}).aget_state(config)).values
    assert isinstance(loaded["outcome"], Report)
    for name in (
        "outcome",
        "research_record",
        "catalogue",
        "evidence_ledger",
        "plan",
        "configuration",
        "research_brief",
    ):
        assert loaded[name] == state[name], name


def test_only_our_own_types_are_loaded() -> None:
    assert ("deepwell.vocabulary.evidence", "Evidence") in allowed_types()
    assert all(module.startswith("deepwell.") for module, _ in allowed_types())

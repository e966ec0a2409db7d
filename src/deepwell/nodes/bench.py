"""How a node finds its run's tools."""

from typing import cast

from langchain_core.runnables import RunnableConfig

from deepwell.ports import Workbench


def workbench(config: RunnableConfig) -> Workbench:
    """The tools of this run, handed in by whoever started it."""
    return cast("Workbench", config["configurable"]["workbench"])

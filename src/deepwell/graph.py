"""The path of a run, compiled once as `app`: scope_intake → research_supervisor → final_report_generation.

`app` has no checkpointer of its own; whoever starts a run gives it the store's with `app.copy`.
"""

from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph

from deepwell.configuration import Configuration
from deepwell.nodes.intake import scope_intake
from deepwell.nodes.report import final_report_generation
from deepwell.nodes.supervisor import supervisor, supervisor_tools
from deepwell.state import ResearchState, SupervisorState

ResearchGraph = CompiledStateGraph[ResearchState, Configuration, ResearchState, ResearchState]
SupervisorGraph = CompiledStateGraph[SupervisorState, Configuration, SupervisorState, SupervisorState]


def build_supervisor() -> SupervisorGraph:
    """supervisor ⇄ supervisor_tools; supervisor_tools decides which way."""
    builder = StateGraph(SupervisorState, context_schema=Configuration)
    builder.add_node("supervisor", supervisor)
    builder.add_node("supervisor_tools", supervisor_tools)
    builder.add_edge(START, "supervisor")
    builder.add_edge("supervisor", "supervisor_tools")
    return builder.compile(name="research_supervisor")


def build_app() -> ResearchGraph:
    """The one path there is."""
    builder = StateGraph(ResearchState, context_schema=Configuration)
    builder.add_node("scope_intake", scope_intake)
    builder.add_node("research_supervisor", build_supervisor())
    builder.add_node("final_report_generation", final_report_generation)
    builder.add_edge(START, "scope_intake")
    builder.add_edge("research_supervisor", "final_report_generation")
    builder.add_edge("final_report_generation", END)
    return builder.compile(name="deepwell")


app = build_app()

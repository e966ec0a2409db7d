"""Moves as the tool calls and tool messages that people read in a trace. Nothing ever reads them back."""

from collections.abc import Callable, Sequence
from dataclasses import asdict
from typing import Any

from langchain_core.messages import AIMessage, AnyMessage, ToolCall, ToolMessage

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

Move = SupervisorMove | ResearcherMove

TOOL_NAMES: dict[type, str] = {
    ConductResearch: "ConductResearch",
    ResearchComplete: "ResearchComplete",
    Think: "think_tool",
    SearchWeb: "search_web",
    FetchUrl: "fetch_url",
}


def call_id(turn: str, index: int) -> str:
    """The id of a move's tool call: the same every time the same turn is run."""
    return f"{turn}-{index}"


def proposal(moves: Sequence[Move], turn: str) -> AIMessage:
    """The analyst's turn as a message with one tool call a move; a closing word has none."""
    calls = [_call(move, call_id(turn, i)) for i, move in enumerate(moves) if type(move) in TOOL_NAMES]
    closing = next((move.reason for move in moves if isinstance(move, Done)), "")
    return AIMessage(content=closing, tool_calls=calls)


def answer(move: Move, turn: str, index: int, content: str) -> ToolMessage:
    """What became of a move."""
    return ToolMessage(content=content, name=TOOL_NAMES[type(move)], tool_call_id=call_id(turn, index))


def early_stop(turn: str, index: int, score: float, threshold: float) -> ToolMessage:
    """The message that explains an end for want of novelty."""
    content = (
        f"[Research ended early: only {score:.0%} of the words in this round's findings were new, "
        f"below the threshold of {threshold:.0%}]"
    )
    return ToolMessage(content=content, name="novelty_check", tool_call_id=call_id(turn, index))


def compacted(messages: Sequence[AnyMessage], summary: Callable[[str], str], newest: int) -> list[AnyMessage]:
    """The trace with all but its newest messages shortened; who answered whom stays as it was."""
    old = len(messages) - newest
    return [
        message.model_copy(update={"content": summary(message.content)})
        if i < old and isinstance(message, ToolMessage) and isinstance(message.content, str)
        else message
        for i, message in enumerate(messages)
    ]


def _call(move: Move, identifier: str) -> ToolCall:
    return ToolCall(name=TOOL_NAMES[type(move)], args=_arguments(move), id=identifier, type="tool_call")


def _arguments(move: Move) -> dict[str, Any]:
    arguments = asdict(move)
    if isinstance(move, ConductResearch):
        arguments["research_topic"] = arguments.pop("topic")
    return arguments

"""From what a script says to the message a model with these abilities would send."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import Enum, auto
from typing import Any, Literal

from deepwell.testing.model_server.requests import ChatRequest, tokens

Ability = bool | Literal["error"]
"""True: the server can. False: it passes over the wish and answers prose. `error`: it answers 400."""
Call = tuple[str, Mapping[str, Any]]
"""The name of a tool and its arguments."""
PlainReply = str | Mapping[str, Any] | Sequence[Call]
"""Prose, a form filled in, or calls."""


@dataclass(frozen=True, slots=True)
class Styled:
    """A reply in the manner of models that think aloud or put their JSON into a fence."""

    reply: PlainReply
    thought: str = ""
    apart: bool = False
    """The thought goes into the field `reasoning_content`; else it stands before the reply in `<think>`."""
    fenced: bool = False


Reply = PlainReply | Styled


@dataclass(frozen=True, slots=True)
class Abilities:
    """What the server can do with a request beyond prose."""

    tools: Ability = True
    json_schema: Ability = True


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A call as it goes over the wire: the arguments are text, and need not be JSON."""

    name: str
    arguments: str


@dataclass(frozen=True, slots=True)
class Completion:
    """The message of a reply."""

    content: str | None
    calls: tuple[ToolCall, ...] = ()
    thought: str = ""
    refusal: str | None = None
    finish: str = "stop"

    @property
    def characters(self) -> int:
        """The length of all that was written."""
        parts = (self.content or "", self.refusal or "", self.thought, *(call.arguments for call in self.calls))
        return sum(map(len, parts))

    @property
    def tokens(self) -> int:
        """The size of the message, as this server counts."""
        return tokens(self.characters)


class _Manner(Enum):
    CALLS = auto()
    JSON = auto()
    WORDS = auto()


def completed(reply: Reply, request: ChatRequest, abilities: Abilities) -> Completion:
    """The reply in the manner that was asked for and that the server is able to."""
    styled = reply if isinstance(reply, Styled) else Styled(reply)
    plain, manner = styled.reply, _manner(request, abilities)
    if isinstance(plain, str):
        completion = Completion(plain)
    elif manner is _Manner.CALLS:
        completion = _calling(plain, request)
    elif manner is _Manner.JSON:
        completion = Completion(_json(plain, styled.fenced))
    else:
        completion = Completion(in_words(plain))
    return _with_thought(completion, styled)


def cut(completion: Completion, characters: int | None = None) -> Completion:
    """What is left when the model ran into its limit: so many characters, or half of them."""
    content, thought = completion.content, completion.thought
    left = completion.characters // 2 if characters is None else characters
    left, thought = left - len(thought), thought[:left]
    if content is not None:
        left, content = left - len(content), content[: max(left, 0)]
    calls: list[ToolCall] = []
    for call in completion.calls:
        if left >= 0:
            calls.append(replace(call, arguments=call.arguments[:left]))
        left -= len(call.arguments)
    return replace(completion, content=content, thought=thought, calls=tuple(calls), finish="length")


def in_words(value: Any) -> str:
    """The value as someone would say it who knows nothing of JSON."""
    if isinstance(value, Mapping):
        return ", ".join(f"{name.replace('_', ' ')} is {in_words(part)}" for name, part in value.items())
    if isinstance(value, Sequence) and not isinstance(value, str):
        return " and ".join(in_words(part) for part in value) or "nothing"
    return "nothing" if value is None or value == "" else str(value)


def _manner(request: ChatRequest, abilities: Abilities) -> _Manner:
    if request.tools and abilities.tools is True:
        return _Manner.CALLS
    passed_over = bool(request.tools) or (request.schema is not None and abilities.json_schema is not True)
    return _Manner.WORDS if passed_over and not request.stated else _Manner.JSON


def _calling(plain: Mapping[str, Any] | Sequence[Call], request: ChatRequest) -> Completion:
    if isinstance(plain, Mapping):
        plain = [(request.shape if request.shape in request.tools else request.tools[0], plain)]
    if request.body.get("parallel_tool_calls") is False:
        plain = plain[:1]
    return Completion(None, tuple(ToolCall(name, _dumped(arguments)) for name, arguments in plain), finish="tool_calls")


def _json(plain: Mapping[str, Any] | Sequence[Call], fenced: bool) -> str:
    if isinstance(plain, Mapping):
        text = _dumped(plain)
    else:
        text = _dumped({"moves": [{"tool": name, "arguments": arguments} for name, arguments in plain]})
    return f"```json\n{text}\n```" if fenced else text


def _dumped(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def _with_thought(completion: Completion, styled: Styled) -> Completion:
    if not styled.thought:
        return completion
    if styled.apart:
        return replace(completion, thought=styled.thought)
    return replace(completion, content=f"<think>\n{styled.thought}\n</think>\n\n{completion.content or ''}")

"""What a chat request asks for, read from its tools, its response format and the blocks of the user's message."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from html import unescape
from typing import Any, NamedTuple

_SHAPES = ("take_in", "supervise", "investigate", "digest", "outline")
PURPOSES = frozenset({*_SHAPES, "write_section", "probe_tools", "probe_schema", "models", "other"})
"""What a request can be for. `models` asks what the server has; every other one is a chat."""

_TOOLBOX_OF = {
    "ConductResearch": "supervise",
    "ResearchComplete": "supervise",
    "report_findings": "investigate",
    "search_web": "investigate",
    "fetch_url": "investigate",
}
_STATED = re.compile(r"JSON object of the form\s+[`'\"*]*(\w+)")
_VALUE = r""""[^"]*"|'[^']*'"""
_ATTRIBUTE = re.compile(rf"(\w+)=({_VALUE})")
CHARACTERS_A_TOKEN = 4
"""An estimate that is good enough for English."""


class ShownPassage(NamedTuple):
    """A passage as the prompt numbers it."""

    n: int
    title: str
    text: str


class ShownClaim(NamedTuple):
    """A claim with the citation to write behind it, such as `[1][4]`."""

    n: int
    cite: str
    text: str


class ShownSubQuestion(NamedTuple):
    """A sub-question of the plan."""

    id: str
    text: str


class ShownSection(NamedTuple):
    """The section that is to be written now."""

    heading: str
    purpose: str


class ShownGap(NamedTuple):
    """What is still open."""

    subquestion: str
    text: str


@dataclass(frozen=True, slots=True)
class Message:
    """One message of the prompt; parts that are no text are left out."""

    role: str
    text: str


@dataclass(frozen=True, slots=True)
class ChatRequest:
    """A chat request, taken apart for a script."""

    purpose: str
    """One of PURPOSES."""
    shape: str
    """The name of the form or toolbox asked for; empty: prose."""
    tools: tuple[str, ...]
    """The tools that may be called; empty also when `tool_choice` forbids them."""
    schema: str | None
    """The name of the response format; empty for a bare JSON object, None when none was asked for."""
    stated: str
    """The form that the prompt asks for in words; empty: none."""
    messages: tuple[Message, ...]
    prompt_characters: int
    """Length of the messages and of the schemas that go with them."""
    body: Mapping[str, Any]
    """The request as it came."""
    question: str = ""
    topic: str = ""
    passages: tuple[ShownPassage, ...] = ()
    claims: tuple[ShownClaim, ...] = ()
    subquestions: tuple[ShownSubQuestion, ...] = ()
    section: ShownSection | None = None
    gaps: tuple[ShownGap, ...] = ()
    turn: int = 0
    """How many requests for the same purpose, question, topic and section were answered well before this one."""

    @property
    def prompt_tokens(self) -> int:
        """The size of the prompt, as this server counts."""
        return tokens(self.prompt_characters)

    @property
    def streams(self) -> bool:
        """Whether the reply is wanted in pieces."""
        return bool(self.body.get("stream"))

    @property
    def matter(self) -> tuple[str, str, str]:
        """What the request is about: question, topic, section."""
        return self.question, self.topic, self.section.heading if self.section else ""


def tokens(characters: int) -> int:
    """About how many tokens so many characters are."""
    return -(-characters // CHARACTERS_A_TOKEN)


def read_chat(body: Mapping[str, Any]) -> ChatRequest:
    """Take the request apart."""
    messages = tuple(Message(str(m.get("role", "")), _text(m.get("content"))) for m in body.get("messages", ()))
    functions = [tool["function"] for tool in body.get("tools") or () if "function" in tool]
    offered = () if body.get("tool_choice") == "none" else tuple(str(f["name"]) for f in functions)
    schema = _schema_name(body.get("response_format"))
    stated = next((m[1] for m in map(_STATED.search, (message.text for message in messages)) if m), "")
    case = "\n".join(message.text for message in messages if message.role == "user")
    shape = (_shape_of(functions) if offered else "") or schema or stated
    return ChatRequest(
        purpose=_purpose(shape, bool(offered), bool(schema), case),
        shape=shape,
        tools=offered,
        schema=schema,
        stated=stated,
        messages=messages,
        prompt_characters=sum(len(m.text) for m in messages) + _schema_characters(body),
        body=body,
        **_blocks(case),
    )


def _text(content: Any) -> str:
    if isinstance(content, list):
        return "\n".join(str(part.get("text", "")) for part in content if isinstance(part, dict))
    return content if isinstance(content, str) else ""


def _schema_name(response_format: Any) -> str | None:
    if not isinstance(response_format, dict) or response_format.get("type") == "text":
        return None
    return str(response_format.get("json_schema", {}).get("name", ""))


def _schema_characters(body: Mapping[str, Any]) -> int:
    return sum(len(json.dumps(body[key])) for key in ("tools", "response_format") if body.get(key))


def _shape_of(functions: Sequence[Mapping[str, Any]]) -> str:
    for function in functions:
        name = str(function["name"])
        if name in _SHAPES:
            return name
        if name in _TOOLBOX_OF:
            return _TOOLBOX_OF[name]
        if _is_probe(name, function):
            return "probe"
    return ""


def _is_probe(name: str, function: Mapping[str, Any]) -> bool:
    return name.startswith("probe") or set(function.get("parameters", {}).get("properties", ())) == {"answer"}


def _purpose(shape: str, has_tools: bool, has_schema: bool, case: str) -> str:
    if shape in _SHAPES:
        return shape
    if shape == "probe" and has_tools:
        return "probe_tools"
    if shape == "probe" and has_schema:
        return "probe_schema"
    return "write_section" if not shape and "<section " in case else "other"


def _blocks(case: str) -> dict[str, Any]:
    section = next(_found("section", case), None)
    return {
        "question": _first("question", case),
        "topic": _first("topic", case),
        "passages": tuple(ShownPassage(int(a["n"]), a.get("source", ""), text) for a, text in _found("passage", case)),
        "claims": tuple(ShownClaim(int(a["n"]), a.get("cite", ""), text) for a, text in _found("claim", case)),
        "subquestions": tuple(ShownSubQuestion(a.get("id", ""), text) for a, text in _found("subquestion", case)),
        "section": ShownSection(section[0].get("heading", ""), section[1]) if section else None,
        "gaps": tuple(ShownGap(a.get("subquestion", ""), text) for a, text in _found("gap", case)),
    }


def _first(tag: str, case: str) -> str:
    return next((text for _, text in _found(tag, case)), "")


def _found(tag: str, case: str) -> Iterator[tuple[dict[str, str], str]]:
    """Attributes and text of every block with this tag."""
    for match in _block(tag).finditer(case):
        yield {name: unescape(value[1:-1]) for name, value in _ATTRIBUTE.findall(match[1])}, match[2].strip()


@lru_cache
def _block(tag: str) -> re.Pattern[str]:
    return re.compile(rf"<{tag}((?:\s+\w+=(?:{_VALUE}))*)\s*>(.*?)</{tag}>", re.DOTALL)

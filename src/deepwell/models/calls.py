"""Reads the tool calls that a model made, natively or in writing, in the many ways that models write them."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Any, Final

from pydantic import BaseModel

from deepwell.models.fitting import arguments_fit, fields_known
from deepwell.models.json_repair import values_in
from deepwell.models.scalars import Unfit, plain
from deepwell.models.shapes import Toolbox

MOST_CALLS: Final = 64
"""Calls taken from one reply."""
_NAMING: Final = ("tool", "toolname", "name", "function", "functionname", "action", "recipientname", "type")
_ARGUMENTS: Final = (
    "arguments",
    "parameters",
    "args",
    "params",
    "kwargs",
    "input",
    "toolinput",
    "toolarguments",
    "actioninput",
)
_TAGS = re.compile(r"</?tool_calls?>|\[/?TOOL_CALLS?\]")


@dataclass(frozen=True, slots=True)
class Call:
    """A call as it came: nothing about it is certain."""

    name: str
    arguments: Mapping[str, Any] | str


@dataclass(frozen=True, slots=True)
class Usable:
    """The calls that can be carried out, in order, and what was wrong with the others."""

    moves: tuple[BaseModel, ...]
    problems: tuple[str, ...]


def usable(calls: Iterable[Call], toolbox: Toolbox) -> Usable:
    """The calls that name a tool of the box and bring the arguments that it needs."""
    moves: list[BaseModel] = []
    problems: list[str] = []
    for call in islice(calls, MOST_CALLS):
        tool = _tool_named(call.name, toolbox)
        if tool is None:
            problems.append(f"there is no tool `{plain(call.name)[:40]}`")
            continue
        try:
            moves.append(arguments_fit(toolbox.tools[tool], call.arguments, tool))
        except Unfit as unfit:
            problems.append(f"`{tool}` was called, but {unfit.sentence[0].lower()}{unfit.sentence[1:-1]}")
    return Usable(tuple(moves), tuple(problems))


def written_calls(text: str, toolbox: Toolbox) -> Iterator[Call]:
    """The calls written in a text: as JSON, or else in the notation of some family of models."""
    as_json = [
        call
        for part in _TAGS.split(text)
        for found in values_in(part)
        for call in islice(_calls_in(found.value, toolbox, 0), MOST_CALLS)
    ]
    return iter(as_json) if as_json else _noted_calls(text, toolbox)


def _tool_named(name: str, toolbox: Toolbox) -> str | None:
    """The tool, whatever its case and punctuation: `SearchWeb`, `search-web`, `functions.search_web`."""
    by_name = {plain(tool): tool for tool in toolbox.tools}
    return by_name.get(plain(name)) or by_name.get(plain(re.split(r"[.:/]", name)[-1]))


# Calls as JSON


def _calls_in(value: object, toolbox: Toolbox, depth: int) -> Iterator[Call]:
    if isinstance(value, Mapping):
        call = _stated_call(value, toolbox)
        yield from [call] if call else _calls_inside(value, toolbox, depth)
    elif isinstance(value, list) and depth < 5:
        for item in islice(value, MOST_CALLS):
            yield from _calls_in(item, toolbox, depth + 1)


def _calls_inside(value: Mapping[str, Any], toolbox: Toolbox, depth: int) -> Iterator[Call]:
    """`{"search_web": {…}}`, `{"moves": […]}`, or arguments alone that only one tool takes."""
    keyed = [Call(key, _arguments(inner)) for key, inner in value.items() if _tool_named(key, toolbox)]
    if keyed:
        yield from keyed
        return
    inside = [
        call
        for inner in islice(value.values(), MOST_CALLS)
        if depth < 5
        for call in _calls_in(inner, toolbox, depth + 1)
    ]
    yield from inside or _call_by_arguments(value, toolbox)


def _stated_call(value: Mapping[str, Any], toolbox: Toolbox) -> Call | None:
    """`{"tool": "search_web", "arguments": {…}}` with other words for both, or with the arguments beside the tool."""
    by_name = {plain(key): key for key in value}
    for word in _NAMING:
        named = value.get(by_name.get(word, ""))
        if isinstance(named, Mapping) and (inner := _stated_call(named, toolbox)):
            return inner
        if not isinstance(named, str):
            continue
        given = next((by_name[key] for key in _ARGUMENTS if key in by_name), None)
        if given is not None and (word != "type" or _tool_named(named, toolbox)):
            return Call(named, _arguments(value[given]))
        if _tool_named(named, toolbox):
            return Call(named, {key: inner for key, inner in value.items() if plain(key) != word})
    return None


def _arguments(value: Any) -> Mapping[str, Any] | str:
    if isinstance(value, Mapping | str):
        return value
    return value[0] if isinstance(value, list) and value and isinstance(value[0], Mapping) else {}


def _call_by_arguments(value: Mapping[str, Any], toolbox: Toolbox) -> Iterator[Call]:
    """The one tool that knows all of these, when there is just one."""
    fitting = [tool for tool, fields in toolbox.tools.items() if value and fields_known(fields, value) == len(value)]
    if len(fitting) == 1:
        yield Call(fitting[0], value)


# Calls in a notation


_PARAMETER = re.compile(
    r"""<(?:parameter|arg_key)(?:\s+name)?(?:=["']?(?P<key>[\w-]{1,60})["']?)?>(?P<text>(?:[^<]|<(?!/?(?:parameter|arg_)))*+)"""
    r"""(?:</arg_key>\s*+<arg_value>(?P<value>(?:[^<]|<(?!/?(?:parameter|arg_)))*+))?"""
)
_ONE_TEXT = re.compile(r"\"[^\"]*+\"|'[^']*+'")
_FILLER = re.compile(r"""[\s"'`)>\]｜|:=]{0,20}+(?:\[ARGS\]|<｜tool▁sep｜>|json|```json)?[\s"'`>]{0,20}+(?=\{)""")


def _noted_calls(text: str, toolbox: Toolbox) -> Iterator[Call]:
    """A tool's name followed by its arguments: `search_web(query="…")`, `<function=search_web>…`, `search_web {…}`."""
    if not toolbox.tools:
        return
    tool = "|".join(sorted(map(re.escape, toolbox.tools), key=len, reverse=True))
    names = list(re.finditer(rf"(?<!\w)(?:{tool})(?!\w)", text))
    ends = [*(name.start() for name in names), len(text)][1:]
    for name, end in zip(names, ends, strict=False):
        arguments = _noted_arguments(text[name.end() : end])
        if arguments:
            yield Call(name.group(), arguments)


def _noted_arguments(text: str) -> Mapping[str, Any] | str | None:
    """What stands behind a tool's name, up to the next one."""
    if text.lstrip().startswith("("):
        return _in_parentheses(text[text.index("(") + 1 : text.rfind(")") if ")" in text else None].strip())
    if (filler := _FILLER.match(text)) and (found := values_in(text[filler.end() :])):
        return found[0].value if isinstance(found[0].value, Mapping) else None
    parameters = {one["key"] or one["text"].strip(): (one["value"] or one["text"]) for one in _PARAMETER.finditer(text)}
    return {key: value.strip() for key, value in parameters.items()}


def _in_parentheses(inside: str) -> str:
    """The arguments as an object, for the reader takes `key="value"` as well; or as the one text that they are."""
    if inside.startswith("{") or _ONE_TEXT.fullmatch(inside):
        return inside.strip("\"'")
    return f"{{{inside}}}"

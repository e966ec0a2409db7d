"""Steers a model of any provider towards a reply of a given shape, and hands back the reply as it came."""

import json
from collections.abc import Callable, Mapping
from functools import cache
from typing import TYPE_CHECKING, Any, Literal, cast

from pydantic import BaseModel

from deepwell.models.shapes import Form, Prose, Shape, Toolbox

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel
    from langchain_core.messages import AIMessage, BaseMessage
    from langchain_core.runnables import Runnable

Strategy = Literal["tools", "schema", "plain"]
"""Native tool calls, a JSON schema the provider holds the model to, or JSON asked for in words."""

Json = dict[str, Any]
_BOUNDS = ("maxLength", "maxItems", "minItems")
_GRAMMARS = ("openai-compatible", "ollama")

_SCALARS = {"string": "...", "integer": 0, "number": 0.5, "boolean": True, "null": None}
_WORDS = {"string": "text", "integer": "a whole number", "number": "a number", "boolean": "true or false"}


def steered(
    model: "BaseChatModel", provider: str, shape: Shape, strategy: Strategy, max_reply_tokens: int
) -> "Runnable[list[BaseMessage], AIMessage]":
    """The model, held to the shape and to the length. Its replies are raw: nothing parses, nothing raises on a cut."""
    options = _limit(provider, max_reply_tokens)
    if provider == "ollama":
        model = model.model_copy(update={"num_predict": max_reply_tokens})
    if isinstance(shape, Prose) or strategy == "plain":
        return _bound(model, options)
    if strategy == "tools":
        return _with_tools(model, provider, shape, options)
    schema = wire_schema(shape, bounded=provider in _GRAMMARS)
    steering = _schema_options(model, provider, shape.name, schema)
    steered_model = _bound(model, _merged(options, steering))
    return _told_in_words(shape, steered_model) if provider == "deepseek" else steered_model


def wire_schema(shape: Shape, *, bounded: bool = False) -> Json:
    """The JSON schema of the shape in the dialect that every provider takes: no references, everything required.

    With bounds on lengths for servers that make a grammar of it: without them a small model fills a list for ever.
    """
    match shape:
        case Form():
            return _plain_schema(shape.fields, bounded=bounded)
        case Toolbox():
            moves = [_move_schema(name, arguments, bounded=bounded) for name, arguments in shape.tools.items()]
            return _object({"moves": {"type": "array", "items": {"anyOf": moves}}})
        case Prose():
            return {"type": "string"}


def instructions(shape: Shape) -> str:
    """What to say to a model that can be steered by words only."""
    match shape:
        case Form():
            return _form_instructions(shape)
        case Toolbox():
            return _toolbox_instructions(shape)
        case Prose():
            return "Reply with Markdown text only."


# How long the reply may be


_LIMIT_NAMES = {
    "openai": "max_completion_tokens",
    "anthropic": "max_tokens",
    "google": "max_output_tokens",
    "groq": "max_completion_tokens",
    "deepseek": "max_tokens",
    "openai-compatible": "max_tokens",
}


def _limit(provider: str, max_reply_tokens: int) -> Json:
    if provider == "ollama":
        return {}  # a field of the model: passed with the call, it would displace all other options
    limit = {_LIMIT_NAMES[provider]: max_reply_tokens}
    # ChatOpenAI would rename it to what OpenAI expects today and many compatible servers do not know.
    return {"extra_body": limit} if provider == "openai-compatible" else limit


# Tools


def _with_tools(
    model: "BaseChatModel", provider: str, shape: Form[BaseModel] | Toolbox, options: Json
) -> "Runnable[list[BaseMessage], AIMessage]":
    """A call is required. Where there is one tool that forces it; by name, fewer servers understand it.

    Ollama has no such switch: ChatOllama drops the choice.
    """
    tools = {shape.name: shape.fields} if isinstance(shape, Form) else shape.tools
    definitions = [{"type": "function", "function": _function(provider, *tool)} for tool in tools.items()]
    return cast("Runnable[list[BaseMessage], AIMessage]", model.bind_tools(definitions, tool_choice="any", **options))


def _function(provider: str, name: str, arguments: type[BaseModel]) -> Json:
    schema = _plain_schema(arguments)
    description = schema.pop("description", name)
    parameters = _everywhere(_DIALECTS[provider], schema) if provider in _DIALECTS else schema
    strict = {"strict": True} if provider == "openai" else {}
    return {"name": name, "description": description, "parameters": parameters, **strict}


def _closed_without_saying(node: Json) -> Json:
    """Gemini's tools do not know the word; the package would log each one it drops."""
    return {word: value for word, value in node.items() if word != "additionalProperties"}


def _nullable_by_type(node: Json) -> Json:
    """Ollama's client drops `anyOf` from a tool, and what is in it."""
    types = [choice.get("type") for choice in node.get("anyOf", ())]
    if len(types) != 2 or types[1] != "null":
        return node
    rest = {word: value for word, value in node.items() if word != "anyOf"}
    return {**node["anyOf"][0], **rest, "type": types}


_DIALECTS: Mapping[str, Callable[[Json], Json]] = {"google": _closed_without_saying, "ollama": _nullable_by_type}


def _everywhere(change: Callable[[Json], Json], part: Any) -> Any:
    if isinstance(part, dict):
        return change({word: _everywhere(change, value) for word, value in part.items()})
    return [_everywhere(change, item) for item in part] if isinstance(part, list) else part


# A schema the provider enforces


def _schema_options(model: "BaseChatModel", provider: str, name: str, schema: Json) -> Json:
    if provider == "openai" and getattr(model, "use_responses_api", None):
        return {"response_format": _named_schema(name, schema, strict=True)}
    return _SCHEMA_OPTIONS[provider](name, schema)


def _in_body(name: str, schema: Json) -> Json:
    # As an argument, `response_format` goes through the SDK's own parser, which raises on a reply that was cut short
    # and drops what there was of it. In the body it is the same request without the parser.
    return {"extra_body": {"response_format": _named_schema(name, schema, strict=True)}}


def _named_schema(name: str, schema: Json, *, strict: bool) -> Json:
    held = {"strict": True} if strict else {}
    return {"type": "json_schema", "json_schema": {"name": name, "schema": schema, **held}}


_SCHEMA_OPTIONS: dict[str, Callable[[str, Json], Json]] = {
    "openai": _in_body,
    "openai-compatible": _in_body,
    "anthropic": lambda _, schema: {"output_config": {"format": {"type": "json_schema", "schema": schema}}},
    "google": lambda _, schema: {"response_mime_type": "application/json", "response_json_schema": schema},
    # Only some of Groq's models take "strict"; the others would refuse the request.
    "groq": lambda name, schema: {"response_format": _named_schema(name, schema, strict=False)},
    # DeepSeek knows "some JSON object" only; which one is said in words.
    "deepseek": lambda _name, _schema: {"extra_body": {"response_format": {"type": "json_object"}}},
    "ollama": lambda _, schema: {"format": schema},
}


def _told_in_words(
    shape: Form[BaseModel] | Toolbox, model: "Runnable[list[BaseMessage], AIMessage]"
) -> "Runnable[list[BaseMessage], AIMessage]":
    from langchain_core.messages import BaseMessage, SystemMessage
    from langchain_core.runnables import RunnableLambda

    def add_words(messages: list[BaseMessage]) -> list[BaseMessage]:
        standing = [message.text for message in messages if isinstance(message, SystemMessage)]
        rest = [message for message in messages if not isinstance(message, SystemMessage)]
        return [SystemMessage("\n\n".join([*standing, instructions(shape)])), *rest]

    return RunnableLambda(add_words) | model


def _bound(model: "BaseChatModel", options: Json) -> "Runnable[list[BaseMessage], AIMessage]":
    return cast("Runnable[list[BaseMessage], AIMessage]", model.bind(**options))


def _merged(options: Json, more: Json) -> Json:
    """Both, and both bodies where both have one."""
    merged = options | more
    if "extra_body" in merged:
        merged["extra_body"] = options.get("extra_body", {}) | more.get("extra_body", {})
    return merged


# The schema


def _plain_schema(fields: type[BaseModel], *, bounded: bool = False) -> Json:
    """A copy: who gets it may take its description out."""
    return dict(_reduced_schema(fields, bounded))


@cache
def _reduced_schema(fields: type[BaseModel], bounded: bool) -> Json:
    full = fields.model_json_schema()
    schema = _reduced(full, full.get("$defs", {}), ())
    return schema if bounded else cast("Json", _unbounded(schema))


def _unbounded(schema: Any) -> Any:
    if isinstance(schema, dict):
        return {word: _unbounded(value) for word, value in schema.items() if word not in _BOUNDS}
    return [_unbounded(value) for value in schema] if isinstance(schema, list) else schema


def _object(properties: Json) -> Json:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def _move_schema(tool: str, arguments: type[BaseModel], *, bounded: bool) -> Json:
    schema = _plain_schema(arguments, bounded=bounded)
    description = {"description": schema.pop("description")} if "description" in schema else {}
    return _object({"tool": {"type": "string", "enum": [tool]}, "arguments": schema}) | description


def _reduced(node: Json, definitions: Mapping[str, Json], inside: tuple[str, ...]) -> Json:
    """The node in the words every provider knows; bounds on lengths are taken out again where they are not known."""
    node, inside = _resolved(node, definitions, inside)
    reduced: Json = {word: node[word] for word in ("type", "description", "enum", *_BOUNDS) if word in node}
    if "const" in node:
        reduced["enum"] = [node["const"]]
    if "anyOf" in node:
        reduced["anyOf"] = [_reduced(choice, definitions, inside) for choice in node["anyOf"]]
    if "items" in node:
        reduced["items"] = _reduced(node["items"], definitions, inside)
    if node.get("type") == "object":
        properties = node.get("properties", {})
        reduced |= _object({name: _reduced(child, definitions, inside) for name, child in properties.items()})
    return reduced


def _resolved(node: Json, definitions: Mapping[str, Json], inside: tuple[str, ...]) -> tuple[Json, tuple[str, ...]]:
    """The node with its reference replaced by what it refers to; what stands beside the reference wins."""
    if "$ref" not in node:
        return node, inside
    name = node["$ref"].rpartition("/")[2]
    if name in inside:
        raise ValueError(f"{name} contains itself; such a form cannot be sent")
    beside = {word: value for word, value in node.items() if word != "$ref"}
    return _resolved(definitions[name] | beside, definitions, (*inside, name))


# The words


def _form_instructions(form: Form[BaseModel]) -> str:
    schema = wire_schema(form)
    return (
        f"{_opening(form.name)} It has these fields, all of them needed:\n{_field_list(schema)}\n"
        f"It looks like this, with your own values:\n{_compact(_skeleton(schema))}"
    )


def _toolbox_instructions(toolbox: Toolbox) -> str:
    parts = [_tool_instructions(name, arguments) for name, arguments in toolbox.tools.items()]
    example = _compact({"moves": [_example_move(*next(iter(toolbox.tools.items())))]})
    return (
        f'{_opening(toolbox.name)} Its only field, "moves", lists one or more moves; each names a tool and gives its '
        f"arguments. The tools:\n{chr(10).join(parts)}\nIt looks like this, with your own values:\n{example}"
    )


def _opening(name: str) -> str:
    return f"Reply with one JSON object of the form {name} and nothing else: no text around it, no code fence."


def _tool_instructions(name: str, arguments: type[BaseModel]) -> str:
    about = _plain_schema(arguments).get("description", "")
    return f"- {' '.join([f'{name}:', *about.split()])} {_compact(_example_move(name, arguments))}"


def _example_move(name: str, arguments: type[BaseModel]) -> Json:
    return {"tool": name, "arguments": _skeleton(_plain_schema(arguments))}


def _field_list(schema: Json) -> str:
    return "\n".join(
        f"- {name}: {' '.join([_in_words(field) + '.', *field.get('description', '').split()])}"
        for name, field in schema["properties"].items()
    )


def _in_words(schema: Json) -> str:
    """What to put there: `text or null`, `a list of text`, `"low" or "high"`."""
    if "anyOf" in schema:
        return " or ".join(_in_words(choice) for choice in schema["anyOf"])
    if "enum" in schema:
        return " or ".join(json.dumps(value, ensure_ascii=False) for value in schema["enum"])
    if schema.get("type") == "array":
        return f"a list of {_in_words(schema.get('items', {}))}"
    if schema.get("type") == "object":
        fields = (f"{name} ({_in_words(field)})" for name, field in schema["properties"].items())
        return f"objects with {', '.join(fields)}"
    return _WORDS.get(schema.get("type", ""), "null" if schema.get("type") == "null" else "any value")


def _skeleton(schema: Json) -> Any:
    """A value of the schema with nothing said in it."""
    if "anyOf" in schema:
        return _skeleton(schema["anyOf"][0])
    if "enum" in schema:
        return schema["enum"][0]
    if schema.get("type") == "array":
        return [_skeleton(schema.get("items", {}))]
    if schema.get("type") == "object":
        return {name: _skeleton(field) for name, field in schema["properties"].items()}
    return _SCALARS.get(schema.get("type", "string"), "...")


def _compact(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)

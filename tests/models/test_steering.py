import json
from collections.abc import Iterator
from typing import Any, Literal

import pytest
from pydantic import BaseModel, Field

from deepwell.models.shapes import Form, Prose, Shape, Toolbox
from deepwell.models.steering import instructions, wire_schema


class Part(BaseModel):
    """A part of the plan."""

    question: str = Field(description="What to find out.", min_length=3)
    searches: list[str] = Field(default=[], max_length=4)


class Plan(BaseModel):
    """What is to be done."""

    clarification: str | None = Field(default=None, description="A question back,\n    if there is one.")
    tier: Literal["quick", "deep"] = "quick"
    certainty: float = Field(default=0.5, ge=0, le=1)
    rounds: int = 1
    answerable: bool = True
    first: Part = Part(question="none")
    parts: list[Part] = []


class Think(BaseModel):
    """Think aloud."""

    reflection: str


class Nothing(BaseModel):
    pass


PLAN = Form("take_in", Plan)
TOOLS = Toolbox("supervise", {"make_plan": Plan, "think_tool": Think, "nothing": Nothing})
KNOWN_TO_ALL = {"type", "description", "properties", "required", "additionalProperties", "items", "anyOf", "enum"}


def nodes(schema: Any) -> Iterator[dict[str, Any]]:
    """Every schema in the schema."""
    yield schema
    children = [*schema.get("properties", {}).values(), *schema.get("anyOf", [])]
    for child in [*children, *([schema["items"]] if "items" in schema else [])]:
        yield from nodes(child)


@pytest.mark.parametrize("shape", [PLAN, TOOLS], ids=["form", "toolbox"])
def test_the_schema_uses_only_words_that_every_provider_knows(shape: Shape) -> None:
    assert set().union(*nodes(wire_schema(shape))) <= KNOWN_TO_ALL


@pytest.mark.parametrize("shape", [PLAN, TOOLS], ids=["form", "toolbox"])
def test_every_object_is_closed_and_every_field_required(shape: Shape) -> None:
    objects = [node for node in nodes(wire_schema(shape)) if node.get("type") == "object"]
    assert len(objects) >= 3
    for node in objects:
        assert node["additionalProperties"] is False
        assert node["required"] == list(node["properties"])


def test_a_form_is_its_fields() -> None:
    schema = wire_schema(PLAN)
    assert list(schema["properties"]) == list(Plan.model_fields)
    assert schema["description"] == "What is to be done."
    assert schema["properties"]["clarification"]["anyOf"] == [{"type": "string"}, {"type": "null"}]
    assert schema["properties"]["tier"] == {"type": "string", "enum": ["quick", "deep"]}
    assert schema["properties"]["parts"]["items"] == schema["properties"]["first"]
    assert schema["properties"]["first"]["properties"]["question"] == {
        "type": "string",
        "description": "What to find out.",
    }


def test_a_toolbox_is_a_list_of_moves() -> None:
    choices = wire_schema(TOOLS)["properties"]["moves"]["items"]["anyOf"]
    assert [choice["properties"]["tool"]["enum"] for choice in choices] == [["make_plan"], ["think_tool"], ["nothing"]]
    assert choices[1]["description"] == "Think aloud."
    assert choices[1]["properties"]["arguments"]["properties"] == {"reflection": {"type": "string"}}
    assert choices[2]["properties"]["arguments"]["properties"] == {}


def test_prose_is_text() -> None:
    assert wire_schema(Prose()) == {"type": "string"}


class Nested(BaseModel):
    inner: "Nested | None" = None


def test_a_form_that_contains_itself_is_refused() -> None:
    with pytest.raises(ValueError, match="Nested contains itself"):
        wire_schema(Form("nested", Nested))


def example_in(text: str) -> Any:
    """The skeleton at the end of the instructions."""
    return json.loads(text.splitlines()[-1])


def test_the_words_for_a_form_name_it_and_all_its_fields() -> None:
    text = instructions(PLAN)
    assert text.startswith("Reply with one JSON object of the form take_in and nothing else")
    assert "- clarification: text or null. A question back, if there is one." in text
    assert '- tier: "quick" or "deep".' in text
    assert "- parts: a list of objects with question (text), searches (a list of text)." in text


def test_the_skeleton_of_a_form_is_one() -> None:
    assert Plan.model_validate(example_in(instructions(PLAN))).tier == "quick"


def test_the_words_for_a_toolbox_name_all_its_tools() -> None:
    text = instructions(TOOLS)
    assert "Reply with one JSON object of the form supervise" in text
    assert '- think_tool: Think aloud. {"tool": "think_tool", "arguments": {"reflection": "..."}}' in text
    assert [move["tool"] for move in example_in(text)["moves"]] == ["make_plan"]
    Plan.model_validate(example_in(text)["moves"][0]["arguments"])


def test_prose_is_asked_for_without_json() -> None:
    assert "JSON" not in instructions(Prose())

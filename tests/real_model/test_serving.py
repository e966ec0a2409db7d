"""What the real server does with requests as they arrive from a chat model: shapes only, never how good a reply is."""

import asyncio
import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any
from urllib.request import urlopen

import openai
import pytest
from langchain_openai import ChatOpenAI
from pydantic import BaseModel, Field, SecretStr

STORY = "Write a long story about a diver and a shipwreck."

Short = Annotated[str, Field(max_length=20)]
"""Bounded, as every list below: without bounds so small a model fills a string until its reply is cut off."""


class Preferences(BaseModel):
    length: Short
    language: Short


class SubQuestion(BaseModel):
    question: Short
    searches: list[Short] = Field(max_length=2)
    settled_by: Short | None


class TakeIn(BaseModel):
    clarification: Short | None
    kind: Short
    assumptions: list[Short] = Field(max_length=2)
    preferences: Preferences
    subquestions: list[SubQuestion] = Field(min_length=1, max_length=2)


class Search(BaseModel):
    """Search the web."""

    query: str


@pytest.fixture
def chat(small_model: Any) -> Callable[[int], ChatOpenAI]:
    def build(longest_reply: int) -> ChatOpenAI:
        return ChatOpenAI(
            model="smollm2",
            base_url=small_model.base_url,
            api_key=SecretStr("none"),
            max_retries=0,
            timeout=300,
            stream_usage=True,
            max_completion_tokens=longest_reply,
            default_headers={"Connection": "close"},  # no socket may outlive the test that opened it
        )

    return build


def told(address: str) -> Any:
    with urlopen(address, timeout=30) as answer:  # noqa: S310
        return json.load(answer)


def test_a_plain_reply_arrives_with_its_cost(chat: Callable[[int], ChatOpenAI]) -> None:
    reply = chat(12).invoke(STORY)
    assert reply.text
    assert reply.usage_metadata
    assert 0 < reply.usage_metadata["output_tokens"] <= 12
    assert reply.usage_metadata["input_tokens"] > 0


def test_a_reply_keeps_to_a_nested_schema(chat: Callable[[int], ChatOpenAI]) -> None:
    steered = chat(500).with_structured_output(TakeIn, method="json_schema")
    assert isinstance(steered.invoke("Plan research on the Antikythera mechanism."), TakeIn)


def test_a_reply_keeps_to_a_choice_of_tools(chat: Callable[[int], ChatOpenAI]) -> None:
    def move(tool: str, argument: str) -> dict[str, Any]:
        text = {"type": "string", "maxLength": 20}
        arguments = {"type": "object", "properties": {argument: text}, "required": [argument]}
        properties = {"tool": {"const": tool}, "arguments": arguments}
        return {"type": "object", "properties": properties, "required": ["tool", "arguments"]}

    either = {"anyOf": [move("search_web", "query"), move("report_findings", "answer")]}
    moves = {"type": "array", "minItems": 1, "maxItems": 2, "items": either}
    schema = {"type": "object", "properties": {"moves": moves}, "required": ["moves"]}
    form = {"type": "json_schema", "json_schema": {"name": "investigate", "strict": True, "schema": schema}}
    reply = json.loads(chat(500).bind(response_format=form).invoke("Who built the mechanism?").text)
    assert {made["tool"] for made in reply["moves"]} <= {"search_web", "report_findings"}


def test_tools_are_neither_refused_nor_called(chat: Callable[[int], ChatOpenAI]) -> None:
    """The model's chat template knows no tools: the server drops them without a word, even when a call is required."""
    reply = chat(12).bind_tools([Search], tool_choice="any").invoke(STORY)
    assert not reply.tool_calls
    assert reply.text


def test_a_prompt_longer_than_the_context_is_refused(chat: Callable[[int], ChatOpenAI], small_model: Any) -> None:
    with pytest.raises(openai.BadRequestError) as refused:
        chat(12).invoke("word " * 2 * small_model.context_tokens)
    assert isinstance(refused.value.body, dict)
    assert refused.value.body["type"] == "exceed_context_size_error"
    assert refused.value.body["n_ctx"] == small_model.context_tokens


def test_a_reply_comes_in_pieces_and_its_cost_last(chat: Callable[[int], ChatOpenAI]) -> None:
    chunks = list(chat(8).stream(STORY))
    assert len([chunk for chunk in chunks if chunk.text]) > 1
    assert [bool(chunk.usage_metadata) for chunk in chunks].count(True) == 1


async def test_requests_at_the_same_time_wait_for_their_turn(chat: Callable[[int], ChatOpenAI]) -> None:
    replies = await asyncio.gather(*(chat(8).ainvoke(f"{STORY} Part {number}.") for number in range(3)))
    assert all(reply.text for reply in replies)


def test_the_server_tells_its_context(small_model: Any) -> None:
    properties = told(small_model.base_url.removesuffix("/v1") + "/props")
    (card,) = told(small_model.base_url + "/models")["data"]
    assert properties["default_generation_settings"]["n_ctx"] == small_model.context_tokens
    assert card["meta"]["n_ctx"] == small_model.context_tokens


@pytest.mark.usefixtures("small_model")
def test_the_server_ends_with_its_parent() -> None:
    command = [sys.executable, str(Path(__file__).with_name("serving.py"))]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdin
        assert process.stdout
        try:
            assert b"http://127.0.0.1:" in process.stdout.readline()
            process.stdin.close()
            assert process.wait(60) == 0
        finally:
            process.kill()

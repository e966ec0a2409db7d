import json
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from langchain_core.messages import AIMessage
from pydantic import BaseModel

from deepwell.models.replies import Call, MalformedReply, Told, calls_of, form_of, prose_of, told
from deepwell.models.scalars import is_null
from deepwell.models.shapes import Form, Toolbox


class Preferences(BaseModel):
    length: str = ""
    language: str = ""


class SubQuestion(BaseModel):
    question: str
    searches: list[str] = []
    settled_by: str = ""


class TakeIn(BaseModel):
    clarification: str | None = None
    kind: str = "fact"
    assumptions: list[str] = []
    preferences: Preferences = Preferences()
    subquestions: list[SubQuestion]


class Digest(BaseModel):
    answer: str
    gaps: list[str] = []


class SearchWeb(BaseModel):
    query: str


class FetchUrl(BaseModel):
    address: str


class Think(BaseModel):
    reflection: str


class Report(BaseModel):
    answer: str
    gaps: list[str] = []


TAKE_IN = Form("take_in", TakeIn)
DIGEST = Form("digest", Digest)
INVESTIGATE = Toolbox(
    "investigate", {"search_web": SearchWeb, "fetch_url": FetchUrl, "think_tool": Think, "report_findings": Report}
)


def said(text: str, calls: Sequence[Call] = (), *, cut_off: bool = False) -> Told:
    taken = told(AIMessage(text))
    return Told(taken.text, tuple(calls), cut_off, False, None, None, 0)


# Taking a message apart


@pytest.mark.parametrize(
    ("content", "text"),
    [
        ("Paris", "Paris"),
        ("", ""),
        (["Par", "is"], "Paris"),
        ([{"type": "text", "text": "Par"}, {"type": "text", "text": "is"}], "Paris"),
        ([{"type": "thinking", "thinking": "hm"}, {"type": "text", "text": "Paris"}], "Paris"),
        ([{"type": "reasoning", "reasoning": "hm"}, {"type": "text", "text": "<think>so</think>Paris"}], "Paris"),
        ([{"type": "tool_use", "name": "x", "input": {}}, {"type": "output_text", "text": "Paris"}], "Paris"),
        ([{"type": "text", "text": None}], ""),
        ("Par\x00is\r\n\ud83d", "Paris\n"),
        ("Paris<|im_end|>", "Paris "),
        ("Paris, and", "Paris, and"),
    ],
)
def test_the_text_is_what_was_said_aloud(content: Any, text: str) -> None:
    assert told(AIMessage(content)).text == text


def test_calls_come_from_valid_and_invalid_ones() -> None:
    message = AIMessage(
        "",
        tool_calls=[{"name": "search_web", "args": {"query": "a"}, "id": "1"}],
        invalid_tool_calls=[{"name": "search_web", "args": '{"query": "b', "id": "2", "error": "cut"}],
    )
    assert told(message).calls == (Call("search_web", {"query": "a"}), Call("search_web", '{"query": "b'))


def test_calls_in_the_old_way_count_too() -> None:
    message = AIMessage("", additional_kwargs={"function_call": {"name": "digest", "arguments": '{"answer": "x"}'}})
    assert form_of(told(message), DIGEST) == Digest(answer="x")


@pytest.mark.parametrize(
    ("metadata", "cut_off", "refused"),
    [
        ({}, False, False),
        ({"finish_reason": "stop"}, False, False),
        ({"finish_reason": "tool_calls"}, False, False),
        ({"finish_reason": "length"}, True, False),
        ({"finish_reason": "MAX_TOKENS"}, True, False),
        ({"finish_reason": "STOPMAX_TOKENS"}, True, False),
        ({"stop_reason": "max_tokens"}, True, False),
        ({"stop_reason": "model_context_window_exceeded"}, True, False),
        ({"stop_reason": "end_turn"}, False, False),
        ({"done_reason": "length"}, True, False),
        ({"status": "incomplete", "incomplete_details": {"reason": "max_output_tokens"}}, True, False),
        ({"status": "incomplete", "incomplete_details": {"reason": "content_filter"}}, False, True),
        ({"status": "completed"}, False, False),
        ({"finish_reason": "content_filter"}, False, True),
        ({"finish_reason": "SAFETY"}, False, True),
        ({"finish_reason": "PROHIBITED_CONTENT"}, False, True),
        ({"stop_reason": "refusal"}, False, True),
        ({"prompt_feedback": {"block_reason": "OTHER"}}, False, True),
        ({"prompt_feedback": {"block_reason": 0}}, False, False),
        ({"finish_reason": None, "status": 5}, False, False),
    ],
)
def test_why_it_stopped(metadata: dict[str, Any], cut_off: bool, refused: bool) -> None:
    taken = told(AIMessage("x", response_metadata=metadata))
    assert (taken.cut_off, taken.refused) == (cut_off, refused)


@pytest.mark.parametrize(
    "message",
    [
        AIMessage("", additional_kwargs={"refusal": "I cannot help with that."}),
        AIMessage([{"type": "refusal", "refusal": "I cannot help with that."}]),
    ],
)
def test_a_refusal_is_no_text(message: AIMessage) -> None:
    assert (told(message).refused, told(message).text) == (True, "")


def test_an_empty_refusal_is_none() -> None:
    assert not told(AIMessage("x", additional_kwargs={"refusal": None})).refused


def test_tokens_are_counted_when_the_provider_says() -> None:
    usage = {"input_tokens": 10, "output_tokens": 5, "total_tokens": 15, "input_token_details": {"cache_read": 4}}
    taken = told(AIMessage("x", usage_metadata=usage))
    assert (taken.prompt_tokens, taken.reply_tokens, taken.cached_tokens) == (10, 5, 4)
    taken = told(AIMessage("x"))
    assert (taken.prompt_tokens, taken.reply_tokens, taken.cached_tokens) == (None, None, 0)


# Forms


@pytest.mark.parametrize(
    "text",
    [
        '{"answer": "x [1]", "gaps": ["y"]}',
        'Sure!\n```json\n{"answer": "x [1]", "gaps": ["y"]}\n```\nThat cites [1].',
        '<think>{"answer": "no"}</think>{"answer": "x [1]", "gaps": "y"}',
        '{"answer": "<think>hm</think>x [1]", "gaps": ["y", null]}',
        '{"digest": {"answer": "x [1]", "gaps": ["y"]}}',
        '{"name": "digest", "arguments": "{\\"answer\\": \\"x [1]\\", \\"gaps\\": [\\"y\\"]}"}',
        '"{\\"answer\\": \\"x [1]\\", \\"gaps\\": [\\"y\\"]}"',
        '[{"Answer": "x [1]", "Gaps": ["y"]}]',
        "{'answer': 'x [1]', 'gaps': ['y'],}",
        '{"answer": "x [1]", "gaps": ["y"',
        '{"gaps": ["draft"]} and then {"answer": "x [1]", "gaps": ["y"]} as in [2]',
    ],
)
def test_a_form_is_read_from_text(text: str) -> None:
    assert form_of(said(text), DIGEST) == Digest(answer="x [1]", gaps=["y"])


@pytest.mark.parametrize(
    "arguments", [{"answer": "x"}, '{"answer": "x"}', '{"answer": "x', {"digest": {"answer": "x"}}]
)
def test_a_form_is_read_from_a_call(arguments: Any) -> None:
    assert form_of(said("Let me fill in the form.", [Call("digest", arguments)]), DIGEST) == Digest(answer="x")


def test_a_form_is_read_from_the_text_when_the_call_is_of_no_use() -> None:
    assert form_of(said('{"answer": "x"}', [Call("digest", {})]), DIGEST) == Digest(answer="x")


def test_a_plan_of_bare_questions_is_a_plan() -> None:
    plan = form_of(said('{"clarification": "None", "subquestions": ["Who?", {"question": "When?"}, 5, {}]}'), TAKE_IN)
    assert [one.question for one in plan.subquestions] == ["Who?", "When?"]
    assert plan.clarification is None


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("", "The reply is empty; one JSON object of the form take_in is needed."),
        ("Paris.", "The reply has nothing of use in it; one JSON object of the form take_in is needed."),
        ("It is so [1].", "The reply holds no JSON object."),
        ('{"kind": "fact"}', "The field `subquestions` is missing."),
        ('{"answer": "x"}', "The field `subquestions` is missing."),
        ('{"subquestions": [{"searches": ["a"]}]}', "The field `subquestions` has no item that can be used."),
        (json.dumps(TakeIn.model_json_schema()), "The reply repeats the schema instead of filling it in."),
    ],
)
def test_the_complaint_says_what_was_wrong(text: str, complaint: str) -> None:
    with pytest.raises(MalformedReply) as caught:
        form_of(said(text), TAKE_IN)
    assert str(caught.value) == complaint


# Calls

ONE_CALL = [
    '{"moves": [{"tool": "search_web", "arguments": {"query": "cats"}}]}',
    '{"moves": {"tool": "search_web", "arguments": {"query": "cats"}}}',
    '[{"tool": "search_web", "arguments": {"query": "cats"}}]',
    '{"tool": "search_web", "arguments": {"query": "cats"}}',
    '{"name": "search_web", "parameters": {"query": "cats"}}',
    '{"function": "search_web", "args": {"query": "cats"}}',
    '{"type": "function", "function": {"name": "search_web", "arguments": "{\\"query\\": \\"cats\\"}"}}',
    '{"tool_calls": [{"id": "1", "function": {"name": "search_web", "arguments": {"query": "cats"}}}]}',
    '{"action": "search_web", "action_input": "cats"}',
    '{"tool": "search_web", "query": "cats"}',
    '{"type": "search_web", "query": "cats"}',
    '{"search_web": {"query": "cats"}}',
    '{"query": "cats"}',
    '{"tool": "SearchWeb", "arguments": {"Query": "cats"}}',
    '{"tool": "search-web", "arguments": {"query": "cats"}}',
    '{"tool": "functions.search_web", "arguments": {"query": "cats"}}',
    '{"tool": "search_web", "arguments": {"properties": {"query": "cats"}}}',
    '<tool_call>\n{"name": "search_web", "arguments": {"query": "cats"}}\n</tool_call>',
    '<tool_call>{"name": "search_web", "arguments": {"query": "cats"}</tool_call>',
    '[TOOL_CALLS][{"name": "search_web", "arguments": {"query": "cats"}}]',
    '[TOOL_CALLS]search_web[ARGS]{"query": "cats"}',
    '<function=search_web>{"query": "cats"}</function>',
    "<tool_call><function=search_web><parameter=query>\ncats\n</parameter></function></tool_call>",
    '<invoke name="search_web"><parameter name="query">cats</parameter></invoke>',
    "<tool_call>search_web\n<arg_key>query</arg_key>\n<arg_value>cats</arg_value></tool_call>",
    'to=functions.search_web<|constrain|>json<|message|>{"query": "cats"}<|call|>',
    "search_web(query='cats')",
    'I will call `search_web("cats")` now.',
    '[search_web(query="cats")]',
    '```python\nsearch_web({"query": "cats"})\n```',
    '{"tool": "delete_all", "arguments": {}} {"tool": "search_web", "arguments": {"query": "cats"}}',
    '[{"tool": "search_web", "arguments": {}}, {"tool": "search_web", "arguments": {"query": "cats"}}]',
    '<think>perhaps {"tool": "fetch_url"}</think>{"tool": "search_web", "arguments": {"query": "cats"}}',
]


@pytest.mark.parametrize("text", ONE_CALL)
def test_a_call_is_read_from_text(text: str) -> None:
    assert calls_of(said(text), INVESTIGATE) == (SearchWeb(query="cats"),)


@pytest.mark.parametrize(
    "text",
    [
        '{"moves": [{"tool": "think_tool", "arguments": {"reflection": "hm"}}, {"tool": "search_web", "query": "a"}]}',
        '<tool_call>{"name": "think_tool", "reflection": "hm"}</tool_call>\n<tool_call>search_web {"query": "a"}',
        '{"tool": "think_tool", "args": {"reflection": "hm"}}\n{"tool": "search_web", "args": {"query": "a"}}',
        '{"think_tool": {"reflection": "hm"}, "search_web": {"query": "a"}}',
        'think_tool(reflection="hm")\nsearch_web(query="a")',
    ],
)
def test_several_calls_keep_their_order(text: str) -> None:
    assert calls_of(said(text), INVESTIGATE) == (Think(reflection="hm"), SearchWeb(query="a"))


def test_native_calls_come_before_written_ones() -> None:
    native = [Call("search_web", {"query": "a"}), Call("fetch_url", '{"address": "b'), Call("nothing", {})]
    taken = calls_of(said('{"tool": "search_web", "arguments": {"query": "c"}}', native), INVESTIGATE)
    assert taken == (SearchWeb(query="a"), FetchUrl(address="b"))


def test_written_calls_stand_in_for_native_ones_of_no_use() -> None:
    taken = said('search_web(query="a")', [Call("search_web", {}), Call("other", "{")])
    assert calls_of(taken, INVESTIGATE) == (SearchWeb(query="a"),)


@pytest.mark.parametrize(
    ("taken", "complaint"),
    [
        (said(""), "The reply calls no tool"),
        (said("I would use search_web next."), "The reply calls no tool"),
        (said('{"tool": "delete_all", "arguments": {}}'), "There is no tool `deleteall`"),
        (said("", [Call("search_web", {})]), "`search_web` was called, but the field `query` is missing"),
        (
            said("", [Call("search_web", {"type": "object", "properties": {"query": {"type": "string"}}})]),
            "`search_web` was called, but the reply repeats the schema instead of filling it in",
        ),
    ],
)
def test_without_a_usable_call_the_tools_are_named(taken: Told, complaint: str) -> None:
    with pytest.raises(MalformedReply) as caught:
        calls_of(taken, INVESTIGATE)
    tools = "`search_web`, `fetch_url`, `think_tool`, `report_findings`"
    assert str(caught.value) == f"{complaint}; call one of {tools}."


# Prose


def test_prose_is_cleaned() -> None:
    text = "<think>hm</think>Here is the section:\n```markdown\n## A\n\nB\x07 [1].\n```\n"
    assert prose_of(said(text)) == "## A\n\nB [1]."


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("<think>hm", "The reply is empty; the text itself is needed."),
        ("Sure!", "The reply has nothing of use in it; the text itself is needed."),
    ],
)
def test_prose_must_say_something(text: str, complaint: str) -> None:
    with pytest.raises(MalformedReply) as caught:
        prose_of(said(text))
    assert str(caught.value) == complaint


# Laws

LETTERS = st.characters(
    exclude_categories=["Cc", "Cs", "Zl", "Zp"], exclude_characters="<◁\ufeff\ufffe\uffff"
) | st.sampled_from("{}[]\":,'\\\n`")


def is_said(text: str) -> bool:
    """Whether a model means by it what it says: not "none", not "...", not the mark of a thought."""
    return not is_null(text) and "THINK]" not in text and (text == "" or text.strip().strip(".…") != "")


TEXTS = st.text(LETTERS, max_size=20).filter(is_said)
SUBQUESTIONS = st.builds(SubQuestion, question=TEXTS, searches=st.lists(TEXTS, max_size=2), settled_by=TEXTS)
PLANS = st.builds(
    TakeIn,
    clarification=st.none() | st.just("Which one?"),
    kind=TEXTS,
    assumptions=st.lists(TEXTS, max_size=2),
    preferences=st.builds(Preferences, length=TEXTS, language=TEXTS),
    subquestions=st.lists(SUBQUESTIONS, max_size=3),
)
NOISE = [
    "{}",
    "Sure! Here it is:\n{}",
    "```json\n{}\n```",
    "Here:\n```\n{}\n```\nDone [1].",
    '{{"take_in": {}}}',
    "[{}]",
]
THOUGHTS = ["", "<think>SECRET</think>", "SECRET</think>\n", '<reasoning>{"subquestions": ["SECRET"]}</reasoning>']


@given(PLANS, st.sampled_from(NOISE), st.sampled_from(THOUGHTS), st.booleans())
@settings(max_examples=150, deadline=None)
def test_a_form_comes_back_as_it_was_whatever_is_around_it(
    plan: TakeIn, noise: str, thought: str, ascii_: bool
) -> None:
    written = json.dumps(plan.model_dump(), ensure_ascii=ascii_)
    assert form_of(said(thought + noise.format(written)), TAKE_IN) == plan


@given(PLANS, st.data())
@settings(max_examples=100, deadline=None)
def test_a_form_that_was_cut_off_fits_or_is_malformed(plan: TakeIn, data: st.DataObject) -> None:
    written = plan.model_dump_json()
    cut = written[: data.draw(st.integers(0, len(written)))]
    with suppress(MalformedReply):
        assert len(form_of(said(cut), TAKE_IN).subquestions) <= len(plan.subquestions)


TOKENS = [
    "{",
    "}",
    "[",
    "]",
    '"',
    "'",
    ":",
    ",",
    "\\",
    "`",
    "\n",
    "1",
    "null",
    "<think>",
    "</think>",
    "<tool_call>",
    "```",
]
WORDS = ["answer", "gaps", "tool", "arguments", "query", "type", "search_web("]
WRITTEN = st.lists(st.sampled_from(TOKENS + WORDS) | st.text(max_size=5), max_size=30).map("".join)
SCALARS = st.none() | st.booleans() | st.text(max_size=5) | st.integers() | st.floats()
VALUES = st.recursive(SCALARS, lambda one: st.lists(one) | st.dictionaries(st.sampled_from(WORDS), one), max_leaves=8)


def read_in_every_way(taken: Told) -> None:
    with suppress(MalformedReply):
        form_of(taken, DIGEST)
    with suppress(MalformedReply):
        calls_of(taken, INVESTIGATE)
    with suppress(MalformedReply):
        prose_of(taken)


@given(WRITTEN, st.sampled_from(["search_web", "digest", ""]))
@settings(max_examples=150, deadline=None)
def test_no_text_raises_anything_else(text: str, name: str) -> None:
    read_in_every_way(said(text))
    read_in_every_way(said("", [Call(name, text)]))


@given(VALUES)
@settings(max_examples=150, deadline=None)
def test_no_value_raises_anything_else(value: Any) -> None:
    read_in_every_way(said(json.dumps(value)))
    read_in_every_way(said("", [Call("search_web", {"query": value})]))


def test_a_call_nested_beyond_measure_is_no_danger() -> None:
    value: Any = "x"
    for _ in range(900):
        value = {"query": [value]}
    read_in_every_way(said("", [Call("search_web", value)]))

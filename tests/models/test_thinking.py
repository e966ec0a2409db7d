import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deepwell.models.thinking import without_thinking

MARKED = [
    ("<think>hm</think>Paris", "Paris"),
    ("<think>\nhm\n</think>\n\nParis", "Paris"),
    ("<THINK>hm</THINK>Paris", "Paris"),
    ("<Thinking>hm</thinking>Paris", "Paris"),
    ("<reasoning>hm</reasoning>Paris", "Paris"),
    ("<thought>hm</thought>Paris", "Paris"),
    ('<think time="3s">hm</think>Paris', "Paris"),
    ("<seed:think>hm</seed:think>Paris", "Paris"),
    ("<|thinking|>hm<|/thinking|>Paris", "Paris"),
    ("<|START_THINKING|>hm<|END_THINKING|>Paris", "Paris"),
    ("<|begin_of_thought|>hm<|end_of_thought|>Paris", "Paris"),
    ("[THINK]hm[/THINK]Paris", "Paris"),
    ("◁think▷hm◁/think▷Paris", "Paris"),
    ("<|channel|>analysis<|message|>hm<|end|><|start|>assistant<|channel|>final<|message|>Paris", "Paris"),
    ("<|channel|>analysis<|message|>hm, and on and on", ""),
    ("Par<think>hm</think>is", "Paris"),
    ("<think>a</think>Par<think>b</think>is", "Paris"),
    ("<think>a <think>b</think> c</think>Paris", "Paris"),
    ("<think>a <reasoning>b</reasoning> c</think>Paris", "Paris"),
    ("<think>should I close <think>? yes</think>Paris", "Paris"),
    ("hm, let me see {x}</think>Paris", "Paris"),
    ("a</think>b</think>Paris", "Paris"),
    ("<think>hm", ""),
    ("  <think>hm, so it is Paris", ""),
    ("Paris\n<think>or is it", "Paris"),
    ('<think>I will say so. {"a": 1}', '{"a": 1}'),
    ('<think>Perhaps {"a": 0}? No.\n```json\n{"a": 1}\n```', '{"a": 1}\n```'),
    ('<think>two\n<tool_call>{"a": 1}</tool_call>{"a": 2}', '{"a": 1}</tool_call>{"a": 2}'),
    ('<think>Perhaps {"a": 0}? I am not sure', ""),
    ("<think>see [1]", ""),
    ('{"a": "<think>hm</think>Paris"}', '{"a": "Paris"}'),
    ('{"a": "hm</think>Paris", "b": ["c"]}', '{"a": "hmParis", "b": ["c"]}'),
    ('{"a": 1} or rather</think>{"a": 2}', '{"a": 2}'),
]


@pytest.mark.parametrize(("said", "meant"), MARKED)
def test_thinking_is_taken_out(said: str, meant: str) -> None:
    assert without_thinking(said).strip() == meant


@pytest.mark.parametrize(
    "text",
    [
        "I think, therefore I am.",
        "The think tank (see [1]) thinks </b> otherwise.",
        "R1 wraps its reasoning in `<think>` and `</think>`.",
        "R1 writes `<think>like this</think>` first.",
        "R1 opens with a <think> tag and goes on.",
        "List<Thought> and Map<K, V>",
        "[Think] of a number",
        '{"a": "<think> is a tag"}',
    ],
)
def test_a_text_about_thinking_is_left_alone(text: str) -> None:
    assert without_thinking(text) == text


TEXTS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="`<[{◁"), max_size=40)


@given(st.lists(st.tuples(TEXTS, TEXTS), min_size=1, max_size=4), TEXTS, st.sampled_from(["think", "Reasoning"]))
@settings(max_examples=80, deadline=None)
def test_thinking_never_survives(parts: list[tuple[str, str]], end: str, tag: str) -> None:
    said = "".join(f"{text}<{tag}>SECRET {thought} SECRET</{tag}>" for text, thought in parts) + end
    assert without_thinking(said) == "".join(text for text, _ in parts) + end


@given(st.text(max_size=40), TEXTS)
@settings(max_examples=80, deadline=None)
def test_nothing_before_a_stray_closing_tag_survives(thought: str, answer: str) -> None:
    assert without_thinking(f"SECRET {thought}</think>{answer}") == answer

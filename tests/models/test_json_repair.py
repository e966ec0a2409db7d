import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deepwell.models.json_repair import DEEPEST, Json, found_in, values_in

READABLE = st.one_of(
    st.characters(exclude_categories=["Cc", "Cs", "Zl", "Zp"], exclude_characters="\ufeff\ufffe\uffff"),
    st.sampled_from("{}[]\":,'\\ \n\t/#`<“”=123"),
)
TEXTS = st.text(READABLE, max_size=30)
SCALARS = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | TEXTS
VALUES = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3), max_leaves=10
)
CONTAINERS = st.lists(VALUES, max_size=3) | st.dictionaries(TEXTS, VALUES, max_size=3)

WRITINGS: list[tuple[str, Json]] = [
    ('{"a": 1}', {"a": 1}),
    ('Sure! Here you go:\n```json\n{"a": 1}\n```\nAnything else?', {"a": 1}),
    ('```\n{"a": ["x"]}\n```', {"a": ["x"]}),
    ("{'a': 'x', 'b': [True, False, None]}", {"a": "x", "b": [True, False, None]}),
    ("{'a': 'it's here', 'b': 'don't'}", {"a": "it's here", "b": "don't"}),
    ("{“a”: “x”, “b”: [“y”]}", {"a": "x", "b": ["y"]}),
    ('{"a": [1, 2, 3,], "b": {"c": 1,},}', {"a": [1, 2, 3], "b": {"c": 1}}),
    ('{"a": 1, // one\n "b": 2, # two, not three\n /* three: */ "c": 3}', {"a": 1, "b": 2, "c": 3}),
    ('{"a": 5 // five, not six\n}', {"a": 5}),
    ('{a: 1, b_c: "x, y", d-e: [z]}', {"a": 1, "b_c": "x, y", "d-e": ["z"]}),
    ('{"a": "line one\nline two\ttabbed"}', {"a": "line one\nline two\ttabbed"}),
    ('{"a": "He said "yes" and left", "b": 1}', {"a": 'He said "yes" and left', "b": 1}),
    ('{"a": "He said "yes", "no" and left", "b": 1}', {"a": 'He said "yes", "no" and left', "b": 1}),
    ('{"a": "the "big" one [1], [2]"}', {"a": 'the "big" one [1], [2]'}),
    ('{"a": ["the "big" one, and more", "b"]}', {"a": ['the "big" one, and more', "b"]}),
    ('{"a": "x" "b": "y"}', {"a": "x", "b": "y"}),
    ('{"a": "x"\n "b": ["y"\n "z"]}', {"a": "x", "b": ["y", "z"]}),
    ('{"a": "x,\n "b": "y"}', {"a": "x", "b": "y"}),
    ('{"a": "x, "b": "y"}', {"a": "x", "b": "y"}),
    ('{"a": ["x", "y], "b": "z"}', {"a": ["x", "y"], "b": "z"}),
    ('[{"a": "x}, {"a": "y"}]', [{"a": "x"}, {"a": "y"}]),
    ('{"a": ["x" "y"], "b": null "c": 1}', {"a": ["x", "y"], "b": None, "c": 1}),
    ('{"a": ["x", "y", "b": "z"}', {"a": ["x", "y"], "b": "z"}),
    ('{"a": "x", b": 1}', {"a": "x", "b": 1}),
    ('{"a": """he said "x", "b": 1""", "c": 2}', {"a": 'he said "x", "b": 1', "c": 2}),
    ('{"a": "x", "b": [1, 2', {"a": "x", "b": [1, 2]}),
    ('{"a": "x", "b": ["one", "tw', {"a": "x", "b": ["one", "tw"]}),
    ('{"a": "x", "b', {"a": "x"}),
    ('{"a": "x", "b":', {"a": "x"}),
    ('{"a": "caf\\u00', {"a": "caf"}),
    ('{"a": [{"b": 1}, {"b": 2], "c": 3}', {"a": [{"b": 1}, {"b": 2}], "c": 3}),
    ('{"a": [{"b": 1, {"b": 2}]}', {"a": [{"b": 1}, {"b": 2}]}),
    ('{"a": [1, 2}', {"a": [1, 2]}),
    ('```json\n{"a": "x", "b": ["y"\n```\nDone.', {"a": "x", "b": ["y"]}),
    ('{{"a": 1}}', {"a": 1}),
    ('{"a": NaN, "b": -Infinity, "c": Infinity, "d": 1e999, "e": undefined}', dict.fromkeys("abcde")),
    ('{"a": 0012, "b": +5, "c": 1.5e3, "d": 2024-01-02}', {"a": 12, "b": 5, "c": 1500.0, "d": "2024-01-02"}),
    ('{"a": , "b": 1}', {"a": None, "b": 1}),
    ('{"a": [1, ..., 2, ...], "b": "…"}', {"a": [1, 2], "b": "…"}),
    ('{"a": "\\frac{1}{2} \\alpha C:\\dir \\\'x\\\'"}', {"a": "\\frac{1}{2} \\alpha C:\\dir 'x'"}),
    ('{"a": "\\ud83d\\ude00 \\ud83d \\u0000x\\u0007"}', {"a": "😀  x"}),
    ('"{\\"a\\": \\"x \\\\\\"y\\\\\\" z\\"}"', {"a": 'x "y" z'}),
    ('{\\"a\\": 1}', {"a": 1}),
    ('{"a": "```python\\nx = {}\\n```"}', {"a": "```python\nx = {}\n```"}),
    ('I weigh [the options; {x} or {"y.\n```json\n{"a": 1}\n```', {"a": 1}),
    ("[{'a': 1}, {'a': 2}]", [{"a": 1}, {"a": 2}]),
]


@pytest.mark.parametrize(("written", "meant"), WRITINGS)
def test_it_reads_what_was_meant(written: str, meant: Json) -> None:
    assert meant in [found.value for found in values_in(written)]


@pytest.mark.parametrize(
    "text", ["", "no JSON at all", "the set {x} of [things]", "{", "[", "{}", '"', "{{{}}}", "```"]
)
def test_there_may_be_nothing(text: str) -> None:
    assert values_in(text) == ()


def test_it_finds_all_values_in_order() -> None:
    text = 'First {"a": 1}, then [2, 3] (see [4]), and {"b": 5}.'
    assert [found.value for found in values_in(text)] == [{"a": 1}, [2, 3], [4], {"b": 5}]


def test_it_says_where_a_value_stood_and_whether_it_was_whole() -> None:
    whole, half = values_in('x {"a": 1} {"b": [2')
    assert (whole.start, whole.end, whole.closed) == (2, 10, True)
    assert (half.start, half.end, half.closed) == (11, 19, False)


@given(CONTAINERS, st.booleans(), st.sampled_from([None, 2]))
@settings(max_examples=150, deadline=None)
def test_valid_json_reads_as_json_loads_reads_it(value: Json, ascii_only: bool, indent: int | None) -> None:
    written = json.dumps(value, ensure_ascii=ascii_only, indent=indent)
    found = next(found_in(written))
    assert found.value == json.loads(written)
    assert (found.end, found.closed) == (len(written), True)


@given(CONTAINERS, st.data())
@settings(max_examples=80, deadline=None)
def test_json_that_was_cut_off_keeps_what_came_before(value: Json, data: st.DataObject) -> None:
    written = json.dumps(value)
    cut = written[: data.draw(st.integers(1, len(written)))]
    for found in found_in(cut):
        assert type(found.value) is type(value)
        assert len(found.value) <= len(value)  # type: ignore[arg-type]


@given(st.text(READABLE | st.characters(), max_size=200))
@settings(max_examples=150, deadline=None)
def test_any_text_can_be_read(text: str) -> None:
    for found in values_in(text):
        json.dumps(found.value, allow_nan=False).encode()


# A reader that goes back over its text would take minutes for each of these.
@pytest.mark.parametrize("opening", ["", '{"a": "'])
@pytest.mark.parametrize(
    "unit", ["[", '"', "{}", '{"', '["a', '\\"', '{"a":', '", "b": ', "```{", "“", '"\n"a":', '{\\"']
)
def test_hostile_text_comes_to_an_end(opening: str, unit: str) -> None:
    text = opening + unit * (100_000 // len(unit))
    assert all(0 <= found.start < found.end <= len(text) for found in found_in(text))


def test_depth_is_limited() -> None:
    (found,) = values_in("[" * 100_000)
    depth, value = 0, found.value
    while isinstance(value, list) and value:
        depth, value = depth + 1, value[0]  # type: ignore[assignment]
    assert depth < DEEPEST

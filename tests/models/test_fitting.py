from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import Annotated, Any, Literal

import pytest
from pydantic import BaseModel, ConfigDict, Field

from deepwell.models.fitting import arguments_fit, best_fit
from deepwell.models.scalars import Unfit


class Tier(StrEnum):
    QUICK = "quick"
    VERY_DEEP = "very-deep"


class Part(BaseModel):
    model_config = ConfigDict(frozen=True)

    heading: str
    claims: tuple[int, ...] = ()


class Everything(BaseModel):
    """One field of every kind, all but one with a default."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    text: str
    number: int = 7
    share: float = 0.5
    sure: bool = False
    maybe: str | None = None
    either: int | str = 0
    words: tuple[str, ...] = ("kept",)
    numbers: list[int] = [1]
    kind: Literal["fact", "how to"] = "fact"
    tier: Tier = Tier.QUICK
    part: Part = Part(heading="none")
    parts: Sequence[Part] = ()
    counts: Mapping[str, int] = {}
    small: Annotated[int, Field(ge=0, le=9)] = 3
    few: list[Annotated[int, Field(le=9)]] = []
    anything: Any = None
    renamed: str = Field("", alias="newName")


def fitted(**given: object) -> Everything:
    return best_fit(Everything, [{"text": "t", **given}], "everything")


FITTING = [
    ("text", 5, "5"),
    ("text", True, "true"),
    ("text", ["one", "two"], "one\ntwo"),
    ("text", {"value": "one"}, "one"),
    ("text", "a\x00b\ud800", "ab"),
    ("text", "<think>hm</think>a", "a"),
    ("text", "x" * 100_000, "x" * 100_000),
    ("number", "12", 12),
    ("number", "12,000", 12_000),
    ("number", "[4]", 4),
    ("number", "-3", -3),
    ("number", "sq-1", 1),
    ("number", 3.0, 3),
    ("number", "none", 7),
    ("number", 3.5, 7),
    ("number", "1-2", 7),
    ("number", None, 7),
    ("number", {"type": "integer"}, 7),
    ("share", "0.8", 0.8),
    ("share", "80%", 0.8),
    ("share", "high", 0.5),
    ("share", float("nan"), 0.5),
    ("sure", "Yes", True),
    ("sure", "no", False),
    ("sure", 1, True),
    ("sure", "perhaps", False),
    ("maybe", "null", None),
    ("maybe", "None", None),
    ("maybe", "", None),
    ("maybe", "Na", "Na"),
    ("either", "x", "x"),
    ("either", 5, 5),
    ("words", "one", ("one",)),
    ("words", '["one", "two"]', ("one", "two")),
    ("words", "[1] says so [2]", ("[1] says so [2]",)),
    ("words", "", ()),
    ("words", None, ("kept",)),
    ("words", "none", ("kept",)),
    ("words", ["one", "None", "n/a"], ("one",)),
    ("kind", "N/A", "fact"),
    ("words", [1, None, {"a": 1, "b": 2}, {"gap": "two"}, "...", "three"], ("1", "two", "three")),
    ("words", {"1": "one", "2": "two"}, ("one", "two")),
    ("words", {"type": "array", "items": {"type": "string"}}, ("kept",)),
    ("numbers", "1, 2 and 3", [1, 2, 3]),
    ("numbers", ["1", "[2]", "x", 3.0, None, True], [1, 2, 3]),
    ("numbers", 4, [4]),
    ("kind", "How-To", "how to"),
    ("kind", "poem", "fact"),
    ("tier", "Very Deep", Tier.VERY_DEEP),
    ("tier", "VERY_DEEP", Tier.VERY_DEEP),
    ("tier", "shallow", Tier.QUICK),
    ("part", {"Heading": "a", "claims": ["2"]}, Part(heading="a", claims=(2,))),
    ("part", "a", Part(heading="a")),
    ("part", '{"heading": "a"}', Part(heading="a")),
    ("part", [{"heading": "a"}], Part(heading="a")),
    ("part", {"claims": [1]}, Part(heading="none")),
    ("parts", ["a", {"heading": "b"}, {"claims": [1]}, None], [Part(heading="a"), Part(heading="b")]),
    ("parts", {"heading": "a"}, [Part(heading="a")]),
    ("parts", {"items": [{"heading": "a"}]}, [Part(heading="a")]),
    ("counts", {"a": "1", "b": "x"}, {"a": 1}),
    ("small", 10, 3),
    ("few", [1, 20, 3], [1, 3]),
    ("anything", {"a": [1]}, {"a": [1]}),
    ("newName", "x", "x"),
    ("renamed", "x", "x"),
]


@pytest.mark.parametrize(("field", "given", "meant"), FITTING)
def test_a_value_is_fitted_where_that_does_no_harm(field: str, given: object, meant: object) -> None:
    assert getattr(fitted(**{field: given}), {"newName": "renamed"}.get(field, field)) == meant


def test_unknown_fields_are_ignored_and_names_may_be_spelled_otherwise() -> None:
    assert best_fit(Everything, [{"Text": "a", "SURE": "true", "colour": 5}], "x") == Everything(text="a", sure=True)


@pytest.mark.parametrize(
    ("given", "complaint"),
    [
        ({"number": 5}, "The field `text` is missing."),
        ({"text": None}, "The field `text` is missing."),
        ({"text": {"a": 1, "b": 2}}, "The field `text` must be text."),
        ({"text": "..."}, "The field `text` holds the dots of the example instead of a value."),
        ({"colour": 5}, "The field `text` is missing."),
        (5, "The reply holds no JSON object."),
        (Everything.model_json_schema(), "The reply repeats the schema instead of filling it in."),
        (Everything.model_json_schema()["properties"], "The reply repeats the schema instead of filling it in."),
    ],
)
def test_what_is_essential_must_be_there(given: object, complaint: str) -> None:
    with pytest.raises(Unfit) as caught:
        best_fit(Everything, [given], "everything")
    assert caught.value.sentence == complaint


class Book(BaseModel):
    title: str
    chapters: list[Part]
    cover: Part = Part(heading="none")


@pytest.mark.parametrize(
    ("given", "complaint"),
    [
        ({"title": "a"}, "The field `chapters` is missing."),
        ({"title": "a", "chapters": [{"claims": [1]}]}, "The field `chapters` has no item that can be used."),
    ],
)
def test_the_complaint_names_the_field(given: object, complaint: str) -> None:
    with pytest.raises(Unfit) as caught:
        best_fit(Book, [given], "book")
    assert caught.value.sentence == complaint


WHOLE = {"title": "a", "chapters": [{"heading": "b"}]}


@pytest.mark.parametrize(
    "wrapped",
    [
        WHOLE,
        [WHOLE],
        {"book": WHOLE},
        {"arguments": WHOLE},
        {"name": "book", "parameters": WHOLE},
        {"function": {"name": "book", "arguments": '{"title": "a", "chapters": [{"heading": "b"}]}'}},
        {"title": "book", "type": "object", "properties": WHOLE},
        {"type": "object", "properties": {"book": WHOLE}},
        {"tool_calls": [{"function": {"arguments": WHOLE}}]},
        {"Here is the answer": WHOLE},
        [{"thought": "hm"}, WHOLE],
        [{"title": "a draft"}, WHOLE],
    ],
)
def test_the_object_is_found_in_its_wrapping(wrapped: object) -> None:
    assert best_fit(Book, [wrapped], "book") == Book(title="a", chapters=[Part(heading="b")])


def test_a_list_of_items_is_taken_for_the_field_it_belongs_to() -> None:
    class Chapters(BaseModel):
        title: str = "untitled"
        chapters: list[Part]

    assert best_fit(Chapters, [[{"heading": "b"}]], "chapters").chapters == [Part(heading="b")]


def test_of_several_objects_the_fullest_is_taken_and_then_the_last() -> None:
    drafts = [{"title": "a"}, WHOLE | {"title": "first"}, WHOLE | {"title": "second"}, {"chapters": []}]
    assert best_fit(Book, drafts, "book").title == "second"


def test_an_object_that_does_not_fit_is_passed_over() -> None:
    broken = WHOLE | {"chapters": [{}], "cover": {"heading": "c"}}
    assert best_fit(Book, [WHOLE, broken], "book").title == "a"


class Done(BaseModel):
    confidence: float = 0.5
    gaps: list[str] = []


@pytest.mark.parametrize("arguments", [{}, "", "{}", "{", {"summary": "all found"}, "all found", {"confidence": None}])
def test_a_tool_that_needs_nothing_may_be_called_with_anything(arguments: object) -> None:
    assert arguments_fit(Done, arguments, "done") == Done()


def test_a_schema_is_no_call() -> None:
    with pytest.raises(Unfit):
        arguments_fit(Done, Done.model_json_schema(), "done")


def test_one_text_is_the_one_argument() -> None:
    assert arguments_fit(Part, "a heading", "part") == Part(heading="a heading")


def test_own_rules_of_a_type_are_kept() -> None:
    class Picky(BaseModel):
        number: Annotated[int, Field(ge=10)]

    with pytest.raises(Unfit, match="number"):
        best_fit(Picky, [{"number": 5}], "picky")
    assert best_fit(Picky, [{"number": "50"}], "picky").number == 50

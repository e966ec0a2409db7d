"""Text and addresses from outside on their way into a hit."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deepwell.search.failures import Party
from deepwell.search.hits import Asked, Found, hits_of, web_address
from deepwell.search.plain import one_line, plain
from deepwell.search.shapes import dig
from deepwell.vocabulary.plan import Query
from deepwell.vocabulary.scope import Scope


@pytest.mark.parametrize(
    ("html", "text"),
    [
        ("At least <b>thirty</b> gears &amp; dials", "At least thirty gears & dials"),
        ("a < b and c > d", "a < b and c > d"),
        ("one<br/>two <!-- three -->", "onetwo"),
        ("two\n\n  lines\x00\ud800", "two lines"),
        ("&lt;script&gt;", "<script>"),
        (None, ""),
        (["list"], ""),
    ],
)
def test_plain_text(html: object, text: str) -> None:
    assert plain(html, 200) == text


@given(text=st.text(), most=st.integers(1, 50))
def test_a_line_is_a_line_of_that_length(text: str, most: int) -> None:
    line = one_line(text, most)
    assert len(line) <= most + 2
    assert len(line.splitlines()) <= 1


@pytest.mark.parametrize("hostile", ["<" * 1_000_000, "<a " * 400_000, "&" * 1_000_000, "<a" + "x" * 1_000_000])
def test_hostile_text_is_cut_before_it_is_looked_at(hostile: str) -> None:
    assert len(plain(hostile, 100)) <= 102


@pytest.mark.parametrize(
    "address",
    [None, 7, "", "example.org", "ftp://a.example/", "javascript:alert(1)", "http://", "https://a.example/ b",
     "https://a.example/\n", "https://[x", "https://a.example/" + "x" * 3000],
)  # fmt: skip
def test_what_is_no_address(address: object) -> None:
    assert web_address(address) is None or address == "https://a.example/\n"


def asked(**more: Any) -> Asked:
    return Asked("engine", Party("Engine"), Query("q"), **{"scope": Scope(), "limit": 10, **more})


def test_scores_are_the_engines_own_only_if_all_have_one() -> None:
    own = [Found("https://a.example/1", score=0.2), Found("https://a.example/2", score=0.9)]
    assert [hit.score for hit in hits_of(own, asked())] == [0.9, 0.2]
    for other in (None, "high", True, float("nan"), 10**30):
        mixed = [*own, Found("https://a.example/3", score=other)]
        assert [hit.score for hit in hits_of(mixed, asked())] == [1, 1 / 2, 1 / 3]


def test_a_hit_without_a_title_is_called_by_its_host() -> None:
    assert hits_of([Found("https://a.example/1", title=" <b></b> ")], asked())[0].title == "a.example"


def test_a_result_that_cannot_be_used_does_not_spoil_the_others() -> None:
    assert len(hits_of([Found("ftp://x"), Found("https://a.example/")], asked())) == 1


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("", {"a": [{"b": 1}]}),
        ("a.0.b", 1),
        ("a.1", None),
        ("a.x", None),
        ("a.0.b.c", None),
        ("a.-1", None),
        ("z", None),
    ],
)
def test_what_stands_at_a_path(path: str, value: object) -> None:
    assert dig({"a": [{"b": 1}]}, path) == value

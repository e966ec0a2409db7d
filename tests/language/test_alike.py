import pytest
from hypothesis import given
from hypothesis import strategies as st

from deepwell.language.alike import Wording, are_copies, without_copies

TEXT = (
    "The ferry company said on Monday that it would buy two electric ships for the northern route, each of which "
    "carries 400 passengers and 60 cars, and that the first is due in spring."
)


def copies(one: str, other: str) -> bool:
    return are_copies(Wording.of(one), Wording.of(other))


@pytest.mark.parametrize(
    "other",
    [TEXT, TEXT.upper(), f"Oslo (agency) – {TEXT}", f"{TEXT} Read more below.", TEXT.replace(" and ", " AND ")],
)
def test_the_same_report_on_another_site_is_a_copy(other: str) -> None:
    assert copies(TEXT, other)
    assert copies(other, TEXT)


@pytest.mark.parametrize(
    "other",
    [
        TEXT.replace("400", "250"),
        TEXT.replace("would buy", "would not buy"),
        TEXT.replace("northern", "southern"),
        f"{TEXT} The other one follows in 2031.",
        "",
        "A short text about a ferry.",
    ],
)
def test_what_says_something_else_is_none(other: str) -> None:
    assert not copies(TEXT, other)


@pytest.mark.parametrize(
    "refutation",
    [
        f"It is not true that {TEXT}",
        f"{TEXT[:-1]}, but this was later shown to be false.",
        TEXT.replace("is due", "is not due"),
        TEXT.replace("is due", "isn't due"),
        f"{TEXT} The report was retracted.",
        f"Das stimmt nicht: {TEXT}",
        f"Неверно: {TEXT}",
    ],
)
def test_who_repeats_a_report_to_deny_it_is_no_copy(refutation: str) -> None:
    assert not copies(TEXT, refutation)
    assert not copies(refutation, TEXT)
    assert copies(refutation, f"{refutation} Read more below.")


def test_a_chinese_report_that_denies_another_is_no_copy() -> None:
    report = "轮渡公司周一表示将为北方航线购买两艘电动船，首艘将于春季交付。"
    assert copies(report, f"{report}更多")
    assert not copies(report, f"{report}这不是真的")


def test_short_texts_are_copies_only_when_equal() -> None:
    assert copies("Two ships were bought.", "two ships were bought")
    assert not copies("Two ships were bought.", "Two ships were sold.")


def test_the_first_of_several_copies_stays_in_its_place() -> None:
    assert list(without_copies([TEXT, "another", TEXT.lower(), "third"], str)) == [TEXT, "another", "third"]


@given(st.lists(st.text(alphabet="ab c1", max_size=80), max_size=8))
def test_nothing_but_copies_is_dropped(texts: list[str]) -> None:
    kept = list(without_copies(texts, str))
    assert [text for text in texts if text in kept] or not texts
    assert all(any(copies(text, other) for other in kept) for text in texts if text not in kept)

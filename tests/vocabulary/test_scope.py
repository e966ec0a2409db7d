"""Where and when a search may look."""

from datetime import date

import pytest

from deepwell.errors import BadRequest
from deepwell.reading.addresses import WebAddress
from deepwell.vocabulary.scope import Scope


def test_what_people_write_is_brought_into_one_form() -> None:
    scope = Scope(
        include_sites=("https://www.Example.org/docs?x", "example.org", "bücher.example"), language=" DE ", region="at"
    )
    assert scope.include_sites == ("example.org", "xn--bcher-kva.example")
    assert (scope.language, scope.region) == ("de", "AT")


@pytest.mark.parametrize(
    "wrong",
    [
        {"include_sites": ("nosite",)},
        {"exclude_sites": ("",)},
        {"exclude_sites": ("a b.example OR site:evil.example",)},
        {"include_sites": ("https://[x",)},
        {"language": "german"},
        {"region": "A1"},
        {"since": date(2024, 2, 1), "until": date(2024, 1, 1)},
    ],
)
def test_what_cannot_be_meant_is_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(BadRequest):
        Scope(**wrong)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("address", "inside"),
    [
        ("https://example.org/a", True),
        ("https://docs.EXAMPLE.org/a", True),
        ("https://old.example.org/a", False),
        ("https://notexample.org/", False),
        ("https://example.org.evil.example/", False),
        ("https://example.org@evil.example/", False),
        ("https://[x", False),
    ],
)
def test_sites(address: str, inside: bool) -> None:
    assert Scope(include_sites=("example.org",), exclude_sites=("old.example.org",)).admits(address, None) is inside


@pytest.mark.parametrize("site", ["münchen.de", "xn--mnchen-3ya.de", "MU\u0308NCHEN.de"])
@pytest.mark.parametrize("host", ["münchen.de", "www.xn--mnchen-3ya.de", "Mu\u0308nchen.de", "münchen.de."])
def test_a_site_is_the_same_in_every_spelling(site: str, host: str) -> None:
    assert Scope(include_sites=(site,)).admits_site(f"https://{host}/x")
    assert not Scope(exclude_sites=(site,)).admits_site(f"https://{host}/x")


def test_a_site_is_spelled_as_it_will_be_asked_for() -> None:
    scope = Scope(exclude_sites=("straße.de",))
    assert not scope.admits_site(WebAddress.parse("https://straße.de/").url)
    assert scope.admits_site("https://strasse.de/")
    assert not Scope(include_sites=("example.org",)).admits_site("https://i❤.example/")


@pytest.mark.parametrize(
    ("published", "inside"),
    [
        (None, True),
        ("2024-03-05", True),
        ("2024-03-04", False),
        ("2024-06-30", True),
        ("2024-07-01", False),
        ("2024-03", True),
        ("2024-02", False),
        ("2024", True),
        ("2023", False),
        ("2025", False),
    ],
)
def test_dates_count_as_inside_when_a_part_of_them_is(published: str | None, inside: bool) -> None:
    scope = Scope(since=date(2024, 3, 5), until=date(2024, 6, 30))
    assert scope.admits("https://a.example/", published) is inside
    assert Scope().admits("https://a.example/", published)


def test_language_and_region_leave_nothing_to_filter() -> None:
    assert not Scope(language="de", region="AT").narrows
    assert Scope(exclude_sites=("a.example",)).narrows


def test_days_may_be_written_as_months_and_years() -> None:
    scope = Scope.written(since="2023", until="2024-02", sites="a.example, www.B.example", not_sites="c.example")
    assert (scope.since, scope.until) == (date(2023, 1, 1), date(2024, 2, 29))
    assert scope.include_sites == ("a.example", "b.example")
    assert scope.exclude_sites == ("c.example",)


@pytest.mark.parametrize("day", ["yesterday", "2024-13", "2024-02-30", "24", "0000", "2024-", "٢٠٢٤"])
def test_what_is_no_date_is_said(day: str) -> None:
    with pytest.raises(BadRequest, match="is no date; write it as"):
        Scope.written(since=day)

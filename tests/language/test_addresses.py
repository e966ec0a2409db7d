import pytest
from hypothesis import given
from hypothesis import strategies as st

from deepwell.language.addresses import canonical_address, domain, is_web

SAME = "https://example.org/a?page=2"


@pytest.mark.parametrize(
    "address",
    [
        "http://example.org/a?page=2",
        "https://www.example.org/a/?page=2",
        "https://EXAMPLE.org:443/a?page=2#section",
        "https://example.org/a/index.html?page=2",
        "https://example.org/a?utm_source=x&page=2&utm_medium=y",
        "https://example.org/a?page=2&fbclid=123&GCLID=4",
        "https://example.org/%61?page=2",
    ],
)
def test_one_page_has_one_name(address: str) -> None:
    assert canonical_address(address) == SAME


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("https://example.org/a?page=2", "https://example.org/a?page=3"),
        ("https://example.org/a", "https://example.org/A"),
        ("https://example.org/a", "https://example.org:8443/a"),
        ("https://example.org/caf%E9", "https://example.org/caf%E8"),
        ("https://example.org/a%2Fb", "https://example.org/a/b"),
        ("https://example.org/a?q=%E9", "https://example.org/a?q=%E8"),
        ("https://example.org/a?ref=main", "https://example.org/a?ref=dev"),
        ("https://example.org/a", "https://m.example.org/a"),
    ],
)
def test_different_pages_have_different_names(one: str, other: str) -> None:
    assert canonical_address(one) != canonical_address(other)


@pytest.mark.parametrize("address", ["notes/a.md", "C:/x.txt", "http://[::1", "ftp://example.org/a", "", "http://"])
def test_what_is_no_web_address_stays_as_it_is(address: str) -> None:
    assert canonical_address(address) == address
    assert domain(address) == address
    assert not is_web(address)


def test_the_site_of_a_page_is_its_host() -> None:
    assert domain("https://www.example.org:8080/a") == "example.org"


@pytest.mark.parametrize("host", ["straße.example", "STRAßE.example", "www.xn--strae-oqa.example:443"])
def test_a_host_has_one_name_in_every_spelling(host: str) -> None:
    assert canonical_address(f"https://{host}/a") == "https://xn--strae-oqa.example/a"
    assert domain(f"https://{host}/a") == "xn--strae-oqa.example"


def test_a_host_that_has_no_such_spelling_stays_as_it_is() -> None:
    assert canonical_address("https://i❤.example/a") == "https://i❤.example/a"


def test_half_a_character_does_no_harm() -> None:
    assert canonical_address("https://example.org/\ud800?q=\udfff")


@given(st.text(max_size=60))
def test_naming_twice_changes_nothing(text: str) -> None:
    once = canonical_address(f"https://example.org/{text}")
    assert canonical_address(once) == once

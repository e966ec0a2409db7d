"""Which engines there are, which can be used and why, and in which order they are asked."""

import subprocess
import sys
from datetime import date
from importlib import import_module
from typing import Any

import pytest

from deepwell.errors import BadConfiguration
from deepwell.search import registry
from deepwell.search.registry import ENGINES, available, chain_of, default_chain, link_to, spec_of
from deepwell.vocabulary.scope import Scope


def test_every_engine_is_where_the_registry_says_and_goes_by_its_name() -> None:
    for name, spec in ENGINES.items():
        module, _, attribute = spec.path.partition(":")
        assert getattr(import_module(module), attribute).name == name == spec.name
        assert spec.title
        assert spec.good_for


def test_the_chain_without_any_key() -> None:
    assert default_chain({}) == ("duckduckgo", "wikipedia", "arxiv")


def test_what_is_set_up_comes_first() -> None:
    env = {"BRAVE_API_KEY": "k", "TAVILY_API_KEY": "k", "SEARXNG_URL": "http://127.0.0.1:8080", "OPENALEX_API_KEY": "k"}
    expected = ("tavily", "brave", "searxng", "duckduckgo", "wikipedia", "openalex", "arxiv")
    assert default_chain(env) == expected
    assert default_chain({"EXA_API_KEY": "  "})[0] == "duckduckgo"


def test_an_engine_with_no_page_on_the_wanted_sites_is_left_out() -> None:
    assert default_chain({}, Scope(include_sites=("nature.com",))) == ("duckduckgo",)
    assert default_chain({}, Scope(include_sites=("de.wikipedia.org",))) == ("duckduckgo", "wikipedia")
    assert default_chain({}, Scope(exclude_sites=("wikipedia.org",))) == ("duckduckgo", "arxiv")


def test_without_its_package_duckduckgo_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "find_spec", lambda name: None)
    assert default_chain({}) == ("wikipedia", "arxiv")
    assert chain_of("web", {}, Scope(include_sites=("nature.com",))) == ()
    verdict = {one.spec.name: one for one in available({})}["duckduckgo"]
    assert (verdict.usable, verdict.because) == (False, "Install its package: pip install ddgs.")


def test_why_an_engine_can_be_used_or_not() -> None:
    found = {one.spec.name: one for one in available({"EXA_API_KEY": "sk-secret"})}
    assert list(found) == list(ENGINES)
    assert found["exa"].usable
    assert found["exa"].in_chain == 1
    assert not found["tavily"].usable
    assert "TAVILY_API_KEY" in found["tavily"].because
    assert "SEARXNG_URL" in found["searxng"].because
    assert found["pubmed"].usable
    assert found["pubmed"].in_chain is None
    assert all("sk-secret" not in one.because and one.because.endswith(".") for one in found.values())


@pytest.mark.parametrize(
    ("name", "env", "said"),
    [
        ("searxng", {"SEARXNG_URL": "localhost:8080"}, "http://"),
        ("searxng", {"SEARXNG_URL": "http://localhost:8080/?x=1"}, "must end before"),
        ("json", {"DEEPWELL_JSON_SEARCH_URL": "localhost?q={query}"}, "http://"),
        ("tavily", {"TAVILY_API_KEY": "sk-secret and more"}, "no key has"),
        ("tavily", {"TAVILY_API_KEY": "sk-secret", "TAVILY_BASE_URL": "localhost:1"}, "TAVILY_BASE_URL"),
    ],
)
def test_what_is_set_up_in_a_wrong_way_is_said_and_not_passed_over(name: str, env: dict[str, str], said: str) -> None:
    one = {one.spec.name: one for one in available(env)}[name]
    assert not one.usable
    assert said in one.because
    assert one.in_chain is None
    assert [other.in_chain for other in available(env) if other.in_chain] == [1, 2, 3]
    with pytest.raises(BadConfiguration, match=said):
        chain_of("web", env, Scope())


def test_engines_by_their_names() -> None:
    assert chain_of("web", {}, Scope()) == default_chain({})
    assert chain_of("none", {}, Scope()) == ()
    assert chain_of("arxiv, ddg,duckduckgo ,,arXiv", {}, Scope()) == ("arxiv", "duckduckgo")


@pytest.mark.parametrize("wanted", ["none,wikipedia", "wikipedia, none", ",", " , "])
def test_no_search_beside_engines_is_neither(wanted: str) -> None:
    with pytest.raises(BadConfiguration, match="none alone for no search"):
        chain_of(wanted, {}, Scope())


def test_an_engine_that_could_find_nothing_is_refused_when_it_is_asked_for() -> None:
    for scope in (Scope(include_sites=("europa.eu",)), Scope(exclude_sites=("wikipedia.org",))):
        with pytest.raises(BadConfiguration, match=r"Wikipedia finds pages of wikipedia\.org only"):
            chain_of("duckduckgo,wikipedia", {}, scope)
    assert chain_of("wikipedia", {}, Scope(include_sites=("de.wikipedia.org",))) == ("wikipedia",)


def test_keys_may_be_found_elsewhere() -> None:
    assert default_chain({}, secret=lambda names, env: "k" if "EXA_API_KEY" in names else None)[0] == "exa"


@pytest.mark.parametrize("name", ["ddgs", " DuckDuckGo ", "ddg"])
def test_engines_go_by_several_names(name: str) -> None:
    assert spec_of(name).name == "duckduckgo"


@pytest.mark.parametrize(
    ("name", "env", "said"),
    [
        ("gopher", {}, "there are tavily"),
        ("tavily", {}, "TAVILY_API_KEY"),
        ("searxng", {"SEARXNG_URL": "not an address"}, "SEARXNG_URL"),
        ("tavily", {"TAVILY_API_KEY": "export KEY=kéy"}, "no key has"),
        ("json", {"DEEPWELL_JSON_SEARCH_URL": "https://a.example/"}, "query"),
        (
            "json",
            {"DEEPWELL_JSON_SEARCH_URL": "https://a.example/?q={query}", "DEEPWELL_JSON_SEARCH_FIELDS": "title"},
            "name=path",
        ),
    ],
)
def test_what_is_missing_or_wrong_is_said(name: str, env: dict[str, str], said: str, web: Any) -> None:
    with pytest.raises(BadConfiguration, match=said) as caught:
        link_to(name, web.http(), env, today=date.today)
    assert not any(value in str(caught.value) for value in env.values())


async def test_a_hosted_engine_can_be_had_elsewhere(web: Any) -> None:
    from deepwell.vocabulary.plan import Query

    web.replay("tavily")
    env = {"TAVILY_API_KEY": "k", "TAVILY_BASE_URL": "http://127.0.0.1:9999/"}
    await link_to("tavily", web.http(), env, today=date.today).engine.search(Query("gears"), 3)
    assert str(web.requests[0].url) == "http://127.0.0.1:9999/search"


def test_the_registry_loads_no_engine_and_no_http() -> None:
    code = "import sys; from deepwell.search import registry; registry.available({}); print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert not {"httpx2", "ddgs", "lxml", "deepwell.search.engines.tavily"} & set(loaded)


@pytest.mark.parametrize(
    "given", ["http://127.0.0.1:9999", "http://127.0.0.1:9999/search", "http://127.0.0.1:9999/search/"]
)
async def test_searxng_may_be_given_with_the_path_that_a_browser_shows(given: str, web: Any) -> None:
    from deepwell.vocabulary.plan import Query

    web.replay("searxng")
    await link_to("searxng", web.http(), {"SEARXNG_URL": given}, today=date.today).engine.search(Query("gears"), 3)
    assert web.requests[0].url.path == "/search"


async def test_a_template_is_used_as_it_is_given(web: Any) -> None:
    from deepwell.vocabulary.plan import Query

    web.replay("json")
    env = {
        "DEEPWELL_JSON_SEARCH_URL": "http://127.0.0.1:9999/find/{query}/",
        "DEEPWELL_JSON_SEARCH_FIELDS": "results=data.items,url=link.href",
    }
    await link_to("json", web.http(), env, today=date.today).engine.search(Query("gears"), 3)
    assert str(web.requests[0].url) == "http://127.0.0.1:9999/find/gears/"

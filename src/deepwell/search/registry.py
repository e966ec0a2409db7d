"""Every engine that can be named: where its code is, what it needs, what it is good for, and whether it can be used."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, cast

from deepwell.errors import BadConfiguration
from deepwell.search.own_address import checked_address, checked_base
from deepwell.vocabulary.scope import Scope

if TYPE_CHECKING:
    from deepwell.ports import SearchEngine
    from deepwell.search.chain import Link
    from deepwell.search.http import Http

Environment = Mapping[str, str]
Secret = Callable[[Sequence[str], Environment], str | None]
"""Finds a key among these variables."""


@dataclass(frozen=True, slots=True)
class EngineSpec:
    """An engine, before anything of it is imported."""

    name: str
    title: str
    """For people."""
    path: str
    """`module:Class`; imported when the engine is built, not before."""
    good_for: str
    key_names: tuple[str, ...] = ()
    """Environment variables that may hold the key; the first that is set wins."""
    key_needed: bool = False
    key_from: str = ""
    """Where a key is to be had."""
    address_name: str = ""
    """The environment variable with its address."""
    address_needed: bool = False
    fields_name: str = ""
    """The environment variable with further settings, as `name=value, name=value`."""
    package: str = ""
    """A package that is not installed with Deepwell."""
    home: str = ""
    """The only site it finds anything on. Empty: any."""
    every_s: float = 0.1
    """Seconds from one request to the next that the engine is comfortable with. 0: it is the user's own."""
    at_once: int = 8
    aliases: tuple[str, ...] = ()


_SPECS = (
    EngineSpec(
        "tavily",
        "Tavily",
        "deepwell.search.engines.tavily:Tavily",
        "the whole web, with excerpts made for programs",
        key_names=("TAVILY_API_KEY",),
        key_needed=True,
        key_from="app.tavily.com",
        address_name="TAVILY_BASE_URL",
    ),
    EngineSpec(
        "exa",
        "Exa",
        "deepwell.search.engines.exa:Exa",
        "the whole web, by meaning rather than by words",
        key_names=("EXA_API_KEY",),
        key_needed=True,
        key_from="dashboard.exa.ai",
        address_name="EXA_BASE_URL",
    ),
    EngineSpec(
        "brave",
        "Brave Search",
        "deepwell.search.engines.brave:Brave",
        "the whole web, from an index of its own",
        key_names=("BRAVE_API_KEY", "BRAVE_SEARCH_API_KEY"),
        key_needed=True,
        key_from="api-dashboard.search.brave.com",
        address_name="BRAVE_BASE_URL",
    ),
    EngineSpec(
        "searxng",
        "SearXNG",
        "deepwell.search.engines.searxng:SearXNG",
        "the whole web, through a server of your own",
        address_name="SEARXNG_URL",
        address_needed=True,
        every_s=0.0,
        at_once=4,
    ),
    EngineSpec(
        "json",
        "JSON endpoint",
        "deepwell.search.engines.json_endpoint:JsonEndpoint",
        "a search of your own that answers with JSON",
        key_names=("DEEPWELL_JSON_SEARCH_KEY",),
        address_name="DEEPWELL_JSON_SEARCH_URL",
        address_needed=True,
        fields_name="DEEPWELL_JSON_SEARCH_FIELDS",
        every_s=0.0,
        at_once=4,
    ),
    EngineSpec(
        "duckduckgo",
        "DuckDuckGo",
        "deepwell.search.engines.duckduckgo:DuckDuckGo",
        "the whole web without a key, as long as not too much is asked",
        package="ddgs",
        every_s=0.5,
        at_once=2,
        aliases=("ddgs", "ddg"),
    ),
    EngineSpec(
        "wikipedia",
        "Wikipedia",
        "deepwell.search.engines.wikipedia:Wikipedia",
        "what is known about people, places, things and events",
        home="wikipedia.org",
        at_once=4,
    ),
    EngineSpec(
        "openalex",
        "OpenAlex",
        "deepwell.search.engines.openalex:OpenAlex",
        "scholarly works of all fields",
        key_names=("OPENALEX_API_KEY",),
        key_from="openalex.org/settings/api",
        at_once=4,
    ),
    EngineSpec(
        "pubmed",
        "PubMed",
        "deepwell.search.engines.pubmed:PubMed",
        "medicine and the life sciences",
        key_names=("NCBI_API_KEY", "PUBMED_API_KEY"),
        home="pubmed.ncbi.nlm.nih.gov",
        every_s=0.7,
        at_once=1,
    ),
    EngineSpec(
        "arxiv",
        "arXiv",
        "deepwell.search.engines.arxiv:Arxiv",
        "preprints in physics, mathematics, computing and nearby fields",
        home="arxiv.org",
        every_s=3.0,
        at_once=1,
    ),
    EngineSpec("none", "No search", "deepwell.search.engines.none:NoEngine", "answering without any search"),
)

ENGINES: dict[str, EngineSpec] = {spec.name: spec for spec in _SPECS}
_IN_FRONT = ("tavily", "exa", "brave", "searxng", "json")
"""In this order, when they are set up."""
_BEHIND = ("duckduckgo", "wikipedia", "openalex", "arxiv")
"""What can be asked without anything being set up, the general before the special."""
_ONLY_WITH_KEY = frozenset(("openalex",))
"""What gives so little without a key that it is only asked with one, unless it is asked for by name."""


@dataclass(frozen=True, slots=True)
class Availability:
    """Whether an engine can be used here, in words."""

    spec: EngineSpec
    usable: bool
    because: str
    """A full sentence."""
    in_chain: int | None = None
    """Its place in the chain that is used unless one is asked for, from 1. None: it has none."""


def plain_key(names: Sequence[str], env: Environment) -> str | None:
    """The first of these variables that is set and not empty."""
    return next((key for key in (env.get(name, "").strip() for name in names) if key), None)


def spec_of(name: str) -> EngineSpec:
    """The engine of that name. Raises BadConfiguration that lists the names there are."""
    wanted = name.strip().lower()
    found = next((spec for spec in _SPECS if wanted == spec.name or wanted in spec.aliases), None)
    if found is None:
        raise BadConfiguration(f"There is no search engine {name[:40]!r}; there are {', '.join(ENGINES)}.")
    return found


def available(env: Environment, *, secret: Secret = plain_key) -> tuple[Availability, ...]:
    """Every engine, whether it can be used with this environment, and why or why not."""
    verdicts = {spec.name: _verdict(spec, env, secret) for spec in _SPECS}
    asked = [name for name in default_chain(env, secret=secret) if verdicts[name][0]]
    places = {name: place for place, name in enumerate(asked, start=1)}
    return tuple(Availability(spec, *verdicts[spec.name], in_chain=places.get(spec.name)) for spec in _SPECS)


def chain_of(wanted: str, env: Environment, scope: Scope, *, secret: Secret = plain_key) -> tuple[str, ...]:
    """The engines to ask for `web`, or for names with commas between, each once; none for `none`.

    Raises BadConfiguration for a name that is none, and for an engine that cannot be used or could find nothing.
    """
    names = default_chain(env, scope, secret=secret) if wanted == "web" else _named(wanted)
    for name in names:
        _check(ENGINES[name], env, scope, secret)
    return names


def _named(wanted: str) -> tuple[str, ...]:
    names = tuple(dict.fromkeys(spec_of(name).name for name in wanted.split(",") if name.strip()))
    if names == ("none",):
        return ()
    if not names or "none" in names:
        raise BadConfiguration("Name engines to search with, with commas between, or none alone for no search.")
    return names


def _check(spec: EngineSpec, env: Environment, scope: Scope, secret: Secret) -> None:
    usable, because = _verdict(spec, env, secret)
    if not usable:
        raise BadConfiguration(f"{spec.title} cannot be used. {because}")
    if not _has_a_chance(spec, scope):
        raise BadConfiguration(
            f"{spec.title} finds pages of {spec.home} only, and the sites that were chosen leave them out: "
            "choose another engine, or other sites."
        )


def default_chain(env: Environment, scope: Scope | None = None, *, secret: Secret = plain_key) -> tuple[str, ...]:
    """The engines to ask, in order: those that are set up first, then those that need nothing.

    One that could find nothing on the sites that are wanted is left out: finding nothing would count as an answer.
    One that is set up in a wrong way is not: whoever set it up wants it, and has to be told.
    """
    candidates = [ENGINES[name] for name in (*_IN_FRONT, *_BEHIND)]
    wanted = [spec for spec in candidates if spec.name not in _ONLY_WITH_KEY or secret(spec.key_names, env)]
    set_up = [spec for spec in wanted if not _missing(spec, env, secret)]
    return tuple(spec.name for spec in set_up if _has_a_chance(spec, scope or Scope()))


def link_to(
    name: str,
    http: "Http",
    env: Environment,
    *,
    today: Callable[[], date],
    scope: Scope | None = None,
    secret: Secret = plain_key,
) -> "Link":
    """The engine of that name, built, as a link of a chain. Raises BadConfiguration when something is missing."""
    from deepwell.search.chain import Link
    from deepwell.search.fitting import Fitting

    spec = spec_of(name)
    usable, because = _verdict(spec, env, secret)
    if not usable:
        raise BadConfiguration(f"{spec.title} cannot be used. {because}")
    key, address, options = _settings(spec, env, secret)
    fitting = Fitting(http, today, scope or Scope(), key, address, options)
    module, _, attribute = spec.path.partition(":")
    engine = cast("SearchEngine", getattr(import_module(module), attribute)(fitting))
    return Link(engine, spec.title, spec.every_s, spec.at_once)


def _verdict(spec: EngineSpec, env: Environment, secret: Secret) -> tuple[bool, str]:
    """Whether the engine can be used, and why, in a sentence."""
    if missing := _missing(spec, env, secret):
        return False, missing
    try:
        key, _, _ = _settings(spec, env, secret)
    except BadConfiguration as error:
        return False, str(error)
    if spec.address_needed:
        return True, f"{spec.address_name} is set."
    if key:
        return True, "Its key is set."
    more = f"; with {spec.key_names[0]} set, it can be asked more" if spec.key_names else ""
    return True, f"It needs no key{more}."


def _missing(spec: EngineSpec, env: Environment, secret: Secret) -> str:
    """What to do before the engine can be used, in a sentence; "" when there is nothing to do."""
    if spec.key_needed and not secret(spec.key_names, env):
        return f"Set {spec.key_names[0]} to a key from {spec.key_from}."
    if spec.address_needed and not env.get(spec.address_name, "").strip():
        return f"Set {spec.address_name} to its address."
    if spec.package and find_spec(spec.package) is None:
        return f"Install its package: pip install {spec.package}."
    return ""


def _has_a_chance(spec: EngineSpec, scope: Scope) -> bool:
    if not spec.home:
        return True
    below_home = any(site == spec.home or site.endswith(f".{spec.home}") for site in scope.include_sites)
    return below_home or scope.admits_site(f"https://{spec.home}/")


def _settings(spec: EngineSpec, env: Environment, secret: Secret) -> tuple[str, str, dict[str, str]]:
    """Key, address and further settings. Raises BadConfiguration."""
    key = secret(spec.key_names, env) if spec.key_names else None
    return _checked_key(spec, key or ""), _address(spec, env), _options(spec, env)


def _checked_key(spec: EngineSpec, key: str) -> str:
    if not (key.isascii() and key.isprintable()) or " " in key:
        raise BadConfiguration(
            f"The key for {spec.title} has characters that no key has; was more copied than the key?"
        )
    return key


def _address(spec: EngineSpec, env: Environment) -> str:
    given = env.get(spec.address_name, "").strip() if spec.address_name else ""
    if not given or not spec.fields_name:
        return given and checked_base(given, spec.address_name)
    # The places of a template are checked by the engine, which knows them.
    checked_address(given, spec.address_name)
    return given


def _options(spec: EngineSpec, env: Environment) -> dict[str, str]:
    given = env.get(spec.fields_name, "") if spec.fields_name else ""
    pairs = [part.partition("=") for part in given.split(",") if part.strip()]
    if not all(equals for _, equals, _ in pairs):
        raise BadConfiguration(f"{spec.fields_name} must be written as name=path, name=path.")
    return {name.strip(): path.strip() for name, _, path in pairs}

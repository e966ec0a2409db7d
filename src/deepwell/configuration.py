"""Every knob, with its range, its tier values, its environment names and its look in Studio.

This is the only place that states a default and the only one that reads the environment. Precedence: a value given
explicitly, then the environment, then the tier.
"""

import logging
import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, Literal, Self, cast

import platformdirs
from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator
from pydantic_core import ErrorDetails

from deepwell.errors import BadConfiguration
from deepwell.vocabulary.scope import Scope
from deepwell.vocabulary.tier import TIERS, Tier

NO_MODEL = "none"
"""Named in place of a model: work without one."""
ENV_FILE = "DEEPRESEARCH_ENV_FILE"
"""Names the file with settings; empty: no file is looked for."""
MAX_QUESTION_CHARACTERS = 4000
"""A longer question is material to research in, not a question."""


_DEFAULTS = TIERS["standard"]


def _knob(
    default: Any,
    description: str,
    *,
    widget: str,
    ge: float | None = None,
    le: float | None = None,
    step: float | None = None,
    options: tuple[str, ...] = (),
    env: tuple[str, ...] = (),
    advanced: bool = False,
) -> Any:
    """A field with its range, its environment names and the control that Studio shows for it."""
    control: dict[str, Any] = {"type": widget, "default": default, "description": description}
    if advanced:
        control["label"] = "Advanced"
    control |= {name: value for name, value in (("min", ge), ("max", le), ("step", step)) if value is not None}
    if options:
        control["options"] = [{"label": option.capitalize(), "value": option} for option in options]
    return Field(
        default=default,
        ge=ge,
        le=le,
        description=description,
        json_schema_extra={"metadata": {"x_oap_ui_config": control}, "env": list(env)},
    )


class Configuration(BaseModel):
    """How a run behaves. Immutable; build it with keywords, from the environment or from a runnable's config."""

    model_config = ConfigDict(frozen=True, extra="ignore", validate_default=True)

    tier: Tier | Literal["auto"] = _knob(
        "standard",
        "How much work a question is worth; `auto` lets the plan decide. Any other value set here wins over its tier.",
        widget="select",
        options=("auto", *TIERS),
        env=("COMPLEXITY_TIER", "DEEPWELL_TIER"),
    )

    # The loop
    max_researcher_iterations: int = _knob(
        _DEFAULTS.max_researcher_iterations,
        "Supervisor rounds at most. Most questions need two; the loop ends earlier when nothing new comes back.",
        widget="slider",
        ge=1,
        le=20,
        step=1,
        env=("MAX_RESEARCHER_ITERATIONS", "RESEARCH_MAX_ITERS"),
    )
    max_react_tool_calls: int = _knob(
        _DEFAULTS.max_react_tool_calls,
        "Searches and reads that one research unit may ask for beyond those it starts with.",
        widget="slider",
        ge=1,
        le=40,
        step=1,
        env=("MAX_REACT_TOOL_CALLS",),
    )
    max_subquestions: int = _knob(
        _DEFAULTS.max_subquestions,
        "Sub-questions that a plan may have; the least important beyond that are dropped.",
        widget="slider",
        ge=1,
        le=10,
        step=1,
        env=("MAX_SUBQUESTIONS",),
    )
    max_queries: int = _knob(
        _DEFAULTS.max_queries,
        "Suggested searches a round may start with, over all its units; each unit keeps at least one.",
        widget="slider",
        ge=1,
        le=100,
        step=1,
        env=("RESEARCH_MAX_QUERIES",),
    )
    max_sources: int = _knob(
        _DEFAULTS.max_sources,
        "Sources the run keeps at most.",
        widget="slider",
        ge=1,
        le=200,
        step=1,
        env=("RESEARCH_MAX_SOURCES",),
    )
    max_concurrent_research_units: int = _knob(
        4,
        "Research units at work at the same time; further ones of the round wait for a place.",
        widget="slider",
        ge=1,
        le=20,
        step=1,
        env=("MAX_CONCURRENT_RESEARCH_UNITS",),
    )
    max_research_units: int = _knob(
        60,
        "Research units over the whole run: a safety ceiling.",
        widget="number",
        ge=1,
        le=1000,
        env=("MAX_RESEARCH_UNITS",),
        advanced=True,
    )
    max_retry_attempts: int = _knob(
        3,
        "Tries a sub-question or an address gets before it is given up as #RETRY_EXHAUSTED.",
        widget="number",
        ge=1,
        le=10,
        env=("MAX_RETRY_ATTEMPTS",),
        advanced=True,
    )

    # Ending early
    enable_early_termination: bool = _knob(
        True,
        "End the loop when a round brings almost nothing new.",
        widget="boolean",
        env=("ENABLE_EARLY_TERMINATION",),
    )
    min_novelty_threshold: float = _knob(
        0.15,
        "The share of a round's distinct content words that must be new for the loop to go on.",
        widget="slider",
        ge=0.0,
        le=1.0,
        step=0.05,
        env=("MIN_NOVELTY_THRESHOLD",),
        advanced=True,
    )
    duplicate_topic_similarity_threshold: float = _knob(
        0.75,
        "Word overlap (Jaccard) from which a topic counts as one that was already dispatched.",
        widget="slider",
        ge=0.0,
        le=1.0,
        step=0.05,
        env=("DUPLICATE_TOPIC_SIMILARITY_THRESHOLD",),
        advanced=True,
    )

    # Budget
    max_execution_time_s: float | None = _knob(
        _DEFAULTS.max_execution_time_s,
        "Seconds the whole run may take, writing included; None or `unlimited`: no limit in time.",
        widget="number",
        ge=1.0,
        le=604800.0,
        env=("RESEARCH_MAX_EXECUTION_TIME_S",),
    )
    token_budget: int | None = _knob(
        None,
        "Tokens this run may spend, prompts and replies together; None: no limit.",
        widget="number",
        ge=1,
        env=("RESEARCH_TOKEN_BUDGET",),
    )
    cost_budget_usd: float | None = _knob(
        None,
        "US dollars this run may spend; None: no limit.",
        widget="number",
        ge=0.0,
        le=1000000.0,
        env=("RESEARCH_COST_BUDGET_USD",),
    )

    # Evidence and the quality gate
    min_evidence_records: int = _knob(
        5,
        "Quality gate: evidence records needed before research may be called complete.",
        widget="number",
        ge=0,
        le=1000,
        env=("MIN_EVIDENCE_RECORDS",),
        advanced=True,
    )
    min_cited_records: int = _knob(
        5,
        "Quality gate: evidence records with a source needed before research may be called complete.",
        widget="number",
        ge=0,
        le=1000,
        env=("MIN_CITED_RECORDS",),
        advanced=True,
    )
    min_source_domains: int = _knob(
        3,
        "Quality gate: distinct domains needed; over the user's own documents a domain is a document.",
        widget="number",
        ge=0,
        le=100,
        env=("MIN_SOURCE_DOMAINS",),
        advanced=True,
    )
    max_evidence_claims_per_research_unit: int = _knob(
        12,
        "Claims kept from one research unit.",
        widget="number",
        ge=1,
        le=100,
        env=("MAX_EVIDENCE_CLAIMS_PER_RESEARCH_UNIT",),
        advanced=True,
    )
    max_source_urls_per_claim: int = _knob(
        5,
        "Sources kept for one claim.",
        widget="number",
        ge=1,
        le=50,
        env=("MAX_SOURCE_URLS_PER_CLAIM",),
        advanced=True,
    )

    # Searching and reading
    queries_per_subquestion: int = _knob(
        4,
        "Differing searches that a sub-question starts with.",
        widget="slider",
        ge=1,
        le=10,
        step=1,
        env=("QUERIES_PER_SUBQUESTION",),
    )
    max_search_results: int = _knob(
        5,
        "Results asked for per search of the web; the library gives twice as many, its results being passages.",
        widget="slider",
        ge=1,
        le=50,
        step=1,
        env=("MAX_SEARCH_RESULTS",),
    )
    researcher_search_budget: int = _knob(
        15,
        "Searches that one research unit may run, those it starts with included.",
        widget="slider",
        ge=1,
        le=100,
        step=1,
        env=("RESEARCHER_SEARCH_BUDGET",),
    )
    max_passages_per_unit: int = _knob(
        10,
        "Best passages over all searches that a unit reads and keeps.",
        widget="slider",
        ge=1,
        le=50,
        step=1,
        env=("MAX_PASSAGES_PER_UNIT",),
    )
    chars_per_source: int = _knob(
        12000,
        "Characters of one source that an analyst is shown.",
        widget="number",
        ge=500,
        le=200000,
        env=("CHARS_PER_SOURCE",),
        advanced=True,
    )

    search_provider: str = _knob(
        "",
        "Where to search beside --docs: `web`, `none`, or engines by name, comma between; "
        "empty: the web, unless documents are given.",
        widget="text",
        env=("SEARCH_PROVIDER",),
    )
    search_since: str = _knob(
        "",
        "Only what was published then or later, as far as its date is known: 2024, 2024-05 or 2024-05-31.",
        widget="text",
        env=("SEARCH_SINCE",),
    )
    search_until: str = _knob(
        "",
        "Only what was published then or earlier, as far as its date is known.",
        widget="text",
        env=("SEARCH_UNTIL",),
    )
    search_sites: str = _knob(
        "",
        "Only pages of these sites and what is below them, comma between; empty: all.",
        widget="text",
        env=("SEARCH_SITES",),
    )
    search_excluded_sites: str = _knob(
        "",
        "No pages of these sites, comma between.",
        widget="text",
        env=("SEARCH_EXCLUDED_SITES",),
    )
    search_language: str = _knob(
        "",
        "The language of the pages to look for, as its code of two letters; empty: any.",
        widget="text",
        env=("SEARCH_LANGUAGE",),
    )
    search_region: str = _knob(
        "",
        "The country to search from, as its code of two letters; empty: any.",
        widget="text",
        env=("SEARCH_REGION",),
    )
    own_hosts: str = _knob(
        "",
        "Hosts of your own that may be read though they lie in a private network: names or name:port, comma between.",
        widget="text",
        env=("DEEPWELL_OWN_HOSTS",),
        advanced=True,
    )
    honour_robots: bool = _knob(
        True,
        "Read no page that its site's robots.txt asks programs to leave alone.",
        widget="boolean",
        env=("HONOUR_ROBOTS",),
        advanced=True,
    )
    fetch_timeout_s: float = _knob(
        20.0,
        "Seconds that reading one page may take, redirects and robots.txt included.",
        widget="number",
        ge=1.0,
        le=300.0,
        env=("FETCH_TIMEOUT_S",),
        advanced=True,
    )
    page_cache_hours: float = _knob(
        24.0,
        "Hours for which a page that was read is not asked for again by later runs; 0: every run reads it anew.",
        widget="number",
        ge=0.0,
        le=8760.0,
        env=("PAGE_CACHE_HOURS",),
        advanced=True,
    )
    user_agent: str = _knob(
        "",
        "How Deepwell introduces itself to sites; empty: its name and version.",
        widget="text",
        env=("DEEPWELL_USER_AGENT",),
        advanced=True,
    )
    dense: bool = _knob(
        False,
        "Search the library by meaning too, beside words; needs the extra deepwell[dense].",
        widget="boolean",
        env=("DEEPWELL_DENSE",),
        advanced=True,
    )

    # Models
    orchestrator_model: str = _knob(
        NO_MODEL,
        "The chat model that plans, leads and writes, as provider:model; `none`: work without a model.",
        widget="text",
        env=("ORCHESTRATOR_MODEL", "DEEPWELL_MODEL"),
    )
    subagent_model: str = _knob(
        "",
        "The chat model of the research units, as provider:model; empty: the same one.",
        widget="text",
        env=("SUBAGENT_MODEL",),
    )
    model_base_url: str = _knob(
        "",
        "Where the model is served, such as http://localhost:8000/v1; empty: the provider's own address.",
        widget="text",
        env=("MODEL_BASE_URL",),
    )
    subagent_base_url: str = _knob(
        "",
        "Where the research units' model is served, when that is elsewhere.",
        widget="text",
        env=("SUBAGENT_BASE_URL",),
        advanced=True,
    )
    model_temperature: float | None = _knob(
        None,
        "How freely the model words its replies; None: the provider's own default, which some models insist on.",
        widget="slider",
        ge=0.0,
        le=2.0,
        step=0.1,
        env=("MODEL_TEMPERATURE",),
    )
    model_timeout_s: float = _knob(
        120.0,
        "Seconds that one request to a model may take at most; less when the run's own time is short.",
        widget="number",
        ge=1.0,
        le=3600.0,
        env=("MODEL_TIMEOUT_S",),
        advanced=True,
    )
    max_model_retries: int = _knob(
        12,
        "Repeated requests to models over the whole run: a ceiling, so that retries never pile up.",
        widget="number",
        ge=0,
        le=1000,
        env=("MAX_MODEL_RETRIES",),
        advanced=True,
    )
    model_backoff_s: float = _knob(
        1.0,
        "Seconds before a failed request is repeated, twice as many each time, unless the provider asks for more.",
        widget="number",
        ge=0.0,
        le=60.0,
        env=("MODEL_BACKOFF_S",),
        advanced=True,
    )
    max_prompt_tokens: int = _knob(
        8000,
        "Tokens of material that one prompt may hold; less when the model's context is smaller.",
        widget="number",
        ge=500,
        le=1000000,
        env=("MAX_PROMPT_TOKENS",),
        advanced=True,
    )
    model_prices: str = _knob(
        "",
        "Prices the table does not have: provider:model=IN/OUT in US dollars per million tokens, comma between.",
        widget="text",
        env=("MODEL_PRICES",),
        advanced=True,
    )

    # Notes and writing
    report_language: str = _knob(
        "",
        "The language that a model writes the report in; empty: that of the question.",
        widget="text",
        env=("REPORT_LANGUAGE",),
    )
    supervisor_notes_max_bullets: int = _knob(
        40,
        "Notes that the supervisor is shown at most, newest first.",
        widget="number",
        ge=1,
        le=1000,
        env=("SUPERVISOR_NOTES_MAX_BULLETS",),
        advanced=True,
    )
    supervisor_notes_word_budget: int = _knob(
        1200,
        "Words of notes that the supervisor is shown at most.",
        widget="number",
        ge=50,
        le=100000,
        env=("SUPERVISOR_NOTES_WORD_BUDGET",),
        advanced=True,
    )
    section_mode: Literal["parallel", "sequential"] = _knob(
        "parallel",
        "Write sections side by side, or one after the other with the earlier text in view.",
        widget="select",
        options=("parallel", "sequential"),
        env=("SECTION_MODE",),
    )

    @model_validator(mode="before")
    @classmethod
    def _read_unlimited(cls, values: Any) -> Any:
        if isinstance(values, Mapping) and str(values.get("max_execution_time_s")).lower() == "unlimited":
            return {**values, "max_execution_time_s": None}
        return values

    @model_validator(mode="after")
    def _fill_from_tier(self) -> Self:
        if self.tier != "auto":
            for name, value in asdict(TIERS[self.tier]).items():
                if name not in self.model_fields_set:
                    # Past the frozen setter, and without counting as set: a later tier may fill it again.
                    self.__dict__[name] = value
        return self

    @model_validator(mode="after")
    def _check_scope(self) -> Self:
        """Raises BadRequest here, before a run starts."""
        self.scope  # noqa: B018
        return self

    def for_tier(self, tier: Tier | None) -> Self:
        """The same explicit values over another tier; an unclassifiable question is a standard one."""
        explicit = {name: getattr(self, name) for name in self.model_fields_set}
        return type(self)(**explicit | {"tier": tier or "standard"})

    @property
    def scope(self) -> Scope:
        """Where and when a search may look. Raises BadRequest for what is no date, site or code."""
        return Scope.written(
            since=self.search_since,
            until=self.search_until,
            sites=self.search_sites,
            not_sites=self.search_excluded_sites,
            language=self.search_language,
            region=self.search_region,
        )

    @property
    def total_minutes(self) -> float | None:
        """The whole run's time in minutes; None: no limit."""
        return None if self.max_execution_time_s is None else self.max_execution_time_s / 60

    @classmethod
    def from_runnable_config(cls, config: Mapping[str, Any] | None = None) -> Self:
        """From a runnable's `configurable`, over the environment."""
        configurable = dict((config or {}).get("configurable") or {})
        return cls.build(**{name: value for name, value in configurable.items() if name in cls.model_fields})

    @classmethod
    def build(cls, env: Mapping[str, str] | None = None, **values: Any) -> Self:
        """Explicit `values` over the environment. Raises BadConfiguration with a sentence naming field and range."""
        unknown = sorted(set(values) - set(cls.model_fields))
        if unknown:
            raise BadConfiguration(f"There is no setting {unknown[0]}; `deepwell config` lists them all.")
        given = _from_environment(cls, environment() if env is None else env) | values
        try:
            return cls(**given)
        except ValidationError as error:
            raise BadConfiguration(_sentence(cls, error.errors()[0])) from None


def environment_names(field: str) -> tuple[str, ...]:
    """The variables that set this field, first one wins."""
    extra = cast("dict[str, Any]", Configuration.model_fields[field].json_schema_extra)
    return tuple(extra["env"])


def environment() -> dict[str, str]:
    """The process's environment, over what a `.env` file says. Raises BadConfiguration for a named file not there."""
    return _env_file() | dict(os.environ)


def secret(names: Sequence[str], env: Mapping[str, str] | None = None) -> str | None:
    """The first of these keys that is set, or that stands in the file which `NAME_FILE` names."""
    env = environment() if env is None else env
    for name in names:
        if env.get(name, "").strip():
            return env[name].strip()
        if path := env.get(f"{name}_FILE", "").strip():
            return _first_line(Path(path).expanduser(), f"{name}_FILE")
    return None


def home(env: Mapping[str, str] | None = None) -> Path:
    """Where runs and library indexes live: DEEPWELL_HOME, or the user's data folder."""
    override = (environment() if env is None else env).get("DEEPWELL_HOME", "").strip()
    return Path(override).expanduser() if override else Path(platformdirs.user_data_dir("deepwell", appauthor=False))


def _env_file() -> dict[str, str]:
    """What the named file says, or the first `.env` in this folder or one above it."""
    named = os.environ.get(ENV_FILE)
    if named is not None:
        if named.strip() and not Path(named).expanduser().is_file():
            raise BadConfiguration(f"{ENV_FILE} names {named!r}, and there is no such file.")
        return _read_env(Path(named).expanduser()) if named.strip() else {}
    here = Path.cwd()
    found = next((folder / ".env" for folder in (here, *here.parents) if (folder / ".env").is_file()), None)
    return _read_env(found) if found else {}


def _read_env(path: Path) -> dict[str, str]:
    from dotenv import dotenv_values

    # It would print each line that is no setting, twice; such a line is someone else's business.
    logging.getLogger("dotenv.main").setLevel(logging.ERROR)
    try:
        return {name: value for name, value in dotenv_values(path, interpolate=False).items() if value is not None}
    except (OSError, UnicodeDecodeError) as error:
        raise BadConfiguration(f"{path} cannot be read as a file of settings: save it as UTF-8 text.") from error


def _first_line(path: Path, variable: str) -> str:
    try:
        line = path.read_text(encoding="utf-8").strip().splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise BadConfiguration(f"{variable} names a file that cannot be read.") from error
    if not line:
        raise BadConfiguration(f"{variable} names a file that is empty.")
    return line[0].strip()


def _from_environment(cls: type[Configuration], env: Mapping[str, str]) -> dict[str, str]:
    found = {}
    for name in cls.model_fields:
        for variable in environment_names(name):
            if env.get(variable, "").strip():
                found[name] = env[variable].strip()
                break
    return found


def _sentence(cls: type[Configuration], error: ErrorDetails) -> str:
    """One sentence for a refused value: the field, its range, and what came instead."""
    name = str(error["loc"][0])
    control = cast("dict[str, Any]", cls.model_fields[name].json_schema_extra)["metadata"]["x_oap_ui_config"]
    return f"{name} must be {_range(control)}, got {str(error['input'])[:60]!r}."


def _range(control: Mapping[str, Any]) -> str:
    if "options" in control:
        return "one of " + ", ".join(option["value"] for option in control["options"])
    if control["type"] == "boolean":
        return "true or false"
    if control["type"] == "text":
        return "text"
    low, high = control.get("min"), control.get("max")
    if high is None:
        return f"a number of at least {low}"
    return f"a number between {low} and {high}"

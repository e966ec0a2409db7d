"""Which models a run uses, as its configuration says, and what is missing for them."""

from collections.abc import Mapping
from dataclasses import dataclass

from deepwell.configuration import NO_MODEL, Configuration, environment, secret
from deepwell.errors import BadConfiguration
from deepwell.models.factory import ModelSettings, missing
from deepwell.models.names import PROVIDERS, ModelName
from deepwell.models.prices import price_of
from deepwell.vocabulary.budget import Price


@dataclass(frozen=True, slots=True)
class Chosen:
    """The models of a run."""

    lead: ModelSettings
    researcher: ModelSettings
    prices: Mapping[str, Price | None]
    """By the model's name; None: not known."""

    @property
    def each(self) -> tuple[ModelSettings, ...]:
        """The models, each once."""
        return tuple(dict.fromkeys((self.lead, self.researcher)))


def chosen(configuration: Configuration, env: Mapping[str, str] | None = None) -> Chosen | None:
    """The models that are named; None when none is. Raises BadConfiguration for a name that is none."""
    if _is_none(configuration.orchestrator_model):
        if not _is_none(configuration.subagent_model):
            raise BadConfiguration("SUBAGENT_MODEL is set and ORCHESTRATOR_MODEL is not: name that one too.")
        return None
    env = environment() if env is None else env
    lead = _settings(configuration.orchestrator_model, configuration.model_base_url, configuration, env)
    name = configuration.subagent_model or configuration.orchestrator_model
    same = ModelName.parse(name).provider == lead.name.provider
    # An address belongs to a provider: another provider's key must not be sent there.
    inherited = configuration.model_base_url if same else ""
    researcher = _settings(name, configuration.subagent_base_url or inherited, configuration, env)
    stated = _stated_prices(configuration.model_prices)
    prices = {str(one.name): price_of(one.name, one.base_url, stated) for one in (lead, researcher)}
    return Chosen(lead, researcher, prices)


def check(models: Chosen, configuration: Configuration) -> None:
    """Raises BadConfiguration when something is missing, before anything is spent."""
    for one in models.each:
        if sentence := missing(one):
            raise BadConfiguration(sentence)
    check_price(models, configuration)


def check_price(models: Chosen, configuration: Configuration) -> None:
    """Raises BadConfiguration when money is limited and a price is not known."""
    unpriced = [name for name, price in models.prices.items() if price is None]
    if configuration.cost_budget_usd is not None and unpriced:
        raise BadConfiguration(
            f"No price is known for {unpriced[0]}, so that a limit in money cannot be held: "
            f"limit the tokens instead (--max-tokens), or state the price with --set model_prices={unpriced[0]}=IN/OUT "
            "in US dollars per million tokens."
        )


def _is_none(name: str) -> bool:
    return name.strip().lower() in ("", NO_MODEL)


def _settings(text: str, base_url: str, configuration: Configuration, env: Mapping[str, str]) -> ModelSettings:
    name = ModelName.parse(text)
    return ModelSettings(
        name,
        base_url=base_url.strip() or None,
        temperature=configuration.model_temperature,
        key=secret(PROVIDERS[name.provider].key_names, env),
        context_tokens=configuration.max_prompt_tokens + CONTEXT_BESIDE if name.provider == "ollama" else None,
    )


CONTEXT_BESIDE = 4096
"""Tokens of context that instructions and reply take beside the material, where we decide how large the context is."""


def _stated_prices(text: str) -> dict[str, str]:
    """`provider:model=IN/OUT, …` as a mapping."""
    pairs = [pair.partition("=") for pair in text.split(",") if pair.strip()]
    if any(not equals for _, equals, _ in pairs):
        raise BadConfiguration("model_prices takes provider:model=IN/OUT, for example openai:my-model=0.5/1.5.")
    return {model.strip(): figures.strip() for model, _, figures in pairs}

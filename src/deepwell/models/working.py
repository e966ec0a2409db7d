"""From chosen models to models at work: built, probed once, and set up for one run."""

from pathlib import Path

from langchain_core.language_models import BaseChatModel

from deepwell.budget.ledger import Ledger
from deepwell.configuration import Configuration
from deepwell.errors import BadConfiguration
from deepwell.models.asking import Asked, Manners, Model, Unusable
from deepwell.models.breaker import Retries
from deepwell.models.capabilities import Capabilities, CapabilityCache, cache_key
from deepwell.models.choosing import Chosen
from deepwell.models.factory import ModelSettings, chat_model
from deepwell.models.failures import FailureKind, ModelFailed
from deepwell.models.names import PROVIDERS
from deepwell.models.probe import probe
from deepwell.models.retrying import Patience
from deepwell.ports import Clock, Journal
from deepwell.vocabulary.budget import Budget
from deepwell.vocabulary.events import Event

PROBE_SHARE = 0.15
"""Of the time for research, what trying out a model may take."""
MOST_PROBE_SECONDS = 30.0
CACHE = "models.json"


async def working_models(
    models: Chosen, ledger: Ledger, journal: Journal, clock: Clock, configuration: Configuration, home: Path
) -> tuple[Asked, Asked]:
    """The model that leads and the one that researches; the same one where they do not differ. Raises AnalystFailed."""
    retries = Retries(configuration.max_model_retries)
    patience = Patience(configuration.model_backoff_s)
    manners = Manners(configuration.max_prompt_tokens, configuration.model_timeout_s, patience)
    cache = CapabilityCache(home / CACHE)
    at_work: dict[ModelSettings, Asked] = {}
    for one in models.each:
        chat = chat_model(one, configuration.model_timeout_s)
        try:
            capabilities = await _capabilities(chat, one, ledger, journal, clock, cache)
            at_work[one] = Model(chat, one.name, capabilities, ledger, journal, clock, retries, manners)
        except ModelFailed as error:
            at_work[one] = Unusable(str(one.name), error.failure)
    unusable = [model for model in at_work.values() if isinstance(model, Unusable)]
    if len(unusable) == len(at_work):
        raise ModelFailed(unusable[0].failure)
    return at_work[models.lead], at_work[models.researcher]


async def _capabilities(
    chat: BaseChatModel,
    settings: ModelSettings,
    ledger: Ledger,
    journal: Journal,
    clock: Clock,
    cache: CapabilityCache,
) -> Capabilities:
    known = cache.get(cache_key(settings), clock.now().date())
    return known or await _tried_out(chat, settings, ledger, journal, clock, cache)


async def _tried_out(
    chat: BaseChatModel,
    settings: ModelSettings,
    ledger: Ledger,
    journal: Journal,
    clock: Clock,
    cache: CapabilityCache,
) -> Capabilities:
    left = ledger.seconds_left("planning")
    seconds = MOST_PROBE_SECONDS if left is None else min(MOST_PROBE_SECONDS, left * PROBE_SHARE)
    try:
        found = await probe(chat, settings, ledger, journal, seconds, clock.now().date())
    except ModelFailed as error:
        if error.failure.kind is FailureKind.AUTH:
            title, names = PROVIDERS[settings.name.provider].title, PROVIDERS[settings.name.provider].key_names
            raise BadConfiguration(f"{title} does not accept the key: check {' or '.join(names)}.") from None
        raise
    if found.lasting:
        cache.put(cache_key(settings), found.capabilities)
    return found.capabilities


async def probed_again(settings: ModelSettings, configuration: Configuration, clock: Clock, home: Path) -> Capabilities:
    """Try a model out whatever is known of it. Raises ModelFailed or BadConfiguration."""
    budget = Budget(None, clock.now(), clock.monotonic())
    ledger = Ledger(budget, clock.monotonic, {})
    chat = chat_model(settings, configuration.model_timeout_s)
    return await _tried_out(chat, settings, ledger, _NoJournal(), clock, CapabilityCache(home / CACHE))


class _NoJournal:
    """A model that is tried out by hand belongs to no run."""

    async def record(self, *events: Event) -> None:
        """Nothing is kept."""

"""From chosen models to models at work: built, probed once, and set up for one run."""

from dataclasses import dataclass
from pathlib import Path

from langchain_core.language_models import BaseChatModel

from deepwell.budget.backoff import Backoff
from deepwell.budget.ledger import Ledger
from deepwell.configuration import Configuration
from deepwell.errors import BadConfiguration
from deepwell.models.asking import Manners, Model
from deepwell.models.breaker import Retries
from deepwell.models.capabilities import Capabilities, CapabilityCache, cache_key
from deepwell.models.choosing import Chosen
from deepwell.models.factory import ModelSettings, chat_model
from deepwell.models.failures import FailureKind, ModelFailed
from deepwell.models.judgement import Asked, Unusable
from deepwell.models.names import PROVIDERS
from deepwell.models.probe import probe
from deepwell.models.retrying import MOST_BACKOFF_S
from deepwell.models.wire import Wire
from deepwell.ports import Calls, Clock, Journal
from deepwell.vocabulary.budget import Budget
from deepwell.vocabulary.calls import Call, CallKind, CallOutcome, fingerprint
from deepwell.vocabulary.events import Event

PROBE_SHARE = 0.15
"""Of the time for research, what trying out a model may take."""
MOST_PROBE_SECONDS = 30.0
CACHE = "models.json"


async def working_models(
    models: Chosen,
    ledger: Ledger,
    journal: Journal,
    calls: Calls,
    clock: Clock,
    configuration: Configuration,
    home: Path,
) -> tuple[Asked, Asked]:
    """The model that leads and the one that researches; the same one where they do not differ. Raises AnalystFailed."""
    retries = Retries(configuration.max_model_retries)
    backoff = Backoff(configuration.model_backoff_s, MOST_BACKOFF_S)
    manners = Manners(configuration.max_prompt_tokens, configuration.model_timeout_s, backoff)
    trials = _Trials(ledger, journal, clock, CapabilityCache(home / CACHE))
    at_work: dict[ModelSettings, Asked] = {}
    for one in models.each:
        chat = chat_model(one, configuration.model_timeout_s)
        try:
            wire = Wire(one.name, calls)
            capabilities = await trials.known(chat, one, wire)
            at_work[one] = Model(chat, one.name, capabilities, ledger, journal, clock, retries, manners, wire)
        except ModelFailed as error:
            at_work[one] = Unusable(str(one.name), error.failure)
    unusable = [model for model in at_work.values() if isinstance(model, Unusable)]
    if len(unusable) == len(at_work):
        raise ModelFailed(unusable[0].failure)
    return at_work[models.lead], at_work[models.researcher]


@dataclass(frozen=True, slots=True)
class _Trials:
    """What it takes to try a model out, and where the result is remembered."""

    ledger: Ledger
    journal: Journal
    clock: Clock
    cache: CapabilityCache

    async def known(self, chat: BaseChatModel, settings: ModelSettings, wire: Wire) -> Capabilities:
        """What was found out before, or is now. Raises AnalystFailed or BadConfiguration."""
        known = self.cache.get(cache_key(settings), self.clock.now().date())
        return known or await self.tried(chat, settings, wire)

    async def tried(self, chat: BaseChatModel, settings: ModelSettings, wire: Wire) -> Capabilities:
        """What is found out now."""
        left = self.ledger.seconds_left("planning")
        seconds = MOST_PROBE_SECONDS if left is None else min(MOST_PROBE_SECONDS, left * PROBE_SHARE)
        today = self.clock.now().date()
        try:
            found = await probe(chat, settings, self.ledger, self.journal, seconds, today, wire)
        except ModelFailed as error:
            if error.failure.kind is FailureKind.AUTH:
                raise BadConfiguration(_refused_key(settings)) from None
            raise
        if found.lasting:
            self.cache.put(cache_key(settings), found.capabilities)
        return found.capabilities


def _refused_key(settings: ModelSettings) -> str:
    provider = PROVIDERS[settings.name.provider]
    return f"{provider.title} does not accept the key: check {' or '.join(provider.key_names)}."


async def probed_again(settings: ModelSettings, configuration: Configuration, clock: Clock, home: Path) -> Capabilities:
    """Try a model out whatever is known of it. Raises ModelFailed or BadConfiguration."""
    budget = Budget(None, clock.now(), clock.monotonic())
    ledger = Ledger(budget, clock.monotonic, {})
    chat = chat_model(settings, configuration.model_timeout_s)
    trials = _Trials(ledger, _NoJournal(), clock, CapabilityCache(home / CACHE))
    return await trials.tried(chat, settings, Wire(settings.name, _NoCalls()))


class _NoJournal:
    """A model that is tried out by hand belongs to no run."""

    async def record(self, *events: Event) -> None:
        """Nothing is kept."""


class _NoCalls:
    """Neither do its calls."""

    def call(self, kind: CallKind, *asked: object) -> Call:
        """The call by what is asked."""
        return Call(kind, fingerprint(*asked), 0)

    def outcome(self, call: Call) -> CallOutcome | None:
        """Nothing is known."""
        return None

    def is_billed(self, call: Call) -> bool:
        """Nothing is."""
        return False

    async def keep(self, call: Call, outcome: CallOutcome, *, wait: bool = True) -> None:
        """Nothing is kept."""

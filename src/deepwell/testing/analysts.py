"""A model analyst that asks a scripted server, for tests."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from deepwell.analyst.model import ModelAnalyst
from deepwell.budget.backoff import Backoff
from deepwell.budget.clock import SystemClock
from deepwell.budget.ledger import Ledger
from deepwell.models.asking import Manners, Model
from deepwell.models.breaker import Retries
from deepwell.models.capabilities import Capabilities
from deepwell.models.factory import ModelSettings, chat_model
from deepwell.models.names import ModelName
from deepwell.models.wire import Wire
from deepwell.ports import Clock
from deepwell.testing import ListCalls, ListJournal
from deepwell.testing.model_server import ModelServer
from deepwell.vocabulary.budget import Budget, Price

NAME = ModelName("openai-compatible", "colleague")
AT_ONCE = Backoff(first_s=0.01, most_s=0.02)
"""Waits as good as none: a test has no time."""


@dataclass(slots=True)
class Setting:
    """A model at work against a server, with the books that are kept of it."""

    server: ModelServer
    tools: bool = True
    schema: bool = True
    context_tokens: int | None = None
    minutes: float | None = 5.0
    tokens: int | None = None
    dollars: float | None = None
    timeout_s: float = 30.0
    retries: int = 12
    max_prompt_tokens: int = 8000
    prices: Mapping[str, Price | None] = field(default_factory=dict)
    clock: Clock = field(default_factory=SystemClock)
    journal: ListJournal = field(default_factory=ListJournal)
    ledger: Ledger = field(init=False)
    model: Model = field(init=False)

    def __post_init__(self) -> None:
        now = self.clock.monotonic()
        budget = Budget(self.minutes, self.clock.now(), now, self.tokens, self.dollars)
        self.ledger = Ledger(budget, self.clock.monotonic, self.prices)
        self.model = Model(
            chat_model(ModelSettings(NAME, self.server.base_url), self.timeout_s),
            NAME,
            Capabilities(self.tools, self.schema, self.context_tokens, "2026-01-02"),
            self.ledger,
            self.journal,
            self.clock,
            Retries(self.retries),
            Manners(self.max_prompt_tokens, self.timeout_s, AT_ONCE, lambda: 0.0),
            Wire(NAME, ListCalls()),
        )

    @property
    def analyst(self) -> ModelAnalyst:
        """An analyst that asks this model for everything."""
        return ModelAnalyst(self.model, self.model, "A few documents.")

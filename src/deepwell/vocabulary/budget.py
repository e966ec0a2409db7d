"""What a run may use, and what it used: time, tokens, money."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

Phase = Literal["planning", "research", "writing"]
"""The parts of a run that are accounted for by themselves."""
Means = Literal["", "tokens", "money"]

FULL_RESERVE_MINUTES = 1.5
RESERVE_SHARE = 0.3


def synthesis_reserve(total_minutes: float | None) -> float:
    """Minutes kept back for writing: 30 % of the time, at most a minute and a half."""
    if total_minutes is None:
        return FULL_RESERVE_MINUTES
    return min(FULL_RESERVE_MINUTES, RESERVE_SHARE * total_minutes)


@dataclass(frozen=True, slots=True)
class Budget:
    """What a run may use."""

    total_minutes: float | None
    """None: no limit in time."""
    started_at: datetime
    started_monotonic: float
    """The run's clock when it started, in seconds."""
    tokens: int | None = None
    """Prompts and replies together. None: no limit."""
    cost_usd: float | None = None
    """None: no limit in money."""

    @property
    def synthesis_reserve_minutes(self) -> float:
        """Minutes of the total that belong to writing."""
        return synthesis_reserve(self.total_minutes)

    def remaining_minutes(self, now: float) -> float | None:
        """Minutes until the deadline at the clock's `now`; never below zero; None without a limit."""
        if self.total_minutes is None:
            return None
        return max(0.0, self.total_minutes - (now - self.started_monotonic) / 60)

    def research_seconds_left(self, now: float) -> float | None:
        """Seconds until research must end so that the reserve is whole; None without a limit."""
        remaining = self.remaining_minutes(now)
        if remaining is None:
            return None
        return max(0.0, remaining - self.synthesis_reserve_minutes) * 60


@dataclass(frozen=True, slots=True)
class Spend:
    """What was used so far."""

    tokens: int = 0
    cost_usd: float = 0.0
    short_of: Means = ""
    """What research has too little left of for another request."""


NOTHING_SPENT = Spend()


@dataclass(frozen=True, slots=True)
class Usage:
    """The tokens of one model call."""

    prompt: int
    reply: int
    cached: int = 0
    """Those of the prompt that the provider had seen before."""
    counted: bool = True
    """False when the provider did not tell, and this is an estimate."""


@dataclass(frozen=True, slots=True)
class Price:
    """What a model costs, in US dollars for a million tokens; of several tiers, the dearest."""

    input_usd_per_million: float
    output_usd_per_million: float
    cached_input_usd_per_million: float | None = None
    """None: what the cache held costs as much as the rest."""


def cost(price: Price, prompt_tokens: int, reply_tokens: int, cached_tokens: int = 0) -> float:
    """US dollars for one call; `cached_tokens` are part of the prompt's."""
    cached = price.cached_input_usd_per_million
    cached = price.input_usd_per_million if cached is None else cached
    from_cache = min(max(cached_tokens, 0), prompt_tokens)
    dollars = (prompt_tokens - from_cache) * price.input_usd_per_million + from_cache * cached
    return (dollars + reply_tokens * price.output_usd_per_million) / 1_000_000


@dataclass(frozen=True, slots=True)
class SpendLine:
    """What one model used in one phase."""

    phase: Phase
    model: str
    requests: int
    prompt_tokens: int
    cached_tokens: int
    reply_tokens: int
    cost_usd: float | None
    """None: the model's price is not known."""
    counted: bool = True
    """False when part of it is an estimate, because the provider did not tell."""

    @property
    def tokens(self) -> int:
        """Prompts and replies together."""
        return self.prompt_tokens + self.reply_tokens


def added(lines: Iterable[SpendLine]) -> tuple[SpendLine, ...]:
    """One line for each phase and model, in the order of first use."""
    sums: dict[tuple[Phase, str], SpendLine] = {}
    for line in lines:
        key = line.phase, line.model
        sums[key] = _sum(sums[key], line) if key in sums else line
    return tuple(sums.values())


def _sum(one: SpendLine, other: SpendLine) -> SpendLine:
    unpriced = one.cost_usd is None or other.cost_usd is None
    return SpendLine(
        one.phase,
        one.model,
        one.requests + other.requests,
        one.prompt_tokens + other.prompt_tokens,
        one.cached_tokens + other.cached_tokens,
        one.reply_tokens + other.reply_tokens,
        None if unpriced else (one.cost_usd or 0.0) + (other.cost_usd or 0.0),
        one.counted and other.counted,
    )


def total_spend(lines: Iterable[SpendLine]) -> Spend:
    """All lines together; what has no known price costs nothing here."""
    counted = list(lines)
    return Spend(sum(line.tokens for line in counted), sum(line.cost_usd or 0.0 for line in counted))

"""What a run may use, and what it used: time, tokens, money."""

from dataclasses import dataclass
from datetime import datetime

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
    searches: int = 0
    sources_read: int = 0

    def __add__(self, other: "Spend") -> "Spend":
        return Spend(
            self.tokens + other.tokens,
            self.cost_usd + other.cost_usd,
            self.searches + other.searches,
            self.sources_read + other.sources_read,
        )


NOTHING_SPENT = Spend()

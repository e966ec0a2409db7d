"""The run's one account of time, tokens and money: reserved before a call, settled after it.

What is settled and what is still reserved never pass the budget together. Part of it is kept for writing, so that
research cannot leave the report without means.
"""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from deepwell.errors import BudgetSpent
from deepwell.vocabulary.budget import Budget, Means, Phase, Price, Spend, SpendLine, Usage, added, cost, total_spend

WRITING_SHARE = 0.25
"""Share of tokens and money that only writing may use."""
COMPACT_BELOW = 0.25
"""Share of the token budget below which the state is shortened."""


@dataclass(frozen=True, slots=True)
class Reservation:
    """What a call may use at most; open until it is settled."""

    number: int
    phase: Phase
    model: str
    prompt_tokens: int
    reply_tokens: int
    cost_usd: float

    @property
    def tokens(self) -> int:
        """Prompt and reply together."""
        return self.prompt_tokens + self.reply_tokens


class Ledger:
    """Knows what may still be used, and by what it was used."""

    def __init__(
        self,
        budget: Budget,
        now: Callable[[], float],
        prices: Mapping[str, Price | None],
        lines: Sequence[SpendLine] = (),
    ) -> None:
        """`lines`: what was used before, by a process that is gone."""
        self.budget = budget
        """May be replaced while the run goes on: the tier sets its time only after the question was understood."""
        self._now = now
        self._prices = prices
        self._lines = tuple(lines)
        self._open: dict[int, Reservation] = {}
        self._numbers = 0
        self._change = asyncio.Event()
        self._short_of: Means = ""

    def reserve(self, phase: Phase, model: str, prompt_tokens: int, reply_tokens: int) -> Reservation:
        """Set aside what a call may use at most. Raises BudgetSpent when there is not so much left."""
        price = self._prices.get(model)
        money = cost(price, prompt_tokens, reply_tokens) if price else 0.0
        self._check(phase, prompt_tokens + reply_tokens, money)
        self._numbers += 1
        reservation = Reservation(self._numbers, phase, model, prompt_tokens, reply_tokens, money)
        self._open[reservation.number] = reservation
        return reservation

    def release(self, reservation: Reservation) -> None:
        """Give back what was set aside for a request that is not made."""
        self._open.pop(reservation.number, None)
        self._tell()

    async def given_back(self, seconds: float | None) -> bool:
        """Wait until another request is settled; False when none is open, or none is settled in so many seconds."""
        if not self._open:
            return False
        try:
            async with asyncio.timeout(seconds):
                await self._change.wait()
        except TimeoutError:
            return False
        return True

    def affordable(self, phase: Phase, model: str, prompt_tokens: int) -> int | None:
        """How long a reply to such a prompt may be, in tokens, for what is left in this phase; None: no limit."""
        tokens, money = self._left(phase)
        limits = [] if tokens is None else [int(tokens) - prompt_tokens]
        price = self._prices.get(model)
        if money is not None and price and price.output_usd_per_million:
            for_reply = money - cost(price, prompt_tokens, 0)
            limits.append(int(for_reply / price.output_usd_per_million * 1_000_000))
        return max(0, min(limits)) if limits else None

    def settle(self, reservation: Reservation, usage: Usage) -> float | None:
        """Book what the call really used, and give its cost; None where the price is not known."""
        self._open.pop(reservation.number)
        price = self._prices.get(reservation.model)
        money = cost(price, usage.prompt, usage.reply, usage.cached) if price else None
        line = SpendLine(
            reservation.phase, reservation.model, 1, usage.prompt, usage.cached, usage.reply, money, usage.counted
        )
        self._lines = added((*self._lines, line))
        self._tell()
        return money

    def seconds_left(self, phase: Phase) -> float | None:
        """Until the phase must be over; None: no limit in time."""
        now = self._now()
        if phase != "writing":
            return self.budget.research_seconds_left(now)
        remaining = self.budget.remaining_minutes(now)
        return None if remaining is None else remaining * 60

    @property
    def lines(self) -> tuple[SpendLine, ...]:
        """What was used, by phase and model, in the order of first use."""
        return self._lines

    @property
    def spend(self) -> Spend:
        """What was used in all, and what research has run short of."""
        return replace(total_spend(self._lines), short_of=self._short_of)

    @property
    def runs_low(self) -> bool:
        """True when less than a quarter of the token budget is left."""
        total = self.budget.tokens
        return total is not None and total - self.spend.tokens < COMPACT_BELOW * total

    def _check(self, phase: Phase, tokens: int, money: float) -> None:
        tokens_left, money_left = self._left(phase)
        if tokens_left is not None and tokens > tokens_left:
            self._refuse(phase, "tokens")
        if money_left is not None and money > money_left:
            self._refuse(phase, "money")

    def _refuse(self, phase: Phase, means: Means) -> None:
        if phase == "research" and not self._open:
            self._short_of = means
        raise BudgetSpent(f"What is left of the {means} for {phase} does not allow for another request.")

    def _tell(self) -> None:
        """Wake up who waits for means that others give back."""
        self._change.set()
        self._change = asyncio.Event()

    def _left(self, phase: Phase) -> tuple[float | None, float | None]:
        """Tokens and money that this phase may still reserve; None: no limit."""
        share = 1.0 if phase == "writing" else 1.0 - WRITING_SHARE
        spend, held = self.spend, self._open.values()
        tokens, money = self.budget.tokens, self.budget.cost_usd
        return (
            None if tokens is None else share * tokens - spend.tokens - sum(one.tokens for one in held),
            None if money is None else share * money - spend.cost_usd - sum(one.cost_usd for one in held),
        )

"""What a run is likely to use, told before it starts: from its limits alone, without asking anyone."""

from collections.abc import Mapping
from dataclasses import dataclass

from deepwell.configuration import Configuration
from deepwell.vocabulary.budget import Phase, Price, cost


@dataclass(frozen=True, slots=True)
class Calls:
    """Requests of one sort: how many there usually are and may be, and what each takes."""

    phase: Phase
    model: str
    usual: float
    most: int
    prompt_tokens: int
    reply_tokens: int


@dataclass(frozen=True, slots=True)
class Estimate:
    """Usual and highest figures for a run."""

    calls: tuple[Calls, ...]
    requests: tuple[int, int]
    tokens: tuple[int, int]
    cost_usd: tuple[float, float] | None
    """None: a price is not known."""
    minutes: float | None
    """The time limit of the run; None: no limit."""
    too_little: bool = False
    """True when a limit is too low for even the first requests."""


def expected(configuration: Configuration, lead: str, researcher: str) -> tuple[Calls, ...]:
    """The requests that a run under this configuration makes: what was measured on runs over a few dozen documents."""
    parts = max(1, configuration.max_subquestions // 2)
    rounds = configuration.max_researcher_iterations
    usual_rounds = 1 + 0.15 * (rounds - 1)
    most_units = min(configuration.max_research_units, rounds * configuration.max_subquestions)
    most_calls = most_units * (configuration.max_react_tool_calls + 1)
    unit_prompt = min(configuration.max_prompt_tokens, 3500)
    return (
        Calls("planning", lead, 1, 1, 1200, 600),
        Calls("research", researcher, parts * usual_rounds, most_calls, unit_prompt, 400),
        Calls("research", lead, 2 * (usual_rounds - 1), rounds - 1, 1800, 250),
        Calls("writing", lead, 1, 1, 2200, 400),
        Calls("writing", lead, parts, 8, 1800, 450),
    )


def estimate(configuration: Configuration, lead: str, researcher: str, prices: Mapping[str, Price | None]) -> Estimate:
    """Usual and highest use; the highest never passes the budgets, because the run does not either."""
    calls = expected(configuration, lead, researcher)
    requests = round(sum(c.usual for c in calls)), sum(c.most for c in calls)
    usual = sum(c.usual * (c.prompt_tokens + c.reply_tokens) for c in calls)
    most = sum(c.most * (configuration.max_prompt_tokens + 3000) for c in calls)
    return Estimate(
        calls,
        requests,
        (_capped(round(usual), configuration.token_budget), _capped(most, configuration.token_budget)),
        _costs(calls, prices, configuration),
        configuration.total_minutes,
        _too_little(configuration, prices.get(lead)),
    )


def _too_little(configuration: Configuration, price: Price | None) -> bool:
    """A first request sets aside its prompt and a short reply, within what is not kept for writing."""
    prompt, reply, share = 1500, 400, 0.75
    tokens, money = configuration.token_budget, configuration.cost_budget_usd
    short_of_tokens = tokens is not None and (prompt + reply) > share * tokens
    return short_of_tokens or (money is not None and price is not None and cost(price, prompt, reply) > share * money)


def _costs(
    calls: tuple[Calls, ...], prices: Mapping[str, Price | None], configuration: Configuration
) -> tuple[float, float] | None:
    usual = most = 0.0
    for c in calls:
        price = prices.get(c.model)
        if price is None:
            return None
        usual += c.usual * cost(price, c.prompt_tokens, c.reply_tokens)
        most += c.most * cost(price, configuration.max_prompt_tokens, 3000)
    cap = configuration.cost_budget_usd
    return (usual, most) if cap is None else (min(usual, cap), min(most, cap))


def _capped(tokens: int, cap: int | None) -> int:
    return tokens if cap is None else min(tokens, cap)

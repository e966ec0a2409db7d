"""What a run is likely to use, told beforehand."""

from deepwell.budget.estimate import estimate
from deepwell.configuration import Configuration
from deepwell.vocabulary.budget import Price

PRICES = {"a:lead": Price(1.0, 4.0), "a:unit": Price(0.1, 0.4)}


def build(**values: object) -> Configuration:
    return Configuration.build(env={}, **values)


def test_the_usual_is_below_the_most_and_deeper_is_more() -> None:
    standard = estimate(build(), "a:lead", "a:unit", PRICES)
    deep = estimate(build(tier="deep"), "a:lead", "a:unit", PRICES)
    assert standard.tokens[0] < standard.tokens[1] < deep.tokens[1]
    assert standard.cost_usd
    assert 0 < standard.cost_usd[0] < standard.cost_usd[1]
    assert standard.minutes == 5


def test_a_limit_is_the_most() -> None:
    capped = estimate(build(token_budget=9000, cost_budget_usd=0.001), "a:lead", "a:unit", PRICES)
    assert capped.tokens == (9000, 9000)
    assert capped.cost_usd == (0.001, 0.001)


def test_without_a_price_there_is_no_cost() -> None:
    assert estimate(build(), "a:lead", "a:other", PRICES).cost_usd is None

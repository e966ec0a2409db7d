from deepwell.stages.judge.progress import means
from deepwell.testing import START
from deepwell.vocabulary.budget import Budget, Spend
from deepwell.vocabulary.progress import Forecast


def test_an_estimate_is_not_rounded_past_the_deadline() -> None:
    told = means(Budget(2 / 3, START, 0.0), 0.0, Forecast(40.0, 40.0))
    assert told["remaining_minutes"] == 2 / 3
    assert told["estimated_remaining_minutes"] == told["estimated_remaining_minutes_high"] == 2 / 3


def test_spend_stands_beside_its_budget() -> None:
    told = means(Budget(None, START, 0.0, 1000, 0.5), 60.0, Forecast(None, None), spend=Spend(300, 0.1234567))
    assert (told["tokens_spent"], told["token_budget"]) == (300, 1000)
    assert (told["cost_usd"], told["cost_budget_usd"]) == (0.123457, 0.5)
    assert (told["elapsed_minutes"], told["remaining_minutes"], told["deadline"]) == (1.0, None, None)

"""What is settled and what is reserved never pass the budget together."""

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deepwell.budget.ledger import WRITING_SHARE, Ledger
from deepwell.errors import BudgetSpent
from deepwell.testing import ManualClock
from deepwell.vocabulary.budget import Budget, Phase, Price, Spend, Usage

MODEL = "openai:m"
PRICE = Price(1.0, 2.0, 0.5)


def ledger(tokens: int | None = None, dollars: float | None = None, clock: ManualClock | None = None) -> Ledger:
    clock = clock or ManualClock()
    budget = Budget(5.0, datetime(2026, 1, 2, tzinfo=UTC), 0.0, tokens, dollars)
    return Ledger(budget, clock.monotonic, {MODEL: PRICE, "openai:unpriced": None})


def test_a_call_is_reserved_for_and_then_costs_what_it_cost() -> None:
    books = ledger(tokens=10_000)
    reservation = books.reserve("research", MODEL, 1000, 500)
    assert books.spend == Spend(0, 0.0)
    assert books.settle(reservation, Usage(900, 100, cached=400)) == pytest.approx((500 + 400 * 0.5 + 200) / 1e6)
    assert books.spend.tokens == 1000
    assert [(line.phase, line.requests, line.cached_tokens) for line in books.lines] == [("research", 1, 400)]


def test_open_reservations_count_as_spent() -> None:
    books = ledger(tokens=4000)
    first = books.reserve("research", MODEL, 1000, 1000)
    with pytest.raises(BudgetSpent):
        books.reserve("research", MODEL, 1000, 1000)
    books.settle(first, Usage(10, 10))
    books.reserve("research", MODEL, 1000, 1000)


def test_a_part_of_the_means_is_kept_for_writing() -> None:
    books = ledger(tokens=4000)
    research = int(4000 * (1 - WRITING_SHARE))
    books.settle(books.reserve("research", MODEL, research, 0), Usage(research, 0))
    with pytest.raises(BudgetSpent, match="tokens for research"):
        books.reserve("research", MODEL, 1, 0)
    books.reserve("writing", MODEL, 500, 500)


def test_a_reply_is_as_long_as_the_means_allow() -> None:
    assert ledger().affordable("research", MODEL, 1000) is None
    assert ledger(tokens=4000).affordable("research", MODEL, 1000) == 2000
    assert ledger(tokens=4000).affordable("writing", MODEL, 1000) == 3000
    assert ledger(dollars=0.01).affordable("writing", MODEL, 2000) == 4000
    assert ledger(tokens=100).affordable("writing", MODEL, 2000) == 0


def test_money_is_held_like_tokens() -> None:
    books = ledger(dollars=0.01)
    with pytest.raises(BudgetSpent, match="money"):
        books.reserve("writing", MODEL, 10_000, 1)
    books.reserve("writing", MODEL, 5000, 100)


def test_a_model_without_a_price_counts_tokens_only() -> None:
    books = ledger(tokens=1000)
    assert books.settle(books.reserve("writing", "openai:unpriced", 10, 10), Usage(10, 10)) is None
    assert books.lines[0].cost_usd is None
    assert books.spend == Spend(20, 0.0)


def test_time_ends_earlier_for_research_than_for_writing() -> None:
    clock = ManualClock()
    books = ledger(clock=clock)
    clock.move(60)
    assert books.seconds_left("research") == pytest.approx(150)
    assert books.seconds_left("planning") == pytest.approx(150)
    assert books.seconds_left("writing") == pytest.approx(240)


def test_a_low_token_budget_is_noticed_at_a_quarter() -> None:
    books = ledger(tokens=1000)
    books.settle(books.reserve("research", MODEL, 700, 0), Usage(740, 0))
    assert not books.runs_low
    books.settle(books.reserve("writing", MODEL, 20, 0), Usage(20, 0))
    assert books.runs_low
    assert not ledger().runs_low


@given(
    total=st.integers(100, 5000),
    wishes=st.lists(
        st.tuples(
            st.sampled_from(["planning", "research", "writing"]),
            st.integers(0, 800),
            st.integers(0, 800),
            st.booleans(),
        ),
        max_size=30,
    ),
)
def test_spend_never_passes_the_budget(total: int, wishes: list[tuple[Phase, int, int, bool]]) -> None:
    books = ledger(tokens=total, dollars=total * 1.5 / 1e6)
    waiting = []
    for phase, prompt, reply, settle in wishes:
        try:
            waiting.append((books.reserve(phase, MODEL, prompt, reply), Usage(prompt, reply)))
        except BudgetSpent:
            continue
        if settle:
            books.settle(*waiting.pop(0))
    for reservation, usage in waiting:
        books.settle(reservation, usage)
    assert books.spend.tokens <= total
    assert books.spend.cost_usd <= total * 1.5 / 1e6 + 1e-12

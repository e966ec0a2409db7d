"""Each kind of failure has its own rule."""

import pytest

from deepwell.budget.backoff import Backoff
from deepwell.models.failures import Failure, FailureKind
from deepwell.models.retrying import MOST_ATTEMPTS, RULES, Again, GiveUp, next_step

BACKOFF = Backoff(1.0, 20.0)


def step(kind: FailureKind, attempt: int = 1, left: float | None = 100.0, after: float | None = None) -> Again | GiveUp:
    return next_step(Failure(kind, "x", after), attempt, left, BACKOFF, lambda: 0.0)


def test_every_kind_has_a_rule_and_none_allows_more_than_three_attempts() -> None:
    assert set(RULES) == set(FailureKind)
    assert max(rule.attempts for rule in RULES.values()) == MOST_ATTEMPTS == 3


@pytest.mark.parametrize("kind", [FailureKind.AUTH, FailureKind.QUOTA, FailureKind.REFUSAL])
def test_what_cannot_heal_is_not_tried_again(kind: FailureKind) -> None:
    assert step(kind) == GiveUp()


def test_backoff_doubles_and_has_a_ceiling() -> None:
    assert [step(FailureKind.RATE_LIMIT, n) for n in (1, 2, 3)] == [
        Again(1.0, "nothing"),
        Again(2.0, "nothing"),
        GiveUp(),
    ]
    assert BACKOFF.wait(10, 0.0) == 20.0
    assert BACKOFF.wait(1, 1.0) == 0.5


def test_retry_after_is_honoured_unless_the_time_is_over_before() -> None:
    assert step(FailureKind.RATE_LIMIT, after=7.5) == Again(7.5, "nothing")
    assert step(FailureKind.RATE_LIMIT, after=7.5, left=7.0) == GiveUp()
    assert step(FailureKind.RATE_LIMIT, after=60, left=None) == Again(60, "nothing")
    assert step(FailureKind.RATE_LIMIT, after=3600, left=None) == GiveUp()
    assert step(FailureKind.RATE_LIMIT, after=3600, left=9000) == GiveUp()


def test_what_is_changed_depends_on_what_was_wrong() -> None:
    assert step(FailureKind.CONTEXT_OVERFLOW) == Again(0.0, "shrink")
    assert step(FailureKind.MALFORMED) == Again(0.0, "remind")
    assert step(FailureKind.BAD_REQUEST) == Again(0.0, "plainer")
    assert step(FailureKind.MALFORMED, 2) == GiveUp()
    assert step(FailureKind.TIMEOUT) == Again(0.0, "nothing")

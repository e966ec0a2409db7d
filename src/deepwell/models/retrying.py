"""What is done about a failed request: each kind of failure has its own rule, and the answer is a value."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from deepwell.budget.backoff import Backoff
from deepwell.models.failures import Failure, FailureKind

Change = Literal["nothing", "shrink", "remind", "plainer"]
"""What the next request does differently: a shorter prompt, a word on what was wrong, or no schema."""


@dataclass(frozen=True, slots=True)
class Rule:
    """How often a request may be made in all when it fails this way, and what is changed in between."""

    attempts: int
    waits: bool = False
    change: Change = "nothing"


MOST_ATTEMPTS = 3
MOST_WAIT_S = 120.0
"""Longer than this nobody waits for a provider, however much time there is."""
RULES: dict[FailureKind, Rule] = {
    FailureKind.RATE_LIMIT: Rule(MOST_ATTEMPTS, waits=True),
    FailureKind.OVERLOAD: Rule(MOST_ATTEMPTS, waits=True),
    FailureKind.UNREACHABLE: Rule(2, waits=True),
    FailureKind.TIMEOUT: Rule(2),
    FailureKind.CONTEXT_OVERFLOW: Rule(MOST_ATTEMPTS, change="shrink"),
    FailureKind.MALFORMED: Rule(2, change="remind"),
    # A server that refuses the schema or the tools may still understand plain words.
    FailureKind.BAD_REQUEST: Rule(2, change="plainer"),
    FailureKind.REFUSAL: Rule(1),
    FailureKind.AUTH: Rule(1),
    FailureKind.QUOTA: Rule(1),
}


@dataclass(frozen=True, slots=True)
class Again:
    """Make the request once more, after so many seconds, with this change."""

    after_s: float
    change: Change


@dataclass(frozen=True, slots=True)
class GiveUp:
    """Make no further request for this judgement."""


Step = Again | GiveUp


MOST_BACKOFF_S = 20.0
DEFAULT_BACKOFF = Backoff(1.0, MOST_BACKOFF_S)


def next_step(
    failure: Failure, attempt: int, seconds_left: float | None, backoff: Backoff, jitter: Callable[[], float]
) -> Step:
    """Again or not: by the rule of its kind, and only if the wait still leaves time to be answered in."""
    rule = RULES[failure.kind]
    if attempt >= rule.attempts:
        return GiveUp()
    wait = _wait(failure, rule, attempt, backoff, jitter)
    if wait >= (MOST_WAIT_S if seconds_left is None else min(seconds_left, MOST_WAIT_S)):
        return GiveUp()
    return Again(wait, rule.change)


def _wait(failure: Failure, rule: Rule, attempt: int, backoff: Backoff, jitter: Callable[[], float]) -> float:
    """As long as the provider asks for; else ever longer."""
    if failure.retry_after_s is not None:
        return failure.retry_after_s
    return backoff.wait(attempt, jitter()) if rule.waits else 0.0

"""Whether a failed request to an engine is made once more, and when: the answer is a value."""

from collections.abc import Callable
from dataclasses import dataclass

from deepwell.budget.backoff import Backoff
from deepwell.search.failures import Failure

MOST_ATTEMPTS = 3


@dataclass(frozen=True, slots=True)
class Again:
    """Ask the same engine once more, after so many seconds."""

    after_s: float


@dataclass(frozen=True, slots=True)
class GiveUp:
    """Ask this engine no more for this query."""


Step = Again | GiveUp


DEFAULT_BACKOFF = Backoff(0.25, 2.0)
"""Short: another engine stands ready."""


def next_step(
    failure: Failure,
    attempt: int,
    seconds_left: float,
    backoff: Backoff,
    jitter: Callable[[], float],
    *,
    soonest_s: float = 0.0,
    took_s: float = 0.0,
) -> Step:
    """Again if that kind of failure passes, as the engine asks to wait, and if enough time is left to be answered.

    It is not asked again sooner than `soonest_s`; an answer may take as long as the failure took.
    """
    if attempt >= MOST_ATTEMPTS or not failure.retryable:
        return GiveUp()
    asked = failure.retry_after_s
    wait = max(soonest_s, backoff.wait(attempt, jitter()) if asked is None else asked)
    return Again(wait) if wait + max(wait, took_s) < seconds_left else GiveUp()

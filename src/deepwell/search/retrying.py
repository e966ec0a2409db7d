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
    failure: Failure, attempt: int, seconds_left: float, backoff: Backoff, jitter: Callable[[], float]
) -> Step:
    """Again if that kind of failure passes, as the engine asks to wait, and if enough time is left to be answered."""
    if attempt >= MOST_ATTEMPTS or not failure.retryable:
        return GiveUp()
    asked = failure.retry_after_s
    wait = backoff.wait(attempt, jitter()) if asked is None else asked
    return Again(wait) if wait < seconds_left / 2 else GiveUp()

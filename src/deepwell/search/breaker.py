"""When an engine is not worth asking any more."""

import math

from deepwell.search.failures import Failure, FailureKind

IN_A_ROW = 3
LEAST_FOR_HALF = 4
"""Of fewer searches, half is not yet a sign."""
_COOL_S = 30.0
_FINAL = frozenset((FailureKind.AUTH, FailureKind.QUOTA))
_COOLING = frozenset((FailureKind.RATE_LIMIT, FailureKind.OVERLOAD))
_AWAY = frozenset((FailureKind.TIMEOUT, FailureKind.UNREACHABLE))


class Breaker:
    """Counts what came of the searches with one engine; opens after three failures in a row or half of all.

    It also opens when the engine has kept a run waiting in vain for so long that too little is left of what it may
    cost, when it has never answered and lets time run out or cannot be reached, and at once when the key is refused or
    used up. What may pass by itself closes it again after a while, and so does an answer that was still under way;
    then a single failure opens it.
    """

    def __init__(self, patience_s: float, fair_s: float = 0.0) -> None:
        """The engine may cost a run `patience_s` in vain; it is not asked with less than `fair_s` to answer."""
        self._patience_s = patience_s
        self._fair_s = fair_s
        self.wasted_s = 0.0
        """How long a run has waited for it in vain since it last answered."""
        self._waited_until = -math.inf
        self._in_a_row = 0
        self._open_until = -math.inf
        self.answers = 0
        self.failures = 0
        self.last: Failure | None = None

    def lets_through(self, now: float) -> bool:
        """True when the engine may be asked."""
        return now >= self._open_until

    @property
    def is_doubtful(self) -> bool:
        """True when the last search that ended brought nothing."""
        return self._in_a_row > 0

    @property
    def patience_left_s(self) -> float:
        """How much longer this engine may keep a run waiting in vain, until it answers again."""
        return max(0.0, self._patience_s - self.wasted_s)

    def answered(self) -> None:
        """The engine answered, if only that it found nothing."""
        self.answers += 1
        self._in_a_row = 0
        self.wasted_s = 0.0
        self._open_until = -math.inf

    def failed(self, failure: Failure, started: float, ended: float) -> bool:
        """The engine did not answer a search, retries included. True when that opened the breaker."""
        self.failures += 1
        self._in_a_row += 1
        self.last = failure
        # Searches that wait side by side cost the run their time only once.
        self.wasted_s += max(0.0, ended - max(started, self._waited_until))
        self._waited_until = max(self._waited_until, ended)
        was_open = not self.lets_through(ended)
        if self._is_enough(failure):
            self._open_until = max(self._open_until, self._closed_again(failure, ended))
        return not was_open and not self.lets_through(ended)

    def _is_enough(self, failure: Failure) -> bool:
        searches = self.answers + self.failures
        never_there = failure.kind in _AWAY and not self.answers
        return (
            failure.kind in _FINAL
            or never_there
            or self._in_a_row >= IN_A_ROW
            or (searches >= LEAST_FOR_HALF and 2 * self.failures >= searches)
            or self._is_out_of_patience
        )

    @property
    def _is_out_of_patience(self) -> bool:
        return self.patience_left_s <= 0 or self.patience_left_s < self._fair_s

    def _closed_again(self, failure: Failure, now: float) -> float:
        """When to try again: never in this run, unless it costs nothing to be turned away once more."""
        if failure.kind not in _COOLING or self._is_out_of_patience:
            return math.inf
        return now + max(failure.retry_after_s or 0.0, _COOL_S)

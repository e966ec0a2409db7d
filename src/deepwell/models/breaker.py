"""When a model is not worth asking any more: after three failed judgements in a row, or one that cannot heal."""

from deepwell.models.failures import Failure, FailureKind, ModelFailed
from deepwell.vocabulary.budget import Phase

IN_A_ROW = 3
_FINAL = frozenset((FailureKind.AUTH, FailureKind.QUOTA))


class Breaker:
    """Counts failures; a new phase of the run gives the model one more chance."""

    def __init__(self) -> None:
        self._in_a_row = 0
        self._last: Failure | None = None
        self._phase: Phase | None = None

    def check(self, phase: Phase) -> None:
        """Raises ModelFailed, without any request, when the model has been given up."""
        if phase != self._phase:
            self._phase = phase
            self._in_a_row = min(self._in_a_row, IN_A_ROW - 1)
        if self._last and (self._last.kind in _FINAL or self._in_a_row >= IN_A_ROW):
            raise ModelFailed(self._last)

    @property
    def doubtful(self) -> bool:
        """True after a judgement that could not be had, until one can."""
        return self._in_a_row > 0

    def answered(self) -> None:
        """It works again; a late answer does not undo a refused key."""
        self._in_a_row = 0
        if self._last and self._last.kind not in _FINAL:
            self._last = None

    def failed(self, failure: Failure) -> None:
        """A judgement could not be had, retries included."""
        self._in_a_row += 1
        self._last = failure


class Retries:
    """The repeated requests that a run may make over all its models, so that retries never multiply."""

    def __init__(self, most: int) -> None:
        self._left = most

    def take(self) -> bool:
        """One of them; False when they are used up."""
        self._left -= 1
        return self._left >= 0

"""A judgement to be had from a model, and whoever can be asked for one."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeVar

from deepwell.models.failures import Failure, ModelFailed
from deepwell.models.shapes import Shape
from deepwell.vocabulary.budget import Phase

R = TypeVar("R")


@dataclass(frozen=True, slots=True)
class Ask(Generic[R]):
    """A judgement to be had from a model."""

    purpose: str
    phase: Phase
    shape: Shape
    standing: str
    """What the model is told every time. It comes first, so that provider caches hit."""
    case: Callable[[int], str]
    """Writes the rest so that it takes about so many tokens at most: how to shorten is planned, not luck."""
    accept: Callable[[Any, int], R]
    """Turns what was replied to a prompt of that room into the judgement. Raises MalformedReply when it is no use."""
    reply_tokens: int
    share: float
    """The part of the phase's remaining time that this judgement may take, retries included."""


class Asked(Protocol):
    """Whoever can be asked for a judgement."""

    name: str

    async def ask(self, ask: Ask[R]) -> R:
        """The judgement. Raises ModelFailed or BudgetSpent."""
        ...


@dataclass(slots=True)
class Unusable:
    """A model that is not there. The other one of the run may be: what was this one's to do fails at once."""

    name: str
    failure: Failure

    async def ask(self, ask: Ask[R]) -> R:
        """Raises ModelFailed."""
        raise ModelFailed(self.failure)

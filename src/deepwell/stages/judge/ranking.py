"""One order for everything a run kept."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from deepwell.vocabulary.record import Lane

PARTS = 3
"""So many units side by side are parts of a question that are answered each; fewer may be one chain."""
FIRST_CHAINS = 4
"""A question that is one chain shows the best of its chains before anything else."""


@dataclass(frozen=True, slots=True)
class _Step:
    """From a passage to one that its lead led to."""

    origin: str
    end: str
    score: float
    iteration: int

    @property
    def order(self) -> tuple[int, float]:
        """Earlier rounds first: a longer chain adds up more, so only steps of one round compare by their scores."""
        return self.iteration, -self.score


def kept_passages(lanes: Sequence[Lane]) -> tuple[str, ...]:
    """The handles of all kept passages, each once.

    Parts take turns: each unit gives its best, then its second, and so on. Where leads were followed from few units,
    the question is taken for a chain: the passages that led on stand first, each with what it led to.
    """
    plan = [lane.handles for lane in lanes if not lane.origin]
    steps = [(step.origin, step.end) for step in sorted(_steps(lanes), key=lambda step: step.order)]
    followed = [handle for step in steps for handle in step]
    if len(plan) >= PARTS:
        order = [*_in_turns(plan), *followed]
    else:
        order = [*followed[: 2 * FIRST_CHAINS], *_in_turns([*plan, followed])]
    everything = _in_turns([lane.handles for lane in lanes])
    return tuple(dict.fromkeys((*order, *everything)))


def _steps(lanes: Sequence[Lane]) -> Iterator[_Step]:
    """Of the steps that end in a passage only the best."""
    best: dict[str, _Step] = {}
    for lane in (lane for lane in lanes if lane.origin):
        for handle, score in zip(lane.handles, lane.scores, strict=True):
            step = _Step(lane.origin, handle, lane.origin_score + score, lane.iteration)
            if handle != lane.origin and (handle not in best or step.order < best[handle].order):
                best[handle] = step
    yield from best.values()


def _in_turns(lanes: Sequence[Sequence[str]]) -> Iterator[str]:
    depth = max((len(lane) for lane in lanes), default=0)
    return (lane[rank] for rank in range(depth) for lane in lanes if rank < len(lane))

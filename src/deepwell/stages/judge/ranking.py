"""One order for everything a run kept: each unit in turn gives its best, then its second, and so on."""

from collections.abc import Sequence

from deepwell.vocabulary.record import Lane


def kept_passages(lanes: Sequence[Lane]) -> tuple[str, ...]:
    """The handles of all kept passages, each once. Every unit counts the same, whatever round it was sent in."""
    depth = max((len(lane.handles) for lane in lanes), default=0)
    in_turns = (lane.handles[rank] for rank in range(depth) for lane in lanes if rank < len(lane.handles))
    return tuple(dict.fromkeys(in_turns))

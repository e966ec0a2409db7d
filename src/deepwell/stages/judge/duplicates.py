"""Is a proposed topic one that was already dispatched?"""

from collections.abc import Iterable
from dataclasses import dataclass

from deepwell.language.words import topic_words


@dataclass(frozen=True, slots=True)
class Duplicate:
    """An earlier topic that covers a proposed one."""

    earlier: str
    score: float


def similarity(one: str, other: str) -> float:
    """Jaccard overlap of the content words, from 0 to 1; two topics without any are alike only if equal."""
    mine, theirs = topic_words(one), topic_words(other)
    shared = len(mine & theirs)
    union = len(mine) + len(theirs) - shared
    if not union:
        return float(one.strip() == other.strip())
    return shared / union


def find_duplicate(topic: str, earlier: Iterable[str], threshold: float) -> Duplicate | None:
    """The most similar earlier topic, if it is similar enough to make this one a repetition."""
    best = max(((similarity(topic, other), other) for other in earlier), default=None, key=lambda pair: pair[0])
    if best is None or best[0] < threshold:
        return None
    return Duplicate(best[1], best[0])

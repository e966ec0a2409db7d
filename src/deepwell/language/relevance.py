"""How well a passage speaks to weighted words: BM25 over stems, with the title and the best sentence counted again."""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from deepwell.language.sentences import sentences
from deepwell.language.stems import stems

SATURATION = 1.2
"""BM25's k1: the third mention of a word says little more than the second."""
LENGTH_SHARE = 0.5
"""BM25's b, halved: passages are cut to about the same length."""
MEAN_WORDS = 185
TITLE_SHARE = 0.5
"""A term in the title counts half again."""
SENTENCE_SHARE = 0.5
"""Terms that meet in one sentence count half again: an answer is mostly one sentence."""

CONTEXT_SHARE = 0.3
"""Weight of a word of the context beside one of the matter itself: it says what `he` or `it` stands for."""
RARITY_CAP = 6.0
"""Beyond this a name is rare enough: one that stands once in a large library is no better lead than one a few times."""

Key = tuple[str, ...]
"""A name or phrase as its stems in order."""


@dataclass(frozen=True, slots=True)
class Reading:
    """A passage taken apart once."""

    sequence: Key
    counts: Mapping[str, int]
    title: Key
    sentences: tuple[frozenset[str], ...]

    def holds(self, key: Key) -> bool:
        """Whether the words stand next to each other in the passage or its title."""
        return _contains(self.sequence, key) or _contains(self.title, key)

    @property
    def known(self) -> frozenset[str]:
        """Every stem in the passage and its title."""
        return frozenset(self.counts) | frozenset(self.title)


def take_apart(title: str, body: str) -> Reading:
    """The passage as stems."""
    sequence = tuple(stems(body))
    return Reading(
        sequence,
        Counter(sequence),
        tuple(stems(base_title(title))),
        tuple(frozenset(stems(body[start:end])) for start, end in sentences(body)),
    )


def base_title(title: str) -> str:
    """`Brand (play)` is `Brand` to a text that speaks of it."""
    head, bracket, _ = title.partition(" (")
    return head if bracket and title.endswith(")") and head else title


def rarity(frequency: int, passages: int) -> float:
    """Inverse document frequency; a term that stands nowhere steers nothing."""
    return math.log(1 + (passages - frequency + 0.5) / (frequency + 0.5)) if frequency else 0.0


def relevance(reading: Reading, terms: Mapping[str, float]) -> float:
    """Higher is better; comparable for the same terms."""
    size = 1 - LENGTH_SHARE + LENGTH_SHARE * len(reading.sequence) / MEAN_WORDS
    body = sum(w * _saturated(reading.counts[t], size) for t, w in terms.items() if t in reading.counts)
    titled = frozenset(reading.title)
    title = sum(weight for term, weight in terms.items() if term in titled)
    best = max((sum(terms[t] for t in held & terms.keys()) for held in reading.sentences), default=0.0)
    return body + TITLE_SHARE * title + SENTENCE_SHARE * best


def _saturated(count: int, size: float) -> float:
    return count * (SATURATION + 1) / (count + SATURATION * size)


def _contains(sequence: Sequence[str], key: Key) -> bool:
    # Python finds one text in another in linear time, whatever both are; no stem holds a line break.
    return bool(key) and "\n".join(("", *key, "")) in "\n".join(("", *sequence, ""))

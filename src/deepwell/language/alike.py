"""Texts that are copies of each other: mirrors, the same agency's report on two sites, one page under two addresses."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import TypeVar

from deepwell.language.stems import folded_words

NEARLY = 0.85
"""Share of the shorter text that the other must hold in one piece."""
FEWEST_WORDS = 12
"""Shorter texts are alike by chance: they are copies only when they are equal."""
MOST_WORDS = 400

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Wording:
    """A text as what it is compared by."""

    words: tuple[str, ...]
    figures: frozenset[str]

    @classmethod
    def of(cls, text: str) -> "Wording":
        """The words of the text, without case and accents."""
        words = tuple(folded_words(text)[:MOST_WORDS])
        return cls(words, frozenset(word for word in words if any(map(str.isdigit, word))))


def are_copies(one: Wording, other: Wording) -> bool:
    """True when nearly all of one stands in the other word for word.

    In one piece: two yearly reports may share nine words in ten, and say the opposite with the tenth.
    """
    if one.words == other.words:
        return bool(one.words)
    short, long = sorted((one.words, other.words), key=len)
    if len(short) < FEWEST_WORDS or one.figures != other.figures or not _may_be(short, long):
        return False
    run = SequenceMatcher(None, short, long, autojunk=False).find_longest_match()
    return run.size >= NEARLY * len(short)


def without_copies(items: Iterable[T], text: Callable[[T], str]) -> Iterator[T]:
    """The items in their order, but for copies of earlier ones."""
    kept: list[Wording] = []
    for item in items:
        own = Wording.of(text(item))
        if not any(are_copies(own, other) for other in kept):
            kept.append(own)
            yield item


def _may_be(short: tuple[str, ...], long: tuple[str, ...]) -> bool:
    """A quick look before the exact one: most pairs have little in common."""
    return len(set(short) & set(long)) >= NEARLY * NEARLY * len(set(short))

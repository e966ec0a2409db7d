"""Texts that are copies of each other: mirrors, the same agency's report on two sites, one page under two addresses."""

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import TypeVar

from deepwell.language.stems import folded_words, stem

NEARLY = 0.85
"""Share of the shorter text that the other must hold in one piece."""
FEWEST_WORDS = 12
"""Shorter texts are alike by chance: they are copies only when they are equal."""
MOST_WORDS = 400

_REFUTING = frozenset(
    map(
        stem,
        """
        baseless cannot contradicts contradicted contrary correction debunked denied denies deny disproved disproven
        disputed erroneous error fabricated fake false falsehood hoax inaccurate incorrect misleading mistaken myth
        neither never no none nor not nothing refuted rejected retracted retraction rumour unfounded untrue without
        withdrawn wrong
        falsch kein keine keinen niemals nicht nie widerlegt aucun faux jamais pas falso jamas nunca ningun mai nessun
        nao niet nooit geen onjuist не нет неверно никогда ложь опровергнуто لا لم لن ليس ليست غير
        """.split(),
    )
)
_REFUTING_SIGNS = re.compile("[不没沒非未假]|ない")

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

    In one piece: two yearly reports may share nine words in ten, and say the opposite with the tenth. And nothing
    beside it that may take it back: who quotes a report to deny it has something of his own to say.
    """
    if one.words == other.words:
        return bool(one.words)
    short, long = sorted((one.words, other.words), key=len)
    if len(short) < FEWEST_WORDS or one.figures != other.figures or not _may_be(short, long):
        return False
    run = SequenceMatcher(None, short, long, autojunk=False).find_longest_match()
    beside = (*_without(short, run.a, run.size), *_without(long, run.b, run.size))
    return run.size >= NEARLY * len(short) and not any(map(_refutes, beside))


def without_copies(items: Iterable[T], text: Callable[[T], str]) -> Iterator[T]:
    """The items in their order, but for copies of earlier ones."""
    kept: list[Wording] = []
    for item in items:
        own = Wording.of(text(item))
        if not any(are_copies(own, other) for other in kept):
            kept.append(own)
            yield item


def _without(words: tuple[str, ...], start: int, size: int) -> tuple[str, ...]:
    return words[:start] + words[start + size :]


def _refutes(word: str) -> bool:
    return word.endswith("n't") or stem(word) in _REFUTING or bool(_REFUTING_SIGNS.search(word))


def _may_be(short: tuple[str, ...], long: tuple[str, ...]) -> bool:
    """A quick look before the exact one: most pairs have little in common."""
    return len(set(short) & set(long)) >= NEARLY * NEARLY * len(set(short))

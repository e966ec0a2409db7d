"""What the extractive analyst may know about the whole library, beyond the passages it is shown."""

import math
from collections.abc import Collection, Iterable
from typing import Protocol

from deepwell.language.stems import stem


class LibraryFacts(Protocol):
    """Small facts that cost no search."""

    @property
    def passage_count(self) -> int:
        """Passages in all."""
        ...

    def publishers(self) -> Collection[str]:
        """Everyone who brought out a document in the library."""
        ...

    def titles(self) -> Collection[str]:
        """The titles of its documents."""
        ...

    def frequency(self, term: str) -> int:
        """How many passages hold the word or, side by side, the words."""
        ...


class NoFacts:
    """Nothing is known, as of the open web: every word weighs the same."""

    passage_count = 0

    def publishers(self) -> Collection[str]:
        """None known."""
        return ()

    def titles(self) -> Collection[str]:
        """None known."""
        return ()

    def frequency(self, term: str) -> int:
        """Unknown counts as once."""
        return 1


def rarity(facts: LibraryFacts, term: str) -> float:
    """How much a word or phrase tells: its inverse frequency; 0 for one that stands nowhere, as it steers nothing."""
    if not facts.passage_count:
        return 1.0
    found = facts.frequency(term)
    return math.log(1 + (facts.passage_count - found + 0.5) / (found + 0.5)) if found else 0.0


def weights(facts: LibraryFacts, terms: Iterable[str], share: float = 1.0) -> dict[str, float]:
    """The weight of each word by its stem."""
    return {stem(term): share * rarity(facts, term) for term in terms}

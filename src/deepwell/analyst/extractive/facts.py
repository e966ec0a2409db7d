"""What the extractive analyst may know about the whole library, beyond the passages it is shown."""

from collections.abc import Collection, Iterable, Sequence
from typing import Protocol

from deepwell.language import relevance
from deepwell.language.stems import stem
from deepwell.language.synonyms import expanded

FORM_SHARE = 0.5


class LibraryFacts(Protocol):
    """Small facts that cost no search."""

    @property
    def passage_count(self) -> int:
        """Passages in all."""
        ...

    @property
    def sourced(self) -> float:
        """Share of the documents that name their publisher."""
        ...

    def publishers(self) -> Collection[str]:
        """Everyone who brought out a document in the library."""
        ...

    def authors(self) -> Collection[str]:
        """Everyone who wrote one."""
        ...

    def titles(self) -> Collection[str]:
        """The titles of its documents."""
        ...

    def frequency(self, term: str) -> int:
        """How many passages hold the word or, side by side, the words."""
        ...

    def together(self, words: Sequence[str]) -> int:
        """How many passages hold all the words, wherever they stand."""
        ...

    def words_from(self, prefix: str) -> Sequence[str]:
        """Words of the library that begin so, stemmed."""
        ...


class NoFacts:
    """Nothing is known, as of the open web: every word weighs the same."""

    passage_count = 0
    sourced = 0.0

    def publishers(self) -> Collection[str]:
        """None known."""
        return ()

    def titles(self) -> Collection[str]:
        """None known."""
        return ()

    def authors(self) -> Collection[str]:
        """None known."""
        return ()

    def frequency(self, term: str) -> int:
        """Unknown counts as once."""
        return 1

    def together(self, words: Sequence[str]) -> int:
        """Unknown counts as once."""
        return 1

    def words_from(self, prefix: str) -> Sequence[str]:
        """None known."""
        return ()


def rarity(facts: LibraryFacts, term: str) -> float:
    """How much a word or phrase tells: its inverse frequency; 0 for one that stands nowhere, as it steers nothing."""
    return relevance.rarity(facts.frequency(term), facts.passage_count) if facts.passage_count else 1.0


def weights_with_forms(facts: LibraryFacts, words: Sequence[str], share: float = 1.0) -> dict[str, float]:
    """The words as asked at full weight, those an answer may use in their place at half."""
    return weights(facts, expanded(words), share * FORM_SHARE) | weights(facts, words, share)


def weights(facts: LibraryFacts, terms: Iterable[str], share: float = 1.0) -> dict[str, float]:
    """The weight of each word by its stem."""
    return {stem(term): share * rarity(facts, term) for term in terms}

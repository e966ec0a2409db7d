"""Facts about the libraries, at once or not at all: a disk that hangs keeps no judgement from being made."""

from collections.abc import Callable, Collection, Hashable, Sequence
from typing import Any, TypeVar, cast

from deepwell.analyst.extractive.facts import LibraryFacts, NoFacts
from deepwell.budget.threads import threads_for

R = TypeVar("R")
PATIENCE_S = 1.0
"""A fact takes a few milliseconds; where one takes this long, the disk hangs, and no other is asked for."""


class PatientFacts:
    """Fulfils LibraryFacts. Waits for the disk, so it belongs in a thread; asks for each thing once."""

    def __init__(self, facts: LibraryFacts, seconds: float = PATIENCE_S) -> None:
        self._facts, self._seconds = facts, seconds
        self._known: dict[Hashable, Any] = {}
        self._has_given_up = False

    @property
    def passage_count(self) -> int:
        """Passages in all."""
        return self._asked("passage_count", lambda facts: facts.passage_count)

    @property
    def sourced(self) -> float:
        """Share of the documents that name their publisher."""
        return self._asked("sourced", lambda facts: facts.sourced)

    def publishers(self) -> Collection[str]:
        """Everyone who brought out a document in the library."""
        return self._asked("publishers", lambda facts: facts.publishers())

    def authors(self) -> Collection[str]:
        """Everyone who wrote one."""
        return self._asked("authors", lambda facts: facts.authors())

    def titles(self) -> Collection[str]:
        """The titles of its documents."""
        return self._asked("titles", lambda facts: facts.titles())

    def frequency(self, term: str) -> int:
        """How many passages hold the word or, side by side, the words."""
        return self._asked(("frequency", term), lambda facts: facts.frequency(term))

    def together(self, words: Sequence[str]) -> int:
        """How many passages hold all the words, wherever they stand."""
        return self._asked(("together", *words), lambda facts: facts.together(words))

    def words_from(self, prefix: str) -> Sequence[str]:
        """Words of the library that begin so, stemmed."""
        return self._asked(("words_from", prefix), lambda facts: facts.words_from(prefix))

    def _asked(self, what: Hashable, fact: Callable[[LibraryFacts], R]) -> R:
        if what not in self._known:
            self._known[what] = fact(NoFacts()) if self._has_given_up else self._looked_up(fact)
        return cast("R", self._known[what])

    def _looked_up(self, fact: Callable[[LibraryFacts], R]) -> R:
        threads = threads_for("facts")
        looking = threads.submit(fact, self._facts)
        try:
            return looking.result(self._seconds)
        except TimeoutError:
            self._has_given_up = True
            return fact(NoFacts())
        finally:
            threads.leave(looking)

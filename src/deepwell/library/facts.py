"""What an analyst without a model wants to know about the libraries: publishers, titles, how rare a word is."""

from collections.abc import Sequence
from functools import cached_property
from typing import Any

from deepwell.library.shelves import Connections, Library
from deepwell.library.terms import phrase


class LibraryFacts:
    """Facts about the libraries as they are when first asked; a run wants one answer, not two."""

    def __init__(self, libraries: Sequence[Library]) -> None:
        self._shelves = [(library, Connections(library.index)) for library in libraries]
        self._frequencies: dict[str, int] = {}

    def publishers(self) -> frozenset[str]:
        """Every publisher that a document names, as it is written there."""
        return self._publishers

    def titles(self) -> frozenset[str]:
        """The title of every document, as it is written there."""
        return self._titles

    def frequency(self, term: str) -> int:
        """In how many passages the word or phrase stands, stemmed as the index does it."""
        if term not in self._frequencies:
            self._frequencies[term] = self._count_matches(phrase(term))
        return self._frequencies[term]

    def authors(self) -> frozenset[str]:
        """Every author that a document names, as it is written there."""
        return self._authors

    def together(self, words: Sequence[str]) -> int:
        """How many passages hold all the words, wherever they stand."""
        return self._count_matches(" AND ".join(filter(None, map(phrase, words))))

    def words_from(self, prefix: str) -> list[str]:
        """Words of the libraries that begin so, stemmed."""
        sql = "SELECT term FROM vocabulary WHERE term >= ? AND term < ?"
        return [row[0] for _, row in self._ask(sql, prefix, f"{prefix}\U0010ffff")]

    @cached_property
    def sourced(self) -> float:
        """Share of the documents that name their publisher."""
        sql = "SELECT count(publisher) FROM documents WHERE skipped_reason IS NULL"
        named = sum(int(row[0]) for _, row in self._ask(sql))
        return named / max(1, self.document_count)

    @cached_property
    def passage_count(self) -> int:
        """Passages in all libraries."""
        return sum(row[0] for _, row in self._ask("SELECT count(*) FROM passages"))

    @cached_property
    def document_count(self) -> int:
        """Readable documents in all libraries."""
        return sum(row[0] for _, row in self._ask("SELECT count(*) FROM documents WHERE skipped_reason IS NULL"))

    def paths(self) -> list[str]:
        """Where every file of the libraries lies, as its address says it."""
        return [library.address(row[0]) for library, row in self._ask("SELECT path FROM documents")]

    def close(self) -> None:
        """Close the index files."""
        for _, connections in self._shelves:
            connections.close()

    @cached_property
    def _publishers(self) -> frozenset[str]:
        sql = "SELECT DISTINCT publisher FROM documents WHERE publisher IS NOT NULL"
        return frozenset(row[0] for _, row in self._ask(sql))

    @cached_property
    def _authors(self) -> frozenset[str]:
        sql = "SELECT DISTINCT author FROM documents WHERE author IS NOT NULL"
        return frozenset(row[0] for _, row in self._ask(sql))

    @cached_property
    def _titles(self) -> frozenset[str]:
        return frozenset(row[0] for _, row in self._ask("SELECT title FROM documents WHERE skipped_reason IS NULL"))

    def _count_matches(self, expression: str) -> int:
        if not expression:
            return 0
        sql = "SELECT count(*) FROM passage_terms WHERE passage_terms MATCH ?"
        return sum(row[0] for _, row in self._ask(sql, expression))

    def _ask(self, sql: str, *values: str) -> list[tuple[Library, tuple[Any, ...]]]:
        answers: list[tuple[Library, tuple[Any, ...]]] = []
        for library, connections in self._shelves:
            with connections.reading() as connection:
                answers += [(library, row) for row in connection.execute(sql, values)]
        return answers

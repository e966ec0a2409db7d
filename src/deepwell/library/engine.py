"""The libraries as a search engine and a reader: what a run sees of the user's own documents."""

import sqlite3
import threading
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime

from deepwell.budget.threads import in_thread
from deepwell.errors import SearchFailed, StoreFailed, Unreadable
from deepwell.library.index import unpacked
from deepwell.library.ranking import CANDIDATES, Ranker
from deepwell.library.search import Found
from deepwell.library.shelves import Connections, Library
from deepwell.library.vectors import Embedder, fused, nearest
from deepwell.vocabulary.plan import Query
from deepwell.vocabulary.source import Hit, Source

_RECENT_TEXTS = 32
"""Documents whose text is kept unpacked: the queries of one topic meet in the same few."""


class LibraryEngine:
    """Fulfils the ports SearchEngine and Reader over one or several libraries. All work is done in threads."""

    name = "library"

    def __init__(
        self, libraries: Sequence[Library], now: Callable[[], datetime], *, embedder: Embedder | None = None
    ) -> None:
        self._shelves = [_Shelf(library, embedder) for library in libraries]
        self._now = now

    async def search(self, query: Query, limit: int) -> list[Hit]:
        """The best passages of all libraries first. Raises SearchFailed when an index cannot be used."""
        return await in_thread("library", self._search, query, limit)

    async def read(self, address: str) -> Source:
        """The document exactly as it was indexed. Raises Unreadable when it is in no library."""
        return await in_thread("library", self._read, address)

    def close(self) -> None:
        """Close the index files."""
        for shelf in self._shelves:
            shelf.close()

    def _search(self, query: Query, limit: int) -> list[Hit]:
        try:
            answers = [shelf.search(query, limit) for shelf in self._shelves]
        except StoreFailed as error:
            raise SearchFailed(str(error)) from error
        return answers[0] if len(answers) == 1 else _merged(answers)[:limit]

    def _read(self, address: str) -> Source:
        try:
            found = (shelf.read(address, self._now) for shelf in self._shelves)
            source = next((source for source in found if source), None)
        except StoreFailed as error:
            raise Unreadable(str(error)) from error
        if source is None:
            raise Unreadable(f"{address} is not in the library.")
        return source


class _Shelf:
    """One library, open for reading."""

    def __init__(self, library: Library, embedder: Embedder | None) -> None:
        self._library = library
        self._embedder = embedder
        self._connections = Connections(library.index)
        self._ranker = Ranker()
        self._texts = _Texts()

    def search(self, query: Query, limit: int) -> list[Hit]:
        with self._connections.reading() as connection:
            if self._embedder is None:
                found = self._ranker.search(connection, query, limit)
            else:
                found = self._hybrid(connection, query, limit, self._embedder)
            return [self._hit(one, query, self._texts.of(connection, one)) for one in found]

    def _hybrid(self, connection: sqlite3.Connection, query: Query, limit: int, embedder: Embedder) -> list[Found]:
        depth = max(limit, CANDIDATES)
        by_words = self._ranker.search(connection, query, depth)
        return fused(by_words, nearest(connection, query, depth, embedder), limit)

    def read(self, address: str, now: Callable[[], datetime]) -> Source | None:
        path = self._library.path(address)
        columns = "title, text, hash, kind, author, publisher, published"
        sql = f"SELECT {columns} FROM documents WHERE path = ? AND skipped_reason IS NULL"  # noqa: S608 - constant
        with self._connections.reading() as connection:
            row = connection.execute(sql, (path,)).fetchone()
        if row is None:
            return None
        title, text, content_hash, *about = row
        return Source(address, title, unpacked(text), content_hash, now(), *about)

    def close(self) -> None:
        self._connections.close()

    def _hit(self, found: Found, query: Query, text: str) -> Hit:
        return Hit(
            address=self._library.address(found.path),
            title=found.title,
            excerpt=text[found.start : found.end],
            score=found.score,
            engine=LibraryEngine.name,
            query=query,
            span=(found.start, found.end),
            source=found.hash,
            publisher=found.publisher,
            published=found.published,
        )


class _Texts:
    """The texts met last, by their hash: unpacking a book for every query would cost more than the search."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._recent: dict[str, str] = {}

    def of(self, connection: sqlite3.Connection, found: Found) -> str:
        with self._lock:
            text = self._recent.pop(found.hash, None)
        if text is None:
            row = connection.execute("SELECT text FROM documents WHERE id = ?", (found.document,)).fetchone()
            text = unpacked(row[0])
        with self._lock:
            self._recent[found.hash] = text
            if len(self._recent) > _RECENT_TEXTS:
                del self._recent[next(iter(self._recent))]
        return text


def _merged(answers: Sequence[Sequence[Hit]]) -> list[Hit]:
    """By rank, because scores of two indexes do not compare: a word is rare in one and common in the other."""
    ranked = [replace(hit, score=1 / rank) for answer in answers for rank, hit in enumerate(answer, start=1)]
    return sorted(ranked, key=lambda hit: -hit.score)

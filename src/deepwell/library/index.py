"""The index of one folder of documents: one SQLite file that always holds whole documents."""

import hashlib
import os
import re
import sqlite3
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from deepwell.language.names import publisher_names
from deepwell.language.passages import Cut, passages
from deepwell.library.terms import prepared
from deepwell.reading.dates import spoken_date
from deepwell.reading.document import READING_VERSION, Document
from deepwell.store.sqlite import connect, transaction, translated
from deepwell.vocabulary.source import content_hash

SCHEMA = (
    "CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID",
    """
    CREATE TABLE documents (
        id INTEGER PRIMARY KEY,
        path TEXT NOT NULL UNIQUE,
        size INTEGER NOT NULL,
        mtime_ns INTEGER NOT NULL,
        file_hash TEXT NOT NULL,
        hash TEXT,
        kind TEXT,
        title TEXT,
        author TEXT,
        publisher TEXT,
        published TEXT,
        text BLOB,
        skipped_reason TEXT
    )
    """,
    """
    CREATE TABLE labels (
        label TEXT NOT NULL,
        document INTEGER NOT NULL REFERENCES documents ON DELETE CASCADE,
        PRIMARY KEY (label, document)
    ) WITHOUT ROWID
    """,
    "CREATE INDEX labels_document ON labels (document)",
    # A number is never given twice: who remembers a passage by it must not meet another one there.
    """
    CREATE TABLE passages (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        document INTEGER NOT NULL REFERENCES documents ON DELETE CASCADE,
        start INTEGER NOT NULL,
        "end" INTEGER NOT NULL
    )
    """,
    "CREATE INDEX passages_document ON passages (document)",
    # It keeps its own copy of the text: deleting then needs no second, exact rendering of what was once put in.
    """
    CREATE VIRTUAL TABLE passage_terms USING fts5 (
        title, body, about, tokenize = 'porter unicode61 remove_diacritics 2'
    )
    """,
    "CREATE VIRTUAL TABLE vocabulary USING fts5vocab (passage_terms, row)",
    "CREATE TABLE vectors (passage INTEGER PRIMARY KEY REFERENCES passages ON DELETE CASCADE, vector BLOB NOT NULL)",
)
MIGRATIONS = (SCHEMA,)

_TERMS_VERSION = 2
UNSETTLED = -1
_NOT_A_SLUG = re.compile(r"[^a-z0-9]+")


@dataclass(frozen=True, slots=True)
class FileState:
    """What tells whether a file has changed."""

    size: int
    mtime_ns: int
    """-1: too fresh to be trusted, or never read; the bytes decide."""
    file_hash: str
    """SHA-256 of the bytes; empty when they could not be had."""

    @classmethod
    def unread(cls) -> "FileState":
        """Of a file that could not even be opened: it is tried again next time."""
        return cls(UNSETTLED, UNSETTLED, "")


@dataclass(frozen=True, slots=True)
class Known:
    """What the index holds of a file."""

    state: FileState
    skipped_reason: str | None


@dataclass(frozen=True, slots=True)
class Entry:
    """A file as it goes into the index: read, or skipped with its reason."""

    path: str
    """Relative to the folder, with slashes; "." when a single file is the library."""
    state: FileState
    content: Document | str


class Index:
    """The index file, open for writing. One process writes at a time; others wait their turn."""

    def __init__(self, path: Path, cut: Cut = Cut()) -> None:  # noqa: B008 - frozen
        self.path = path
        self._cut = cut
        self.connection = connect(path, migrations=MIGRATIONS)
        with translated(path):
            self._forget_other_recipes()

    def __enter__(self) -> "Index":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the file."""
        self.connection.close()

    def known(self) -> dict[str, Known]:
        """Every file in the index by its path."""
        with translated(self.path):
            rows = self.connection.execute("SELECT path, size, mtime_ns, file_hash, skipped_reason FROM documents")
            return {path: Known(FileState(*state), reason) for path, *state, reason in rows}

    def put(self, entries: Iterable[Entry]) -> None:
        """Replace these files in one transaction: text, passages and terms together, or nothing."""
        with self._writing() as connection:
            for entry in entries:
                if not _is_there(connection, entry):
                    _delete(connection, entry.path)
                    self._insert(connection, entry)

    def touch(self, states: Iterable[tuple[str, FileState]]) -> None:
        """Note the new state of files whose bytes are the same."""
        with self._writing() as connection:
            connection.executemany(
                "UPDATE documents SET size = ?, mtime_ns = ? WHERE path = ? AND file_hash = ?",
                [(state.size, state.mtime_ns, path, state.file_hash) for path, state in states],
            )

    def forget(self, paths: Iterable[str]) -> None:
        """Remove files that are gone."""
        with self._writing() as connection:
            for path in paths:
                _delete(connection, path)

    def count_readable(self) -> int:
        """Documents that can be searched."""
        with translated(self.path):
            row = self.connection.execute("SELECT count(*) FROM documents WHERE skipped_reason IS NULL").fetchone()
            return int(row[0])

    @contextmanager
    def _writing(self) -> Iterator[sqlite3.Connection]:
        with translated(self.path), transaction(self.connection) as connection:
            yield connection

    def _forget_other_recipes(self) -> None:
        """Files that were read or cut in another way are taken for changed."""
        recipe = f"reading {READING_VERSION}, terms {_TERMS_VERSION}, {self._cut}"
        row = self.connection.execute("SELECT value FROM meta WHERE key = 'recipe'").fetchone()
        if row == (recipe,):
            return
        with transaction(self.connection) as connection:
            connection.execute("UPDATE documents SET size = -1, mtime_ns = -1, file_hash = ''")
            connection.execute("INSERT OR REPLACE INTO meta VALUES ('recipe', ?)", (recipe,))

    def _insert(self, connection: sqlite3.Connection, entry: Entry) -> None:
        state = (entry.path, entry.state.size, entry.state.mtime_ns, entry.state.file_hash)
        if isinstance(entry.content, str):
            sql = "INSERT INTO documents (path, size, mtime_ns, file_hash, skipped_reason) VALUES (?, ?, ?, ?, ?)"
            connection.execute(sql, (*state, entry.content))
            return
        document = _insert_document(connection, state, entry.content)
        labels = ((label, document) for label in _labels(entry.path, entry.content.publisher))
        connection.executemany("INSERT INTO labels VALUES (?, ?)", labels)
        self._insert_passages(connection, document, entry.content)

    def _insert_passages(self, connection: sqlite3.Connection, document: int, content: Document) -> None:
        title, about = prepared(content.title), prepared(_about(content))
        for start, end in passages(content.text, self._cut):
            sql = 'INSERT INTO passages (document, start, "end") VALUES (?, ?, ?)'
            passage = connection.execute(sql, (document, start, end)).lastrowid
            connection.execute(
                "INSERT INTO passage_terms (rowid, title, body, about) VALUES (?, ?, ?, ?)",
                (passage, title, prepared(content.text[start:end]), about),
            )


def index_path(home: Path, root: Path) -> Path:
    """Where the index of a folder lies: named for people, told apart by the folder's real place."""
    real = root.resolve()
    slug = _NOT_A_SLUG.sub("-", real.name.lower()).strip("-")[:40] or "documents"
    return home / "libraries" / f"{slug}-{hashlib.sha256(os.fsencode(real)).hexdigest()[:8]}.db"


def label_of(name: str) -> str:
    """A publisher or a folder in the form in which they are compared."""
    return " ".join(name.casefold().split())


def unpacked(text: bytes) -> str:
    """A document's text as it was put in."""
    return zlib.decompress(text).decode("utf-8")


def _insert_document(connection: sqlite3.Connection, state: tuple[str, int, int, str], content: Document) -> int:
    columns = "path, size, mtime_ns, file_hash, hash, kind, title, author, publisher, published, text"
    about = (content.kind, content.title, content.author, content.publisher, content.published)
    # Level 1: indexing is bound by this, and better levels save little on prose.
    text = zlib.compress(content.text.encode("utf-8"), 1)
    row = connection.execute(
        f"INSERT INTO documents ({columns}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",  # noqa: S608 - constant
        (*state, content_hash(content.text), *about, text),
    )
    return row.lastrowid or 0


def _is_there(connection: sqlite3.Connection, entry: Entry) -> bool:
    """Whether another process has put in the same file meanwhile."""
    row = connection.execute("SELECT size, mtime_ns, file_hash FROM documents WHERE path = ?", (entry.path,)).fetchone()
    return row is not None and FileState(*row) == entry.state != FileState.unread()


def _delete(connection: sqlite3.Connection, path: str) -> None:
    row = connection.execute("SELECT id FROM documents WHERE path = ?", (path,)).fetchone()
    if row is not None:
        connection.execute("DELETE FROM passage_terms WHERE rowid IN (SELECT id FROM passages WHERE document = ?)", row)
        connection.execute("DELETE FROM documents WHERE id = ?", row)


def _labels(path: str, publisher: str | None) -> set[str]:
    folders = PurePosixPath(path).parts[:-1]
    return {label_of(name) for name in (*folders, *publisher_names(publisher or "")) if name.strip()}


def _about(content: Document) -> str:
    date = f"{spoken_date(content.published)} {content.published}" if content.published else ""
    return " | ".join(filter(None, (content.publisher, content.author, date)))

"""Indexed libraries as the engine reads them: addresses as the user typed them, connections that are shared safely."""

import sqlite3
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from deepwell.library.index import MIGRATIONS
from deepwell.store.sqlite import connect, translated


@dataclass(frozen=True, slots=True)
class Library:
    """A folder or file of the user's, and where its index lies."""

    display_root: str
    """As the user typed it; addresses begin with it."""
    index: Path

    def address(self, path: str) -> str:
        """What a document of this library is called outside."""
        return self.display_root if path == "." else f"{self._prefix}{path}"

    def path(self, address: str) -> str | None:
        """The document's path in the index; None when the address is not of this library."""
        if address == self.display_root:
            return "."
        return address.removeprefix(self._prefix) if address.startswith(self._prefix) else None

    @property
    def _prefix(self) -> str:
        return f"{self.display_root.rstrip('/')}/"


class Connections:
    """Connections to one index for reading: one a thread at any time, used again, closed together."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lock = threading.Lock()
        self._idle: list[sqlite3.Connection] = []
        self._closed = False

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """A connection for this block alone, seeing one state of the index throughout. Raises StoreFailed."""
        connection = self._take()
        try:
            with translated(self._path):
                connection.execute("BEGIN")
                yield connection
        finally:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
            self._put_back(connection)

    def close(self) -> None:
        """Close all; one that is in use is closed when it comes back."""
        with self._lock:
            self._closed = True
            idle, self._idle = self._idle, []
        for connection in idle:
            connection.close()

    def _take(self) -> sqlite3.Connection:
        with self._lock:
            if self._idle:
                return self._idle.pop()
        connection = connect(self._path, migrations=MIGRATIONS)
        connection.execute("PRAGMA query_only = ON")
        return connection

    def _put_back(self, connection: sqlite3.Connection) -> None:
        with self._lock:
            if not self._closed:
                self._idle.append(connection)
                return
        connection.close()

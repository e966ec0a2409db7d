"""SQLite files as Deepwell uses them: opened with one set of habits, versioned, and failing in safe sentences."""

import errno
import sqlite3
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from deepwell.errors import StoreBusy, StoreDamaged, StoreFailed, StoreFull, StoreNewer

BUSY_TIMEOUT_S = 10.0
"""How long a process waits for another one's transaction."""

Migration = Sequence[str]
"""The statements that bring a file from one format to the next."""

_ANOTHER_HOME = "set DEEPWELL_HOME to a folder you can write to"
_FULL = {errno.ENOSPC, errno.EDQUOT}
_FORBIDDEN = {errno.EACCES, errno.EPERM, errno.EROFS}


def connect(path: Path, *, migrations: Sequence[Migration]) -> sqlite3.Connection:
    """Open or create the file at the format `len(migrations)`.

    The connection is in autocommit mode: transactions are begun in the open. It may be passed between threads as long
    as only one uses it at a time.
    """
    _make_folder(path.parent)
    with translated(path):
        connection = sqlite3.connect(path, timeout=BUSY_TIMEOUT_S, isolation_level=None, check_same_thread=False)
        try:
            _configure(connection)
            _migrate(connection, path, migrations)
        except BaseException:
            connection.close()
            raise
    return connection


@contextmanager
def translated(path: Path) -> Iterator[None]:
    """Turn what SQLite or the file system says about `path` into a StoreFailed that can be shown to anyone."""
    try:
        yield
    except (sqlite3.ProgrammingError, sqlite3.IntegrityError, sqlite3.InterfaceError):
        # A mistake in our own statements, not the state of the file: hiding it behind advice would mislead.
        raise
    except sqlite3.Error as error:
        raise _from_sqlite(path, error) from error
    except BrokenPipeError:
        # Whoever reads our output went away; that says nothing about the file.
        raise
    except OSError as error:
        raise _from_system(path, error) from error


@contextmanager
def transaction(connection: sqlite3.Connection) -> Iterator[sqlite3.Connection]:
    """All of it or nothing; takes the write lock at once, so that two writers wait instead of failing half-way."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield connection
    except BaseException:
        # A full disk may have rolled back already; what went wrong is what must be reported.
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise
    connection.execute("COMMIT")


def _make_folder(folder: Path) -> None:
    """Folders of ours are for the user alone: they hold the texts of private documents."""
    try:
        # `parents=True` would give the folders in between the default mode.
        for missing in reversed([one for one in (folder, *folder.parents) if not one.exists()]):
            missing.mkdir(mode=0o700, exist_ok=True)
        folder.mkdir(exist_ok=True)
    except OSError as error:
        reason = (error.strerror or "unknown error").lower()
        raise StoreFailed(f"The folder {folder} cannot be created ({reason}): {_ANOTHER_HOME}.") from error


def _configure(connection: sqlite3.Connection) -> None:
    connection.execute(f"PRAGMA busy_timeout = {int(BUSY_TIMEOUT_S * 1000)}")
    _write_ahead(connection)
    connection.execute("PRAGMA synchronous = NORMAL")
    connection.execute("PRAGMA foreign_keys = ON")


def _write_ahead(connection: sqlite3.Connection) -> None:
    """Switch to WAL. SQLite does not wait for the lock this needs when two processes create a file at once; we do."""
    give_up = time.monotonic() + BUSY_TIMEOUT_S
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL").fetchone()
        except sqlite3.OperationalError as error:
            if _primary(error) != sqlite3.SQLITE_BUSY or time.monotonic() > give_up:
                raise
            time.sleep(0.02)
        else:
            return


def _migrate(connection: sqlite3.Connection, path: Path, migrations: Sequence[Migration]) -> None:
    if _format(connection, path, len(migrations)) == len(migrations):
        return
    with transaction(connection):
        # Read again under the lock: another process may have migrated meanwhile.
        for migration in migrations[_format(connection, path, len(migrations)) :]:
            for statement in migration:
                connection.execute(statement)
        connection.execute(f"PRAGMA user_version = {len(migrations)}")


def _format(connection: sqlite3.Connection, path: Path, known: int) -> int:
    found = int(connection.execute("PRAGMA user_version").fetchone()[0])
    if found > known:
        raise StoreNewer(
            f"{path} was written by a newer Deepwell (format {found}, this one knows {known}): "
            "upgrade Deepwell, or set DEEPWELL_HOME to another folder."
        )
    return found


def is_busy(error: BaseException | None) -> bool:
    """True when another process had the file for too long: a moment later it may be free."""
    return isinstance(error, sqlite3.Error) and _primary(error) in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)


def _primary(error: sqlite3.Error) -> int | None:
    code = getattr(error, "sqlite_errorcode", None)
    return None if code is None else code & 0xFF


def _from_sqlite(path: Path, error: sqlite3.Error) -> StoreFailed:
    # The shared-memory file of WAL cannot grow: SQLite calls it an I/O error, the user has a full disk.
    if getattr(error, "sqlite_errorcode", None) == sqlite3.SQLITE_IOERR_SHMSIZE:
        return _full(path)
    match _primary(error):
        case sqlite3.SQLITE_FULL:
            return _full(path)
        case sqlite3.SQLITE_BUSY | sqlite3.SQLITE_LOCKED:
            return StoreBusy(f"{path} is held by another process: wait until it is done, then try again.")
        case sqlite3.SQLITE_CORRUPT | sqlite3.SQLITE_NOTADB:
            return StoreDamaged(f"{path} is damaged or is not a Deepwell file: move it away, and a new one is made.")
        case sqlite3.SQLITE_READONLY | sqlite3.SQLITE_CANTOPEN | sqlite3.SQLITE_PERM:
            return _forbidden(path)
        case _:
            return _failed(path, "I/O error" if _primary(error) == sqlite3.SQLITE_IOERR else "database error")


def _from_system(path: Path, error: OSError) -> StoreFailed:
    if error.errno in _FULL:
        return _full(path)
    if error.errno in _FORBIDDEN:
        return _forbidden(path)
    return _failed(path, (error.strerror or "unknown error").lower())


def _full(path: Path) -> StoreFull:
    return StoreFull(f"There is no space left for {path}: free some, or set DEEPWELL_HOME to a folder on another disk.")


def _forbidden(path: Path) -> StoreFailed:
    return StoreFailed(f"{path} cannot be opened for writing: {_ANOTHER_HOME}.")


def _failed(path: Path, reason: str) -> StoreFailed:
    return StoreFailed(f"{path} cannot be used ({reason}): check the disk, or {_ANOTHER_HOME}.")

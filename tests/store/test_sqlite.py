import errno
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from deepwell.errors import StoreBusy, StoreDamaged, StoreFailed, StoreFull, StoreNewer
from deepwell.store.sqlite import connect, transaction, translated

FIRST = ("CREATE TABLE notes (text TEXT)",)
SECOND = ("ALTER TABLE notes ADD COLUMN day TEXT", "CREATE INDEX notes_day ON notes (day)")


def pragma(connection: sqlite3.Connection, name: str) -> object:
    return connection.execute(f"PRAGMA {name}").fetchone()[0]


def test_opens_with_the_habits_of_the_house(tmp_path: Path) -> None:
    connection = connect(tmp_path / "new" / "folder" / "a.db", migrations=[FIRST])
    assert pragma(connection, "journal_mode") == "wal"
    assert pragma(connection, "synchronous") == 1
    assert pragma(connection, "foreign_keys") == 1
    assert pragma(connection, "busy_timeout") == 10_000
    assert pragma(connection, "user_version") == 1
    connection.close()


def test_migrates_an_older_file_and_keeps_what_is_in_it(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    old = connect(path, migrations=[FIRST])
    old.execute("INSERT INTO notes VALUES ('kept')")
    old.close()
    new = connect(path, migrations=[FIRST, SECOND])
    assert new.execute("SELECT text, day FROM notes").fetchall() == [("kept", None)]
    assert pragma(new, "user_version") == 2
    new.close()


def test_a_migration_that_fails_changes_nothing(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    connect(path, migrations=[FIRST]).close()
    with pytest.raises(StoreFailed):
        connect(path, migrations=[FIRST, ("CREATE TABLE half (x)", "NOT SQL")])
    again = connect(path, migrations=[FIRST])
    assert again.execute("SELECT name FROM sqlite_master WHERE name = 'half'").fetchall() == []
    again.close()


def test_refuses_a_file_of_a_newer_version(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    connect(path, migrations=[FIRST, SECOND]).close()
    with pytest.raises(StoreNewer, match=r"newer Deepwell \(format 2, this one knows 1\): upgrade .* DEEPWELL_HOME"):
        connect(path, migrations=[FIRST])


def test_a_folder_that_cannot_be_made_is_said_so(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(StoreFailed, match=r"cannot be created .* DEEPWELL_HOME"):
        connect(tmp_path / "file" / "below" / "a.db", migrations=[FIRST])


def test_a_file_that_is_no_database_is_damaged(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    path.write_bytes(b"this was never a database, and it is long enough to show it" * 50)
    with pytest.raises(StoreDamaged, match="move it away"):
        connect(path, migrations=[FIRST])


def test_a_folder_in_place_of_the_file_cannot_be_opened(tmp_path: Path) -> None:
    with pytest.raises(StoreFailed, match="cannot be opened"):
        connect(tmp_path, migrations=[FIRST])


def test_a_full_disk_is_told_and_leaves_the_file_usable(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    connection = connect(path, migrations=[FIRST])
    connection.execute(f"PRAGMA max_page_count = {pragma(connection, 'page_count')}")
    with pytest.raises(StoreFull, match="no space left"), translated(path), transaction(connection):
        connection.execute("INSERT INTO notes VALUES (?)", ("x" * 100_000,))
    assert not connection.in_transaction
    assert connection.execute("SELECT count(*) FROM notes").fetchone() == (0,)
    connection.close()


def test_a_lock_that_is_held_too_long_is_busy(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    holder, other = connect(path, migrations=[FIRST]), connect(path, migrations=[FIRST])
    other.execute("PRAGMA busy_timeout = 1")
    with transaction(holder), pytest.raises(StoreBusy), translated(path), transaction(other):
        pass
    holder.close()
    other.close()


@pytest.mark.parametrize(
    ("number", "expected"),
    [
        (errno.ENOSPC, StoreFull),
        (errno.EACCES, StoreFailed),
        (errno.EROFS, StoreFailed),
        (errno.EIO, StoreFailed),
    ],
)
def test_what_the_file_system_says_is_translated(tmp_path: Path, number: int, expected: type[StoreFailed]) -> None:
    with pytest.raises(expected) as caught, translated(tmp_path / "a.db"):
        raise OSError(number, "nope")
    assert type(caught.value) is expected


def test_a_mistake_of_ours_stays_what_it_is(tmp_path: Path) -> None:
    connection = connect(tmp_path / "a.db", migrations=[FIRST])
    with pytest.raises(sqlite3.ProgrammingError), translated(tmp_path / "a.db"):
        connection.execute("INSERT INTO notes VALUES (?)", ())
    connection.close()


def test_many_processes_may_create_one_file_at_once(tmp_path: Path) -> None:
    program = (
        "import sys; from pathlib import Path; from deepwell.store.sqlite import connect, transaction\n"
        "c = connect(Path(sys.argv[1]), migrations=[('CREATE TABLE notes (text TEXT)',)])\n"
        "with transaction(c): c.execute('INSERT INTO notes VALUES (1)')\n"
    )
    path = tmp_path / "a.db"
    running = [subprocess.Popen([sys.executable, "-c", program, str(path)]) for _ in range(6)]
    assert [process.wait(60) for process in running] == [0] * 6
    connection = connect(path, migrations=[FIRST])
    assert connection.execute("SELECT count(*) FROM notes").fetchone() == (6,)
    connection.close()

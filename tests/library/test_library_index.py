import os
import signal
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from deepwell.errors import StoreFull, StoreNewer
from deepwell.language.passages import Cut
from deepwell.library.index import Entry, FileState, Index, index_path, unpacked
from deepwell.library.ingest import refresh
from deepwell.reading.document import Document

STATE = FileState(10, 20, "abc")


def entry(path: str, text: str, **changes: str) -> Entry:
    return Entry(path, STATE, Document("Title", text, "text", **changes))


def count(index: Index, table: str) -> int:
    return int(index.connection.execute(f"SELECT count(*) FROM {table}").fetchone()[0])  # noqa: S608


def test_a_document_is_kept_whole(index: Index, assert_whole: Callable[[Index], None]) -> None:
    text = "Sentence number one is here. " * 200
    index.put([entry("a.txt", text, publisher="Press", published="2023-10-07", author="Ada")])
    row = index.connection.execute("SELECT text, publisher, published, author FROM documents").fetchone()
    assert (unpacked(row[0]), *row[1:]) == (text, "Press", "2023-10-07", "Ada")
    about = index.connection.execute("SELECT about FROM passage_terms").fetchone()[0]
    assert about == "Press | Ada | October 7, 2023 2023-10-07"
    assert_whole(index)


def test_replacing_leaves_nothing_of_the_old(index: Index, assert_whole: Callable[[Index], None]) -> None:
    index.put([entry("a.txt", "oldword here. " * 500)])
    index.put([replace(entry("a.txt", "newword"), state=FileState(1, 2, "other"))])
    found = index.connection.execute(
        "SELECT count(*) FROM passage_terms WHERE passage_terms MATCH 'oldword'"
    ).fetchone()
    assert found == (0,)
    assert count(index, "documents") == count(index, "passages") == 1
    assert_whole(index)


def test_forgetting_leaves_nothing(index: Index, assert_whole: Callable[[Index], None]) -> None:
    index.put([entry("a.txt", "one"), entry("b/c.txt", "two", publisher="x"), Entry("d.pdf", STATE, "d.pdf is bad.")])
    index.forget(["a.txt", "b/c.txt", "d.pdf", "never.there"])
    tables = ("documents", "passages", "passage_terms", "labels")
    assert [count(index, table) for table in tables] == [0, 0, 0, 0]
    assert_whole(index)


def test_putting_the_same_again_changes_nothing(index: Index) -> None:
    index.put([entry("a.txt", "one")])
    first = index.connection.execute("SELECT id FROM documents").fetchall()
    index.put([entry("a.txt", "one")])
    assert index.connection.execute("SELECT id FROM documents").fetchall() == first


def test_another_way_of_cutting_makes_every_file_look_changed(index: Index, tmp_path: Path) -> None:
    index.put([entry("a.txt", "one")])
    with Index(index.path) as same:
        assert same.known()["a.txt"].state == STATE
    with Index(index.path, Cut(size=500)) as other:
        assert other.known()["a.txt"].state == FileState.unread()


def test_a_newer_index_is_refused(tmp_path: Path) -> None:
    with Index(tmp_path / "a.db") as made:
        made.connection.execute("PRAGMA user_version = 7")
    with pytest.raises(StoreNewer, match=r"format 7, this one knows 1"):
        Index(tmp_path / "a.db")


def test_a_full_disk_keeps_what_was_there(index: Index, assert_whole: Callable[[Index], None]) -> None:
    index.put([entry("a.txt", "one")])
    pages = index.connection.execute("PRAGMA page_count").fetchone()[0]
    index.connection.execute(f"PRAGMA max_page_count = {pages}")
    with pytest.raises(StoreFull):
        index.put([entry("b.txt", os.urandom(200_000).hex())])
    assert list(index.known()) == ["a.txt"]
    index.connection.execute("PRAGMA max_page_count = 1000000")
    assert_whole(index)


def test_the_file_is_named_for_the_folder_and_its_place(tmp_path: Path) -> None:
    one, two = tmp_path / "x" / "My Docs!", tmp_path / "y" / "My Docs!"
    one.mkdir(parents=True)
    path = index_path(tmp_path / "home", one)
    assert path.parent == tmp_path / "home" / "libraries"
    assert path.name.startswith("my-docs-")
    assert path.suffix == ".db"
    assert path != index_path(tmp_path / "home", two)
    assert path == index_path(tmp_path / "home", one / ".." / "My Docs!")


WRITER = """
import sys
from pathlib import Path
from deepwell.library.index import Entry, FileState, Index
from deepwell.reading.document import Document
index = Index(Path(sys.argv[1]))
for turn in range(10_000):
    text = f"Turn {turn} says this. " * 400
    state = FileState(turn, turn, str(turn))
    index.put([Entry(f"{n}.txt", state, Document(f"{turn}", text, "text")) for n in range(5)])
    print(turn, flush=True)
"""


@pytest.mark.parametrize("turns", [1, 2, 3])
def test_a_killed_writer_leaves_whole_documents(
    tmp_path: Path, docs: Path, assert_whole: Callable[[Index], None], turns: int
) -> None:
    path = tmp_path / "a.db"
    writer = subprocess.Popen([sys.executable, "-c", WRITER, str(path)], stdout=subprocess.PIPE, text=True)
    assert writer.stdout is not None
    for _ in range(turns):
        writer.stdout.readline()
    # It is in the middle of the next turn now.
    writer.send_signal(signal.SIGKILL)
    writer.wait()
    writer.stdout.close()
    with Index(path) as index:
        assert_whole(index)
        # Five documents go in together: all are of one turn.
        assert len({known.state for known in index.known().values()}) == 1
        assert len(index.known()) == 5
        done = refresh(docs, index)
        assert (done.added, done.removed) == (3, 5)
        assert_whole(index)

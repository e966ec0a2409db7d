import os
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from deepwell.errors import NothingReadable, Unreadable
from deepwell.library import ingest
from deepwell.library.index import Index
from deepwell.library.ingest import Limits, refresh
from deepwell.library.walk import Skipped

LONG_AGO = (1_600_000_000, 1_600_000_000)


def texts(index: Index) -> set[str]:
    return {path for path, known in index.known().items() if known.skipped_reason is None}


def test_reads_a_folder_and_says_what_it_did(docs: Path, index: Index, assert_whole: Callable[[Index], None]) -> None:
    done = refresh(docs, index)
    assert (done.added, done.changed, done.unchanged, done.removed, done.skipped) == (3, 0, 0, 0, ())
    assert texts(index) == {"solar.md", "japan.md", "Reports/wind.md"}
    assert_whole(index)


def test_a_second_time_nothing_is_read(docs: Path, index: Index) -> None:
    refresh(docs, index)
    again = refresh(docs, index)
    assert (again.added, again.changed, again.unchanged) == (0, 0, 3)


def test_a_file_whose_time_alone_changed_is_not_read_again(docs: Path, index: Index) -> None:
    os.utime(docs / "solar.md", LONG_AGO)
    refresh(docs, index)
    ids = index.connection.execute("SELECT id FROM documents ORDER BY id").fetchall()
    os.utime(docs / "solar.md", (1_700_000_000, 1_700_000_000))
    assert refresh(docs, index).unchanged == 3
    assert index.connection.execute("SELECT id FROM documents ORDER BY id").fetchall() == ids
    assert index.known()["solar.md"].state.mtime_ns == 1_700_000_000 * 10**9


def test_changed_new_and_gone_files_are_noticed(
    docs: Path, index: Index, assert_whole: Callable[[Index], None]
) -> None:
    refresh(docs, index)
    (docs / "solar.md").write_text("changed")
    (docs / "new.txt").write_text("new")
    (docs / "japan.md").unlink()
    done = refresh(docs, index)
    assert (done.added, done.changed, done.unchanged, done.removed) == (1, 1, 1, 1)
    assert texts(index) == {"solar.md", "new.txt", "Reports/wind.md"}
    assert_whole(index)


def test_a_change_within_one_tick_of_the_clock_is_noticed(docs: Path, index: Index) -> None:
    path = docs / "solar.md"
    path.write_text("aaaa")
    refresh(docs, index)
    state = path.stat()
    path.write_text("bbbb")
    os.utime(path, ns=(state.st_atime_ns, state.st_mtime_ns))
    assert refresh(docs, index).changed == 1


def test_what_is_hidden_or_of_another_type_is_passed_over(docs: Path, index: Index) -> None:
    for folder in (".git", "node_modules", "__pycache__", "Reports/.cache"):
        (docs / folder).mkdir()
        (docs / folder / "x.md").write_text("no")
    (docs / ".hidden.md").write_text("no")
    (docs / "picture.png").write_bytes(b"no")
    done = refresh(docs, index)
    assert (done.added, done.skipped, done.other_types) == (3, (), 1)


def test_unreadable_files_are_named_each_time_but_parsed_once(docs: Path, index: Index) -> None:
    (docs / "bad.pdf").write_bytes(b"%PDF-1.4 no")
    os.utime(docs / "bad.pdf", LONG_AGO)
    named = (Skipped("bad.pdf", "bad.pdf is damaged or is not a PDF file."),)
    assert refresh(docs, index).skipped == named
    before = index.connection.total_changes
    again = refresh(docs, index)
    assert again.skipped == named
    assert again.unchanged == 3
    row = index.connection.execute("SELECT count(*) FROM documents WHERE path = 'bad.pdf'").fetchone()
    assert row == (1,)
    assert index.connection.total_changes - before <= 3


def test_a_file_that_could_not_be_opened_is_tried_again(docs: Path, index: Index) -> None:
    (docs / "big.txt").write_text("x" * 2000)
    os.utime(docs / "big.txt", LONG_AGO)
    refused = refresh(docs, index, limits=Limits(file_bytes=1000))
    assert [skipped.path for skipped in refused.skipped] == ["big.txt"]
    assert refresh(docs, index).skipped == ()
    assert "big.txt" in texts(index)


def test_a_document_that_turns_unreadable_is_no_longer_found(docs: Path, index: Index) -> None:
    refresh(docs, index)
    (docs / "solar.md").write_bytes(b"\0" * 500)
    assert [skipped.path for skipped in refresh(docs, index).skipped] == ["solar.md"]
    assert "solar.md" not in texts(index)


def test_links_are_not_followed_and_those_that_lead_out_are_named(docs: Path, index: Index, tmp_path: Path) -> None:
    (tmp_path / "private.txt").write_text("secret")
    (docs / "loop").symlink_to(docs)
    (docs / "inside.md").symlink_to(docs / "solar.md")
    (docs / "outside.txt").symlink_to(tmp_path / "private.txt")
    (docs / "gone.md").symlink_to(tmp_path / "nowhere")
    done = refresh(docs, index)
    assert done.added == 3
    assert [skipped.path for skipped in done.skipped] == ["gone.md", "outside.txt"]


def test_special_files_are_named_and_never_waited_for(docs: Path, index: Index) -> None:
    os.mkfifo(docs / "pipe.txt")
    assert refresh(docs, index).skipped == (Skipped("pipe.txt", "pipe.txt is not a regular file."),)


def test_a_name_that_is_no_text_is_named(docs: Path, index: Index) -> None:
    try:
        (docs / os.fsdecode(b"bad\xff.md")).write_text("x")
    except OSError:
        pytest.skip("this file system takes no such names")
    assert [skipped.path for skipped in refresh(docs, index).skipped] == ["bad?.md"]


def test_one_file_can_be_a_library(docs: Path, index: Index) -> None:
    assert refresh(docs / "solar.md", index).added == 1
    assert list(index.known()) == ["."]


def test_a_folder_with_nothing_to_read_is_refused_with_the_reason(tmp_path: Path, index: Index) -> None:
    empty = tmp_path / "empty"
    empty.mkdir()
    with pytest.raises(
        NothingReadable, match=r"No readable document in .*empty: \.md .*\.docx are read, there are none"
    ):
        refresh(empty, index)
    (empty / "a.pdf").write_bytes(b"no")
    (empty / "b.xyz").write_bytes(b"no")
    with pytest.raises(NothingReadable, match=r"1 could not be read \(a\.pdf is damaged.*\); 1 files of other types"):
        refresh(empty, index)


def test_a_folder_that_is_not_there_is_refused(tmp_path: Path, index: Index) -> None:
    with pytest.raises(Unreadable, match="does not exist"):
        refresh(tmp_path / "nowhere", index)


def test_progress_is_told_up_to_the_end(docs: Path, index: Index) -> None:
    told: list[tuple[int, int]] = []
    refresh(docs, index, on_progress=lambda done, total: told.append((done, total)), limits=Limits(batch_files=1))
    assert told == [(1, 3), (2, 3), (3, 3)]


def test_a_file_that_hangs_is_left_and_the_others_are_kept(
    docs: Path, index: Index, monkeypatch: pytest.MonkeyPatch, assert_whole: Callable[[Index], None]
) -> None:
    over, load = threading.Event(), ingest.load
    monkeypatch.setattr(ingest, "load", lambda path, **_: over.wait() if path.name == "japan.md" else load(path))
    done = refresh(docs, index, on_progress=lambda done, total: False)
    over.set()
    assert (done.added, done.left) == (2, 1)
    assert texts(index) == {"solar.md", "Reports/wind.md"}
    assert_whole(index)
    monkeypatch.undo()
    assert refresh(docs, index).added == 1


REFRESH = """
import sys
from pathlib import Path
from deepwell.library import Index, Limits, refresh
with Index(Path(sys.argv[2])) as index:
    refresh(Path(sys.argv[1]), index, limits=Limits(batch_files=3))
"""


def test_processes_that_index_one_folder_at_once_all_end_well(
    docs: Path, tmp_path: Path, assert_whole: Callable[[Index], None]
) -> None:
    for number in range(40):
        (docs / f"{number}.txt").write_text(f"Document {number} says something. " * 50)
    path = tmp_path / "a.db"
    running = [subprocess.Popen([sys.executable, "-c", REFRESH, str(docs), str(path)]) for _ in range(3)]
    assert [process.wait(120) for process in running] == [0, 0, 0]
    with Index(path) as index:
        assert len(texts(index)) == 43
        assert_whole(index)
        assert refresh(docs, index).unchanged == 43

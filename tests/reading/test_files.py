import os
from collections.abc import Callable
from pathlib import Path

import pytest

from deepwell.errors import Unreadable
from deepwell.reading import files, read_file
from deepwell.reading.workshop import Workshop


def refused(path: Path) -> str:
    with pytest.raises(Unreadable) as caught:
        read_file(path)
    return str(caught.value)


def test_reads_a_file_of_every_kind(
    tmp_path: Path, workshop: Workshop, make_pdf: Callable[..., bytes], make_docx: Callable[..., bytes]
) -> None:
    contents = {
        "a.md": b"# T\n\ntext",
        "a.txt": b"text",
        "a.html": b"<p>text</p>",
        "a.pdf": make_pdf(["text"]),
        "a.docx": make_docx("<w:p><w:r><w:t>text</w:t></w:r></w:p>"),
    }
    for name, data in contents.items():
        (tmp_path / name).write_bytes(data)
        assert "text" in read_file(tmp_path / name, workshop=workshop).text


def test_a_file_over_the_limit_is_refused_before_it_is_read(tmp_path: Path) -> None:
    path = tmp_path / "big.txt"
    with path.open("wb") as file:
        file.truncate(200_000_000)
    assert refused(path) == "big.txt is 200 MB; files up to 50 MB are read."


def test_the_limit_can_be_set(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("x" * 2_000_001)
    with pytest.raises(Unreadable, match=r"a\.txt is 2 MB; files up to 1 MB are read"):
        read_file(path, max_bytes=1_000_000)


def test_what_is_no_file_is_refused_and_never_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.txt")
    (tmp_path / "folder.md").mkdir()
    (tmp_path / "gone.md").symlink_to(tmp_path / "nowhere")
    (tmp_path / "loop.md").symlink_to(tmp_path / "loop.md")
    (tmp_path / "device.txt").symlink_to("/dev/zero")
    assert refused(tmp_path / "pipe.txt") == "pipe.txt is not a regular file."
    assert refused(tmp_path / "folder.md") == "folder.md is a folder, not a file."
    assert refused(tmp_path / "gone.md") == "gone.md is a link to a file that is gone."
    assert refused(tmp_path / "loop.md") == "loop.md is a link that leads back to itself."
    assert refused(tmp_path / "device.txt") == "device.txt is not a regular file."
    assert refused(tmp_path / "no.md") == "no.md does not exist."
    assert refused(tmp_path / "nul\0.md") == "A file name with a NUL in it cannot be read."


def test_a_file_that_may_not_be_read_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "locked.txt"
    path.write_text("x")
    path.chmod(0)
    if os.access(path, os.R_OK):
        pytest.skip("this user may read everything")
    assert refused(path) == "locked.txt may not be read: permission denied."


@pytest.mark.parametrize("content", [b"", b" \n\n", b"---\ntitle: x\n---\n"])
def test_a_file_without_text_is_empty(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "a.md").write_bytes(content)
    assert refused(tmp_path / "a.md") == "a.md is empty."


@pytest.mark.parametrize(("strikes", "text"), [(1, "old+"), (4, None)])
def test_a_file_that_changes_is_read_once_more(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, strikes: int, text: str | None
) -> None:
    path = tmp_path / "a.txt"
    path.write_text("old")
    left, real = [strikes], os.fstat

    def fstat(descriptor: int) -> os.stat_result:
        """The real thing, with a writer who strikes right after it."""
        state = real(descriptor)
        if left[0]:
            left[0] -= 1
            with path.open("a") as file:
                file.write("+")
        return state

    monkeypatch.setattr(files.os, "fstat", fstat)
    if text:
        assert read_file(path).text == text
    else:
        assert refused(path) == "a.txt changed while it was being read."

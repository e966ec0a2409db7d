import subprocess
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest

from deepwell.errors import Unreadable
from deepwell.reading.formats import HTML, PDF
from deepwell.reading.workshop import Bounds, NoWorker, Wanted, Workshop

HOSTILE = """
import os, signal, time
from deepwell.errors import Unreadable
from deepwell.reading.document import Document

def spin(data, name):
    while True: pass
def sleep(data, name): time.sleep(1000)
def crash(data, name): os.kill(os.getpid(), signal.SIGSEGV)
def leave(data, name): os._exit(3)
def fail(data, name): raise ZeroDivisionError
def hog(data, name): return bytearray(10**10)
def write(data, name): open(name, "w").write("x")
def refuse(data, name): raise Unreadable(f"{name} is no good.")
def lie(data, name): return Document(title=1, text=["x"], kind=None)
def which(data, name): return Document(title=str(os.getpid()), text="x", kind="text")
def environment(data, name): return Document(title="x", text=" ".join(os.environ), kind="text")
def modules(data, name):
    import sys
    return Document(title="x", text=" ".join(sys.modules), kind="text")
"""


@pytest.fixture(autouse=True)
def hostile(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "hostile_readers.py").write_text(HOSTILE)
    monkeypatch.syspath_prepend(str(tmp_path))


def read(workshop: Workshop, function: str, name: str = "a.pdf") -> str:
    return workshop.read(f"hostile_readers:{function}", b"data", name).title


@pytest.mark.parametrize(
    ("function", "sentence"),
    [
        ("crash", "a.pdf cannot be read: its reader gave up, it may be damaged."),
        ("leave", "a.pdf cannot be read: its reader gave up, it may be damaged."),
        ("fail", "a.pdf cannot be read: its reader gave up, it may be damaged."),
        ("hog", "a.pdf needs more memory to be read than is allowed."),
        ("refuse", "a.pdf is no good."),
    ],
)
def test_whatever_a_reader_does_is_one_sentence_and_the_next_file_is_read(
    workshop: Workshop, function: str, sentence: str
) -> None:
    with pytest.raises(Unreadable) as caught:
        read(workshop, function)
    assert str(caught.value) == sentence
    assert read(workshop, "which").isdigit()


def test_a_worker_that_refuses_a_file_reads_the_next_one_too(workshop: Workshop) -> None:
    before = read(workshop, "which")
    with pytest.raises(Unreadable, match="no good"):
        read(workshop, "refuse")
    assert read(workshop, "which") == before
    with pytest.raises(Unreadable, match="more memory"):
        read(workshop, "hog")
    assert read(workshop, "which") != before, "who ran out of memory is not trusted with another file"


def test_a_reader_that_computes_forever_is_stopped_by_its_share_of_the_processor() -> None:
    workshop = Workshop(bounds=Bounds(cpu_seconds=1, wall_seconds=300))
    with pytest.raises(Unreadable, match="takes too long"):
        read(workshop, "spin")
    assert read(workshop, "which")
    workshop.close()


def test_a_reader_that_waits_forever_is_killed() -> None:
    workshop = Workshop(bounds=Bounds(wall_seconds=0.2))
    with pytest.raises(Unreadable, match="takes too long"):
        read(workshop, "sleep")
    workshop.close()


def test_the_share_of_the_processor_is_for_each_file_not_for_all(workshop: Workshop) -> None:
    assert len({read(workshop, "which") for _ in range(20)}) == 1


def test_a_reader_cannot_write_files(workshop: Workshop, tmp_path: Path) -> None:
    with pytest.raises(Unreadable):
        read(workshop, "write", str(tmp_path / "written"))
    written = tmp_path / "written"
    assert not written.exists() or written.read_text() == ""


def test_a_reader_sees_none_of_our_keys(workshop: Workshop, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOME_API_KEY", "secret")
    assert "SOME_API_KEY" not in workshop.read("hostile_readers:environment", b"", "x").text.split()


def test_a_worker_loads_no_more_than_it_needs(workshop: Workshop) -> None:
    loaded = set(workshop.read("hostile_readers:modules", b"", "x").text.split())
    assert not loaded & {"langgraph", "pydantic", "sqlite3", "asyncio", "lxml", "typer", "rich"}


def test_many_threads_share_two_workers(workshop: Workshop) -> None:
    pids: list[str] = []
    threads = [threading.Thread(target=lambda: pids.append(read(workshop, "which"))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(pids) == 8
    assert len(set(pids)) <= 2


def test_answers_of_two_files_are_never_mixed_up(workshop: Workshop) -> None:
    wrong: list[str] = []

    def work(word: str) -> None:
        for _ in range(20):
            text = workshop.read(HTML, f"<p>{word * 1000}</p>".encode(), f"{word}.html").text
            wrong.extend([] if text == word * 1000 else [text])

    threads = [threading.Thread(target=work, args=(word,)) for word in "abcd"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


def test_a_closed_workshop_reads_nothing(workshop: Workshop) -> None:
    read(workshop, "which")
    workshop.close()
    workshop.close()
    with pytest.raises(NoWorker):
        read(workshop, "which")


def test_a_pdf_that_unfolds_without_end_is_refused(workshop: Workshop, make_pdf_bomb: Callable[[int], bytes]) -> None:
    data = make_pdf_bomb(600_000_000)
    assert len(data) < 10_000
    with pytest.raises(Unreadable, match=r"^bomb\.pdf "):
        workshop.read(PDF, data, "bomb.pdf")
    assert read(workshop, "which")


def test_a_page_of_a_million_levels_is_text_or_one_sentence(workshop: Workshop) -> None:
    with suppress(Unreadable):
        assert workshop.read(HTML, b"<div>x" * 300_000, "deep.html").text
    assert read(workshop, "which")


def test_workers_end_with_the_process_that_started_them(tmp_path: Path) -> None:
    program = (
        "import sys; sys.path.insert(0, sys.argv[1])\n"
        "from deepwell.reading.workshop import default_workshop\n"
        "print(default_workshop().read('hostile_readers:which', b'', 'x').title)"
    )
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", program, str(tmp_path)], capture_output=True, text=True, check=True
    )
    assert done.stderr == ""
    # The parent reaps its children before it ends, so that the number is free again.
    assert subprocess.run(["kill", "-0", done.stdout.strip()], capture_output=True, check=False).returncode != 0


def test_who_gives_up_has_the_child_killed() -> None:
    workshop, wanted, caught = Workshop(), Wanted(), []

    def wait() -> None:
        try:
            workshop.read("hostile_readers:sleep", b"", "a.pdf", wanted)
        except Unreadable as error:
            caught.append(error)

    waiting = threading.Thread(target=wait)
    waiting.start()
    while not wanted._worker:
        waiting.join(0.01)
    child = wanted._worker._process
    wanted.give_up()
    waiting.join(timeout=30)
    assert caught
    assert child.returncode, "killed and reaped"
    assert read(workshop, "which")
    workshop.close()


def test_what_nobody_waits_for_is_not_begun() -> None:
    workshop, wanted = Workshop(), Wanted()
    wanted.give_up()
    with pytest.raises(NoWorker, match="Nobody waits"):
        workshop.read("hostile_readers:sleep", b"", "a.pdf", wanted)
    workshop.close()

"""Orders to end, sent to real processes: the run is kept, and nothing else is left."""

import os
import pty
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from deepwell.testing.web import Fault, WebServer

RUN = [sys.executable, "-c", "from deepwell.cli import main; main()"]
ASKED = ["Who founded the Kelsmouth Tide Observatory?", "--time", "5"]


@pytest.fixture
def web() -> Iterator[WebServer]:
    """Pages that never come."""
    with WebServer(faults=[Fault("hang", kinds=frozenset({"page"}))]) as server:
        yield server


@pytest.fixture
def env(web: WebServer, tmp_path: Path) -> dict[str, str]:
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    settings = web.settings().model_dump(exclude_unset=True, mode="json")
    named = {name.upper(): str(value) for name, value in settings.items() if not isinstance(value, list | dict)}
    return {**os.environ, **named, **web.environment(), "TMPDIR": str(temporary)}


def reading(web: WebServer, process: "subprocess.Popen[str]") -> None:
    """Wait until the run reads a page that never comes."""
    while not web.asked("page"):
        with pytest.raises(subprocess.TimeoutExpired):
            process.wait(timeout=0.05)


def status() -> str:
    with sqlite3.connect(Path(os.environ["DEEPWELL_HOME"]) / "deepwell.db") as connection:
        return str(connection.execute("SELECT status FROM runs").fetchone()[0])


def group_of(leader: int) -> list[str]:
    """Processes of this session that are still there, by `ps`."""
    listed = subprocess.run(["ps", "-e", "-o", "ppid=,pid=,args="], capture_output=True, text=True, check=True).stdout
    return [line for line in listed.splitlines() if line.split()[0] == str(leader)]


@pytest.mark.parametrize("order", [signal.SIGTERM, signal.SIGHUP], ids=["TERM", "HUP"])
def test_an_order_to_end_keeps_the_run_and_leaves_nothing(
    order: signal.Signals, web: WebServer, env: dict[str, str]
) -> None:
    process = subprocess.Popen([*RUN, *ASKED], env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    reading(web, process)
    process.send_signal(order)
    report, errors = process.communicate(timeout=30)
    assert process.returncode == 130, errors
    assert report == ""
    assert "a run that had begun is kept" in errors
    assert "Traceback" not in errors
    assert status() == "interrupted"
    assert not group_of(process.pid)
    assert not list(Path(env["TMPDIR"]).iterdir())


def test_a_closed_terminal_ends_the_run_without_a_complaint(web: WebServer, env: dict[str, str]) -> None:
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [*RUN, *ASKED], env=env, stdin=theirs, stdout=theirs, stderr=theirs, text=True, start_new_session=True
    )
    os.close(theirs)
    reading(web, process)
    os.close(ours)
    process.send_signal(signal.SIGHUP)
    assert process.wait(timeout=30) == 130
    assert status() == "interrupted"


def test_a_run_that_is_to_outlive_its_terminal_does(notes: Path) -> None:
    script = (
        "import signal\nsignal.signal(signal.SIGHUP, signal.SIG_IGN)\n"
        "from deepwell.analyst.extractive import ExtractiveAnalyst\nfrom deepwell.cli import main\n"
        "real = ExtractiveAnalyst.digest\n"
        "async def digest(*given):\n    signal.raise_signal(signal.SIGHUP)\n    return await real(*given)\n"
        "ExtractiveAnalyst.digest = digest\nmain()"
    )
    arguments = ["How many holiday days are there?", "--docs", str(notes), "--quiet"]
    ended = subprocess.run([sys.executable, "-c", script, *arguments], capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stderr
    assert "27 days" in ended.stdout

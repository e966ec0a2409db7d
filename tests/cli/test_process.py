"""What only a real process can show: what is imported, signals, two at once, a closed pipe."""

import os
import signal
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

RUN = [sys.executable, "-c", "from deepwell.cli import main; main()"]


def call(*arguments: str, program: list[str] | None = None) -> subprocess.CompletedProcess[str]:
    return subprocess.run([*(program or RUN), *arguments], capture_output=True, text=True, check=False, timeout=60)


def test_help_loads_neither_langgraph_nor_a_parser() -> None:
    script = (
        "import sys\nfrom deepwell.cli import main\n"
        "try:\n    main()\nexcept SystemExit:\n    pass\n"
        "heavy = {'langgraph', 'langchain_core', 'lxml', 'pypdfium2', 'pydantic', 'sqlite3'} & set(sys.modules)\n"
        "sys.exit(f'loaded {heavy}' if heavy else 0)"
    )
    ended = call("--help", program=[sys.executable, "-c", script])
    assert ended.returncode == 0, ended.stderr
    assert "Examples:" in ended.stdout


def test_importing_the_package_loads_nothing_and_names_what_it_offers() -> None:
    script = (
        "import sys, deepwell\nassert 'langgraph' not in sys.modules\n"
        "assert len([n for n in deepwell.__all__ if n != '__version__']) <= 12\n"
        "assert all(getattr(deepwell, name) is not None for name in deepwell.__all__)"
    )
    assert call(program=[sys.executable, "-c", script]).returncode == 0


def test_two_runs_at_once_on_one_store(notes: Path) -> None:
    arguments = ["How many holiday days are there?", "--docs", str(notes), "--quiet"]
    both = [subprocess.Popen([*RUN, *arguments], stdout=subprocess.PIPE, text=True) for _ in range(2)]
    assert [process.communicate(timeout=60)[0].count("27 days") > 0 for process in both] == [True, True]
    assert [process.returncode for process in both] == [0, 0]
    with sqlite3.connect(Path(os.environ["DEEPWELL_HOME"]) / "deepwell.db") as connection:
        assert connection.execute("SELECT status, count(*) FROM runs GROUP BY 1").fetchall() == [("done", 2)]
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)


HANGING = """
import asyncio, sys
from deepwell.analyst.extractive import ExtractiveAnalyst
from deepwell.cli import main

async def hang(*_):
    print("hanging", file=sys.stderr, flush=True)
    await asyncio.Event().wait()

ExtractiveAnalyst.investigate = hang
{also}
main()
"""


def hanging(notes: Path, also: str = "") -> subprocess.Popen[str]:
    """A run whose unit has searched and now hangs."""
    process = subprocess.Popen(
        [sys.executable, "-c", HANGING.format(also=also), "How many holiday days are there?", "--docs", str(notes)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stderr
    assert any(line.startswith("hanging") for line in process.stderr), "the run ended before it hung"
    return process


def interrupted(notes: Path, also: str = "") -> subprocess.Popen[str]:
    """The same, with the first Ctrl-C pressed and answered."""
    process = hanging(notes, also)
    process.send_signal(signal.SIGINT)
    assert process.stderr
    assert any(line.startswith("Stopping:") for line in process.stderr)
    return process


def test_ctrl_c_once_writes_the_report_from_what_there_is(notes: Path) -> None:
    process = interrupted(notes)
    report, _ = process.communicate(timeout=60)
    assert process.returncode == 0
    assert "27 days" in report
    assert "the user ended the research" in report


def test_ctrl_c_twice_quits_and_keeps_the_run(notes: Path) -> None:
    process = interrupted(notes, also="ExtractiveAnalyst.write_section = hang")
    assert process.stderr
    assert any(line.startswith("hanging") for line in process.stderr)
    process.send_signal(signal.SIGINT)
    report, errors = process.communicate(timeout=60)
    assert process.returncode == 130
    assert report == ""
    assert "a run that had begun is kept" in errors
    assert "interrupted" in call("runs").stdout


def test_a_killed_run_leaves_a_sound_store(notes: Path) -> None:
    process = hanging(notes)
    process.kill()
    process.communicate(timeout=60)
    assert "interrupted" in call("runs").stdout
    with sqlite3.connect(Path(os.environ["DEEPWELL_HOME"]) / "deepwell.db") as connection:
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        kinds = [row[0] for row in connection.execute("SELECT kind FROM journal ORDER BY seq")]
    assert kinds[:3] == ["RunStarted", "ScopeTaken", "TopicDispatched"]
    assert call("How many holiday days are there?", "--docs", str(notes), "--quiet").returncode == 0


def test_a_reader_that_goes_away_is_no_error(notes: Path) -> None:
    call("How many holiday days are there?", "--docs", str(notes), "--quiet")
    process = subprocess.Popen([*RUN, "config"], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert process.stdout
    process.stdout.close()
    _, errors = process.communicate(timeout=60)
    assert b"Traceback" not in errors


def test_output_that_cannot_be_written_is_one_sentence(notes: Path) -> None:
    if not Path("/dev/full").exists():
        pytest.skip("there is no /dev/full here")
    arguments = ["How many holiday days are there?", "--docs", str(notes), "--quiet"]
    for more in (["--out", "/dev/full"], []):
        with Path("/dev/full").open("w") as full:
            ended = subprocess.run(
                [*RUN, *arguments, *more], stdout=full, stderr=subprocess.PIPE, text=True, check=False
            )
        assert ended.returncode == 6
        assert ended.stderr.startswith("deepwell: The output could not be written (no space left on device)")
        assert len(ended.stderr.splitlines()) == 1
    assert "27 days" in call("show", "last").stdout

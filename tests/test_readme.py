"""The README keeps up with the program."""

import re
from pathlib import Path

from deepwell.cli.app import app
from deepwell.cli.exit_codes import Exit
from deepwell.reading.formats import READERS

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text("utf-8")


def test_every_exit_code_is_in_the_table() -> None:
    assert {int(code) for code in re.findall(r"^\| (\d+) \|", README, re.MULTILINE)} == {int(code) for code in Exit}


def test_every_command_is_described() -> None:
    for command in app.registered_commands:
        name = command.name or command.callback.__name__
        assert f"deepwell {name}" in README, name


def test_the_file_types_it_names_are_read() -> None:
    named = re.search(r"Read: `([^`]+)`", README)
    assert named
    assert set(named[1].split()) <= set(READERS)


def test_the_example_folder_is_there() -> None:
    for folder in re.findall(r"--docs (examples/\w+)", README):
        assert any((ROOT / folder).iterdir())

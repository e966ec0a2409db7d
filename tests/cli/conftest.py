import sys

import pytest

from deepwell.cli import main
from deepwell.testing.command_line import Call, Ended


@pytest.fixture
def deepwell(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Call:
    def call(*arguments: str) -> Ended:
        monkeypatch.setattr(sys, "argv", ["deepwell", *arguments])
        with pytest.raises(SystemExit) as ended:
            main()
        captured = capsys.readouterr()
        return Ended(int(ended.value.code or 0), captured.out, captured.err)

    return call

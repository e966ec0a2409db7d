"""Packages are loaded beside the event loop, in their share of the time."""

import threading

import pytest

from deepwell.errors import AnalystFailed
from deepwell.models import loading
from deepwell.models.choosing import Chosen
from deepwell.models.factory import ModelSettings
from deepwell.models.names import ModelName
from deepwell.testing import ManualClock

SETTINGS = ModelSettings(ModelName("openai-compatible", "colleague"), "http://127.0.0.1:1/v1")


async def test_what_takes_too_long_to_load_is_done_without(monkeypatch: pytest.MonkeyPatch) -> None:
    clock, over = ManualClock(), threading.Event()

    def hang(module: str) -> None:
        clock.move(6)
        over.wait()

    monkeypatch.setattr(loading, "import_module", hang)
    with pytest.raises(AnalystFailed, match="could not be loaded in time"):
        await loading.load(Chosen(SETTINGS, SETTINGS, {}), lambda: 10 - clock.monotonic())
    over.set()


async def test_a_package_that_is_missing_is_complained_about_later(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []

    def missing(module: str) -> None:
        asked.append(module)
        raise ImportError

    monkeypatch.setattr(loading, "import_module", missing)
    await loading.load(Chosen(SETTINGS, SETTINGS, {}), lambda: None)
    assert "langchain_openai" in asked

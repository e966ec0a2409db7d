from pathlib import Path
from typing import Any

import pytest

from deepwell.configuration import Configuration, environment_names
from deepwell.models.names import PROVIDERS
from deepwell.search.registry import ENGINES

ROOT = Path(__file__).parent.parent


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Spread the tests over all workers, but keep those with the real model in one: each would start its own."""
    from xdist.scheduler import LoadScopeScheduling

    class OneWorkerForTheRealModel(LoadScopeScheduling):
        def _split_scope(self, nodeid: str) -> str:
            return "real_model" if "/real_model/" in nodeid else nodeid

    return OneWorkerForTheRealModel(config, log)


@pytest.fixture
def examples() -> Path:
    """The documents that the README's example runs on."""
    return ROOT / "examples" / "antikythera"


@pytest.fixture(autouse=True)
def _own_home(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """No test touches the user's own runs, and no setting of the user's reaches a test."""
    monkeypatch.setenv("DEEPWELL_HOME", str(tmp_path_factory.mktemp("home")))
    monkeypatch.setenv("DEEPRESEARCH_ENV_FILE", "")
    monkeypatch.setenv("LANGSMITH_TRACING", "false")
    settings = [name for field in Configuration.model_fields for name in environment_names(field)]
    keys = [name for spec in (*PROVIDERS.values(), *ENGINES.values()) for name in spec.key_names]
    keys += [name for spec in ENGINES.values() for name in (spec.address_name, spec.fields_name) if name]
    for name in ("DEEPWELL_LOG", *settings, *keys, *(f"{key}_FILE" for key in keys)):
        monkeypatch.delenv(name, raising=False)
    # A question without documents would be taken to the web: no test goes there by accident.
    monkeypatch.setenv("SEARCH_PROVIDER", "none")


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    """A small folder in which one thing leads to another, and two texts disagree."""
    texts = {
        "kettle.md": "# Falcon kettle\n\nSales of the Falcon kettle rose to 4,200 units in 2023. Its thermostat "
        "comes from the supplier Brightline.",
        "brightline.md": "# Brightline\n\nBrightline was founded by Maria Kessler in Bremen. "
        "The firm employs 80 people.",
        "rival.txt": "Brightline, a firm in Bremen, employs 120 people according to its yearly statement.",
        "policy.html": "<html><head><title>Holiday policy</title></head><body><p>Our holiday policy grants 27 days "
        "a year to everyone.</p></body></html>",
    }
    folder = tmp_path / "notes"
    folder.mkdir()
    for name, text in texts.items():
        (folder / name).write_text(text, encoding="utf-8")
    return folder

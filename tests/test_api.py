import asyncio
from pathlib import Path

import pytest

import deepwell
from deepwell import api
from deepwell.errors import BadRequest, Interrupted, Unreadable
from deepwell.vocabulary.report import NotFound, Report


def test_the_exported_names_are_pinned() -> None:
    assert deepwell.__all__ == [
        "Configuration",
        "DeepwellError",
        "NotFound",
        "Report",
        "Request",
        "Run",
        "Watcher",
        "__version__",
        "ask",
        "request",
        "research",
    ]


def test_asking_without_an_event_loop(notes: Path) -> None:
    run = deepwell.ask("How many holiday days are there?", docs=[notes])
    assert run.found
    assert isinstance(run.outcome, Report)
    assert "27 days" in run.markdown
    assert run.outcome.sources[0].address == f"{notes}/policy.html"


async def test_a_watcher_is_told_what_happens(notes: Path) -> None:
    told: list[str] = []

    class Told(deepwell.Watcher):
        def phase(self, name: str) -> None:
            told.append(name)

        def progress(self, payload: dict[str, object]) -> None:
            told.append(str(payload["phase"]))

    await deepwell.research(deepwell.request("How many holiday days are there?", [notes], watcher=Told()))
    assert list(dict.fromkeys(told)) == ["planning", "research", "writing"]


async def test_one_document_is_a_library_too(notes: Path) -> None:
    run = await api.research(api.request("How many holiday days are there?", [notes / "policy.html"]))
    assert isinstance(run.outcome, Report)
    assert run.outcome.sources[0].address == str(notes / "policy.html")


async def test_several_folders_are_searched_together(notes: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    (other / "extra.md").write_text("# Extra\n\nThe holiday policy of the other office grants 31 days a year.")
    run = await api.research(api.request("How many days does the holiday policy grant?", [notes, other]))
    assert "27 days" in run.markdown
    assert "31 days" in run.markdown


async def test_nothing_found_is_an_outcome(notes: Path) -> None:
    run = await api.research(api.request("What did NASA say about Jupiter?", [notes]))
    assert isinstance(run.outcome, NotFound)
    assert not run.found


async def test_the_same_question_gives_the_same_report(notes: Path) -> None:
    question = "Who founded the supplier of the thermostat of the Falcon kettle?"
    runs = [await api.research(api.request(question, [notes])) for _ in range(2)]
    assert runs[0].markdown == runs[1].markdown


async def test_two_runs_in_one_process(notes: Path) -> None:
    asked = [api.request("How many holiday days are there?", [notes]) for _ in range(2)]
    runs = await asyncio.gather(*map(api.research, asked))
    assert runs[0].markdown == runs[1].markdown
    assert runs[0].id != runs[1].id


async def test_stopping_while_indexing_keeps_what_was_indexed(notes: Path) -> None:
    interrupted = asyncio.Event()
    interrupted.set()
    asked = api.request("How many holiday days are there?", [notes], interrupted=interrupted)
    with pytest.raises(Interrupted, match=r"Stopped after indexing \d of 4 documents"):
        await api.research(asked)
    run = await api.research(api.request("How many holiday days are there?", [notes]))
    assert run.found


async def test_bad_requests(tmp_path: Path) -> None:
    with pytest.raises(BadRequest):
        api.request("", [tmp_path])
    with pytest.raises(BadRequest):
        api.request("What?", [])
    with pytest.raises(Unreadable):
        await api.research(api.request("What?", [tmp_path / "nowhere"]))

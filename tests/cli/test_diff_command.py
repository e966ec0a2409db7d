import asyncio
import io
import json
from datetime import UTC, datetime
from pathlib import Path

import pytest
from rich.console import Console

from deepwell.assemble import opened_store
from deepwell.cli import diff_command, guarded
from deepwell.configuration import home
from deepwell.testing.command_line import Call

QUESTION = "How many people does Brightline employ?"


def _run(deepwell: Call, notes: Path, question: str = QUESTION, *options: str) -> str:
    deepwell(question, "--docs", str(notes), "--quiet", *options)
    return str(json.loads(deepwell("runs", "--json", "--limit", "1").out)[0]["id"])


@pytest.fixture
def two_runs(deepwell: Call, notes: Path) -> tuple[str, str]:
    """The same question before and after a document was corrected, the second time with more rounds."""
    before = _run(deepwell, notes)
    text = (notes / "brightline.md").read_text("utf-8")
    (notes / "brightline.md").write_text(text.replace("80 people", "95 people"), encoding="utf-8")
    return before, _run(deepwell, notes, QUESTION, "--set", "max_researcher_iterations=5")


def test_a_changed_figure_is_shown_with_both_sentences(deepwell: Call, two_runs: tuple[str, str]) -> None:
    ended = deepwell("diff", *two_runs)
    assert ended.code == 0
    lines = ended.out.splitlines()
    at = lines.index("~ 80 → 95")
    assert lines[at + 1 : at + 3] == ["  − The firm employs 80 people.", "  + The firm employs 95 people."]
    assert "max_researcher_iterations: 3 → 5" in lines
    assert any(line.startswith("~ source Brightline (") for line in lines)
    assert "1 changed, 0 gone, 0 new; sources:" in lines[-1]
    assert "questions differ" not in ended.out


def test_what_is_kept_is_only_counted_unless_all_is_asked_for(deepwell: Call, two_runs: tuple[str, str]) -> None:
    kept = "= Brightline, a firm in Bremen, employs 120 people according to its yearly statement."
    assert kept not in deepwell("diff", *two_runs).out.splitlines()
    assert kept in deepwell("diff", *two_runs, "--all").out.splitlines()


def test_json_has_all_of_it(deepwell: Call, two_runs: tuple[str, str]) -> None:
    found = json.loads(deepwell("diff", two_runs[0][:6], "last", "--json").out)
    assert (found["before"]["id"], found["after"]["id"]) == two_runs
    assert found["same_question"] is True
    (changed,) = found["changed"]
    assert changed["changes"][0]["sentence"] == "80 → 95"
    assert changed["changes"][0]["what"] == "number"
    assert changed["before"]["spans"][0][0] != changed["after"]["spans"][0][0]
    assert found["counts"]["statements"]["kept"] == len(found["kept"]) > 0
    assert {one["what"] for one in found["sources"]} == {"kept", "changed"}
    assert found["settings"] == [{"name": "max_researcher_iterations", "before": 3, "after": 5}]


def test_a_run_is_like_itself(deepwell: Call, notes: Path) -> None:
    run = _run(deepwell, notes)
    ended = deepwell("diff", run, run)
    assert len(ended.out.splitlines()) == 2
    assert "0 changed, 0 gone, 0 new; sources:" in ended.out


def test_other_questions_are_compared_and_said(deepwell: Call, notes: Path) -> None:
    ended = deepwell("diff", _run(deepwell, notes), _run(deepwell, notes, "How many holiday days are there?"))
    assert ended.code == 0
    assert f"The questions differ: “{QUESTION}” → “How many holiday days are there?”" in ended.out.splitlines()
    assert any(line.startswith("+ Our holiday policy grants 27 days") for line in ended.out.splitlines())


def test_a_run_that_found_nothing_is_compared_by_its_claims(deepwell: Call, notes: Path) -> None:
    nothing = _run(deepwell, notes, "What did NASA say about Jupiter?")
    ended = deepwell("diff", nothing, _run(deepwell, notes))
    assert ended.code == 0
    assert f"Run {nothing} found no answer: the claims it collected are compared" in ended.out


def test_a_run_without_a_report_is_refused_in_one_sentence(deepwell: Call, notes: Path) -> None:
    async def begun() -> None:
        async with opened_store(home()) as store:
            at = datetime(2026, 1, 1, tzinfo=UTC)
            await store.begin("feed0123", QUESTION, at=at, version="0", configuration="{}", libraries=[])

    run = _run(deepwell, notes)
    asyncio.run(begun())
    ended = deepwell("diff", "feed0123", run)
    assert (ended.code, ended.out) == (2, "")
    assert ended.err == "deepwell: Run feed0123 has no report to compare: it was running.\n"


def test_an_unknown_run_is_refused(deepwell: Call) -> None:
    ended = deepwell("diff", "nope", "last")
    assert ended.code == 2
    assert "No run goes by the id 'nope'" in ended.err


def test_a_terminal_gets_colours_with_the_value_marked(
    deepwell: Call, two_runs: tuple[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    screen = Console(file=io.StringIO(), force_terminal=True, width=60, color_system="standard")
    assert diff_command.output is guarded.output
    monkeypatch.setattr(diff_command, "output", screen)
    deepwell("diff", *two_runs)
    shown = screen.file.getvalue()  # type: ignore[attr-defined]
    assert "\x1b[33m80 → 95\x1b[0m" in shown
    assert "\x1b[1;31m80\x1b[0m" in shown
    assert "\x1b[1;32m95\x1b[0m" in shown


def test_control_characters_of_a_document_do_not_reach_the_terminal() -> None:
    text = "It rose.\x1b]0;title\x07\n"
    assert diff_command._visible(text) == "It rose. ]0;title  "

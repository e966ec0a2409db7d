import json
import os
import sqlite3
from pathlib import Path

import pytest

from deepwell.language.markers import cited
from deepwell.testing.command_line import Call


def test_a_question_is_answered_from_the_examples(deepwell: Call, examples: Path) -> None:
    ended = deepwell("When was the mechanism made, and where?", "--docs", str(examples))
    assert ended.code == 0
    assert ended.out.startswith("# When was the mechanism made, and where?\n\n## Answer\n\n- “")
    body, _, sources = ended.out.partition("## Sources\n\n")
    listed = {int(line[1 : line.index("]")]) for line in sources.splitlines() if line}
    assert set(cited(body)) == listed
    assert "round 1:" in ended.err


def test_options_may_come_before_the_question(deepwell: Call, notes: Path) -> None:
    assert deepwell("--docs", str(notes), "--quiet", "How many holiday days are there?").code == 0


def test_a_second_round_reaches_what_the_first_could_not(deepwell: Call, notes: Path) -> None:
    ended = deepwell("Who founded the supplier of the thermostat of the Falcon kettle?", "--docs", str(notes))
    assert ended.code == 0
    assert "Maria Kessler" in ended.out


def test_disagreement_between_sources_is_shown(deepwell: Call, notes: Path) -> None:
    ended = deepwell("How many people does Brightline employ?", "--docs", str(notes))
    assert "They differ on **people**" in ended.out
    assert "80 people" in ended.out
    assert "120 people" in ended.out


def test_what_the_documents_do_not_hold_is_refused(deepwell: Call, notes: Path) -> None:
    ended = deepwell("What did NASA say about Jupiter?", "--docs", str(notes))
    assert ended.code == 3
    assert "Not found in these documents" in ended.out
    assert "## What was searched" in ended.out
    assert "## Sources" not in ended.out
    assert "cited no sources" in deepwell("show", "last", "--sources").out


def test_json_holds_exact_spans(deepwell: Call, notes: Path) -> None:
    ended = deepwell("How many holiday days are there?", "--docs", str(notes), "--json", "--quiet")
    run = json.loads(ended.out)
    assert run["status"] == "done"
    spans = [span for claim in run["claims"] for span in claim["spans"]]
    assert any("27 days" in span["text"] for span in spans)
    assert run["passages"][0]["text"]
    assert run["phase_state"]["research"]["gap_analysis"]["loop_decision"]["shouldContinue"] is False


def test_the_report_goes_to_a_file(deepwell: Call, notes: Path, tmp_path: Path) -> None:
    target = tmp_path / "report.md"
    ended = deepwell("How many holiday days are there?", "--docs", str(notes), "--out", str(target))
    assert ended.code == 0
    assert ended.out == ""
    assert "27 days" in target.read_text("utf-8")


def test_quiet_means_no_progress(deepwell: Call, notes: Path) -> None:
    assert deepwell("How many holiday days are there?", "--docs", str(notes), "--quiet").err == ""


def test_runs_are_listed_shown_and_opened(deepwell: Call, notes: Path) -> None:
    report = deepwell("How many holiday days are there?", "--docs", str(notes), "--quiet").out
    listed = json.loads(deepwell("runs", "--json").out)
    run = listed[0]["id"]
    assert deepwell("show", run[:5]).out == report
    assert deepwell("show", "last").out == report
    assert "⟦Our holiday policy grants 27 days a year to everyone.⟧" in deepwell("show", run, "--sources").out
    assert json.loads(deepwell("show", run, "--phase-state").out)["research"]["iteration"]["max"] == 3
    journal = deepwell("show", run, "--journal").out
    kinds = [line.split()[2] for line in journal.splitlines()]
    assert (kinds[0], kinds[-1]) == ("RunStarted", "RunEnded")
    path = Path(deepwell("open", run).out.strip())
    assert path.read_text("utf-8") == report
    assert "How many holiday days" in deepwell("runs").out


def test_indexing_says_what_it_did(deepwell: Call, notes: Path) -> None:
    (notes / "broken.pdf").write_bytes(b"%PDF-1.4 nothing else")
    ended = deepwell("index", str(notes))
    assert ended.code == 0
    assert "4 documents in 4 passages: 4 added, 0 changed" in ended.out
    assert ended.out.splitlines()[1].startswith("skipped: broken.pdf ")
    assert "4 unchanged" in deepwell("index", str(notes)).out


def test_settings_are_listed(deepwell: Call) -> None:
    assert "max_researcher_iterations = 3 (1 to 20)" in deepwell("config").out
    assert "min_novelty_threshold" in json.loads(deepwell("config", "--json").out)["properties"]


@pytest.mark.parametrize(
    ("arguments", "code", "sentence"),
    [
        (["", "--docs", "."], 2, "The question is empty"),
        (["   \n", "--docs", "."], 2, "The question is empty"),
        (["???", "--docs", "."], 2, "The question has no words"),
        (["x" * 100_000, "--docs", "."], 2, "The question has 100,000 characters and may have 4,000"),
        (["what\x00is\x01this", "--docs", "."], 2, "The question holds binary data"),
        (
            ["What is it?"],
            2,
            "There is nothing to search: give a folder of documents with --docs DIR, or",
        ),
        (["What is it?", "--docs", "no/such/folder"], 4, "no/such/folder"),
        (["What is it?", "--docs", ".", "--time", "soon"], 2, "--time takes minutes (0.1 to 10080) or `unlimited`"),
        (["What is it?", "--docs", ".", "--time", "-3"], 2, "--time takes minutes"),
        (["What is it?", "--docs", ".", "--tier", "huge"], 2, "tier must be one of auto, simple, standard"),
        (["What is it?", "--docs", ".", "--deep", "--tier", "simple"], 2, "contradict each other"),
        (["What is it?", "--docs", ".", "--set", "max_sources=0"], 2, "max_sources must be a number between 1 and 200"),
        (["What is it?", "--docs", ".", "--set", "colour=red"], 2, "There is no setting colour"),
        (["What is it?", "--docs", ".", "--set", "max_sources"], 2, "--set takes NAME=VALUE"),
        (["What is it?", "--docs", ".", "--out", "no/such/folder/report.md"], 2, "cannot be written"),
        (["show", "zzzz"], 2, "No run goes by the id 'zzzz'"),
        (["show", "last"], 2, "there are no runs yet"),
    ],
)
def test_bad_input_gets_one_sentence(
    deepwell: Call, arguments: list[str], code: int, sentence: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.md").write_text("A document.")
    ended = deepwell(*arguments)
    assert ended.code == code
    assert sentence in ended.err
    assert len(ended.err.strip().splitlines()) == 1
    assert ended.out == ""


def test_a_folder_with_nothing_readable(deepwell: Call, tmp_path: Path) -> None:
    (tmp_path / "data.bin").write_bytes(b"\x00\x01")
    ended = deepwell("What is it?", "--docs", str(tmp_path), "--quiet")
    assert ended.code == 4
    assert "No readable document in" in ended.err


def test_a_store_of_a_newer_version_is_left_alone(deepwell: Call, notes: Path) -> None:
    path = Path(os.environ["DEEPWELL_HOME"]) / "deepwell.db"
    assert deepwell("runs").code == 0
    with sqlite3.connect(path) as connection:
        connection.execute("PRAGMA user_version = 99")
    ended = deepwell("How many holiday days are there?", "--docs", str(notes), "--quiet")
    assert ended.code == 6
    assert "written by a newer Deepwell" in ended.err


def test_a_store_that_is_no_database(deepwell: Call) -> None:
    (Path(os.environ["DEEPWELL_HOME"]) / "deepwell.db").write_text("not a database at all, but long enough to look")
    ended = deepwell("runs")
    assert ended.code == 6
    assert "damaged or is not a Deepwell file" in ended.err


def test_a_log_that_cannot_be_written(deepwell: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DEEPWELL_LOG", "/no/such/folder/log")
    ended = deepwell("runs")
    assert ended.code == 2
    assert "DEEPWELL_LOG names /no/such/folder/log" in ended.err


def test_files_that_could_not_be_read_are_named_in_the_report(deepwell: Call, notes: Path) -> None:
    (notes / "broken.pdf").write_bytes(b"%PDF-1.4 nothing else")
    ended = deepwell("How many holiday days are there?", "--docs", str(notes))
    assert ended.code == 0
    assert "- Not read: broken.pdf" in ended.out
    assert "- Research ended because" in ended.out


def test_a_documents_own_footnotes_are_no_citations(deepwell: Call, tmp_path: Path) -> None:
    text = "The wall of Halden was built in 1900 by Olga Brandt.[2] The wall fell in 1950.[3]"
    (tmp_path / "a.md").write_text(text)
    (tmp_path / "b.md").write_text("Cats sleep on the wall of Halden.")
    (tmp_path / "c.md").write_text("Bread is baked behind the wall.")
    ended = deepwell("When was the wall of Halden built?", "--docs", str(tmp_path), "--json", "--quiet")
    run = json.loads(ended.out)
    built = next(claim for claim in run["claims"] if "Olga Brandt" in claim["claim"])
    assert built["claim"] == "The wall of Halden was built in 1900 by Olga Brandt."
    assert [span["address"] for span in built["spans"]] == [str(tmp_path / "a.md")]
    assert built["spans"][0]["text"] == "The wall of Halden was built in 1900 by Olga Brandt."


@pytest.mark.parametrize(
    ("text", "question", "answer"),
    [
        ("Die Brücke von Halden wurde von Olga Brandt gebaut.", "Wer hat die Brücke von Halden gebaut?", "Olga Brandt"),
        ("Marie Curie est née à Varsovie en 1867.", "Où est née Marie Curie ?", "Varsovie"),
        ("北京大学成立于1898年，位于北京。", "北京大学成立于哪一年？", "1898年"),
        ("Мост построила Ольга Брандт в 1900 году.", "Кто построила мост?", "Ольга Брандт"),
    ],
)
def test_other_languages_are_not_refused(deepwell: Call, tmp_path: Path, text: str, question: str, answer: str) -> None:
    (tmp_path / "a.md").write_text(text, encoding="utf-8")
    ended = deepwell(question, "--docs", str(tmp_path), "--quiet")
    assert ended.code == 0, ended.out
    assert answer in ended.out


def test_a_row_of_a_table_can_be_quoted(deepwell: Call, tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("# Prices\n\n| thing | price | year |\n|---|---|---|\n| Widget | 12 euro | 2020 |\n")
    ended = deepwell("What was the price of the Widget in 2020?", "--docs", str(tmp_path), "--quiet")
    assert "“Widget | 12 euro | 2020” [1]" in ended.out


def test_a_link_that_leads_back_to_itself_is_passed_over(deepwell: Call, notes: Path) -> None:
    (notes / "loop").symlink_to("loop")
    (notes / "loop.md").symlink_to("loop.md")
    assert deepwell("index", str(notes)).code == 0


@pytest.mark.parametrize(
    ("option", "said"),
    [
        (("--since", "soon"), "is no date; write it as 2024"),
        (("--since", "2024", "--until", "2020"), "the first date is the later one"),
        (("--site", "not a site"), "is no site; write it as example.org"),
        (("--language", "german"), "is no language"),
        (("--region", "Austria"), "is no region"),
    ],
)
def test_where_to_search_is_checked_first(deepwell: Call, notes: Path, option: tuple[str, ...], said: str) -> None:
    ended = deepwell("How many holiday days are there?", "--docs", str(notes), *option)
    assert ended.code == 2
    assert said in ended.err
    assert "No runs yet" in deepwell("runs").out


def test_documents_are_held_to_the_dates(deepwell: Call, notes: Path) -> None:
    for path in notes.glob("*.md"):
        path.write_text(f"---\ndate: 2019-03-01\n---\n{path.read_text('utf-8')}", "utf-8")
    asked = ("How many units of the Falcon kettle were sold?", "--docs", str(notes))
    assert deepwell(*asked, "--since", "2019", "--until", "2019-03").code == 0
    assert deepwell(*asked, "--since", "2020").code == 3

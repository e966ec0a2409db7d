from dataclasses import replace
from datetime import UTC, datetime

from deepwell.stages.compare.runs import compare_runs, source_changes, statements
from deepwell.vocabulary.run import KeptClaim, KeptSource, RunHead, StoredRun

HEAD = RunHead("a1", "Why?", "done", datetime(2026, 1, 1, tzinfo=UTC), None, "0.1.0", None, 0, 0)
RUN = StoredRun(HEAD, {}, (), "# Why?", {}, (), (), (), ())


def _source(number: int, text_hash: str, address: str) -> KeptSource:
    return KeptSource(number, text_hash, address, address.title(), "2026-01-01", "text", None, None, None)


def _claim(text: str) -> KeptClaim:
    return KeptClaim(text, "q1", "", 0.5, None, None, (("h", 0, 9),))


def test_the_cited_sentences_are_the_statements() -> None:
    run = replace(RUN, citations=(("- “It rose.” [1]", (1,), (("h", 0, 8),)),), claims=(_claim("Something else."),))
    (statement,) = statements(run)
    assert (statement.text, statement.source_ids, statement.spans) == ("It rose.", (1,), (("h", 0, 8),))


def test_a_run_without_citations_is_taken_by_its_claims() -> None:
    assert [one.text for one in statements(replace(RUN, claims=(_claim("It rose."), _claim("It fell."))))] == [
        "It rose.",
        "It fell.",
    ]


def test_what_is_said_twice_counts_once_with_all_it_rests_on() -> None:
    said = (("- “It rose.”", (1,), (("h", 0, 8),)), ("- They agree on **it**: “It rose.”", (2,), (("i", 3, 9),)))
    (statement,) = statements(replace(RUN, citations=said, claims=(_claim("It rose."),)))
    assert (statement.text, statement.source_ids) == ("It rose.", (1, 2))
    assert statement.spans == (("h", 0, 8), ("i", 3, 9))


def test_who_said_a_quotation_stays_with_it() -> None:
    (statement,) = statements(replace(RUN, citations=(("Smith said: “It rose.”", (1,), ()),), claims=(_claim("No."),)))
    assert statement.text == "Smith said: “It rose.”"


def test_sources_are_known_by_their_text_then_by_their_address() -> None:
    before = [_source(1, "x", "a.md"), _source(2, "y", "b.md"), _source(3, "z", "c.md")]
    after = [_source(1, "y2", "b.md"), _source(2, "x", "moved/a.md"), _source(3, "w", "d.md")]
    found = source_changes(before, after)
    assert [change.what for change in found] == ["kept", "changed", "gone", "new"]
    assert [(c.before or c.after).address for c in found] == ["a.md", "b.md", "c.md", "d.md"]


def test_only_what_the_report_cites_counts_as_its_source() -> None:
    sources = (_source(1, "x", "a.md"), _source(2, "y", "b.md"))
    run = replace(RUN, sources=sources, citations=(("It rose.", (2,), ()),))
    assert [change.before.address for change in compare_runs(run, run).sources if change.before] == ["b.md"]


def test_settings_that_differ_are_named_and_empty_is_unset() -> None:
    before = replace(RUN, configuration={"tier": "standard", "rounds": 3, "old": True, "none": None})
    after = replace(RUN, configuration={"tier": "deep", "rounds": 3, "none": "", "sites": []}, libraries=("papers",))
    found = compare_runs(before, after).settings
    assert [(change.name, change.before, change.after) for change in found] == [
        ("documents", None, ["papers"]),
        ("tier", "standard", "deep"),
        ("old", True, None),
    ]

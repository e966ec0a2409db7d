"""From a filled-in form, only what can be used is taken."""

from datetime import date

import pytest

from deepwell.analyst.model import accepting
from deepwell.analyst.model.forms import (
    ConductResearchForm,
    FetchForm,
    FindingsForm,
    IntakeForm,
    OutlineForm,
    PreferencesForm,
    ResearchCompleteForm,
    SearchForm,
    SectionForm,
    SubQuestionForm,
    ThinkForm,
)
from deepwell.analyst.protocol import Board, Notebook
from deepwell.models.replies import MalformedReply
from deepwell.testing import source
from deepwell.vocabulary.evidence import Evidence, Findings, ReadPassage
from deepwell.vocabulary.moves import ConductResearch, Done, FetchUrl, ResearchComplete, SearchWeb, Think
from deepwell.vocabulary.plan import Plan, Query, SubQuestion, Topic
from deepwell.vocabulary.question import Brief, Clarification, Intake, Preferences
from deepwell.vocabulary.report import NumberedEvidence, Outline, Section, Unanswerable

TODAY = date(2026, 1, 2)
BRIEF = Brief("Who built it?")
PLAN = Plan((SubQuestion("sq-1", "Who built the bridge?"), SubQuestion("sq-2", "What did the bridge cost?")))
BOARD = Board(BRIEF, PLAN, 2, (), (), (), (), None, 10)


def intake(**fields: object) -> Clarification | Intake:
    defaults: dict[str, object] = {"subquestions": [SubQuestionForm(question="Who built it?", searches=["builder"])]}
    return accepting.intake(IntakeForm(**defaults | fields), "Who built it?", TODAY)


def evidence(count: int) -> list[NumberedEvidence]:
    kept = source("The bridge was built in 1890 by Ada Stone.")
    item = Evidence("It was built in 1890.", (kept.cut(0, 10),), (kept.address,), subquestion="sq-1")
    return [NumberedEvidence(item, (number,)) for number in range(1, count + 1)]


def notebook(passages: int = 2, left: int = 3) -> Notebook:
    kept = [source(f"Passage {n}.", f"{n}.md") for n in range(passages)]
    read = tuple(ReadPassage(s.cut(0, len(s.text)), s) for s in kept)
    return Notebook(BRIEF, Topic("Who?", "sq-1"), read, (Query("old", BRIEF.question),), (), left)


def test_an_intake_has_brief_plan_preferences_and_tier() -> None:
    wishes = PreferencesForm(length="Short", audience="engineers", tables=True, language="German")
    taken = intake(kind="How To", tier="Deep", preferences=wishes, assumptions=["It is the bridge.", " "])
    assert isinstance(taken, Intake)
    assert (taken.brief.kind, taken.tier, taken.brief.as_of) == ("how-to", "deep", "2026-01-02")
    assert taken.brief.preferences == Preferences("short", "engineers", "", True, "German")
    assert taken.brief.assumptions == ("It is the bridge.",)
    assert taken.plan.subquestions[0].queries == (
        Query("builder", "Who built it?"),
        Query("Who built it?", "Who built it?"),
    )


def test_unknown_words_fall_back_to_the_usual() -> None:
    taken = intake(kind="poem", tier="gigantic", preferences=PreferencesForm(length="enormous"))
    assert isinstance(taken, Intake)
    assert (taken.brief.kind, taken.tier, taken.brief.preferences.length) == ("survey", None, "standard")


def test_a_question_back_counts_only_when_there_is_no_plan() -> None:
    assert intake(clarification="Which bridge?", subquestions=[]) == Clarification("Which bridge?")
    assert isinstance(intake(clarification="Which bridge?"), Intake)
    with pytest.raises(MalformedReply, match="subquestions"):
        intake(clarification="hmm", subquestions=[SubQuestionForm(question="  ")])


def test_the_settings_language_wins() -> None:
    form = IntakeForm(subquestions=[SubQuestionForm(question="Who built it?")])
    taken = accepting.intake(form, "Who?", TODAY, "French")
    assert isinstance(taken, Intake)
    assert taken.brief.preferences.language == "French"


def test_supervisor_moves_serve_a_known_part() -> None:
    calls = [
        ThinkForm(reflection="Costs are open."),
        ConductResearchForm(research_topic="cost of the bridge", subquestion="cost?", searches=["bridge cost"]),
        ConductResearchForm(research_topic="who built it", subquestion="SQ-1"),
        ConductResearchForm(research_topic=" "),
    ]
    think, cost, who = accepting.supervisor_moves(calls, BOARD)
    assert think == Think("Costs are open.")
    assert isinstance(cost, ConductResearch)
    assert isinstance(who, ConductResearch)
    assert (cost.subquestion, who.subquestion) == ("sq-2", "sq-1")
    assert [query.text for query in cost.queries] == ["bridge cost", "cost of the bridge"]


def test_confidence_stays_in_its_range_and_thinking_alone_is_no_move() -> None:
    assert accepting.supervisor_moves([ResearchCompleteForm(confidence=7)], BOARD) == [ResearchComplete(1.0)]
    with pytest.raises(MalformedReply, match="ResearchComplete"):
        accepting.supervisor_moves([ThinkForm(reflection="Hm.")], BOARD)


def test_findings_end_the_unit_at_once() -> None:
    moves = accepting.researcher_moves(
        [SearchForm(query="x y"), FindingsForm(answer="So it is [2].")], notebook(), (1, 2)
    )
    assert moves == [Done(findings=Findings("So it is [2].", read=(1, 2)))]


def test_searches_are_new_and_within_the_allowance() -> None:
    calls = [SearchForm(query="old"), SearchForm(query="gears"), FetchForm(address="a.md"), SearchForm(query="wheels")]
    moves = accepting.researcher_moves(calls, notebook(left=2), (1, 2))
    assert moves == [SearchWeb(Query("gears", BRIEF.question)), FetchUrl("a.md")]
    with pytest.raises(MalformedReply, match="report_findings"):
        accepting.researcher_moves([SearchForm(query="old")], notebook(), (1, 2))


def test_findings_cite_only_what_was_shown() -> None:
    told = FindingsForm(answer="One [1]. Two [7]. Three [2][9].", gaps=["x is open", " "])
    assert accepting.findings(told, (1, 2)) == Findings("One [1]. Two. Three [2].", ("x is open",), read=(1, 2))
    with pytest.raises(MalformedReply, match="number of its passage"):
        accepting.findings(FindingsForm(answer="It is so."), (1, 2))
    nothing = FindingsForm(answer="", gaps=["Nothing on it."])
    assert accepting.findings(nothing, (1, 2)) == Findings("", ("Nothing on it.",), read=(1, 2))
    with pytest.raises(MalformedReply):
        accepting.findings(FindingsForm(answer=""), (1, 2))


def test_what_was_not_shown_cannot_be_cited() -> None:
    with pytest.raises(MalformedReply):
        accepting.findings(FindingsForm(answer="Napoleon did it [1]."), ())
    guessed = FindingsForm(answer="Napoleon did it [1].", gaps=["The builder is open."])
    assert accepting.findings(guessed, ()) == Findings("", ("The builder is open.",), read=())


def test_an_outline_keeps_sections_with_claims_and_adds_what_is_open() -> None:
    form = OutlineForm(
        title="# The bridge",
        sections=[
            SectionForm(heading="## Builders", purpose="who", claims=[1, 1, 9]),
            SectionForm(heading="Empty", claims=[]),
            SectionForm(heading="", claims=[2]),
        ],
        open_heading="Offen",
    )
    made = accepting.outline(form, BRIEF, evidence(2), ("The cost.",))
    assert isinstance(made, Outline)
    assert made.title == "The bridge"
    assert [(part.heading, len(part.evidence), part.notes) for part in made.sections] == [
        ("Builders", 1, ()),
        ("Offen", 0, ("The cost.",)),
    ]


def test_an_outline_may_say_that_there_is_no_answer() -> None:
    form = OutlineForm(answerable=False, missing=["Any word on it."], sections=[])
    assert accepting.outline(form, BRIEF, evidence(1), ()) == Unanswerable(("Any word on it.",))
    with pytest.raises(MalformedReply, match="claims"):
        accepting.outline(OutlineForm(sections=[]), BRIEF, evidence(1), ())


def test_a_section_cites_its_own_evidence_and_links_nowhere() -> None:
    section = Section("Builders", "who", tuple(evidence(2)))
    text = "## Builders\n\nBuilt in 1890 [1][5]. See [a site](https://evil.example/?q) ![x](https://evil.example) [2]."
    clean = accepting.section_text(text, section)
    assert clean == "Built in 1890 [1]. See a site  [2]."
    assert accepting.section_text("So [2](https://evil.example) it is.", section) == "So [2] it is."
    with pytest.raises(MalformedReply, match="citation"):
        accepting.section_text("It is known.", section)


def test_titles_and_headings_lead_nowhere_and_cite_nothing() -> None:
    form = OutlineForm(
        title='A ![x](http://evil.example/p.png) title [99] <img src="http://evil.example">',
        sections=[SectionForm(heading="See [here](http://evil.example)\n## Sources [88]", claims=[1])],
        open_heading="Open\n\n# Injected",
    )
    made = accepting.outline(form, BRIEF, evidence(1), ("a gap",))
    assert isinstance(made, Outline)
    assert made.title == "A title"
    assert [part.heading for part in made.sections] == ["See here ## Sources", "Open # Injected"]


def test_a_single_fact_is_answered_under_the_title() -> None:
    made = accepting.short_answer(BRIEF, evidence(20), ())
    assert [part.heading for part in made.sections] == [""]
    assert len(made.sections[0].evidence) == accepting.MOST_CLAIMS_IN_A_SHORT_ANSWER

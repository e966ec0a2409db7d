"""Without a library there is nothing to tell a rare word by: the web is asked as the user asks."""

from datetime import date

import pytest

from deepwell.analyst.extractive import ExtractiveAnalyst
from deepwell.analyst.extractive.facts import NoFacts
from deepwell.analyst.protocol import Board, Notebook
from deepwell.testing import source
from deepwell.vocabulary.evidence import Evidence, Standing
from deepwell.vocabulary.moves import ConductResearch, Done
from deepwell.vocabulary.plan import Plan, Query, SubQuestion, Topic
from deepwell.vocabulary.question import Brief, Intake, Turn
from deepwell.vocabulary.report import NumberedEvidence, Outline


async def queries(question: str) -> list[Query]:
    intake = await ExtractiveAnalyst().take_in((Turn("user", question),), date(2026, 1, 2))
    assert isinstance(intake, Intake)
    return [query for part in intake.plan.subquestions for query in part.queries]


async def test_the_question_itself_is_the_first_search() -> None:
    first, *others = await queries("What is the capital of Brazil?")
    assert first.sentence == "What is the capital of Brazil?"
    assert first.text == "capital brazil"
    assert [query.text for query in others] == ["capital brazil"]


async def test_each_thing_that_is_asked_is_a_search_with_the_names_it_may_mean() -> None:
    found = await queries("Who founded Brightline, and how many people does it employ?")
    assert [query.sentence for query in found if query.sentence] == [
        "Who founded Brightline, and how many people does it employ?",
        "Who founded Brightline",
        "Brightline how many people does it employ",
    ]


@pytest.mark.parametrize(
    ("question", "sent"),
    [
        (
            "Wer gründete die Gezeitenwarte Kelsmünde und wie hoch ist ihr Turm?",
            ["gründete gezeitenwarte kelsmünde hoch turm", "Gezeitenwarte Kelsmünde"],
        ),
        ("Wie hoch ist der Turm?", ["hoch turm"]),
        ("Qui a fondé l’observatoire de Kelsmouth ?", ["fondé l'observatoire kelsmouth"]),
        ("¿Quién fundó el observatorio y cuándo?", ["fundó observatorio"]),
        ("Кто основал обсерваторию в Кельсмуте?", ["основал обсерваторию кельсмуте"]),
        ("من أسس مرصد المد في كيلسماوث؟", ["أسس مرصد المد كيلسماوث"]),
        ("潮汐观测台是谁建立的？塔有多高？", ["潮汐观测台 建立 塔"]),
        ("日本の首都はどこですか", ["日本 首都"]),
    ],
)
async def test_other_languages_are_searched_in_their_own_spelling_without_small_words(
    question: str, sent: list[str]
) -> None:
    found = await queries(question)
    assert found[0].sentence == question
    assert list(dict.fromkeys(query.text for query in found)) == sent


async def test_every_part_of_a_question_in_another_language_is_searched() -> None:
    found = await queries("Wer gründete die Gezeitenwarte Kelsmünde, und wie hoch ist ihr alter Turm?")
    assert "Gezeitenwarte Kelsmünde und wie hoch ist ihr alter Turm" in [query.sentence for query in found]


class Library(NoFacts):
    passage_count = 9


async def test_beside_a_library_the_folded_words_have_their_spelling_with_them() -> None:
    intake = await ExtractiveAnalyst(Library()).take_in((Turn("user", "Wer gründete die Warte?"),), date(2026, 1, 2))
    found = [(query.text, query.sentence) for query in intake.plan.subquestions[0].queries]
    assert found[:2] == [("grundete warte", "Wer gründete die Warte?"), ("grundete warte", "gründete warte")]


async def test_no_word_is_searched_for_alone_when_little_was_found() -> None:
    brief, topic = Brief("Who founded the old observatory?"), Topic("Who founded the old observatory?", "sq-1")
    notebook = Notebook(brief, topic, (), (Query("q"),), (Query("q"),), 5)
    assert list(await ExtractiveAnalyst().investigate(notebook)) == [Done()]
    plan = Plan((SubQuestion("sq-1", topic.text),))
    failed = Standing("sq-1", topic.text, failures=3)
    (move,) = await ExtractiveAnalyst().supervise(Board(brief, plan, 2, (failed,), (), (), (), None, 9))
    assert isinstance(move, ConductResearch)
    assert [query.text for query in move.queries] == ["founded observatory"]


async def test_another_language_is_settled_by_other_endings_and_not_reported_in_pieces() -> None:
    question = "潮汐观测台是谁建立的？塔有多高？门票多少钱？"
    assert await missing(question, "潮汐观测台由艾达·马罗于1931年建立，塔高42米。") == ("“门票”, “钱”",)
    question = "Wer gründete die Warte und wie hoch ist ihr Turm?"
    assert await missing(question, "Die Warte wurde von Ida Marrow gegründet, ihr Turm ist 42 Meter hoch.") == ()


async def missing(question: str, claim: str) -> tuple[str, ...]:
    analyst = ExtractiveAnalyst()
    intake = await analyst.take_in((Turn("user", question),), date(2026, 1, 2))
    kept = source(claim, "https://a.example")
    found = Evidence(claim, (kept.cut(0, len(claim)),), (kept.address,), subquestion="sq-1")
    outline = await analyst.outline(intake.brief, intake.plan, [NumberedEvidence(found, (1,))], ())
    assert isinstance(outline, Outline)
    notes = (note for section in outline.sections for note in section.notes)
    return tuple(note.partition(" speaks of ")[2].rstrip(".") for note in notes)


@pytest.mark.parametrize("question", ["?", "日本の首都はどこですか", "Wer gründete die Firma, und wann?", "a " * 900])
async def test_there_is_always_something_to_search_for(question: str) -> None:
    found = await queries(question)
    assert found
    assert all(len(query.sentence.split()) <= 30 for query in found)

"""Without a library there is nothing to tell a rare word by: the web is asked as the user asks."""

from datetime import date

import pytest

from deepwell.analyst.extractive import ExtractiveAnalyst
from deepwell.vocabulary.plan import Query
from deepwell.vocabulary.question import Intake, Turn


async def queries(question: str) -> list[Query]:
    intake = await ExtractiveAnalyst().take_in((Turn("user", question),), date(2026, 1, 2))
    assert isinstance(intake, Intake)
    return [query for part in intake.plan.subquestions for query in part.queries]


async def test_the_question_itself_is_the_first_search() -> None:
    first, *others = await queries("What is the capital of Brazil?")
    assert first.sentence == "What is the capital of Brazil?"
    assert first.text == "capital brazil"
    assert [query.text for query in others] == ["Brazil", "capital brazil"]


async def test_each_thing_that_is_asked_is_a_search_with_the_names_it_may_mean() -> None:
    found = await queries("Who founded Brightline, and how many people does it employ?")
    assert [query.sentence for query in found if query.sentence] == [
        "Who founded Brightline, and how many people does it employ?",
        "Who founded Brightline",
        "Brightline how many people does it employ",
    ]


@pytest.mark.parametrize("question", ["?", "日本の首都はどこですか", "Wer gründete die Firma, und wann?", "a " * 900])
async def test_there_is_always_something_to_search_for(question: str) -> None:
    found = await queries(question)
    assert found
    assert all(len(query.sentence.split()) <= 30 for query in found)

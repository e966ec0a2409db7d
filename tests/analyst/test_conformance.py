"""What every analyst must keep to, whatever it thinks."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from datetime import date

import pytest

from deepwell.analyst.extractive import ExtractiveAnalyst
from deepwell.analyst.protocol import Analyst, Board, Notebook
from deepwell.analyst.resilient import ResilientAnalyst
from deepwell.language.markers import cited
from deepwell.testing import ScriptedAnalyst, source
from deepwell.testing.analysts import Setting
from deepwell.testing.model_server import Fault, ModelServer
from deepwell.vocabulary.events import Degraded
from deepwell.vocabulary.evidence import Evidence, ReadPassage, Standing
from deepwell.vocabulary.moves import ConductResearch, Done, FetchUrl, ResearchComplete, SearchWeb, Think
from deepwell.vocabulary.plan import Query, Topic
from deepwell.vocabulary.question import Clarification, Intake, Turn
from deepwell.vocabulary.report import NumberedEvidence, Unanswerable

QUESTION = "Who founded the supplier of the kettle, and how many people does Brightline employ?"
TEXTS = (
    "The kettle's thermostat comes from Brightline.",
    "Brightline employs 80 people in Bremen.",
    "It rained all day.",
)


@contextmanager
def asking(**abilities: bool) -> Iterator[Analyst]:
    """A model analyst against a colleague over HTTP."""
    with ModelServer(**abilities) as server:
        yield Setting(server, tools=abilities["tools"], schema=abilities["json_schema"]).analyst


@contextmanager
def falling_back() -> Iterator[Analyst]:
    """A model that always fails, with an analyst behind it that needs none."""

    async def noted(event: Degraded) -> None:
        assert event.reason

    with ModelServer(faults=(Fault("server_error"),)) as server:
        failing = Setting(server)
        yield ResilientAnalyst(
            failing.analyst, ExtractiveAnalyst(), failing.ledger.seconds_left, noted, asyncio.Event()
        )


ANALYSTS = {
    "extractive": lambda: nullcontext(ExtractiveAnalyst()),
    "scripted": lambda: nullcontext(ScriptedAnalyst()),
    "model with tools": lambda: asking(tools=True, json_schema=True),
    "model with a schema": lambda: asking(tools=False, json_schema=True),
    "model with neither": lambda: asking(tools=False, json_schema=False),
    "resilient": falling_back,
}


@pytest.fixture(params=ANALYSTS)
def analyst(request: pytest.FixtureRequest) -> Iterator[Analyst]:
    with ANALYSTS[request.param]() as chosen:
        yield chosen


async def taken_in(analyst: Analyst) -> Intake:
    intake = await analyst.take_in((Turn("user", QUESTION),), date(2026, 1, 2))
    assert not isinstance(intake, Clarification)
    return intake


def passages() -> list[ReadPassage]:
    kept = [source(text, f"{i}.md") for i, text in enumerate(TEXTS)]
    return [ReadPassage(s.cut(0, len(s.text)), s, (Query("q"),), 1.0) for s in kept]


def evidence() -> list[NumberedEvidence]:
    return [
        NumberedEvidence(Evidence(p.passage.text, (p.passage,), (p.source.address,), subquestion="sq-1"), (i,))
        for i, p in enumerate(passages(), start=1)
    ]


async def test_a_plan_has_parts_and_the_brief_keeps_the_users_words(analyst: Analyst) -> None:
    intake = await taken_in(analyst)
    assert intake.brief.question == QUESTION
    assert intake.plan.subquestions
    assert all(part.text for part in intake.plan.subquestions)


async def test_a_supervisor_proposes_known_moves(analyst: Analyst) -> None:
    intake = await taken_in(analyst)
    standings = tuple(Standing(part.id, part.text, attempts=1, failures=1) for part in intake.plan.subquestions)
    board = Board(intake.brief, intake.plan, 2, standings, (QUESTION,), (), (), None, 10)
    moves = await analyst.supervise(board)
    assert moves
    assert all(isinstance(move, ConductResearch | ResearchComplete | Think) for move in moves)


async def test_a_researcher_proposes_known_moves(analyst: Analyst) -> None:
    intake = await taken_in(analyst)
    topic = Topic(QUESTION, "sq-1", (Query("kettle"),))
    for found in (tuple(passages()), ()):
        notebook = Notebook(intake.brief, topic, found, topic.queries, topic.queries, 2)
        moves = await analyst.investigate(notebook)
        assert all(isinstance(move, SearchWeb | FetchUrl | Think | Done) for move in moves)
        assert len([move for move in moves if isinstance(move, SearchWeb | FetchUrl)]) <= 2


async def test_where_nothing_can_be_searched_no_search_is_proposed(analyst: Analyst) -> None:
    intake = await taken_in(analyst)
    query = Query("thermostat")
    for shown in ((), passages()):
        notebook = Notebook(intake.brief, Topic(QUESTION, "sq-1"), shown, (query,), (query,), 2, searches_left=0)
        assert not [move for move in await analyst.investigate(notebook) if isinstance(move, SearchWeb)]


async def test_a_digest_cites_only_what_it_was_shown(analyst: Analyst) -> None:
    intake = await taken_in(analyst)
    findings = await analyst.digest(intake.brief, Topic(QUESTION, "sq-1"), passages())
    assert cited(findings.answer)
    assert set(cited(findings.answer)) <= {1, 2, 3}


async def test_a_report_uses_only_the_evidence_there_is(analyst: Analyst) -> None:
    intake = await taken_in(analyst)
    outline = await analyst.outline(intake.brief, intake.plan, evidence(), ("a gap",))
    assert not isinstance(outline, Unanswerable)
    assert outline.sections
    for section in outline.sections:
        assert set(section.evidence) <= set(evidence())
        allowed = {number for item in section.evidence for number in item.source_ids}
        assert set(cited(await analyst.write_section(intake.brief, outline, section, ()))) <= allowed

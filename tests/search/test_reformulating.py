from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deepwell.errors import SearchFailed
from deepwell.search.events import QueryReworded, SearchEvent
from deepwell.search.failures import Failure, FailureKind, NoAnswer
from deepwell.search.reformulating import MOST_TRIES, Reformulating
from deepwell.search.rewording import other_words
from deepwell.vocabulary.plan import Query
from deepwell.vocabulary.source import Hit

QUESTION = Query(
    "founded brightline people employ", sentence="Who founded Brightline, and how many people does it employ?"
)


@dataclass
class Scripted:
    """Answers each query with so many hits, or a failure, in turn."""

    script: list[int | FailureKind]
    name: str = "scripted"
    asked: list[Query] = field(default_factory=list)

    async def search(self, query: Query, limit: int) -> Sequence[Hit]:
        self.asked.append(query)
        outcome = self.script[len(self.asked) - 1]
        if isinstance(outcome, FailureKind):
            raise NoAnswer(Failure(outcome, "It failed."))
        first = len(self.asked) * 10
        return [Hit(f"https://a.example/{first + n}", "", "", 1.0, "e", query) for n in range(outcome)]


async def searched(script: list[int | FailureKind], query: Query = QUESTION) -> tuple[Scripted, Sequence[Hit], Any]:
    heard: list[SearchEvent] = []

    async def listen(event: SearchEvent) -> None:
        heard.append(event)

    engine = Scripted(script)
    return engine, await Reformulating(engine, listen).search(query, 5), heard


async def test_what_finds_enough_is_asked_once() -> None:
    engine, hits, heard = await searched([3])
    assert len(engine.asked) == 1
    assert len(hits) == 3
    assert not heard


async def test_a_thin_search_is_asked_again_in_other_words() -> None:
    engine, hits, heard = await searched([1, 4])
    # The question stays with it: it tells the language of the search.
    assert engine.asked[1] == Query("founded brightline people employ", engine.asked[0].sentence)
    assert [hit.address for hit in hits] == [f"https://a.example/{n}" for n in (10, 20, 21, 22, 23)]
    assert {hit.query for hit in hits} == {QUESTION}
    assert heard == [QueryReworded(QUESTION.sentence, "founded brightline people employ", 4)]


async def test_it_does_not_go_on_for_ever() -> None:
    engine, hits, _ = await searched([0] * 9)
    assert len(engine.asked) == 1 + MOST_TRIES
    assert not hits


@pytest.mark.parametrize("kind", [FailureKind.BAD_REQUEST, FailureKind.MALFORMED, FailureKind.OVERLOAD])
async def test_a_failed_search_is_asked_again_in_other_words(kind: FailureKind) -> None:
    engine, hits, _ = await searched([kind, 3])
    assert len(engine.asked) == 2
    assert len(hits) == 3


@pytest.mark.parametrize("kind", [FailureKind.AUTH, FailureKind.QUOTA, FailureKind.TIMEOUT, FailureKind.UNREACHABLE])
async def test_other_words_do_not_help_where_nobody_answers(kind: FailureKind) -> None:
    engine = Scripted([kind, 3])
    with pytest.raises(SearchFailed):
        await Reformulating(engine).search(QUESTION, 5)
    assert len(engine.asked) == 1


async def test_what_fails_in_all_words_has_failed() -> None:
    with pytest.raises(SearchFailed):
        await Reformulating(Scripted([FailureKind.OVERLOAD] * 3)).search(QUESTION, 5)


async def test_one_hit_is_enough_when_one_is_wanted() -> None:
    engine = Scripted([1])
    assert len(await Reformulating(engine).search(QUESTION, 1)) == 1


def test_phrases_are_let_go_first() -> None:
    query = Query("weight length", phrases=("Sea Orchid", "Brightline"))
    assert next(other_words(query)).text == "Sea Orchid weight length"
    assert not next(other_words(query)).phrases


def test_a_long_search_keeps_its_names() -> None:
    query = Query("how heavy was the anchor that maria kessler raised", "Who is Maria Kessler?")
    assert "maria" in [word for other in other_words(query) for word in other.text.split()]
    assert any(len(other.text.split()) == 3 for other in other_words(query))


def test_no_pieces_of_words_and_no_small_words_are_tried() -> None:
    assert not list(other_words(Query("潮汐观测台 建立 塔", "潮汐观测台是谁建立的？塔有多高？")))
    question = "Welche Türme wurden zwischen Hafen, Mole und Steg gebaut?"
    found = [query.text for query in other_words(Query("welche türme zwischen hafen mole steg gebaut", question))]
    assert found == ["türme hafen mole"]


def test_words_of_an_answer_are_tried() -> None:
    assert "ship founder" in [other.text for other in other_words(Query("ship founded"))]


@given(st.text(max_size=80), st.text(max_size=80), st.lists(st.text(max_size=20), max_size=3))
def test_other_words_are_few_and_never_empty(text: str, sentence: str, phrases: list[str]) -> None:
    found = list(other_words(Query(text, phrases=tuple(phrases), sentence=sentence)))
    assert len(found) <= 4
    assert len({other.text for other in found}) == len(found)
    assert all(other.text.strip() for other in found)

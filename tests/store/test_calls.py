from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deepwell.analyst.journaled import JournaledAnalyst
from deepwell.errors import SearchFailed, Unreadable
from deepwell.models.calls import Call as ModelCall
from deepwell.models.replies import Told
from deepwell.reading.journaled import JournaledReader
from deepwell.search.journaled import JournaledEngine
from deepwell.store.runs import RunStore
from deepwell.testing import START, DictShelf, ScriptedAnalyst, TextEngine, source
from deepwell.vocabulary.calls import Answered, Failed, fingerprint
from deepwell.vocabulary.evidence import ReadPassage
from deepwell.vocabulary.plan import Plan, Query, Topic
from deepwell.vocabulary.question import Brief
from deepwell.vocabulary.report import NumberedEvidence
from deepwell.vocabulary.run import Past

RUN = "abcd1234"


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[RunStore]:
    async with RunStore.open(tmp_path / "deepwell.db") as opened:
        await opened.begin(RUN, "What?", at=START, version="0", configuration="{}", libraries=[])
        yield opened


async def again(store: RunStore) -> Past:
    return await store.past(RUN)


async def test_a_search_is_made_once_over_two_processes(store: RunStore) -> None:
    engine = TextEngine({"a.md": "tea and cake", "b.md": "tea"})
    first = JournaledEngine(engine, store.calls(RUN, Past(), lambda: 1.0), "search", wait=True)
    found = await first.search(Query("tea"), 5)
    second = JournaledEngine(engine, store.calls(RUN, await again(store), lambda: 1.0), "search", wait=True)
    assert list(await second.search(Query("tea"), 5)) == list(found)
    assert len(engine.asked) == 1
    await second.search(Query("tea"), 2)
    await second.search(Query("cake"), 5)
    assert len(engine.asked) == 3


async def test_what_failed_is_tried_again_and_replayed_as_it_was(store: RunStore) -> None:
    engine = TextEngine({"a.md": "tea"}, failing=True)
    calls = store.calls(RUN, Past(), lambda: 1.0)
    with pytest.raises(SearchFailed):
        await JournaledEngine(engine, calls, "search", wait=True).search(Query("tea"), 5)
    engine.failing = False
    await JournaledEngine(engine, calls, "search", wait=True).search(Query("tea"), 5)
    past = await again(store)
    resumed = JournaledEngine(engine, store.calls(RUN, past, lambda: 1.0), "search", wait=True)
    assert await resumed.search(Query("tea"), 5)
    assert len(engine.asked) == 2
    replayed = JournaledEngine(engine, store.replayed_calls(past), "search", wait=True)
    with pytest.raises(SearchFailed, match="did not answer"):
        await replayed.search(Query("tea"), 5)
    assert await replayed.search(Query("tea"), 5)
    assert len(engine.asked) == 2


async def test_a_page_is_read_once_over_two_processes(store: RunStore) -> None:
    engine, shelf = TextEngine({"https://a.example/": "tea"}), DictShelf()
    read = await JournaledReader(engine, store.calls(RUN, Past(), lambda: 1.0), shelf).read("https://a.example/")
    engine.texts = {}
    second = JournaledReader(engine, store.calls(RUN, await again(store), lambda: 1.0), shelf)
    assert await second.read("https://a.example/") == read


async def test_a_text_that_is_not_there_any_more_is_read_again(store: RunStore) -> None:
    engine = TextEngine({"https://a.example/": "tea"})
    await JournaledReader(engine, store.calls(RUN, Past(), lambda: 1.0), DictShelf()).read("https://a.example/")
    second = JournaledReader(engine, store.calls(RUN, await again(store), lambda: 1.0), DictShelf())
    assert (await second.read("https://a.example/")).text == "tea"


async def test_a_page_that_is_closed_for_good_stays_so(store: RunStore) -> None:
    class Closed:
        async def read(self, address: str) -> None:
            error = Unreadable("It is closed.")
            error.final = True
            raise error

    with pytest.raises(Unreadable):
        await JournaledReader(Closed(), store.calls(RUN, Past(), lambda: 1.0), DictShelf()).read("x")  # type: ignore[arg-type]
    replayed = store.replayed_calls(await again(store))
    with pytest.raises(Unreadable) as refused:
        await JournaledReader(TextEngine({"x": "y"}), replayed, DictShelf()).read("x")
    assert refused.value.final
    resumed = store.calls(RUN, await again(store), lambda: 1.0)
    with pytest.raises(Unreadable):
        await JournaledReader(TextEngine({"x": "y"}), resumed, DictShelf()).read("x")


async def test_judgements_come_back_as_they_were(store: RunStore) -> None:
    asked = []
    analyst = ScriptedAnalyst(digested=lambda topic, passages: asked.append(topic) or _quoted(passages))
    text = source("Tea is served at five.")
    passages = [ReadPassage(text.cut(0, 3), text)]
    case = (Brief("When?"), Topic("When?", "sq-1"), passages)
    first = await JournaledAnalyst(analyst, store.calls(RUN, Past(), lambda: 1.0), wait=True).digest(*case)
    later = replace(text, retrieved_at=datetime(2030, 1, 1, tzinfo=UTC))
    second = JournaledAnalyst(analyst, store.calls(RUN, await again(store), lambda: 1.0), wait=True)
    assert await second.digest(case[0], case[1], [ReadPassage(later.cut(0, 3), later)]) == first
    assert len(asked) == 1
    outline = await second.outline(case[0], Plan(()), [], [])
    assert isinstance(outline.sections, tuple)  # type: ignore[union-attr]
    third = JournaledAnalyst(analyst, store.calls(RUN, await again(store), lambda: 1.0), wait=True)
    assert await third.outline(case[0], Plan(()), [], []) == outline


def _quoted(passages: list[ReadPassage]):  # type: ignore[no-untyped-def]
    from deepwell.vocabulary.evidence import Findings

    return Findings(" ".join(item.passage.text for item in passages))


async def test_replies_are_plain_data_that_no_upgrade_changes(store: RunStore, monkeypatch: pytest.MonkeyPatch) -> None:
    from dataclasses import asdict

    said = Told("text", (ModelCall("search_web", {"query": "tea"}), ModelCall("x", "{")), False, False, 3, None, 0)
    calls = store.calls(RUN, Past(), lambda: 2.5)
    await calls.keep(calls.call("request", "m", ["a"]), Answered(asdict(said)))
    await calls.keep(calls.call("judgement", "m"), Answered(Query("x")))
    monkeypatch.setattr("deepwell.store.serializer.shape", lambda: "another")
    past = await again(store)
    assert [row[0] for row in past.calls] == ["request"]
    assert Told.of(next(iter(past.calls.values())).value) == said  # type: ignore[union-attr]
    assert past.used_s == 2.5


def test_the_same_question_has_the_same_fingerprint() -> None:
    one, other = source("text"), replace(source("text"), retrieved_at=datetime(2030, 1, 1, tzinfo=UTC))
    assert fingerprint(one, START.date(), {"a", "b"}) == fingerprint(other, datetime.now(UTC).date(), {"b", "a"})
    assert fingerprint(one) != fingerprint(source("other"))
    assert fingerprint("ab", "c") != fingerprint("a", "bc")
    assert fingerprint(Failed("x")) != fingerprint(Failed("x", final=True))


@given(st.lists(st.text(max_size=8), max_size=4), st.lists(st.text(max_size=8), max_size=4))
def test_different_questions_have_different_fingerprints(one: list[str], other: list[str]) -> None:
    assert (fingerprint(*one) == fingerprint(*other)) == (one == other)
    assert (fingerprint(Query(str(one))) == fingerprint(Query(str(other)))) == (one == other)


def test_a_numbered_claim_counts_with_all_it_holds() -> None:
    assert fingerprint(NumberedEvidence) != fingerprint(Topic)

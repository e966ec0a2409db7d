"""One query is searched once a run, whoever asks and however many."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field

import pytest

from deepwell.errors import SearchFailed
from deepwell.search.once import SearchOnce
from deepwell.vocabulary.plan import Query
from deepwell.vocabulary.source import Hit


@dataclass(slots=True)
class GatedEngine:
    """Answers when the gate is opened; can be made to fail."""

    name: str = "gated"
    gate: asyncio.Event = field(default_factory=asyncio.Event)
    failing: bool = False
    asked: list[tuple[str, int]] = field(default_factory=list)

    async def search(self, query: Query, limit: int) -> Sequence[Hit]:
        self.asked.append((query.text, limit))
        await self.gate.wait()
        if self.failing:
            raise SearchFailed("It failed.")
        return [Hit(f"https://a.example/{number}", "A", "", 1.0, self.name, query) for number in range(limit)]


@pytest.fixture
def engine() -> GatedEngine:
    return GatedEngine()


async def test_askers_at_the_same_time_share_one_search(engine: GatedEngine) -> None:
    once = SearchOnce(engine)
    askers = [asyncio.create_task(once.search(Query(text), 3)) for text in ("Bronze gears", "bronze  GEARS", "dials")]
    await asyncio.sleep(0)
    engine.gate.set()
    answers = await asyncio.gather(*askers)
    assert len(engine.asked) == 2
    assert [answer[0].query.text for answer in answers] == ["Bronze gears", "bronze  GEARS", "dials"]
    assert once.name == "gated"


async def test_later_askers_get_the_same_answer_and_a_larger_one_is_asked_for(engine: GatedEngine) -> None:
    engine.gate.set()
    once = SearchOnce(engine)
    assert len(await once.search(Query("gears"), 3)) == 3
    assert len(await once.search(Query("gears", context="bronze"), 2)) == 2
    assert engine.asked == [("gears", 3)]
    assert len(await once.search(Query("gears"), 5)) == 5
    assert len(await once.search(Query("gears"), 4)) == 4
    assert engine.asked == [("gears", 3), ("gears", 5)]


async def test_other_phrases_are_another_query(engine: GatedEngine) -> None:
    engine.gate.set()
    once = SearchOnce(engine)
    await once.search(Query("gears"), 3)
    await once.search(Query("gears", phrases=("thirty gears",)), 3)
    assert len(engine.asked) == 2


async def test_a_failure_is_shared_but_not_kept(engine: GatedEngine) -> None:
    once = SearchOnce(engine)
    engine.failing = True
    askers = [asyncio.create_task(once.search(Query("gears"), 3)) for _ in range(3)]
    await asyncio.sleep(0)
    engine.gate.set()
    assert all(isinstance(one, SearchFailed) for one in await asyncio.gather(*askers, return_exceptions=True))
    assert len(engine.asked) == 1
    engine.failing = False
    assert len(await once.search(Query("gears"), 3)) == 3


async def test_an_asker_that_is_cut_off_does_not_take_the_answer_away(engine: GatedEngine) -> None:
    once = SearchOnce(engine)
    first = asyncio.create_task(once.search(Query("gears"), 3))
    await asyncio.sleep(0)
    second = asyncio.create_task(once.search(Query("gears"), 3))
    await asyncio.sleep(0)
    first.cancel()
    engine.gate.set()
    assert len(await second) == 3
    assert len(engine.asked) == 1


async def test_a_failure_nobody_waits_for_is_not_complained_about(
    engine: GatedEngine, caplog: pytest.LogCaptureFixture
) -> None:
    once = SearchOnce(engine)
    engine.failing = True
    asker = asyncio.create_task(once.search(Query("gears"), 3))
    await asyncio.sleep(0)
    asker.cancel()
    await asyncio.gather(asker, return_exceptions=True)
    engine.gate.set()
    await once.close()
    assert caplog.text == ""


async def test_closing_ends_what_is_under_way(engine: GatedEngine) -> None:
    once = SearchOnce(engine)
    asker = asyncio.create_task(once.search(Query("gears"), 3))
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    await once.close()
    with pytest.raises(asyncio.CancelledError):
        await asker
    engine.gate.set()
    assert len(await once.search(Query("gears"), 3)) == 3
    await once.close()

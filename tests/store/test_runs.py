import asyncio
import random
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from deepwell.errors import StoreFull, UnknownRun
from deepwell.store.runs import RunStore
from deepwell.testing import START, source
from deepwell.vocabulary.decision import StopReason
from deepwell.vocabulary.events import RunStarted, Searched
from deepwell.vocabulary.evidence import Evidence
from deepwell.vocabulary.report import Citation, Methodology, Report
from deepwell.vocabulary.run import FinishedRun
from deepwell.vocabulary.source import SourceCard

KEPT = source("One fact. Another — with a dash 東京.", "a.md", publisher="Wire", published="2024-05-06")


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[RunStore]:
    async with RunStore.open(tmp_path / "deepwell.db") as opened:
        yield opened


async def begin(store: RunStore, run: str = "abcd1234", question: str = "What?") -> None:
    await store.begin(run, question, at=START, version="0", configuration="{}", libraries=["docs"])


def finished() -> FinishedRun:
    passage = KEPT.cut(0, 9)
    citation = Citation("One fact.", (1,), (passage,))
    report = Report(
        "What?", (), (citation,), (SourceCard.of(KEPT, 1),), Methodology(StopReason.GAPS_EMPTY), "# What?\n"
    )
    evidence = Evidence("One fact.", (passage,), ("a.md",), subquestion="sq-1", topic="what")
    spans = ((KEPT.hash, 0, 9), (KEPT.hash, 10, 20))
    return FinishedRun(
        "done", START, report, "gaps_empty", {"research": {}}, (SourceCard.of(KEPT, 1),), (evidence,), spans
    )


async def test_a_source_comes_back_letter_by_letter(store: RunStore) -> None:
    await store.keep(KEPT)
    await store.keep(KEPT)
    assert await store.fetch(KEPT.hash) == KEPT
    with pytest.raises(KeyError):
        await store.fetch("nothing")


async def test_a_finished_run_can_be_read_back(store: RunStore) -> None:
    await begin(store)
    await store.keep(KEPT)
    await store.finish("abcd1234", finished())
    run = await store.load("abcd1234")
    assert run.report == "# What?\n"
    assert run.head.status == "done"
    assert [(s.number, s.address, s.publisher) for s in run.sources] == [(1, "a.md", "Wire")]
    assert run.claims[0].spans == ((KEPT.hash, 0, 9),)
    assert run.citations == (("One fact.", (1,), ((KEPT.hash, 0, 9),)),)
    assert run.passages == ((KEPT.hash, 0, 9), (KEPT.hash, 10, 20))
    assert run.kept_hashes == (KEPT.hash,)
    assert [(h.claims, h.sources) for h in await store.runs()] == [(1, 1)]


async def test_the_journal_keeps_its_order(store: RunStore) -> None:
    await begin(store)
    await store.record("abcd1234", START, [RunStarted("What?", "0"), Searched("what", None, 3)])
    await store.record("abcd1234", START, [Searched("more", "Wire", 0, "no answer")])
    events = await store.journal("abcd1234")
    assert [(e["seq"], e["kind"]) for e in events] == [(1, "RunStarted"), (2, "Searched"), (3, "Searched")]
    assert events[2]["failure"] == "no answer"


async def test_a_run_is_found_by_the_beginning_of_its_id(store: RunStore) -> None:
    await begin(store, "abcd1234")
    await begin(store, "abff1234")
    assert await store.find("abcd") == "abcd1234"
    with pytest.raises(UnknownRun, match="2 runs have an id that begins with 'ab'"):
        await store.find("ab")
    with pytest.raises(UnknownRun, match="No run goes by the id 'x%'"):
        await store.find("x%")


async def test_a_run_whose_process_is_gone_counts_as_interrupted(store: RunStore) -> None:
    await begin(store)
    assert (await store.runs())[0].status == "running"
    await store._write("UPDATE runs SET pid = ?", [(2**22 - 3,)])
    assert (await store.runs())[0].status == "interrupted"


async def test_a_full_disk_loses_nothing_that_was_stored(store: RunStore) -> None:
    await begin(store)
    await store.keep(KEPT)
    await store._all("PRAGMA max_page_count = 1")
    noise = random.Random(1).randbytes(200_000).hex()
    with pytest.raises(StoreFull, match="There is no space left for"):
        await store.keep(source(noise, "large.md"))
    assert await store.fetch(KEPT.hash) == KEPT
    assert (await store._one("PRAGMA integrity_check"))[0] == "ok"


async def test_many_writers_in_one_process_do_not_disturb_each_other(store: RunStore) -> None:
    await begin(store)
    await asyncio.gather(
        *(store.record("abcd1234", START, [Searched(str(i), None, i)]) for i in range(200)),
        *(store.keep(source(f"text {i}", f"{i}.md")) for i in range(200)),
    )
    assert [event["seq"] for event in await store.journal("abcd1234")] == list(range(1, 201))

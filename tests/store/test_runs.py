import asyncio
import random
import zlib
from collections.abc import AsyncIterator
from dataclasses import astuple, fields, replace
from datetime import timedelta, timezone
from pathlib import Path

import pytest

from deepwell.errors import StoreDamaged, StoreFull, UnknownRun
from deepwell.search.events import EngineFailed
from deepwell.store.runs import RunStore
from deepwell.store.schema import MIGRATIONS
from deepwell.store.sqlite import connect
from deepwell.testing import START, source
from deepwell.vocabulary.decision import StopReason
from deepwell.vocabulary.events import Event, RunStarted, Searched
from deepwell.vocabulary.evidence import Evidence
from deepwell.vocabulary.report import Citation, Methodology, Report
from deepwell.vocabulary.run import FinishedRun
from deepwell.vocabulary.source import SourceCard

KEPT = source("One fact. Another — with a dash 東京.", "a.md", publisher="Wire", published="2024-05-06")
LATER = START + timedelta(hours=1)


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
    await store._all("UPDATE runs SET pid = ?", *(2**22 - 3,))
    assert (await store.runs())[0].status == "interrupted"


async def test_a_full_disk_loses_nothing_that_was_stored(store: RunStore) -> None:
    await begin(store)
    await store.keep(KEPT)
    await store._all("PRAGMA max_page_count = 1")
    noise = random.Random(1).randbytes(200_000).hex()
    await store.keep(source(noise, "large.md"))
    with pytest.raises(StoreFull, match="There is no space left for"):
        await store.finish("abcd1234", FinishedRun("done", START, None, None, {}))
    assert await store.fetch(KEPT.hash) == KEPT
    assert (await store._one("PRAGMA integrity_check"))[0] == "ok"


async def test_many_writers_in_one_process_do_not_disturb_each_other(store: RunStore) -> None:
    await begin(store)
    await asyncio.gather(
        *(store.record("abcd1234", START, [Searched(str(i), None, i)]) for i in range(200)),
        *(store.keep(source(f"text {i}", f"{i}.md")) for i in range(200)),
    )
    assert [event["seq"] for event in await store.journal("abcd1234")] == list(range(1, 201))


async def test_a_page_is_kept_with_its_own_facts(store: RunStore) -> None:
    await store.keep(KEPT)
    page = replace(KEPT, address="https://b.org/2", title="B", publisher=None, published="2025", retrieved_at=LATER)
    await store.keep_page("https://b.org/1", page)
    assert await store.page("https://b.org/1", START) == page
    assert await store.page("https://b.org/2", START) is None
    assert await store.fetch(KEPT.hash) == KEPT


async def test_a_page_is_known_as_it_was_last_read_and_only_if_that_was_late_enough(store: RunStore) -> None:
    await store.keep_page("https://b.org", KEPT)
    newer = source("Another text.", "https://b.org")
    await store.keep_page("https://b.org", replace(newer, retrieved_at=LATER))
    found = await store.page("https://b.org", LATER)
    assert found
    assert (found.text, found.retrieved_at) == ("Another text.", LATER)
    assert await store.page("https://b.org", LATER + timedelta(microseconds=1)) is None
    elsewhere = timezone(timedelta(hours=9))
    assert await store.page("https://b.org", LATER.astimezone(elsewhere)) == found
    assert (await store.fetch(KEPT.hash)).text == KEPT.text, "what a run may point to is never thrown away"


@pytest.mark.parametrize(
    "damaged",
    [zlib.compress(b"One fact, changed."), b"not packed at all", zlib.compress(b"\xff\xfe no text")],
    ids=["another text", "not packed", "no text"],
)
async def test_a_text_that_is_not_what_it_was_is_told_and_mended_by_reading_it_again(
    store: RunStore, damaged: bytes
) -> None:
    await store.keep_page("https://b.org", KEPT)
    await store._all("UPDATE sources SET text = ?", *(damaged,))
    with pytest.raises(StoreDamaged, match=r"The kept text of a\.md is damaged"):
        await store.fetch(KEPT.hash)
    with pytest.raises(StoreDamaged):
        await store.page("https://b.org", START)
    await store.keep(KEPT)
    assert await store.fetch(KEPT.hash) == KEPT


async def test_a_run_tells_its_sources_as_it_had_them(store: RunStore) -> None:
    await store.keep(replace(KEPT, address="elsewhere.md", title="Elsewhere", publisher="Other", published=None))
    await begin(store)
    await store.finish("abcd1234", finished())
    listed = (await store.load("abcd1234")).sources[0]
    assert (listed.address, listed.publisher, listed.published) == ("a.md", "Wire", "2024-05-06")


async def test_a_file_of_the_first_format_is_brought_up_to_date_with_all_that_is_in_it(tmp_path: Path) -> None:
    path = tmp_path / "deepwell.db"
    old = connect(path, migrations=MIGRATIONS[:1])
    run = ("abcd1234", "What?", "done", START.isoformat(), "0", 1, "host", "{}", "[]", "# What?\n")
    old.execute(
        "INSERT INTO runs (id, question, status, started_at, version, pid, host, configuration, libraries, report) "
        "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        run,
    )
    facts = (KEPT.hash, "a.md", "A", "markdown", None, "Wire", "2024-05-06", START.isoformat())
    packed = zlib.compress(KEPT.text.encode())
    old.execute("INSERT INTO sources VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", (*facts, packed))
    old.execute("INSERT INTO run_sources VALUES ('abcd1234', 1, ?, 'b.md', 'B', ?)", (KEPT.hash, START.isoformat()))
    old.close()
    async with RunStore.open(path) as store:
        stored = await store.load("abcd1234")
        assert stored.report == "# What?\n"
        assert [astuple(one) for one in stored.sources] == [
            (1, KEPT.hash, "b.md", "B", START.isoformat(), "markdown", None, "Wire", "2024-05-06")
        ]
        assert (await store.fetch(KEPT.hash)).text == KEPT.text
        await store.keep_page("https://b.org", KEPT)
        await store.finish("abcd1234", FinishedRun("done", START, None, None, {}, (SourceCard.of(KEPT, 2),)))
        assert [one.number for one in (await store.load("abcd1234")).sources] == [2]


def test_no_event_has_a_field_that_the_journal_needs_for_itself() -> None:
    import deepwell.search.events

    assert deepwell.search.events.EngineFailed in Event.__subclasses__()
    for event in Event.__subclasses__():
        assert not {"seq", "at", "kind"} & {field.name for field in fields(event)}, event


async def test_an_engine_that_failed_stands_in_the_journal_under_its_name(store: RunStore) -> None:
    await begin(store)
    await store.record("abcd1234", START, [EngineFailed("tavily", "timeout", "It did not answer.")])
    assert [event["kind"] for event in await store.journal("abcd1234")] == ["EngineFailed"]

import asyncio
import sqlite3
import threading
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from deepwell.errors import StoreFull
from deepwell.store import scribe as module
from deepwell.store.scribe import Scribe


def connected(path: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
    connection.execute("CREATE TABLE IF NOT EXISTS lines (n INTEGER PRIMARY KEY)")
    return connection


def insert(connection: sqlite3.Connection, n: int) -> None:
    connection.execute("INSERT INTO lines VALUES (?)", (n,))


def lines(connection: sqlite3.Connection) -> list[int]:
    return [n for (n,) in connection.execute("SELECT n FROM lines ORDER BY rowid")]


@pytest.fixture
async def scribe(tmp_path: Path) -> AsyncIterator[Scribe]:
    path = tmp_path / "a.db"
    async with Scribe.open(path, lambda: connected(path)) as opened:
        yield opened


async def test_what_was_put_down_is_there_for_who_asks_next(scribe: Scribe) -> None:
    for n in range(50):
        scribe.later(insert, n)
    assert await scribe.ask(lines) == list(range(50))


async def test_many_writes_are_one_transaction(scribe: Scribe) -> None:
    gate, began = threading.Event(), []
    held = asyncio.ensure_future(scribe.ask(lambda connection: gate.wait(10)))
    await asyncio.sleep(0)
    await scribe_sees(scribe, began)
    for n in range(50):
        scribe.later(insert, n)
    gate.set()
    await held
    assert len(await scribe.ask(lines)) == 50
    assert began.count("BEGIN IMMEDIATE") == 1


async def scribe_sees(scribe: Scribe, statements: list[str]) -> None:
    scribe._open_connection.set_trace_callback(statements.append)


async def test_a_write_that_fails_harms_no_other(scribe: Scribe) -> None:
    gate = threading.Event()
    held = asyncio.ensure_future(scribe.ask(lambda connection: gate.wait(10)))
    await asyncio.sleep(0)
    fates = [scribe.later(insert, n) for n in (1, 2, 2, 3)]
    gate.set()
    await held
    done = await asyncio.gather(*fates, return_exceptions=True)
    assert await scribe.ask(lines) == [1, 2, 3]
    assert [type(one) for one in done] == [type(None), type(None), sqlite3.IntegrityError, type(None)]


async def test_nobody_waits_for_a_disk_that_hangs(scribe: Scribe) -> None:
    gate = threading.Event()
    held = asyncio.ensure_future(scribe.ask(lambda connection: gate.wait(30)))
    await asyncio.sleep(0)
    assert not await scribe.written(insert, 1, patience_s=0.01)
    # Once is enough: with no patience of its own this would wait for two seconds, and time is asserted by no clock.
    assert not await asyncio.wait_for(scribe.written(insert, 2, patience_s=60), 20)
    gate.set()
    await held
    assert await scribe.ask(lines) == [1, 2]
    assert await scribe.written(insert, 3)


async def test_leaving_does_not_wait_for_ever(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "LEAVING_S", 0.01)
    gate, path = threading.Event(), tmp_path / "b.db"
    async with Scribe.open(path, lambda: connected(path)) as opened:
        held = asyncio.ensure_future(opened.ask(lambda connection: gate.wait(30)))
        await asyncio.sleep(0)
    assert not held.done()
    gate.set()
    await held


async def test_who_has_to_be_sure_meets_what_went_wrong(scribe: Scribe) -> None:
    await scribe.ask(lambda connection: connection.execute("PRAGMA max_page_count = 1").fetchall())
    for n in range(5000):
        scribe.later(insert, n)
    with pytest.raises(StoreFull):
        await scribe.settled()

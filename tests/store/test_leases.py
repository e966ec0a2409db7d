import asyncio
import os
import signal
import sqlite3
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from deepwell.cli.exit_codes import Exit, exit_code
from deepwell.errors import RunHeld, UnknownRun
from deepwell.store.holders import holder_from, is_abandoned, this_process
from deepwell.store.leases import Lease, leased, unless_lost
from deepwell.store.runs import RunStore
from deepwell.testing import START

CLAIMANT = """
import asyncio, sys
from pathlib import Path
from deepwell.errors import RunHeld
from deepwell.store.leases import leased
from deepwell.store.runs import RunStore

async def main():
    async with RunStore.open(Path(sys.argv[1])) as store:
        print("ready", flush=True)
        sys.stdin.readline()
        try:
            async with leased(store, "r", used_s=lambda: 1.0) as lease:
                print("got", lease.generation, flush=True)
                sys.stdin.readline()
        except RunHeld:
            print("held", flush=True)
            sys.stdin.readline()

asyncio.run(main())
"""
PATIENCE_S = 30.0
"""A test that waits in vain fails, instead of waiting for ever."""
ELSEWHERE = "another-boot/pid:[1] 1 1 token"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "deepwell.db"


@asynccontextmanager
async def opened(path: Path) -> AsyncIterator[RunStore]:
    """A store with a run in it that is to be worked on."""
    async with RunStore.open(path) as store:
        if not await store.runs():
            await store.begin("r", "What?", at=START, version="1", configuration="{}", libraries=[])
        yield store


def held(store: RunStore, *, used_s: float = 0.0, every_s: float = 600.0, **more: Any) -> Any:
    return leased(store, "r", used_s=lambda: used_s, every_s=every_s, **more)


def column(path: Path, name: str) -> Any:
    connection = sqlite3.connect(path)
    try:
        return connection.execute(f"SELECT {name} FROM runs").fetchone()[0]  # noqa: S608
    finally:
        connection.close()


def change(path: Path, **values: Any) -> None:
    connection = sqlite3.connect(path)
    try:
        connection.execute(f"UPDATE runs SET {', '.join(f'{name} = ?' for name in values)}", (*values.values(),))  # noqa: S608
        connection.commit()
    finally:
        connection.close()


@contextmanager
def claimant(path: Path) -> Iterator[subprocess.Popen[str]]:
    """A process that claims the run as soon as it is told to, and holds it until told again."""
    process = subprocess.Popen(
        [sys.executable, "-c", CLAIMANT, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def hears(process: subprocess.Popen[str]) -> str:
    assert process.stdout
    return process.stdout.readline().strip()


def tell(process: subprocess.Popen[str]) -> None:
    assert process.stdin
    process.stdin.write("go on\n")
    process.stdin.flush()


async def test_of_two_processes_that_claim_a_run_at_once_one_gets_it(path: Path) -> None:
    async with opened(path):
        change(path, host="elsewhere")
        with claimant(path) as one, claimant(path) as two:
            assert [hears(one), hears(two)] == ["ready", "ready"]
            tell(one)
            tell(two)
            assert sorted([hears(one), hears(two)]) == ["got 1", "held"]


async def test_a_run_whose_holder_was_killed_is_taken_over_at_once(path: Path) -> None:
    async with opened(path) as store:
        change(path, host="elsewhere")
        with claimant(path) as process:
            hears(process)
            tell(process)
            assert hears(process) == "got 1"
            with pytest.raises(RunHeld, match="Another process works on run r"):
                async with held(store):
                    pass
            process.send_signal(signal.SIGKILL)
            # Not taken note of by its parent: it is still listed, and yet gone.
            await asyncio.to_thread(os.waitid, os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
            async with held(store) as lease:
                assert lease.generation == 2


async def test_a_run_that_another_process_has_begun_waits_for_that_one(path: Path) -> None:
    async with opened(path) as store:
        change(path, pid=os.getppid())
        with pytest.raises(RunHeld):
            async with held(store):
                pass


async def test_a_lease_on_another_machine_holds_until_it_has_run_out(path: Path) -> None:
    async with opened(path) as store:
        change(path, holder=ELSEWHERE, lease_until="2999-01-01T00:00:00.000Z")
        with pytest.raises(RunHeld):
            async with held(store):
                pass
        change(path, lease_until="2020-01-01T00:00:00.000Z")
        async with held(store) as lease:
            assert column(path, "holder") == lease.holder


async def test_a_run_that_was_given_back_can_be_claimed_again(path: Path) -> None:
    async with opened(path) as store:
        async with held(store, used_s=3.5) as first:
            assert first.generation == 1
            with pytest.raises(RunHeld):
                async with held(store):
                    pass
        assert (column(path, "holder"), column(path, "lease_until")) == (None, None)
        assert column(path, "used_s") == 3.5
        async with held(store) as second:
            assert second.generation == 2


async def test_a_run_is_given_back_when_the_work_is_cancelled(path: Path) -> None:
    async with opened(path) as store:
        began = asyncio.Event()

        async def work() -> None:
            async with held(store):
                began.set()
                await asyncio.Event().wait()

        task = asyncio.create_task(work())
        await began.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert column(path, "holder") is None


async def test_a_claim_that_is_cancelled_under_way_holds_nothing(path: Path) -> None:
    async with opened(path) as store:
        lock = sqlite3.connect(path)
        lock.execute("BEGIN IMMEDIATE")

        async def work() -> None:
            async with held(store):
                pytest.fail("nobody is there any more")

        task = asyncio.create_task(work())
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        lock.rollback()
        lock.close()
        async with held(store) as lease:
            assert lease.generation == 2


async def test_a_lease_is_renewed_and_the_time_used_is_kept(path: Path) -> None:
    asked = asyncio.Queue[float]()

    def used_s() -> float:
        asked.put_nowait(asked.qsize() + 1.0)
        return 7.0

    async with opened(path) as store, leased(store, "r", used_s=used_s, every_s=0.001):
        first = column(path, "lease_until")
        for _ in range(20):
            await asked.get()
        assert column(path, "lease_until") > first
        assert column(path, "used_s") == 7.0


async def test_a_lease_that_another_one_took_is_known_to_be_lost(path: Path) -> None:
    async with opened(path) as store:
        async with held(store, every_s=0.001, used_s=5.0) as lease:
            change(path, holder=ELSEWHERE, lease_until="2999-01-01T00:00:00.000Z", used_s=1.0)
            async with asyncio.timeout(PATIENCE_S):
                await lease.lost.wait()
        assert column(path, "holder") == ELSEWHERE
        assert column(path, "used_s") == 1.0


async def test_a_busy_store_does_not_end_the_run_and_the_lease_is_renewed_later(path: Path) -> None:
    tries = asyncio.Queue[None]()

    def used_s() -> float:
        tries.put_nowait(None)
        return 9.0

    async with opened(path) as store:
        await store.scribe.ask(lambda connection: connection.execute("PRAGMA busy_timeout = 0").fetchall())
        async with leased(store, "r", used_s=used_s, every_s=0.001) as lease:
            lock = sqlite3.connect(path)
            lock.execute("BEGIN IMMEDIATE")
            async with asyncio.timeout(PATIENCE_S):
                for _ in range(5):
                    await tries.get()
            assert not lease.lost.is_set()
            lock.rollback()
            lock.close()
            while tries.qsize():
                tries.get_nowait()
            for _ in range(3):
                await tries.get()
            assert column(path, "used_s") == 9.0
            assert not lease.lost.is_set()


async def test_work_goes_on_to_its_end_while_the_lease_lasts() -> None:
    async def work() -> str:
        return "done"

    assert await unless_lost(Lease("r", "h", 1), work()) == "done"


async def test_work_is_cancelled_when_the_lease_is_lost() -> None:
    lease, ended = Lease("r", "h", 1), asyncio.Event()

    async def work() -> None:
        lease.lost.set()
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()

    with pytest.raises(RunHeld):
        await unless_lost(lease, work())
    assert ended.is_set()


async def test_work_is_cancelled_with_whoever_waits_for_it() -> None:
    began, ended = asyncio.Event(), asyncio.Event()

    async def work() -> None:
        began.set()
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()

    task = asyncio.create_task(unless_lost(Lease("r", "h", 1), work()))
    await began.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert ended.is_set()


async def test_an_unknown_run_cannot_be_claimed(path: Path) -> None:
    async with opened(path) as store:
        with pytest.raises(UnknownRun):
            async with leased(store, "other", used_s=lambda: 0.0):
                pass


def test_a_held_run_ends_with_the_code_of_the_store() -> None:
    assert exit_code(RunHeld("Another process works on it.")) is Exit.STORE


def test_a_holder_comes_back_from_its_text() -> None:
    me = this_process()
    assert holder_from(str(me)) == me
    assert not me.is_gone
    assert me != this_process()
    assert holder_from("something else") is None
    assert holder_from("a b c d") is None


def test_a_process_that_has_the_number_of_another_is_not_that_one() -> None:
    machine, pid, started, token = str(this_process()).split(" ")
    if started == "-":
        pytest.skip("this system does not say when a process started")
    earlier = holder_from(f"{machine} {pid} {int(started) - 1} {token}")
    assert earlier is not None
    assert earlier.is_gone


@pytest.mark.parametrize(
    ("holder", "lease_s", "abandoned"),
    [
        (None, None, True),
        (None, 10, True),
        (ELSEWHERE, 10, False),
        (ELSEWHERE, -1, True),
        (ELSEWHERE, None, True),
        ("what is this", 10, False),
        ("me", 10, False),
        ("me", -1, True),
        ("gone", 10, True),
    ],
)
def test_a_run_is_abandoned_when_nobody_can_be_at_work_on_it(
    holder: str | None, lease_s: int | None, *, abandoned: bool
) -> None:
    machine, *_ = str(this_process()).split(" ")
    with subprocess.Popen([sys.executable, "-c", ""]) as ended:
        ended.wait()
    named = {"me": str(this_process()), "gone": f"{machine} {ended.pid} 1 token"}
    until = None if lease_s is None else (START + timedelta(seconds=lease_s)).strftime("%Y-%m-%dT%H:%M:%S.000Z")
    assert is_abandoned(named.get(holder or "", holder), until, START) is abandoned

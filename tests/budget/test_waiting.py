"""Waiting ends by the run's clock, whatever is waited for."""

import asyncio

import pytest

from deepwell.budget import waiting
from deepwell.budget.waiting import closed_in_time, ended, until, within
from deepwell.testing import ManualClock


async def hang() -> None:
    await asyncio.Event().wait()


async def stubborn() -> None:
    """Does not end when it is told to."""
    while True:
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            if _released.is_set():
                raise


_released = asyncio.Event()


@pytest.fixture(autouse=True)
def _short(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(waiting, "TICK_S", 0.01)
    monkeypatch.setattr(waiting, "PARTING_S", 0.01)


async def released(*tasks: asyncio.Task[None]) -> None:
    _released.set()
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    _released.clear()


async def test_a_clock_that_jumps_is_noticed() -> None:
    clock = ManualClock()
    waits = asyncio.create_task(within(lambda: 3600 - clock.monotonic(), hang()))
    await asyncio.sleep(0)
    assert not waits.done()
    clock.move(4000)
    with pytest.raises(TimeoutError):
        await waits


async def test_what_is_done_in_time_is_the_answer() -> None:
    async def work() -> str:
        await asyncio.sleep(0)
        return "done"

    assert await within(lambda: 60.0, work()) == "done"
    assert await within(lambda: None, work()) == "done"


async def test_an_error_is_handed_on() -> None:
    async def work() -> None:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        await within(lambda: 60.0, work())


async def test_who_is_cancelled_takes_the_work_along() -> None:
    ends = asyncio.Event()

    async def work() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            ends.set()

    waits = asyncio.create_task(within(lambda: 60.0, work()))
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    waits.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waits
    assert ends.is_set()


async def test_work_that_does_not_end_is_left_behind() -> None:
    task = asyncio.create_task(stubborn())
    await asyncio.sleep(0)
    await ended(task)
    assert not task.done()
    await released(task)


async def test_waiting_ends_with_the_first_of_several() -> None:
    hanging = asyncio.create_task(hang())
    quick = asyncio.create_task(asyncio.sleep(0))
    await until(lambda: None, hanging, quick)
    assert quick.done()
    await ended(hanging)


async def test_closing_that_hangs_delays_nobody() -> None:
    closed: list[str] = []

    async def close() -> None:
        closed.append("first")

    async with closed_in_time(0.01) as stack:
        stack.push_async_callback(close)
        stack.push_async_callback(hang)
    assert closed == ["first"], "what hangs is cut off, and the others are closed"


async def test_an_error_is_not_hidden_by_closing() -> None:
    async def fail() -> None:
        async with closed_in_time() as stack:
            stack.push_async_callback(asyncio.sleep, 0)
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        await fail()

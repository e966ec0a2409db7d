"""Waiting by the run's own clock: it ends in time even if the machine has slept, and whatever is waited for."""

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine, Iterable
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any, TypeVar

R = TypeVar("R")
SecondsLeft = Callable[[], float | None]
"""Seconds until the time is up, by the run's clock; None: no limit."""
TICK_S = 1.0
"""A timer stands still while the machine sleeps: the clock is looked at again after this long at most."""
PARTING_S = 0.5
"""How long something that was cancelled may take to tidy up."""
CLOSING_S = 2.0
"""How long closing what a run has used may take."""


async def until(left: SecondsLeft, *tasks: asyncio.Future[Any]) -> None:
    """Wait until one of the tasks is done or no time is left."""
    while (seconds := left()) is None or seconds > 0:
        tick = TICK_S if seconds is None else min(seconds, TICK_S)
        done, _ = await asyncio.wait(tasks, timeout=tick, return_when=asyncio.FIRST_COMPLETED)
        if done:
            return


async def within(left: SecondsLeft, work: Coroutine[Any, Any, R]) -> R:
    """What the work brings, if it is done before no time is left. Raises TimeoutError, and leaves it behind."""
    task = asyncio.create_task(work)
    try:
        await until(left, task)
        if not task.done():
            raise TimeoutError
        return task.result()
    finally:
        await ended(task)


async def ended(*tasks: asyncio.Task[Any]) -> None:
    """Cancel the tasks and give them a moment; one that does not end by then is left behind."""
    open_ones = [task for task in tasks if not task.done()]
    for task in open_ones:
        task.cancel()
    if open_ones:
        await asyncio.wait(open_ones, timeout=PARTING_S)
    _look_at(tasks)


@asynccontextmanager
async def closed_in_time(seconds: float = CLOSING_S) -> AsyncIterator[AsyncExitStack]:
    """A stack of things to close at the end; closing that hangs is left behind, so that nobody waits for it."""
    stack = AsyncExitStack()
    try:
        yield stack
    finally:
        closing = asyncio.create_task(stack.aclose())
        await asyncio.wait((closing,), timeout=seconds)
        if closing.done():
            closing.result()
        await ended(closing)


def _look_at(tasks: Iterable[asyncio.Task[Any]]) -> None:
    """Nobody else will look at the outcome, and asyncio would complain about an error in it."""
    for task in tasks:
        task.add_done_callback(lambda one: one.cancelled() or one.exception())

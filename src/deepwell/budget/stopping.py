"""Waiting that ends when the user says stop."""

import asyncio
from collections.abc import Awaitable
from typing import TypeVar

from deepwell.errors import AnalystFailed

R = TypeVar("R")
STOPPED = "The user did not want to wait for it."


async def unless_stopped(interrupted: asyncio.Event, work: Awaitable[R], grace_s: float = 0.0) -> R:
    """What the work brings, if it is done before the user says stop or within the grace after. Raises AnalystFailed."""
    task, bell = asyncio.ensure_future(work), asyncio.ensure_future(interrupted.wait())
    try:
        await asyncio.wait((task, bell), return_when=asyncio.FIRST_COMPLETED)
        if not task.done() and grace_s:
            await asyncio.wait((task,), timeout=grace_s)
        if not task.done():
            raise AnalystFailed(STOPPED)
        return task.result()
    finally:
        task.cancel()
        bell.cancel()
        await asyncio.gather(task, bell, return_exceptions=True)

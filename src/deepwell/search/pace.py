"""How often an engine is asked: so many at once, and a while between two."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

Sleep = Callable[[float], Awaitable[None]]


class Pace:
    """Lets requests through in order."""

    def __init__(self, every_s: float, at_once: int, now: Callable[[], float], sleep: Sleep) -> None:
        self._every_s = every_s
        self._places = asyncio.Semaphore(at_once)
        self._now = now
        self._sleep = sleep
        self._next = float("-inf")

    @asynccontextmanager
    async def turn(self) -> AsyncIterator[None]:
        """Waits for a place, and until it is time."""
        async with self._places:
            now = self._now()
            at = max(now, self._next)
            self._next = at + self._every_s
            if at > now:
                await self._sleep(at - now)
            yield

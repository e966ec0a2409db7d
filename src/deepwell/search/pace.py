"""How often an engine is asked: so many at once, and a while between two."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager

Sleep = Callable[[float], Awaitable[None]]


class NoTurn(Exception):
    """The turn did not come in time, or nobody wants it any more."""


class Pace:
    """Lets requests through in order."""

    def __init__(self, every_s: float, at_once: int, now: Callable[[], float], sleep: Sleep) -> None:
        self._every_s = every_s
        self._places = asyncio.Semaphore(at_once)
        self._door = asyncio.Lock()
        self._now = now
        self._sleep = sleep
        self._next = float("-inf")
        self._in_line = 0

    @asynccontextmanager
    async def turn(self, within_s: float, is_wanted: Callable[[], bool]) -> AsyncIterator[None]:
        """Waits for a place, and until it is time. Raises NoTurn; at once, if it is sure that the turn comes too late.

        While one waits, others may find that there is no use in asking: then nobody behind them waits any longer.
        """
        if self.wait_s + self._in_line * self._every_s > within_s:
            raise NoTurn
        async with AsyncExitStack() as stack:
            self._in_line += 1
            try:
                async with asyncio.timeout(within_s):
                    await stack.enter_async_context(self._places)
                    if is_wanted():
                        await self.moment()
            except TimeoutError:
                raise NoTurn from None
            finally:
                self._in_line -= 1
            if not is_wanted():
                raise NoTurn
            yield

    @property
    def wait_s(self) -> float:
        """Seconds until it is time for the next request."""
        return max(0.0, self._next - self._now())

    async def moment(self) -> None:
        """Waits until it is time for one more request."""
        async with self._door:
            if self.wait_s > 0:
                await self._sleep(self.wait_s)
            # Only now: who gives up while waiting takes no time from the others.
            self._next = self._now() + self._every_s

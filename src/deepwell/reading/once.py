"""A source that one unit has read is there for the others: each page is read once a run, however it was linked to."""

import asyncio

from deepwell.language.addresses import canonical_address
from deepwell.ports import Reader
from deepwell.vocabulary.source import Source


class ReadOnce:
    """Remembers what was read; units that ask for the same page at the same time wait for the same answer."""

    def __init__(self, reader: Reader) -> None:
        self._reader = reader
        self._reads: dict[str, asyncio.Task[Source]] = {}

    async def read(self, address: str) -> Source:
        """The whole source. Raises Unreadable; what could not be read may be tried again."""
        page = canonical_address(address)
        task = self._reads.get(page)
        if task is None or (task.done() and (task.cancelled() or task.exception())):
            task = self._reads[page] = asyncio.create_task(self._reader.read(address))
        # A unit that is cut off must not take the answer away from the others.
        return await asyncio.shield(task)

    async def close(self) -> None:
        """End what is still being read."""
        for task in self._reads.values():
            task.cancel()
        await asyncio.gather(*self._reads.values(), return_exceptions=True)

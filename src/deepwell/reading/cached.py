"""A page that was read not long ago is taken from the store: runs that follow each other ask its site once."""

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Protocol

from deepwell.errors import StoreFailed
from deepwell.language.addresses import canonical_address
from deepwell.ports import Reader
from deepwell.vocabulary.source import Source


class PageCache(Protocol):
    """Where pages are kept by the address that was asked for them."""

    async def page(self, address: str, not_before: datetime) -> Source | None:
        """What the address answered, unless that was earlier. Raises StoreFailed."""
        ...

    async def keep_page(self, asked: str, source: Source) -> None:
        """Keep what the address answered. Raises StoreFailed."""
        ...


class CachedReader:
    """Reads an address anew when what is kept of it is older than its life. Only what could be read is kept."""

    def __init__(
        self, reader: Reader, cache: PageCache, life: timedelta, now: Callable[[], datetime], door: str = ""
    ) -> None:
        """`door` names what the reader may read beyond the usual: a page that was had through a wider door is not
        handed out through a narrower one."""
        self._reader, self._cache, self._life, self._now, self._door = reader, cache, life, now, door

    async def read(self, address: str) -> Source:
        """The whole source, with the time at which it was really read. Raises Unreadable with a safe sentence."""
        asked = _key(address, self._door)
        kept = await self._kept(asked) if self._life else None
        if kept:
            return kept
        source = await self._reader.read(address)
        await self._keep(asked, source)
        return source

    async def _kept(self, asked: str) -> Source | None:
        now = self._now()
        try:
            kept = await self._cache.page(asked, now - self._life)
        except StoreFailed:
            # A page can always be read anew: a store in trouble is no reason to do without it.
            return None
        # A clock that was wrong once must not keep a page alive until that day comes.
        return kept if kept and kept.retrieved_at <= now else None

    async def _keep(self, asked: str, source: Source) -> None:
        try:
            await self._cache.keep_page(asked, source)
        except StoreFailed:
            # What matters is that the page was read; the run keeps its text itself, and says so if it cannot.
            return


def _key(address: str, door: str) -> str:
    """One key for all addresses of a page; what it was had through takes the place of the fragment."""
    # What came over an open line, where anyone can change it, is not handed out as what came over a closed one.
    through = [part for part in ("http" if address.lower().startswith("http:") else "", door) if part]
    return "#".join([canonical_address(address), *through])

"""Indexing that ends in time, whatever a file or a disk does: a run goes on with what is indexed by then."""

import asyncio
from collections.abc import Sequence
from pathlib import Path

from deepwell.budget.threads import in_thread
from deepwell.budget.waiting import SecondsLeft, ended, until
from deepwell.errors import StoreFailed
from deepwell.library.ingest import OnProgress
from deepwell.library.refreshing import NONE_IN_TIME, Libraries, libraries_as_they_are, refresh_libraries
from deepwell.library.vectors import Embedder

LEEWAY_S = 1.0
"""When its time is up, indexing stops by itself and keeps what it has read; it may take this long for it."""


async def indexed_in_time(
    docs: Sequence[Path], home: Path, on_progress: OnProgress | None, embedder: Embedder | None, left: SecondsLeft
) -> Libraries:
    """The indexes of these folders up to date, or as far as they are when no time is left.

    `on_progress` has to say False then; it is only left behind where it is not even asked. Raises Unreadable or
    StoreFailed.
    """
    refreshing = asyncio.create_task(in_thread("indexing", refresh_libraries, docs, home, on_progress, embedder))
    try:
        await until(left, refreshing)
        await asyncio.wait((refreshing,), timeout=LEEWAY_S)
        if refreshing.done():
            return refreshing.result()
    finally:
        await ended(refreshing)
    return await _as_they_are(docs, home)


async def _as_they_are(docs: Sequence[Path], home: Path) -> Libraries:
    try:
        async with asyncio.timeout(LEEWAY_S):
            return await in_thread("indexing", libraries_as_they_are, docs, home)
    except (TimeoutError, StoreFailed):
        return NONE_IN_TIME

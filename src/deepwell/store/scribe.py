"""One connection in a thread of its own: writes in their order, many in one transaction, and nobody has to wait."""

import asyncio
import logging
import sqlite3
import threading
from collections import deque
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from queue import SimpleQueue
from typing import Any, Self, TypeVar

from deepwell.store.sqlite import is_busy, transaction, translated

T = TypeVar("T")
Work = Callable[[sqlite3.Connection], Any]
Fate = tuple[asyncio.Future[Any], Any, BaseException | None]
PATIENCE_S = 2.0
"""How long anyone waits for the disk who could go on without it."""

GATHERING_S = 0.02
"""What nobody waits for is gathered so long, and written together."""
LEAVING_S = 1.0
"""How long leaving may take, with a disk that was quick enough so far."""
MOST_TRIES = 3
"""For a batch that another process keeps out, each as long as SQLite waits."""

logger = logging.getLogger(__name__)


class Scribe:
    """Reads and writes for whoever asks. A disk that hangs keeps back only those who wait for it.

    The thread is not waited for when the program ends: what was written is written, transaction by transaction.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._connection: sqlite3.Connection | None = None
        self._tasks: SimpleQueue[tuple[Callable[[], Any], asyncio.Future[Any] | None] | None] = SimpleQueue()
        self._unwritten: deque[tuple[Work, asyncio.Future[None]]] = deque()
        self._is_behind = False
        self._failure: BaseException | None = None
        self._waking: asyncio.TimerHandle | None = None
        threading.Thread(target=self._serve, name="deepwell-store", daemon=True).start()

    @classmethod
    @asynccontextmanager
    async def open(cls, path: Path, connect: Callable[[], sqlite3.Connection]) -> AsyncIterator[Self]:
        """The scribe of this file. What is still to be written when it is left is waited for, but not for ever."""
        scribe = cls(path)
        try:
            scribe._connection = await scribe._done(connect)
            yield scribe
        finally:
            await asyncio.shield(scribe._leave())

    async def ask(self, work: Callable[..., T], *values: Any) -> T:
        """Do this on the connection, after everything that was put down before. Raises StoreFailed."""
        with translated(self._path):
            return await self._done(lambda: work(self._open_connection, *values))

    def later(self, work: Callable[..., Any], *values: Any) -> asyncio.Future[None]:
        """Put this down for writing, after what was put down before; nobody needs to wait."""
        future = asyncio.get_running_loop().create_future()
        future.add_done_callback(self._look_at)
        self._unwritten.append((lambda connection: work(connection, *values), future))
        if self._waking is None:
            self._waking = asyncio.get_running_loop().call_later(GATHERING_S, self._wake)
        return future

    def _wake(self) -> None:
        """Have what was put down written now."""
        if self._waking is not None:
            self._waking.cancel()
            self._waking = None
        if self._unwritten:
            self._tasks.put((self._write_all, None))

    async def written(self, work: Callable[..., Any], *values: Any, patience_s: float = PATIENCE_S) -> bool:
        """Write this, and wait until it is safe; False when it is not, or the disk is too slow to wait for it.

        Once a wait was in vain, nobody waits again until the disk has caught up. What could not be written is met by
        who asks in `settled`: until then a run goes on, as it can do without.
        """
        future = self.later(work, *values)
        self._wake()
        if self._is_behind and not future.done():
            return False
        done, _ = await asyncio.wait((future,), timeout=patience_s)
        self._is_behind = not done
        return bool(done) and future.exception() is None

    async def settled(self) -> None:
        """Wait until all that was put down is written. Raises StoreFailed when any of it could not be."""
        await self.ask(lambda connection: None)
        with translated(self._path):
            if self._failure:
                raise self._failure

    def _look_at(self, future: asyncio.Future[None]) -> None:
        """Remember what went wrong where nobody waited: who has to be sure meets it in `settled`."""
        if not future.cancelled() and (error := future.exception()):
            logger.info("the store could not be written: %s", type(error).__name__)
            self._failure = self._failure or error

    @property
    def _open_connection(self) -> sqlite3.Connection:
        assert self._connection is not None  # noqa: S101 - set before anyone has the scribe
        return self._connection

    async def _done(self, work: Callable[[], T]) -> T:
        self._wake()
        future: asyncio.Future[T] = asyncio.get_running_loop().create_future()
        self._tasks.put((work, future))
        return await future

    async def _leave(self) -> None:
        self._wake()
        closed = asyncio.get_running_loop().create_future()
        self._tasks.put((self._close, closed))
        self._tasks.put(None)
        await asyncio.wait((closed,), timeout=0 if self._is_behind else LEAVING_S)

    def _close(self) -> None:
        if self._connection is not None:
            self._connection.close()

    # In the thread

    def _serve(self) -> None:
        while (task := self._tasks.get()) is not None:
            work, future = task
            result, error = _tried(work)
            _tell([(future, result, error)] if future else [])

    def _write_all(self) -> None:
        """Everything put down so far, in one transaction; if that fails, each by itself, so that one harms no other."""
        batch = [self._unwritten.popleft() for _ in range(len(self._unwritten))]
        for _ in range(MOST_TRIES):
            _, error = _tried(partial(self._write, [work for work, _ in batch]))
            if not is_busy(error):
                break
        one_by_one = error is not None and len(batch) > 1 and not is_busy(error)
        fates = []
        for work, future in batch:
            if one_by_one:
                _, error = _tried(partial(self._write, [work]))
            fates.append((future, None, error))
        _tell(fates)
        self._is_behind = self._is_behind and bool(self._unwritten)

    def _write(self, works: list[Work]) -> None:
        if works:
            with transaction(self._open_connection) as connection:
                for work in works:
                    work(connection)


def _tried(work: Callable[[], Any]) -> tuple[Any, BaseException | None]:
    try:
        return work(), None
    except BaseException as error:  # noqa: BLE001 - it is raised where the result is waited for
        return None, error


def _tell(fates: Sequence[Fate]) -> None:
    """Tell who waits, in the loop where they do. A loop that has ended waits for nothing."""
    if not fates:
        return
    try:
        fates[0][0].get_loop().call_soon_threadsafe(_settle, fates)
    except RuntimeError:
        logger.debug("the store answered after everyone had left")


def _settle(fates: Sequence[Fate]) -> None:
    for future, result, error in fates:
        if future.done():
            continue
        if error is None:
            future.set_result(result)
        else:
            future.set_exception(error)

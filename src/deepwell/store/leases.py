"""Leases, so that two processes never work on one run: claimed, renewed while the work lasts, given back after it."""

import asyncio
import logging
import os
import socket
import sqlite3
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import Any, TypeVar

from deepwell.errors import RunHeld, StoreFailed, UnknownRun
from deepwell.store.holders import Holder, holder_from, is_running, this_process
from deepwell.store.runs import RunStore
from deepwell.store.scribe import Scribe
from deepwell.store.sqlite import transaction

T = TypeVar("T")

LEASE_S = 30.0
"""How long a lease lasts without being renewed: so long a run waits whose machine is gone."""
RENEWED_EVERY_S = 5.0

# The clock is that of the database: the one that all who share it have in common.
_NOW = "strftime('%Y-%m-%dT%H:%M:%fZ', 'now')"
_AHEAD = "strftime('%Y-%m-%dT%H:%M:%fZ', 'now', :ahead)"
_CLAIM = f"""
UPDATE runs SET holder = :holder, generation = generation + 1, lease_until = {_AHEAD}
WHERE id = :run AND (holder IS NULL OR lease_until IS NULL OR lease_until < {_NOW} OR holder = :gone)
RETURNING generation
"""  # noqa: S608 - made of constants
_RENEW = f"UPDATE runs SET lease_until = {_AHEAD}, used_s = :used_s WHERE id = :run AND holder = :holder"  # noqa: S608
_RELEASE = "UPDATE runs SET holder = NULL, lease_until = NULL, used_s = :used_s WHERE id = :run AND holder = :holder"
_GIVE_BACK = "UPDATE runs SET holder = NULL, lease_until = NULL WHERE id = :run AND holder = :holder"

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Lease:
    """A run that is ours to work on."""

    run: str
    holder: str
    """Who we are to others."""
    generation: int
    """How often the run has been claimed: what a former holder still wants to write has a smaller one."""
    lost: asyncio.Event = field(default_factory=asyncio.Event)
    """Set when another one has taken the run over: nothing more may be written."""


@asynccontextmanager
async def leased(
    store: RunStore,
    run: str,
    *,
    used_s: Callable[[], float],
    seconds: float = LEASE_S,
    every_s: float = RENEWED_EVERY_S,
) -> AsyncIterator[Lease]:
    """Hold the run while the block lasts, and keep the time it has used. Raises RunHeld, UnknownRun."""
    lease = await _claimed(store.scribe, run, this_process(), seconds)
    renewing = asyncio.create_task(_renewing(store.scribe, lease, used_s, seconds, every_s))
    try:
        yield lease
    finally:
        renewing.cancel()
        # It is on its way before anyone waits: even a second cancellation does not keep it back.
        await store.scribe.written(_change, _RELEASE, _names(lease, used_s=used_s()))


async def unless_lost(lease: Lease, work: Coroutine[Any, Any, T]) -> T:
    """What the work brings. When another process takes the run over, it is cancelled. Raises RunHeld."""
    task, lost = asyncio.ensure_future(work), asyncio.ensure_future(lease.lost.wait())
    try:
        await asyncio.wait((task, lost), return_when=asyncio.FIRST_COMPLETED)
    finally:
        lost.cancel()
        if not task.done():
            task.cancel()
            await asyncio.wait((task,))
    if task.cancelled() and lease.lost.is_set():
        raise _held(lease.run)
    return task.result()


async def _claimed(scribe: Scribe, run: str, holder: Holder, seconds: float) -> Lease:
    try:
        generation = await scribe.ask(_claim, run, str(holder), seconds)
    except asyncio.CancelledError:
        # The claim may still be made, by the store's thread, when nobody is there to hold it.
        scribe.later(_change, _GIVE_BACK, {"run": run, "holder": str(holder)})
        raise
    return Lease(run, str(holder), generation)


async def _renewing(scribe: Scribe, lease: Lease, used_s: Callable[[], float], seconds: float, every_s: float) -> None:
    """A store that is busy or full is no reason to stop: whether the run is still ours, the next try will tell."""
    while not lease.lost.is_set():
        await asyncio.sleep(every_s)
        with suppress(StoreFailed):
            if not await scribe.ask(_change, _RENEW, _names(lease, used_s=used_s(), ahead=_ahead(seconds))):
                logger.warning("run %s was taken over by another process", lease.run)
                lease.lost.set()


def _claim(connection: sqlite3.Connection, run: str, holder: str, seconds: float) -> int:
    with transaction(connection):
        row = connection.execute("SELECT * FROM runs WHERE id = ?", (run,)).fetchone()
        if row is None:
            raise UnknownRun(f"No run goes by the id {run!r}: `deepwell runs` lists them.")
        if _is_anothers(row):
            raise _held(run)
        names = {"run": run, "holder": holder, "ahead": _ahead(seconds), "gone": _gone(row["holder"])}
        claimed = connection.execute(_CLAIM, names).fetchone()
        if claimed is None:
            raise _held(run)
        return int(claimed[0])


def _is_anothers(row: sqlite3.Row) -> bool:
    """True while a process here that knows no leases, or has not come to its claim yet, works on it."""
    unclaimed = row["status"] == "running" and row["holder"] is None and row["generation"] == 0
    here = row["host"] == socket.gethostname() and row["pid"] != os.getpid()
    return unclaimed and here and bool(is_running(row["pid"]))


def _gone(text: str | None) -> str | None:
    """The holder, if there is one who can hold nothing any more."""
    holder = holder_from(text) if text else None
    return text if holder and holder.is_gone else None


def _change(connection: sqlite3.Connection, statement: str, names: dict[str, Any]) -> bool:
    return connection.execute(statement, names).rowcount > 0


def _names(lease: Lease, **more: Any) -> dict[str, Any]:
    return {"run": lease.run, "holder": lease.holder, **more}


def _ahead(seconds: float) -> str:
    return f"{seconds:+.3f} seconds"


def _held(run: str) -> RunHeld:
    return RunHeld(f"Another process works on run {run}: wait until it has ended, or stop it, then try again.")

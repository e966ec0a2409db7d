"""Threads for work that may never return: who waits can leave, and the process ends without them."""

import asyncio
import threading
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextvars import copy_context
from dataclasses import dataclass
from functools import cache, partial
from typing import Any, Literal, ParamSpec, TypeVar

R = TypeVar("R")
P = ParamSpec("P")
Kind = Literal["library", "facts", "parsing", "indexing", "judging", "other"]


@dataclass(frozen=True, slots=True)
class Size:
    """How many threads there are for one kind of work."""

    at_once: int
    """Jobs that somebody waits for."""
    most: int
    """The same, and those that were left behind; when all of these hang, a new job waits for its turn in vain."""


_SIZES: dict[Kind, Size] = {
    "library": Size(8, 64),
    "facts": Size(8, 64),
    "parsing": Size(8, 64),
    "indexing": Size(8, 32),
    # Pure computing: more threads would not be faster, only keep the event loop from its turn.
    "judging": Size(4, 32),
    "other": Size(32, 128),
}


async def in_thread(kind: Kind, work: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
    """What the work gives, done in a thread. Who is cancelled goes at once; the thread is left to itself."""
    threads = threads_for(kind)
    future = threads.submit(work, *args, **kwargs)
    try:
        return await asyncio.wrap_future(future)
    finally:
        threads.leave(future)


class Threads:
    """Threads of one kind: started when there is work, gone when there is none, never waited for."""

    def __init__(self, name: str, size: Size) -> None:
        self._name, self._size = name, size
        self._lock = threading.Lock()
        self._waiting: deque[_Job] = deque()
        self._wanted: set[Future[Any]] = set()
        """What is being done and waited for."""
        self._left: set[Future[Any]] = set()
        """What is being done although nobody waits any more."""

    def submit(self, work: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> Future[R]:
        """Have the work done as soon as there is a thread for it."""
        future: Future[R] = Future()
        job = _Job(future, partial(copy_context().run, partial(work, *args, **kwargs)))
        with self._lock:
            self._waiting.append(job)
        self._start()
        return future

    def leave(self, future: Future[Any]) -> None:
        """Wait no longer: what has not begun is not begun, and a thread that hangs in it gets a substitute."""
        if future.done() or future.cancel():
            return
        with self._lock:
            if future in self._wanted:
                self._wanted.remove(future)
                self._left.add(future)
        self._start()

    def _start(self) -> None:
        with self._lock:
            job = self._taken()
        if job:
            threading.Thread(target=self._work, args=(job,), name=f"deepwell-{self._name}", daemon=True).start()

    def _work(self, job: "_Job | None") -> None:
        while job:
            job.do()
            with self._lock:
                self._wanted.discard(job.future)
                self._left.discard(job.future)
                job = self._taken()

    def _taken(self) -> "_Job | None":
        """The next job, if there may be one more at work; its place is taken. The lock must be held."""
        while self._waiting and self._has_room:
            job = self._waiting.popleft()
            if job.future.set_running_or_notify_cancel():
                self._wanted.add(job.future)
                return job
        return None

    @property
    def _has_room(self) -> bool:
        wanted, left = len(self._wanted), len(self._left)
        return wanted < self._size.at_once and wanted + left < self._size.most


class LeavingExecutor(ThreadPoolExecutor):
    """For `loop.set_default_executor`: what asyncio itself does in threads, as looking up names, can be left too."""

    def submit(self, work: Callable[P, R], /, *args: P.args, **kwargs: P.kwargs) -> Future[R]:
        """Have the work done in one of our threads."""
        return threads_for("other").submit(work, *args, **kwargs)

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Nothing: there is nothing to wait for."""


@cache
def threads_for(kind: Kind) -> Threads:
    """The threads of this process for one kind of work."""
    return Threads(kind, _SIZES[kind])


@dataclass(frozen=True, slots=True)
class _Job:
    """Work to be done, and who is told of its outcome."""

    future: Future[Any]
    work: Callable[[], Any]

    def do(self) -> None:
        try:
            result = self.work()
        except BaseException as error:  # noqa: BLE001 - handed on: it is raised where the work is waited for
            self.future.set_exception(error)
        else:
            self.future.set_result(result)

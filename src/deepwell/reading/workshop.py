"""Parses dangerous formats in a few child processes that are limited, reused, and killed when they misbehave."""

import atexit
import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cache
from typing import Any, BinaryIO, cast

from deepwell.errors import Unreadable
from deepwell.reading.document import Document
from deepwell.reading.frames import read_frame, write_frame

_MOST_TEXT = 256_000_000
"""Bytes of an answer; a document that unfolds to more is not one to be read."""

_REAP_SECONDS = 1.0
"""A killed child is gone at once, unless the kernel itself hangs for it: nobody waits for that."""

_START_SECONDS = 30.0
"""A child takes a tenth of a second to start; on a machine that is out of breath, more."""

# What an interpreter may need to start at all. Everything else in our environment, keys above all, stays out.
_KEPT_VARIABLES = ("PATH", "HOME", "LANG", "LC_ALL", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "PYTHONHOME", "TMPDIR")


class NoWorker(Unreadable):
    """No child process could be started or the workshop is closed: this says nothing about the file."""


@dataclass(frozen=True, slots=True)
class Bounds:
    """What one file may cost."""

    memory: int = 1_000_000_000
    """Bytes of address space of a child. Not enforced by macOS."""
    cpu_seconds: int = 30
    wall_seconds: float = 60.0
    """From handing over the file to its answer; then the child is killed."""


WEB_BOUNDS = Bounds(cpu_seconds=10, wall_seconds=20.0)
"""A page is one of many: less patience than for a file that the user chose."""


class Wanted:
    """Whether somebody still waits for an answer. Who gives up has the child killed that works on it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._given_up = False
        self._worker: _Worker | None = None

    def give_up(self) -> None:
        """Nobody waits any more; harmless when the answer is there already."""
        with self._lock:
            self._given_up = True
            if self._worker:
                self._worker.kill()

    def check(self) -> None:
        """Raises NoWorker when nobody waits any more."""
        if self._given_up:
            raise NoWorker("Nobody waits for this file any more.")

    @contextmanager
    def held_by(self, worker: "_Worker") -> Iterator[None]:
        """While the worker is at it. Raises NoWorker when nobody waits even before."""
        with self._lock:
            self.check()
            self._worker = worker
        try:
            yield
        finally:
            # From here on the worker may serve somebody else.
            with self._lock:
                self._worker = None


class Workshop:
    """A pool of worker processes. Safe to use from many threads; a job waits when all workers are busy."""

    def __init__(self, size: int = 2, bounds: Bounds | None = None) -> None:
        self._bounds = bounds or Bounds()
        self._places = threading.BoundedSemaphore(size)
        self._lock = threading.Lock()
        self._workers: set[_Worker] = set()
        self._idle: list[_Worker] = []
        self._closed = False

    def read(self, reader: str, data: bytes, name: str, wanted: Wanted | None = None) -> Document:
        """The document behind the bytes. Raises Unreadable with one safe sentence, whatever the child does."""
        wanted = wanted or Wanted()
        with self._places:
            # Waiting for a place may have taken longer than the patience of who asked.
            wanted.check()
            worker = self._take()
            try:
                with wanted.held_by(worker):
                    return worker.read(reader, data, name)
            finally:
                self._put_back(worker)

    def close(self) -> None:
        """End all workers, busy ones too. Nothing is read afterwards."""
        with self._lock:
            self._closed = True
            workers, self._idle = list(self._workers), []
            self._workers.clear()
        for worker in workers:
            worker.end()

    def _take(self) -> "_Worker":
        with self._lock:
            if self._closed:
                raise NoWorker("The reader of PDF, Word and HTML files is closed.")
            # A worker started before a fork belongs to the parent process: two writers would mix up their documents.
            self._idle = [worker for worker in self._idle if worker.is_ours]
            if self._idle:
                return self._idle.pop()
        worker = _Worker(self._bounds)
        with self._lock:
            self._workers.add(worker)
        return worker

    def _put_back(self, worker: "_Worker") -> None:
        with self._lock:
            if worker.is_well and not self._closed:
                self._idle.append(worker)
                return
            self._workers.discard(worker)
        worker.end()


@cache
def default_workshop() -> Workshop:
    """The workshop of this process; its children end with it."""
    workshop = Workshop()
    atexit.register(workshop.close)
    return workshop


@cache
def web_workshop() -> Workshop:
    """The same for pages of the web, which get less time."""
    workshop = Workshop(bounds=WEB_BOUNDS)
    atexit.register(workshop.close)
    return workshop


class _Worker:
    """One child process and the pipes to it."""

    def __init__(self, bounds: Bounds) -> None:
        self._bounds = bounds
        self._owner = os.getpid()
        self._late = self._ended = False
        self.is_well = True
        self._process = _start(bounds)
        # The pipes are there by construction; the type only says that Popen may be used without.
        self._jobs = cast("BinaryIO", self._process.stdin)
        self._answers = cast("BinaryIO", self._process.stdout)
        with self._deadline(_START_SECONDS):
            ready = read_frame(self._answers)
        if ready is None:
            self.end()
            raise NoWorker("The process that reads PDF, Word and HTML files could not be started.")

    @property
    def is_ours(self) -> bool:
        return self._owner == os.getpid()

    def read(self, reader: str, data: bytes, name: str) -> Document:
        # Until the answer is here the worker counts as broken: an interrupt in between would leave half a message.
        self.is_well = False
        with self._deadline(self._bounds.wall_seconds):
            answer = self._exchange(reader, data, name)
        if answer is None or self._late:
            raise self._verdict(name)
        parsed = _parsed(answer, name)
        if "unreadable" in parsed:
            # A refusal in proper form is an answer like any other; only who ran out of memory had better start afresh.
            self.is_well = not parsed.get("spent")
            raise Unreadable(str(parsed["unreadable"]))
        document = _document(parsed, name)
        self.is_well = True
        return document

    def end(self) -> None:
        """Kill the child and reap it; harmless when it is dead already."""
        self._ended = True
        if self.is_ours:
            self._process.kill()
            with suppress(subprocess.TimeoutExpired):
                self._process.wait(timeout=_REAP_SECONDS)
        for pipe in (self._jobs, self._answers):
            with suppress(OSError):
                pipe.close()

    def kill(self) -> None:
        """End the job by ending the child: whatever is waited for on its pipes then ends."""
        self._process.kill()

    @contextmanager
    def _deadline(self, seconds: float) -> Iterator[None]:
        """Kill the child when time is up."""
        timer = threading.Timer(seconds, self._time_out)
        timer.daemon = True
        timer.start()
        try:
            yield
        finally:
            timer.cancel()

    def _time_out(self) -> None:
        self._late = True
        self.kill()

    def _exchange(self, reader: str, data: bytes, name: str) -> bytes | None:
        try:
            write_frame(self._jobs, json.dumps([reader, name]).encode())
            write_frame(self._jobs, data)
            return read_frame(self._answers, _MOST_TEXT)
        except (OSError, ValueError):
            # The child died while we wrote, or `close` shut the pipes under us.
            return None

    def _verdict(self, name: str) -> Unreadable:
        if self._ended:
            return NoWorker(f"{name} was not read: the reader was closed.")
        if self._late or self._exit_code() == -signal.SIGXCPU:
            return Unreadable(f"{name} takes too long to read; it may be damaged.")
        return Unreadable(f"{name} cannot be read: its reader gave up, it may be damaged.")

    def _exit_code(self) -> int:
        """How the child ended. One that answers too much is still alive: it is given no time."""
        try:
            return self._process.wait(timeout=1)
        except subprocess.TimeoutExpired:
            self._process.kill()
            return self._process.wait()


def _start(bounds: Bounds) -> subprocess.Popen[bytes]:
    # -P: the folder we happen to stand in must not provide modules. -B: the child may not write files.
    command = [sys.executable, "-P", "-B", "-m", "deepwell.reading.worker", str(bounds.memory), str(bounds.cpu_seconds)]
    environment = {key: os.environ[key] for key in _KEPT_VARIABLES if key in os.environ}
    environment["PYTHONPATH"] = os.pathsep.join(filter(None, sys.path))
    try:
        # A session of its own: Ctrl-C is for us, and we end the child.
        return subprocess.Popen(  # noqa: S603
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=environment,
            start_new_session=True,
        )
    except OSError as error:
        raise NoWorker("The process that reads PDF, Word and HTML files could not be started.") from error


def _parsed(answer: bytes, name: str) -> dict[str, Any]:
    """The answer's own form. A child taken over by a file could send anything."""
    try:
        parsed = json.loads(answer)
    except ValueError as error:
        raise _unusable(name) from error
    if not isinstance(parsed, dict):
        raise _unusable(name)
    return parsed


def _document(parsed: dict[str, Any], name: str) -> Document:
    """The document in an answer: nothing but text comes through."""
    try:
        return Document(**parsed["document"])
    except (ValueError, TypeError, KeyError) as error:
        raise _unusable(name) from error


def _unusable(name: str) -> Unreadable:
    return Unreadable(f"{name} cannot be read: its reader gave no usable answer.")

"""Brings an index up to date with its folder: reads what is new or changed, forgets what is gone."""

import hashlib
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import wait
from dataclasses import dataclass
from pathlib import Path

from deepwell.budget.threads import Size, Threads
from deepwell.errors import NothingReadable, Unreadable
from deepwell.library.index import UNSETTLED, Entry, FileState, Index, Known
from deepwell.library.walk import Skipped, Walk, walk
from deepwell.reading.files import MAX_FILE_BYTES, Loaded, load, parse
from deepwell.reading.formats import READERS
from deepwell.reading.workshop import NoWorker, Workshop

OnProgress = Callable[[int, int], bool | None]
_FRESH_NS = 2_000_000_000
_LOOK_UP_S = 0.25
"""While files are being read it is asked this often whether to go on: one that hangs keeps nobody from stopping."""


@dataclass(frozen=True, slots=True)
class Limits:
    """How much is read at once."""

    file_bytes: int = MAX_FILE_BYTES
    """Larger files are skipped and named."""
    threads: int = 2
    batch_files: int = 64
    """Documents a transaction: others who write wait for no more than this."""
    batch_bytes: int = 64_000_000


@dataclass(frozen=True, slots=True)
class Refreshed:
    """What a refresh did, in files."""

    added: int
    changed: int
    unchanged: int
    removed: int
    skipped: tuple[Skipped, ...]
    other_types: int = 0
    """Files of a type that is not read; passed over without a word."""
    left: int = 0
    """Files that were not looked at because the refresh was told to stop."""


def refresh(
    root: Path,
    index: Index,
    *,
    on_progress: OnProgress | None = None,
    limits: Limits = Limits(),  # noqa: B008 - frozen
    workshop: Workshop | None = None,
) -> Refreshed:
    """Make the index say what the folder says now.

    `on_progress` hears of files done and files in all after every batch and while one takes long; when it says False,
    the rest is left for the next time.

    Raises Unreadable when there is no such folder, NothingReadable when no document in it can be read.
    """
    found, known = walk(root), index.known()
    tally = _Tally(found)
    pending = [task for task in _tasks(found, known) if not tally.is_settled(task)]
    examine = _Examining(Threads("read", Size(limits.threads, limits.threads)), limits, workshop)
    for batch in _batches(pending, limits):
        examined = examine.all(batch, lambda: _is_over(on_progress, tally))
        _write(index, list(examined.values()))
        tally.count(examined)
        if _is_over(on_progress, tally):
            break
    gone = sorted(known.keys() - found.files.keys())
    if gone:
        index.forget(gone)
    refreshed = tally.refreshed(len(gone))
    if not refreshed.left and not index.count_readable():
        raise _nothing_readable(root, tally)
    return refreshed


@dataclass(frozen=True, slots=True)
class _Task:
    """A file to look at, and what the index holds of it."""

    path: str
    file: Path
    size: int
    mtime_ns: int
    known: Known | None


@dataclass(frozen=True, slots=True)
class _Same:
    """The file has the bytes it had; only its state is noted."""

    path: str
    state: FileState


class _Tally:
    """Counts what a refresh did."""

    def __init__(self, found: Walk) -> None:
        self.skipped = list(found.skipped)
        self.other_types = found.other_types
        self.done = 0
        self.files = len(found.files)
        self._added = self._changed = self._unchanged = 0

    def is_settled(self, task: _Task) -> bool:
        """Count the file when its size and time say that nothing has changed."""
        known = task.known
        if known is None or (known.state.size, known.state.mtime_ns) != (task.size, task.mtime_ns):
            return False
        self._keep(task, known)
        return True

    def count(self, examined: Mapping[_Task, Entry | _Same]) -> None:
        for task, outcome in examined.items():
            if isinstance(outcome, _Same) and task.known:
                self._keep(task, task.known)
            elif isinstance(outcome, Entry):
                self._put(task, outcome)

    def refreshed(self, removed: int) -> Refreshed:
        skipped = tuple(sorted(self.skipped, key=lambda skipped: skipped.path))
        left = self.files - self.done
        return Refreshed(self._added, self._changed, self._unchanged, removed, skipped, self.other_types, left)

    def _keep(self, task: _Task, known: Known) -> None:
        self.done += 1
        if known.skipped_reason is None:
            self._unchanged += 1
        else:
            self.skipped.append(Skipped(task.path, known.skipped_reason))

    def _put(self, task: _Task, entry: Entry) -> None:
        self.done += 1
        if isinstance(entry.content, str):
            self.skipped.append(Skipped(task.path, entry.content))
        elif task.known is None:
            self._added += 1
        else:
            self._changed += 1


def _tasks(found: Walk, known: dict[str, Known]) -> Iterator[_Task]:
    for path, file in found.files.items():
        try:
            state = file.stat()
        except OSError:
            # Gone since the walk, or in a folder that may be listed but not entered: loading it says which.
            yield _Task(path, file, 0, 0, known.get(path))
        else:
            yield _Task(path, file, state.st_size, state.st_mtime_ns, known.get(path))


def _batches(tasks: Sequence[_Task], limits: Limits) -> Iterator[list[_Task]]:
    """Batches that are small in files and in bytes, so that memory stays bounded whatever the folder holds."""
    batch: list[_Task] = []
    for task in tasks:
        too_big = sum(other.size for other in batch) + task.size > limits.batch_bytes
        if batch and (too_big or len(batch) == limits.batch_files):
            yield batch
            batch = []
        batch.append(task)
    if batch:
        yield batch


def _is_over(on_progress: OnProgress | None, tally: _Tally) -> bool:
    return on_progress is not None and on_progress(tally.done, tally.files) is False


@dataclass(frozen=True, slots=True)
class _Examining:
    """Looks at several files at a time."""

    threads: Threads
    limits: Limits
    workshop: Workshop | None

    def all(self, batch: Sequence[_Task], is_over: Callable[[], bool]) -> dict[_Task, Entry | _Same]:
        """What was found; a file that is not read when it is over is left behind, and so is its thread."""
        jobs = {task: self.threads.submit(_examine, task, self.limits, self.workshop) for task in batch}
        while wait(jobs.values(), timeout=_LOOK_UP_S).not_done and not is_over():
            pass
        for job in jobs.values():
            self.threads.leave(job)
        return {task: job.result() for task, job in jobs.items() if job.done() and not job.cancelled()}


def _examine(task: _Task, limits: Limits, workshop: Workshop | None) -> Entry | _Same:
    """Read the file unless its bytes are the ones that were read before."""
    try:
        loaded = load(task.file, max_bytes=limits.file_bytes)
    except Unreadable as error:
        # Permissions and limits can change without a trace in the file: such a file is tried every time.
        return Entry(task.path, FileState.unread(), str(error))
    state = _state(loaded)
    if task.known and task.known.state.file_hash == state.file_hash:
        return _Same(task.path, state)
    try:
        return Entry(task.path, state, parse(loaded.data, task.file.name, workshop))
    except NoWorker as error:
        return Entry(task.path, FileState.unread(), str(error))
    except Unreadable as error:
        return Entry(task.path, state, str(error))


def _state(loaded: Loaded) -> FileState:
    """A file written just now may be written again within the same tick of its clock: its time proves nothing yet."""
    is_fresh = loaded.mtime_ns > time.time_ns() - _FRESH_NS
    return FileState(loaded.size, UNSETTLED if is_fresh else loaded.mtime_ns, hashlib.sha256(loaded.data).hexdigest())


def _write(index: Index, outcomes: Sequence[Entry | _Same]) -> None:
    entries = [outcome for outcome in outcomes if isinstance(outcome, Entry)]
    same = [(outcome.path, outcome.state) for outcome in outcomes if isinstance(outcome, _Same)]
    if entries:
        index.put(entries)
    if same:
        index.touch(same)


def _nothing_readable(root: Path, tally: _Tally) -> NothingReadable:
    refused = f"{len(tally.skipped)} could not be read" if tally.skipped else "there are none"
    first = f" ({tally.skipped[0].reason.rstrip('.')})" if tally.skipped else ""
    others = f"; {tally.other_types} files of other types were passed over" if tally.other_types else ""
    return NothingReadable(f"No readable document in {root}: {' '.join(READERS)} are read, {refused}{first}{others}.")

"""Brings an index up to date with its folder: reads what is new or changed, forgets what is gone."""

import hashlib
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path

from deepwell.errors import NothingReadable, Unreadable
from deepwell.library.index import Entry, FileState, Index, Known
from deepwell.library.walk import Skipped, Walk, walk
from deepwell.reading.files import MAX_FILE_BYTES, Loaded, load, parse
from deepwell.reading.formats import READERS
from deepwell.reading.workshop import NoWorker, Workshop

_FRESH_NS = 2_000_000_000


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


@dataclass(frozen=True, slots=True)
class _Task:
    path: str
    file: Path
    known: Known | None


def refresh(
    root: Path,
    index: Index,
    *,
    on_progress: Callable[[int, int], None] | None = None,
    limits: Limits = Limits(),  # noqa: B008 - frozen
    workshop: Workshop | None = None,
) -> Refreshed:
    """Make the index say what the folder says now. `on_progress` hears of files done and files in all.

    Raises Unreadable when there is no such folder, NothingReadable when no document in it can be read.
    """
    found, known = walk(root), index.known()
    tasks = [_Task(path, file, known.get(path)) for path, file in found.files.items()]
    pending = [task for task in tasks if not _is_settled(task)]
    done = len(tasks) - len(pending)
    read = _Reading(limits, workshop)
    with ThreadPoolExecutor(limits.threads, thread_name_prefix="deepwell-read") as pool:
        for batch in _batches(pending, limits):
            entries = list(pool.map(read, batch))
            _write(index, [entry for entry in entries if entry is not None], known)
            done += len(batch)
            if on_progress:
                on_progress(done, len(tasks))
    gone = known.keys() - found.files.keys()
    if gone:
        index.forget(sorted(gone))
    return _outcome(root, index, found, known)

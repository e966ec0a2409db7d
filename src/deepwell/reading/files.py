"""Files on disk to documents: opened without surprises, read whole or not at all."""

import errno
import os
import stat
from dataclasses import dataclass
from pathlib import Path

from deepwell.errors import Unreadable
from deepwell.reading.document import Document
from deepwell.reading.formats import HARMLESS, load_reader, reader_for
from deepwell.reading.workshop import Workshop, default_workshop

MEGABYTE = 1_000_000
MAX_FILE_BYTES = 50 * MEGABYTE

_REASONS = {
    errno.ENOENT: "does not exist.",
    errno.EACCES: "may not be read: permission denied.",
    errno.EPERM: "may not be read: permission denied.",
    errno.ELOOP: "is a link that leads back to itself.",
    errno.ENAMETOOLONG: "has a name that is too long.",
}


@dataclass(frozen=True, slots=True)
class Loaded:
    """The bytes of a file that held still while they were read, and its state then."""

    data: bytes
    size: int
    mtime_ns: int


def read_file(path: Path, *, max_bytes: int = MAX_FILE_BYTES, workshop: Workshop | None = None) -> Document:
    """The document in a file. Raises Unreadable with one safe sentence; never hangs on a pipe or a device."""
    return parse(load(path, max_bytes=max_bytes).data, path.name, workshop)


def load(path: Path, *, max_bytes: int = MAX_FILE_BYTES) -> Loaded:
    """The bytes of the file, read once more when it changed meanwhile."""
    try:
        loaded = _load_once(path, max_bytes) or _load_once(path, max_bytes)
    except OSError as error:
        raise Unreadable(f"{_name(path)} {_reason(path, error)}") from error
    except ValueError as error:
        raise Unreadable("A file name with a NUL in it cannot be read.") from error
    if loaded is None:
        raise Unreadable(f"{_name(path)} changed while it was being read.")
    return loaded


def parse(data: bytes, name: str, workshop: Workshop | None = None) -> Document:
    """The document in the bytes of a file of that name; dangerous formats are parsed in the workshop."""
    reader = reader_for(name, data)
    if reader in HARMLESS:
        document = load_reader(reader)(data, name)
    else:
        document = (workshop or default_workshop()).read(reader, data, name)
    if not document.text.strip():
        raise Unreadable(f"{name} is empty.")
    return document


def _load_once(path: Path, max_bytes: int) -> Loaded | None:
    """None when the file changed under our eyes."""
    # Asked before opening, because opening can have effects on a device; and after, because the path may be swapped.
    _check(_name(path), path.stat(), max_bytes)
    # Opening a pipe without a writer would wait forever.
    with os.fdopen(os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC), "rb") as file:
        before = os.fstat(file.fileno())
        _check(_name(path), before, max_bytes)
        data = file.read(max_bytes + 1)
        after = os.fstat(file.fileno())
    state = (before.st_size, before.st_mtime_ns)
    if state != (after.st_size, after.st_mtime_ns) or len(data) != before.st_size:
        return None
    return Loaded(data, *state)


def _name(path: Path) -> str:
    """As sentences call it; the root has no name but itself."""
    return path.name or str(path)


def _check(name: str, state: os.stat_result, max_bytes: int) -> None:
    if stat.S_ISDIR(state.st_mode):
        raise Unreadable(f"{name} is a folder, not a file.")
    if not stat.S_ISREG(state.st_mode):
        raise Unreadable(f"{name} is not a regular file.")
    if state.st_size > max_bytes:
        raise Unreadable(f"{name} is {_megabytes(state.st_size)}; files up to {_megabytes(max_bytes)} are read.")


def _megabytes(size: int) -> str:
    return f"{size / MEGABYTE:.3g} MB" if size < 1000 * MEGABYTE else f"{size / MEGABYTE:,.0f} MB"


def _reason(path: Path, error: OSError) -> str:
    if error.errno == errno.ENOENT and path.is_symlink():
        return "is a link to a file that is gone."
    return _REASONS.get(error.errno or 0, "cannot be read: the file system reports an error.")

"""Finds the files of a library: what is read, what is named as skipped, what is passed over in silence."""

import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from deepwell.errors import Unreadable
from deepwell.reading.formats import is_known

_PASSED_OVER = frozenset({"node_modules", "__pycache__"})


@dataclass(frozen=True, slots=True)
class Skipped:
    """A file that would be read if it could be."""

    path: str
    """Relative to the library's folder."""
    reason: str
    """One sentence that begins with the file's name."""


@dataclass(slots=True)
class Walk:
    """What lies below a folder."""

    files: dict[str, Path] = field(default_factory=dict)
    """Relative path to the file, in a fixed order."""
    skipped: list[Skipped] = field(default_factory=list)
    other_types: int = 0
    """Files of a type that is not read."""


def walk(root: Path) -> Walk:
    """All files below `root`, or `root` itself when it is a file. Raises Unreadable when there is no such thing."""
    found = Walk()
    if root.is_file():
        # One file that was asked for by name is tried whatever its suffix; reading it says what is wrong.
        found.files["."] = root
        return found
    if not root.is_dir():
        raise Unreadable(f"{root} does not exist or is no folder.")
    waiting = [root]
    while waiting:
        waiting.extend(_look_into(waiting.pop(), root, found))
    found.files = dict(sorted(found.files.items()))
    return found


def _look_into(folder: Path, root: Path, found: Walk) -> Iterator[Path]:
    """Note the files of one folder and give its folders."""
    try:
        with os.scandir(folder) as entries:
            listed = [entry for entry in entries if not _is_passed_over(entry.name)]
    except OSError as error:
        if folder == root:
            raise Unreadable(f"{root} may not be read: permission denied.") from error
        found.skipped.append(Skipped(_relative(folder, root), f"{folder.name} may not be read: permission denied."))
        return
    for entry in listed:
        if entry.is_symlink():
            _note_link(Path(entry.path), root, found)
        elif entry.is_dir():
            yield Path(entry.path)
        else:
            _note_file(Path(entry.path), root, found)


def _note_file(path: Path, root: Path, found: Walk) -> None:
    if not is_known(path.name):
        found.other_types += 1
    elif not _is_text(path.name):
        found.skipped.append(Skipped(_relative(path, root), "The file has a name that is not valid text; rename it."))
    else:
        found.files[path.relative_to(root).as_posix()] = path


def _note_link(path: Path, root: Path, found: Walk) -> None:
    """A link is never followed: inside the folder its target is read anyway, and outside is none of the library's.

    A folder that someone sent could otherwise bring in the reader's private files.
    """
    try:
        target = path.resolve(strict=True)
    except (OSError, RuntimeError):
        # Python 3.11 says RuntimeError of a link that leads back to itself.
        if is_known(path.name):
            found.skipped.append(Skipped(_relative(path, root), f"{path.name} is a link to a file that is gone."))
        return
    wanted = target.is_dir() or is_known(path.name)
    if wanted and not target.is_relative_to(root.resolve()):
        reason = f"{path.name} is a link that leads out of the folder; name its target as a library of its own."
        found.skipped.append(Skipped(_relative(path, root), reason))


def _is_passed_over(name: str) -> bool:
    return name.startswith(".") or name in _PASSED_OVER


def _is_text(name: str) -> bool:
    return name.encode("utf-8", "replace").decode() == name


def _relative(path: Path, root: Path) -> str:
    return path.relative_to(root).as_posix().encode("utf-8", "replace").decode()

"""Plain text of unknown encoding."""

import re
from pathlib import PurePath

from deepwell.errors import Unreadable
from deepwell.reading.document import Document, clean, one_line
from deepwell.reading.encodings import by_mark, looks_binary

_UNDERLINE = re.compile(r"([=\-~*#^\"'`+])\1{2,}\s*")
_LONGEST_TITLE = 120


def read(data: bytes, name: str) -> Document:
    """The text as it is; the title is its first line when that stands alone, else the file's name."""
    text = clean(decode(data, name))
    return Document(title=one_line(_standing_alone(text)) or title_from(name), text=text, kind="text")


def decode(data: bytes, name: str) -> str:
    """Text by its byte order mark, as UTF-8, or as Windows and Western text. Raises Unreadable for binary data."""
    if (marked := by_mark(data)) is not None:
        return marked
    if looks_binary(data):
        raise Unreadable(f"{name} holds binary data, not text.")
    for encoding in ("utf-8", "cp1252"):
        try:
            return data.decode(encoding)
        except UnicodeDecodeError:
            continue
    return data.decode("latin-1")


def title_from(name: str) -> str:
    """The file's name without its suffix."""
    return one_line(PurePath(name).stem) or "Untitled"


def _standing_alone(text: str) -> str | None:
    lines = [line.strip() for line in text.lstrip("\n")[:1000].split("\n")[:3]]
    if len(lines) == 3 and _UNDERLINE.fullmatch(lines[0]):
        return lines[1]
    first, second = lines[0], lines[1] if len(lines) > 1 else "?"
    alone = not second or bool(_UNDERLINE.fullmatch(second))
    return first if alone and len(first) <= _LONGEST_TITLE and not first.endswith((".", ",", ";", ":")) else None

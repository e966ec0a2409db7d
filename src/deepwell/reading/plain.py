"""Plain text of unknown encoding."""

import codecs
import re
from pathlib import PurePath

from deepwell.errors import Unreadable
from deepwell.reading.document import Document, clean, one_line

# UTF-32 first: its little-endian mark begins with that of UTF-16.
_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_CONTROLS = bytes(code for code in range(32) if chr(code) not in "\t\n\x0b\x0c\r\x1b")
_UNDERLINE = re.compile(r"([=\-~*#^\"'`+])\1{2,}\s*")
_LONGEST_TITLE = 120


def read(data: bytes, name: str) -> Document:
    """The text as it is; the title is its first line when that stands alone, else the file's name."""
    text = clean(decode(data, name))
    return Document(title=one_line(_standing_alone(text)) or title_from(name), text=text, kind="text")


def decode(data: bytes, name: str) -> str:
    """Text by its byte order mark, as UTF-8, or as Windows and Western text. Raises Unreadable for binary data."""
    for mark, encoding in _MARKS:
        if data.startswith(mark):
            return data[len(mark) :].decode(encoding, "replace")
    _refuse_binary(data, name)
    for encoding in ("utf-8", "cp1252"):
        try:
            return data.decode(encoding)
        except UnicodeDecodeError:
            continue
    return data.decode("latin-1")


def title_from(name: str) -> str:
    """The file's name without its suffix."""
    return one_line(PurePath(name).stem) or "Untitled"


def _refuse_binary(data: bytes, name: str) -> None:
    # A stray control character is dirt; one in fifty means that this was never text.
    controls = len(data) - len(data.translate(None, _CONTROLS))
    if controls > 2 + len(data) // 50:
        raise Unreadable(f"{name} holds binary data, not text.")


def _standing_alone(text: str) -> str | None:
    lines = [line.strip() for line in text.lstrip("\n")[:1000].split("\n")[:3]]
    if len(lines) == 3 and _UNDERLINE.fullmatch(lines[0]):
        return lines[1]
    first, second = lines[0], lines[1] if len(lines) > 1 else "?"
    alone = not second or bool(_UNDERLINE.fullmatch(second))
    return first if alone and len(first) <= _LONGEST_TITLE and not first.endswith((".", ",", ";", ":")) else None

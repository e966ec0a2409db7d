"""What reading a file gives: its text, clean and final, and what the file says about itself."""

import re
import unicodedata
from dataclasses import dataclass

from deepwell.language import lines

READING_VERSION = 2
"""Raised when a reader gives another text for the same bytes: what was read before is then read again."""

_LINE_ENDS = re.compile(r"\r\n?|[\x0b\x0c\x85\u2028\u2029]")
# Control characters, the byte order mark in mid-text, and noncharacters carry nothing a reader could quote; and what
# turns the characters behind it round would have a reader see another text than the one that was quoted.
_UNWANTED = re.compile(rf"[\x00-\x08\x0e-\x1f\x7f-\x84\x86-\x9f\ufeff\ufffe\uffff{lines.TURNING}]")
_SPACES_AT_LINE_END = re.compile(r"[ \t\u00a0]+$", re.MULTILINE)
_BLANK_LINES = re.compile(r"\n{3,}")
_LONGEST_LINE = 300


@dataclass(frozen=True, slots=True)
class Document:
    """A file that was read. Offsets into `text` stay true: nothing changes it after this."""

    title: str
    text: str
    """NFC, lines end in \\n, no NULs or other control characters, none that change the direction of others."""
    kind: str
    """markdown, text, html, pdf or docx."""
    author: str | None = None
    publisher: str | None = None
    published: str | None = None
    """ISO, as far as it is known: 2023-10-07, 2023-10 or 2023."""


def clean(text: str) -> str:
    """The form in which every text is kept."""
    text = _UNWANTED.sub("", _LINE_ENDS.sub("\n", text))
    return unicodedata.normalize("NFC", _without_surrogates(text))


def tidy(text: str) -> str:
    """A clean text without spaces at line ends and with at most one blank line in a row."""
    return _BLANK_LINES.sub("\n\n", _SPACES_AT_LINE_END.sub("", clean(text))).strip("\n")


def one_line(text: str | None) -> str | None:
    """A title or a name as one line of sensible length; None when it says nothing."""
    line = lines.one_line(clean(text or ""), _LONGEST_LINE)
    return None if line.casefold() in {"", "none", "null", "~", "untitled", "unknown"} else line


def _without_surrogates(text: str) -> str:
    """Half a character, as damaged files hold it, cannot be stored: it becomes the replacement character."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text

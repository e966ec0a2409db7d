"""Which reader a file is for: by its suffix, unless its first bytes plainly say otherwise."""

import re
from importlib import import_module
from pathlib import PurePath
from typing import Protocol, cast

from deepwell.errors import Unreadable
from deepwell.reading.document import Document

MARKDOWN = "deepwell.reading.markdown:read"
PLAIN = "deepwell.reading.plain:read"
HTML = "deepwell.reading.html:read"
PDF = "deepwell.reading.pdf:read"
DOCX = "deepwell.reading.docx:read"
WEB_PAGE = "deepwell.reading.html:read_web"
"""HTML that came from the web: searched for its main text, and for what may stand in its way."""

READERS = {
    ".md": MARKDOWN,
    ".markdown": MARKDOWN,
    ".txt": PLAIN,
    ".text": PLAIN,
    ".rst": PLAIN,
    ".html": HTML,
    ".htm": HTML,
    ".xhtml": HTML,
    ".pdf": PDF,
    ".docx": DOCX,
}
"""Suffix to reader, as an import path: a parser is loaded when its first file comes."""

HARMLESS = frozenset({MARKDOWN, PLAIN})
"""Readers of our own, linear in the size of the file; all others run in the workshop."""

_PAGE = re.compile(rb"\s*(?:<!--.*?-->\s*)*<(?:!doctype\s+html|html[\s>])", re.IGNORECASE | re.DOTALL)
_OFFICE = (b"PK\x03\x04", b"PK\x05\x06", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1")


class Read(Protocol):
    """Bytes and the file's name to a document. Raises Unreadable with a safe sentence that begins with the name."""

    def __call__(self, data: bytes, name: str) -> Document: ...


def is_known(name: str) -> bool:
    """Whether the suffix is one that is read."""
    return PurePath(name).suffix.lower() in READERS


def reader_for(name: str, data: bytes) -> str:
    """The import path of the reader. Raises Unreadable for a suffix that is not read."""
    suffix = PurePath(name).suffix.lower()
    if suffix not in READERS:
        raise Unreadable(f"{name} is of a type that is not read; these are: {' '.join(sorted(READERS))}.")
    if data[:1024].lstrip().startswith(b"%PDF-"):
        return PDF
    if data.startswith(_OFFICE):
        return DOCX
    if suffix != ".rst" and _PAGE.match(data[:1024]):
        return HTML
    return READERS[suffix]


def load_reader(path: str) -> Read:
    """The reader behind an import path."""
    module, _, function = path.partition(":")
    return cast("Read", getattr(import_module(module), function))

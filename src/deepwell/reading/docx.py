"""Word files (.docx), read part by part from the archive and never unpacked whole."""

import re
import zipfile
import zlib
from collections.abc import Iterator
from io import BytesIO
from typing import IO
from xml.etree.ElementTree import Element, ParseError

from defusedxml.common import DefusedXmlException
from defusedxml.ElementTree import iterparse

from deepwell.errors import Unreadable
from deepwell.reading.dates import iso_date
from deepwell.reading.document import Document, one_line, tidy
from deepwell.reading.plain import title_from
from deepwell.reading.tables import markdown_table

MAX_PART_BYTES = 64_000_000
"""Of one unpacked part; the text of a thousand pages takes about a tenth."""

_OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_HEADING = re.compile(r"(?i)heading\s*([1-9])|(title)")
_BROKEN = (zipfile.BadZipFile, zlib.error, ParseError, DefusedXmlException, EOFError, ValueError, OSError)


def read(data: bytes, name: str) -> Document:
    """Paragraphs, headings as #, tables as Markdown, and what the file says about itself."""
    if data.startswith(_OLE):
        raise Unreadable(f"{name} is protected by a password or in the old .doc format; save it as a plain .docx.")
    try:
        with zipfile.ZipFile(BytesIO(data)) as archive:
            parts = _Parts(archive, name)
            about = {_bare(e.tag): e.text for e in parts.elements("docProps/core.xml")}
            text = tidy("\n\n".join(_blocks(parts, _heading_styles(parts))))
    except RuntimeError as error:
        # What zipfile says to a part with a password, and (as a subclass) to a method of packing it does not know.
        raise Unreadable(f"{name} is protected by a password or packed in an unknown way.") from error
    except _BROKEN as error:
        raise Unreadable(f"{name} is damaged or is not a Word file.") from error
    return Document(
        title=one_line(about.get("title")) or title_from(name),
        text=text,
        kind="docx",
        author=one_line(about.get("creator")),
        published=iso_date(about.get("created")),
    )


class _Parts:
    """The XML parts of the archive, each read up to a limit."""

    def __init__(self, archive: zipfile.ZipFile, name: str) -> None:
        self._archive = archive
        self._name = name
        self._known = set(archive.namelist())
        if "word/document.xml" not in self._known:
            raise Unreadable(f"{name} is an archive, but not a Word file.")

    def elements(self, part: str) -> Iterator[Element]:
        """Every element of a part as it ends."""
        return (element for event, element in self.events(part) if event == "end")

    def events(self, part: str) -> Iterator[tuple[str, Element]]:
        """Every element of a part as it starts and as it ends; nothing when the file has no such part."""
        if part not in self._known:
            return
        if self._archive.getinfo(part).file_size > MAX_PART_BYTES:
            raise self._too_big()
        with self._archive.open(part) as stream:
            yield from iterparse(_Capped(stream, self._too_big()), events=("start", "end"), forbid_dtd=True)

    def _too_big(self) -> Unreadable:
        return Unreadable(f"{self._name} unfolds to more than {MAX_PART_BYTES // 1_000_000} MB of text.")


class _Capped:
    """A stream that fails when it gives more than a part may hold: archives lie about sizes."""

    def __init__(self, stream: IO[bytes], failure: Unreadable) -> None:
        self._stream = stream
        self._failure = failure
        self._left = MAX_PART_BYTES

    def read(self, size: int = -1) -> bytes:
        data = self._stream.read(min(size, self._left + 1) if size >= 0 else self._left + 1)
        self._left -= len(data)
        if self._left < 0:
            raise self._failure
        return data


def _heading_styles(parts: _Parts) -> dict[str, int]:
    """Style id to heading level. Ids differ by the language of Word; the names inside are always English."""
    levels: dict[str, int] = {}
    for element in parts.elements("word/styles.xml"):
        if _bare(element.tag) == "style":
            names = [_value(child) for child in element if _bare(child.tag) == "name"]
            if names and (match := _HEADING.fullmatch(names[0])):
                levels[_attribute(element, "styleId")] = int(match[1] or 1)
    return levels


def _blocks(parts: _Parts, headings: dict[str, int]) -> Iterator[str]:
    """Paragraphs and tables of the body in order; each is forgotten as soon as it is written."""
    inside = 0
    for event, element in parts.events("word/document.xml"):
        tag = _bare(element.tag)
        if tag in ("tbl", "Fallback"):
            inside += 1 if event == "start" else -1
        if event == "start" or inside:
            continue
        if tag == "p":
            yield _paragraph(element, headings)
        elif tag == "tbl":
            yield markdown_table(_rows(element))
        if tag in ("p", "tbl", "Fallback"):
            # A fallback repeats a text box for older programs; cleared, its text is not read twice.
            element.clear()


def _paragraph(element: Element, headings: dict[str, int]) -> str:
    text = _text(element).strip()
    if not text:
        return ""
    tags = {_bare(child.tag): child for properties in element if _bare(properties.tag) == "pPr" for child in properties}
    style = _value(tags["pStyle"]) if "pStyle" in tags else ""
    if style in headings:
        return f"{'#' * min(headings[style], 6)} {' '.join(text.split())}"
    return f"- {text}" if "numPr" in tags else text


def _rows(table: Element) -> list[list[str]]:
    """Cells row by row; a table inside a cell gives its text to that cell."""
    rows = (row for row in table if _bare(row.tag) == "tr")
    return [[_text(cell) for cell in row if _bare(cell.tag) == "tc"] for row in rows]


def _text(element: Element) -> str:
    return "".join(map(_piece, element.iter()))


def _piece(element: Element) -> str:
    match _bare(element.tag):
        case "t":
            return element.text or ""
        case "tab":
            return "\t"
        case "br" | "cr" | "p":
            return "\n"
        case "noBreakHyphen":
            return "-"
        case _:
            return ""


def _bare(tag: str) -> str:
    return tag.rpartition("}")[2]


def _attribute(element: Element, name: str) -> str:
    return next((value for key, value in element.attrib.items() if _bare(key) == name), "")


def _value(element: Element) -> str:
    return _attribute(element, "val")

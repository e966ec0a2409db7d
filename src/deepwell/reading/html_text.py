"""An HTML tree written as plain text with Markdown's headings, lists and tables."""

import re

from lxml import etree
from lxml.html import HtmlElement

from deepwell.reading.tables import markdown_table

_SPACE = re.compile(r"[ \t\n\r\f]+")
_HEADINGS = {f"h{level}": level for level in range(1, 7)}
_BLOCKS = frozenset(
    """
    address article aside blockquote body caption center dd details div dl dt fieldset figcaption figure footer form
    header hr li main ol p section summary table tbody td tfoot th thead tr ul
    """.split()
).union(_HEADINGS)
_CELL_BLOCKS = ("p", "div", "ul", "ol", "table", "h1", "h2", "h3", "h4", "h5", "h6", "blockquote")


def write(root: HtmlElement) -> str:
    """The text below `root`; walks without recursion, so that no depth of nesting can exhaust the stack."""
    writer = _Writer()
    walk = etree.iterwalk(root, events=("start", "end"))
    for event, element in walk:
        if event == "end":
            writer.leave(element)
            if element is not root:
                writer.say(element.tail)
        elif element.tag == "table" and _is_data(element):
            writer.block(markdown_table(_rows(element)))
            walk.skip_subtree()
        else:
            writer.enter(element)
    return writer.text()


class _Writer:
    """Collects inline text until a block ends it."""

    def __init__(self) -> None:
        self._blocks: list[str] = []
        self._inline: list[str] = []
        self._prefix = ""
        self._lists = 0
        self._literal = 0

    def enter(self, element: HtmlElement) -> None:
        tag = str(element.tag)
        if tag in _BLOCKS or tag == "pre":
            self._flush()
        self._open(tag)
        self.say(element.text)

    def _open(self, tag: str) -> None:
        if tag in _HEADINGS:
            self._prefix = f"{'#' * _HEADINGS[tag]} "
        elif tag == "li":
            self._prefix = f"{'  ' * max(0, self._lists - 1)}- "
        elif tag == "br":
            self._inline.append("\n")
        self._lists += tag in ("ul", "ol")
        self._literal += tag == "pre"

    def leave(self, element: HtmlElement) -> None:
        tag = str(element.tag)
        if tag in _BLOCKS or tag == "pre":
            self._flush()
            self._prefix = ""
        self._lists -= tag in ("ul", "ol")
        self._literal -= tag == "pre"

    def say(self, text: str | None) -> None:
        if text:
            self._inline.append(text if self._literal else _SPACE.sub(" ", text))

    def block(self, text: str) -> None:
        self._flush()
        self._blocks.append(text)

    def text(self) -> str:
        self._flush()
        return "\n\n".join(self._blocks).replace("\n\n\0", "\n")

    def _flush(self) -> None:
        raw = "".join(self._inline)
        self._inline.clear()
        text = raw.strip("\n") if self._literal else _lines(raw)
        if not text.strip():
            return
        if self._prefix.startswith("#"):
            text = " ".join(text.split())
        # A list item follows the one before it without a blank line.
        glue = "\0" if self._prefix.lstrip().startswith("-") and self._blocks and _is_item(self._blocks[-1]) else ""
        self._blocks.append(f"{glue}{self._prefix}{text}")
        self._prefix = ""


def _lines(raw: str) -> str:
    return "\n".join(line.strip() for line in _SPACE_KEEPING_LINES.sub(" ", raw).split("\n")).strip()


_SPACE_KEEPING_LINES = re.compile(r"[ \t]+")


def _is_item(block: str) -> bool:
    return block.lstrip("\0 ").startswith("- ")


def _is_data(table: HtmlElement) -> bool:
    """Rows and columns of short cells; anything else was laid out with a table and is read as running text."""
    rows = _rows(table)
    nested = next(table.iterdescendants(*_CELL_BLOCKS), None) is not None
    return len(rows) >= 2 and max(map(len, rows)) >= 2 and (not nested or _short(rows))


def _short(rows: list[list[str]]) -> bool:
    cells = [len(cell) for row in rows for cell in row]
    return max(cells) <= 200


def _rows(table: HtmlElement) -> list[list[str]]:
    rows = ([_cell(cell) for cell in row.iterchildren("td", "th")] for row in table.iterdescendants("tr"))
    return [row for row in rows if any(row)]


def _cell(cell: HtmlElement) -> str:
    return " ".join(" ".join(cell.itertext()).split())

"""The main part of a web page: found by trafilatura, when that is installed, and cleared of what it leaves around."""

import re
from importlib import import_module
from importlib.util import find_spec

from lxml import etree
from lxml.html import HtmlElement

_HEADINGS = ("h1", "h2", "h3", "h4", "h5", "h6")
_AS_HTML = {"list": "ul", "item": "li", "row": "tr", "cell": "td", "lb": "br", "quote": "blockquote", "code": "pre"}
_INLINE = {"quote": "q", "code": "code"}
"""What stands inside of a line: a word in quotes or in type is no block."""

_WORD = re.compile(r"\w+")
_LONGEST_CALL = 200
_CALL = re.compile(
    r"\W{0,5}(?:"
    r"(?:subscribe|sign up|click here|like us on|more from|most read|share this|continue reading|copyright)\b|©"
    r"|(?:get|download) the .{1,40}\bapp\b|follow (?:us|him|her|them|\w{1,20} on)\b|follow @"
    r"|(?:you may|you might) also like|tell us what you think"
    r"|related(?: (?:articles?|stories|posts?|content|news))?\W{0,3}(?::|$)"
    r"|(?:read|see) (?:more|also|next)\W{0,3}(?::|$)"
    r"|(?:don.t miss|advertisement|comments?|explore further|anzeige|werbung|publicité)\W{0,3}$"
    r"|(?:lesen sie auch|mehr zum thema|lire aussi|à lire aussi|lea también|leia também|leggi anche|lees ook)\b)",
    re.IGNORECASE,
)
"""A line that asks the visitor for something, or leads elsewhere."""
_SOME_PROSE = 3
_PROSE_LENGTH = 60
_LINK_SHARE = 0.9
_FIRST_BLOCKS = 3
_SOME_ROWS = 3
_TABLE_LINK_SHARE = 0.8


def is_installed() -> bool:
    """Whether the extra is there."""
    return find_spec("trafilatura") is not None


def main_part(root: HtmlElement, title: str | None) -> HtmlElement | None:
    """The part of the page that was written to be read, in HTML's own tags; None when there is none to be found."""
    if not is_installed():
        return None
    titles = {_bare(title), *(_bare(_content(heading)) for heading in root.iter("h1"))}
    _drop_lonely_links(root)
    _guard_data(root)
    body = _extracted(root)
    if body is None or not _content(body).strip():
        return None
    _as_html(body)
    _drop_title(body, titles)
    _drop_calls(body)
    return body


def _extracted(root: HtmlElement) -> HtmlElement | None:
    try:
        found = import_module("trafilatura").bare_extraction(
            # As "xml" the tree comes back as it is; any other format is written out in vain.
            root,
            fast=True,
            include_comments=False,
            include_formatting=False,
            output_format="xml",
        )
    except Exception:  # noqa: BLE001 - what others' markup does to others' code is unknowable; our own reader is next
        return None
    return None if found is None else found.body


def _as_html(body: HtmlElement) -> None:
    """Its tags are those of text editions (TEI); the writer knows HTML's."""
    for element in list(body.iter(etree.Element)):
        tag = str(element.tag)
        if tag == "head":
            level = element.get("rend", "h3")
            element.tag = level if level in _HEADINGS else "h3"
        elif tag in _INLINE and _is_within_line(element):
            element.tag = _INLINE[tag]
        else:
            element.tag = _AS_HTML.get(tag, tag)


def _is_within_line(element: HtmlElement) -> bool:
    parent = element.getparent()
    # The parent was renamed before its children.
    return parent is not None and parent.tag in ("p", "li", "td", "pre", *_HEADINGS)


def _guard_data(root: HtmlElement) -> None:
    """Tables and listings in a figure are no pictures, and a table with linked cells is no menu."""
    for figure in list(root.iter("figure")):
        if next(figure.iter("table", "pre"), None) is not None:
            figure.tag = "div"
    for table in list(root.iter("table")):
        if next(table.iterdescendants("table"), None) is None and _is_data(table):
            for link in list(table.iter("a")):
                link.drop_tag()


def _is_data(table: HtmlElement) -> bool:
    """Several rows of several cells, and more in them than links."""
    rows = sum(len(row.xpath("td|th")) > 1 for row in table.iter("tr"))
    linked = sum(len(_content(link)) for link in table.iter("a"))
    return rows >= _SOME_ROWS and 0 < linked < _TABLE_LINK_SHARE * len(" ".join(_content(table).split()))


def _drop_lonely_links(root: HtmlElement) -> None:
    """Between paragraphs of prose, a paragraph that is one link leads to another page."""
    paragraphs = [(paragraph, _content(paragraph).strip()) for paragraph in root.iter("p")]
    links = [paragraph for paragraph, text in paragraphs if _is_lonely_link(paragraph, text)]
    prose = sum(len(text) > _PROSE_LENGTH for _, text in paragraphs) - len(links)
    if prose >= _SOME_PROSE:
        for paragraph in links:
            paragraph.drop_tree()


def _is_lonely_link(paragraph: HtmlElement, text: str) -> bool:
    linked = sum(len(_content(link).strip()) for link in paragraph.iter("a"))
    return 0 < len(text) < _LONGEST_CALL and linked >= _LINK_SHARE * len(text)


def _drop_title(body: HtmlElement, titles: set[str]) -> None:
    """The title is kept apart from the text; said again at its beginning it would count twice."""
    for block in list(body)[:_FIRST_BLOCKS]:
        if block.tag in _HEADINGS and _bare(_content(block)) in titles:
            body.remove(block)


def _drop_calls(body: HtmlElement) -> None:
    """Lines that ask for something, and headings at the end with nothing below them."""
    for block in list(body):
        text = _content(block).strip()
        if block.tag != "table" and len(text) < _LONGEST_CALL and _CALL.match(text):
            body.remove(block)
    while len(body) and body[-1].tag in _HEADINGS:
        body.remove(body[-1])


def _content(element: HtmlElement) -> str:
    return "".join(element.itertext())


def _bare(text: str | None) -> str:
    return " ".join(_WORD.findall((text or "").casefold()))

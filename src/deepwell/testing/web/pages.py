"""What a small web is made of: pages, and where the search says they are."""

import re
from dataclasses import dataclass
from html import escape, unescape

HTML = "text/html; charset=utf-8"
_TAG = re.compile(r"<[^<>]{0,500}>")


@dataclass(frozen=True, slots=True)
class Page:
    """Something at a path."""

    body: bytes
    content_type: str = HTML
    title: str = ""
    """What the search calls it."""
    text: str = ""
    """What the search looks for words in."""
    host: str = "127.0.0.1"
    """Where the search says it is; every host of a server has every page."""
    also_as: tuple[str, ...] = ()
    """Queries under which the search lists it a second time, such as `utm_source=letter`."""


def html_page(title: str, *paragraphs: str, host: str = "127.0.0.1", also_as: tuple[str, ...] = ()) -> Page:
    """A plain page with a heading and these paragraphs."""
    text = "\n".join(paragraphs)
    told = "".join(f"<p>{escape(paragraph)}</p>" for paragraph in paragraphs)
    body = (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{escape(title)}</title></head>'
        f"<body><article><h1>{escape(title)}</h1>{told}</article></body></html>"
    )
    return Page(body.encode(), HTML, title, text, host, also_as)


def as_page(given: "Page | str | bytes", path: str) -> Page:
    """A page from what a caller gave: one that is ready, markup, or bytes that the search cannot look into."""
    if isinstance(given, Page):
        return given
    if isinstance(given, bytes):
        return Page(given, "application/octet-stream", path)
    return Page(given.encode(), HTML, path, unescape(_TAG.sub(" ", given)))

"""What an HTML page says about itself: in meta tags, in JSON-LD, in its own headings."""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from lxml.html import HtmlElement

from deepwell.reading.dates import iso_date
from deepwell.reading.document import one_line

_TITLES = ("og:title", "citation_title", "dc.title", "twitter:title")
_AUTHORS = ("author", "article:author", "citation_author", "dc.creator", "parsely-author", "byl")
_PUBLISHERS = ("og:site_name", "citation_journal_title", "dc.publisher", "publisher", "application-name")
_DATES = (
    "article:published_time",
    "datepublished",
    "citation_publication_date",
    "citation_date",
    "dc.date",
    "dc.date.issued",
    "parsely-pub-date",
    "pubdate",
    "publishdate",
    "date",
)

_BY = re.compile(r"(?:by|written by|posted by)\s+", re.IGNORECASE)
_BEFORE_SITE = re.compile(r"\s[-–—|·:»]\s")
_LONGEST_NAME = 80


@dataclass(frozen=True, slots=True)
class Facts:
    """As much as the page says."""

    title: str | None
    author: str | None
    publisher: str | None
    published: str | None
    is_article: bool = False
    """Whether the page calls itself one, and says when it was published."""
    is_free: bool = True
    """False when the page says that its text is for subscribers."""


def facts(root: HtmlElement) -> Facts:
    """The first usable statement for each, most exact places first. To be asked before the page is stripped."""
    meta = _meta(root)
    linked = list(_linked_data(root))
    published = iso_date(_pick(meta, _DATES)) or iso_date(_said(linked, "datePublished"))
    publisher = _name(_pick(meta, _PUBLISHERS)) or _name(_said(linked, "publisher"))
    title = _pick(meta, _TITLES) or _said(linked, "headline") or _content(root, "title") or _content(root, "h1")
    return Facts(
        title=_without_site(title, publisher),
        author=_name(_pick(meta, _AUTHORS)) or _name(_said(linked, "author")) or _marked_author(root),
        publisher=publisher,
        published=published or _first_time(root),
        is_article=published is not None and _calls_itself_article(meta, linked),
        is_free=not any(str(item.get("isAccessibleForFree")).lower() == "false" for item in linked),
    )


def _meta(root: HtmlElement) -> dict[str, str]:
    found: dict[str, str] = {}
    for element in root.iter("meta"):
        key = element.get("property") or element.get("name") or element.get("itemprop") or ""
        content = one_line(element.get("content"))
        if content:
            found.setdefault(key.lower(), content)
    return found


def _pick(meta: dict[str, str], keys: tuple[str, ...]) -> str | None:
    return next((meta[key] for key in keys if key in meta), None)


def _name(stated: str | None) -> str | None:
    """A name without the "by" before it; None for an address, which social sites put there."""
    if stated is None or stated.startswith(("http://", "https://", "@")):
        return None
    return _BY.sub("", stated, count=1) if _BY.match(stated) else stated


def _without_site(title: str | None, publisher: str | None) -> str | None:
    """The title without the site's name behind it."""
    parts = _BEFORE_SITE.split(title or "")
    if publisher and len(parts) > 1 and parts[-1].casefold() == publisher.casefold():
        return (title or "")[: -len(parts[-1])].rstrip(" -–—|·:»")
    return title


def _marked_author(root: HtmlElement) -> str | None:
    """The first name that the page marks as its author's."""
    marked = (
        e for e in root.iter("a", "span", "div", "p") if e.get("rel") == "author" or e.get("itemprop") == "author"
    )
    names = (_name(one_line(element.text_content()[:500])) for element in marked)
    return next((name for name in names if name and len(name) <= _LONGEST_NAME), None)


def _content(root: HtmlElement, tag: str) -> str | None:
    return next((text for element in root.iter(tag) if (text := one_line(element.text_content()))), None)


def _first_time(root: HtmlElement) -> str | None:
    return next((found for element in root.iter("time") if (found := iso_date(element.get("datetime")))), None)


def _linked_data(root: HtmlElement) -> Iterator[dict[str, Any]]:
    for script in root.iter("script"):
        if script.get("type") == "application/ld+json":
            try:
                yield from _objects(json.loads(script.text or ""))
            except (ValueError, RecursionError):
                continue


def _objects(parsed: Any) -> Iterator[dict[str, Any]]:
    """The objects of a JSON-LD block: alone, in a list, or in a graph."""
    waiting = [parsed]
    while waiting:
        value = waiting.pop(0)
        if isinstance(value, list):
            waiting.extend(value)
        elif isinstance(value, dict):
            yield value
            waiting.append(value.get("@graph"))


def _calls_itself_article(meta: dict[str, str], linked: list[dict[str, Any]]) -> bool:
    return meta.get("og:type") == "article" or any("Article" in str(item.get("@type")) for item in linked)


def _said(linked: list[dict[str, Any]], key: str) -> str | None:
    return next((text for item in linked if key in item and (text := _plain(item[key]))), None)


def _plain(value: Any) -> str | None:
    """A string, the name of an object, or the names of several."""
    match value:
        case str():
            return one_line(value)
        case {"name": str() as name}:
            return one_line(name)
        case [*values]:
            names = (_plain(item) for item in values[:10] if not isinstance(item, list))
            return ", ".join(filter(None, names)) or None
        case _:
            return None

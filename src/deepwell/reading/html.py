"""HTML pages: the text a reader came for, without what stands around it."""

import re

from lxml import etree
from lxml.html import HtmlElement, HTMLParser, document_fromstring

from deepwell.errors import Unreadable
from deepwell.reading.document import Document, one_line, tidy
from deepwell.reading.html_facts import facts
from deepwell.reading.html_text import write
from deepwell.reading.plain import decode, title_from

_CHARSET = re.compile(rb"""(?i)<meta[^>]{0,200}charset\s*=\s*["']?\s*([\w-]+)|<\?xml[^>]{0,100}encoding=["']([\w-]+)""")
_DROPPED = """
    script style nav footer aside noscript template svg math iframe object embed canvas audio video button select
    option textarea input label dialog menu head
""".split()
_CHROME = re.compile(
    r"(?i)(?:^|[\s_-])(?:nav(?:bar|igation)?|menu|breadcrumbs?|sidebar|footer|cookies?|consent|share|sharing|social|"
    r"related|recommend(?:ed|ations?)?|newsletter|subscribe|promo|advert(?:isement)?|ads?|sponsored|comments?|popup|modal|"
    r"banner|toolbar|pagination|pager|skip-link|tags|byline-bio)(?:$|[\s_-])"
)
_HIDDEN_STYLE = re.compile(r"(?i)display\s*:\s*none|visibility\s*:\s*hidden")
_CONTAINERS = ("div", "section", "ul", "ol", "p", "span", "table")
_SOME_LINKS = 2
_LINK_SHARE = 0.6
_ENOUGH = 250
"""Characters that make a marked part worth trusting over the whole page."""
_ARTICLE_SHARE = 0.3
"""Of the page's text: a page of many teasers calls each of them an article."""


def read(data: bytes, name: str) -> Document:
    """Headings as #, lists as -, tables as Markdown, paragraphs between blank lines."""
    root = _parsed(data, name)
    about = facts(root)
    text = tidy(write(_main_part(root)))
    if not text.strip():
        raise Unreadable(f"{name} holds no text to read.")
    return Document(
        title=one_line(about.title) or title_from(name),
        text=text,
        kind="html",
        author=one_line(about.author),
        publisher=one_line(about.publisher),
        published=about.published,
    )


def _parsed(data: bytes, name: str) -> HtmlElement:
    # Handed over as UTF-8 whatever it was: libxml2 would take an undeclared page for Latin-1.
    content = _decoded(data, name).replace("\x00", "").encode("utf-8", "replace")
    parser = HTMLParser(encoding="utf-8", remove_comments=True, remove_pis=True, huge_tree=True, no_network=True)
    try:
        return document_fromstring(content, parser=parser, ensure_head_body=True)
    except (etree.LxmlError, ValueError, AssertionError) as error:
        raise Unreadable(f"{name} holds no text to read.") from error


def _decoded(data: bytes, name: str) -> str:
    declared = _CHARSET.search(data[:4096])
    if declared:
        encoding = (declared[1] or declared[2]).decode("ascii")
        try:
            # Browsers read Latin-1 as Windows text, and so do the people who declare it.
            return data.decode("cp1252" if encoding.lower() in ("iso-8859-1", "latin-1", "ascii") else encoding)
        except (LookupError, UnicodeError):
            pass
    return decode(data, name)


def _main_part(root: HtmlElement) -> HtmlElement:
    """The page stripped of its chrome, or the one part of it that is marked as the content."""
    body = root.find("body")
    page = root if body is None else body
    _drop(list(page.iter(*_DROPPED)))
    _drop([element for element in page.iter(etree.Element) if _is_hidden(element)])
    _drop([header for header in page.iter("header") if not _is_within(header, "article", "main")])
    whole = _length(page)
    # Some sites wrap the whole page in one form.
    _drop([form for form in page.iter("form") if _length(form) * 2 < whole])
    marked = _marked(page)
    whole = _length(marked)
    _drop([element for element in marked.iter(*_CONTAINERS) if element is not marked and _is_chrome(element, whole)])
    return marked


def _marked(page: HtmlElement) -> HtmlElement:
    """The largest <article> when it holds a good part of the page, else <main>, else the page."""
    articles = sorted(page.iter("article"), key=_length)
    if articles and _length(articles[-1]) >= max(_ENOUGH, _ARTICLE_SHARE * _length(page)):
        return articles[-1]
    mains = sorted((e for e in page.iter(etree.Element) if e.tag == "main" or e.get("role") == "main"), key=_length)
    return mains[-1] if mains and _length(mains[-1]) >= _ENOUGH else page


def _is_hidden(element: HtmlElement) -> bool:
    return (
        element.get("hidden") is not None
        or element.get("aria-hidden") == "true"
        or bool(_HIDDEN_STYLE.search(element.get("style", "")))
    )


def _is_chrome(element: HtmlElement, whole: int) -> bool:
    """A part that holds little of the text and is named like chrome or made of links.

    Little, because a page may well call its content "related", or be a list of links and nothing else.
    """
    length = _length(element)
    if length * 3 >= whole:
        return False
    named = f"{element.get('class', '')} {element.get('id', '')}"
    return bool(_CHROME.search(named)) or _is_made_of_links(element, length)


def _is_made_of_links(element: HtmlElement, length: int) -> bool:
    links = [_length(link) for link in element.iter("a")]
    return len(links) >= _SOME_LINKS and sum(links) > _LINK_SHARE * length


def _is_within(element: HtmlElement, *tags: str) -> bool:
    return next(element.iterancestors(*tags), None) is not None


def _length(element: HtmlElement) -> int:
    return sum(len(text.strip()) for text in element.itertext())


def _drop(elements: list[HtmlElement]) -> None:
    for element in elements:
        if element.getparent() is not None:
            element.drop_tree()

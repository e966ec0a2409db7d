"""HTML pages: the text a reader came for, without what stands around it."""

import re

from lxml import etree
from lxml.html import HtmlElement, HTMLParser, document_fromstring

from deepwell.errors import Unreadable
from deepwell.reading.blocked import Blocked, Look, obstacle_in
from deepwell.reading.document import Document, one_line, tidy
from deepwell.reading.html_facts import Facts, facts
from deepwell.reading.html_text import write
from deepwell.reading.plain import decode, title_from
from deepwell.reading.trafilatura_text import main_part

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

_WORD = re.compile(r"\w+")
_POWER = re.compile(r"[-−+]?\d{1,4}")
_RAISED = str.maketrans("0123456789-−+", "⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁻⁺")
_MOST_SEEN = 20_000
_PROSE = 80
"""Characters from which a paragraph counts as prose."""
_SOME_LINKED = 0.3
_ENOUGH_SHINGLES = 60
_AGREED, _COVERED = 0.2, 0.5


def read(data: bytes, name: str) -> Document:
    """Headings as #, lists as -, tables as Markdown, paragraphs between blank lines."""
    root = _parsed(_decoded(data, name), name)
    about = facts(root)
    return _document(about, tidy(write(_main_part(root))), name, title_from(name))


def read_web(data: bytes, name: str) -> Document:
    """A page from the web, in UTF-8; `name` is its host and path. Raises Blocked when something is in the way of it."""
    source = data.decode("utf-8", "replace")
    root = _parsed(source, name)
    about = facts(root)
    seen = _seen(root)
    text = _web_text(root, about.title)
    look = Look(name, about.title or "", text, seen, source.lower(), about.is_article, about.is_free)
    if obstacle := obstacle_in(look):
        raise Blocked(obstacle, name)
    return _document(about, text, name, name)


def _document(about: Facts, text: str, name: str, fallback: str) -> Document:
    if not text.strip():
        raise Unreadable(f"{name} holds no text to read.")
    return Document(
        title=one_line(about.title) or fallback,
        text=text,
        kind="html",
        author=one_line(about.author),
        publisher=one_line(about.publisher),
        published=about.published,
    )


def _web_text(root: HtmlElement, title: str | None) -> str:
    """What trafilatura finds, unless it holds only a piece of what the page marks as its content."""
    _write_powers(root)
    found = main_part(root, title)
    text = "" if found is None else tidy(write(found))
    # Ours strips the tree, so it comes last.
    own = _main_part(root)
    return tidy(write(own)) if _is_piece(text, own) else text


def _is_piece(text: str, own: HtmlElement) -> bool:
    """Whether most of the prose in our own reading is missing, though both speak of the same.

    When they share next to nothing, they disagree about what the page is for, and the more careful one is right.
    """
    if not text:
        return True
    prose = _shingles(" ".join(paragraph for element in own.iter("p") if len(paragraph := _prose(element)) > _PROSE))
    if len(prose) < _ENOUGH_SHINGLES:
        return False
    return _AGREED < len(prose & _shingles(text)) / len(prose) < _COVERED


def _prose(paragraph: HtmlElement) -> str:
    """Its text, or nothing when it is made of links."""
    text = "".join(paragraph.itertext())
    linked = sum(_length(link) for link in paragraph.iter("a"))
    return text if linked < _SOME_LINKED * len(text) else ""


def _shingles(text: str) -> set[tuple[str, ...]]:
    words = _WORD.findall(text)
    return set(zip(words, words[1:], words[2:], words[3:], strict=False))


def _write_powers(root: HtmlElement) -> None:
    """10<sup>3</sup> is not 103: raised numbers become raised characters, and marks of footnotes go."""
    for raised in list(root.iter("sup")):
        content = "".join(raised.itertext()).strip()
        link = next(raised.iter("a"), None)
        if link is not None and "#" in link.get("href", ""):
            raised.drop_tree()
        elif _POWER.fullmatch(content):
            for child in list(raised):
                child.drop_tag()
            raised.text = content.translate(_RAISED)


def _seen(root: HtmlElement) -> str:
    """The beginning of everything visible, and what is said to those who run no scripts."""
    body = root.find("body")
    hidden = {"script", "style", "template", "svg"}
    parts: list[str] = []
    for element in (root if body is None else body).iter(etree.Element):
        said = "" if element.tag in hidden else element.text or ""
        parts.append(f"{said} {element.tail or ''}")
    return " ".join(" ".join(parts).split())[:_MOST_SEEN]


def _parsed(text: str, name: str) -> HtmlElement:
    # Handed over as UTF-8 whatever it was: libxml2 would take an undeclared page for Latin-1.
    content = text.removeprefix("\ufeff").replace("\x00", "").encode("utf-8", "replace")
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

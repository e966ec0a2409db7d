"""A body that came from the web to a document: by what it is, in its own encoding, parsed where it can do no harm."""

import re
from urllib.parse import urlsplit

from deepwell.budget.threads import in_thread
from deepwell.errors import Unreadable
from deepwell.reading.addresses import literal_ip
from deepwell.reading.blocked import blocked_by
from deepwell.reading.document import Document, one_line
from deepwell.reading.formats import DOCX, MARKDOWN, PDF, PLAIN, WEB_PAGE, load_reader
from deepwell.reading.sniffing import Kind, decoded, sniff
from deepwell.reading.workshop import Wanted, Workshop

_NAMELESS = "The page"
_LONGEST_NAME = 100
_CHARSET = re.compile(r"""charset\s{0,9}=\s{0,9}["']?([\w.:-]{2,40})""", re.IGNORECASE)
_MARKDOWN_SUFFIXES = (".md", ".markdown")


async def document_from(
    body: bytes, content_type: str | None, charset: str | None, address: str, workshop: Workshop
) -> Document:
    """The document in what an address answered.

    Raises Unreadable with a safe sentence, and Blocked, which is one, when the answer stands in for the text.
    """
    declared = charset or _charset_in(content_type)
    wanted = Wanted()
    try:
        return await in_thread("parsing", _read, body, content_type, declared, shown(address), workshop, wanted)
    finally:
        wanted.give_up()


def shown(address: str) -> str:
    """An address as sentences name it: host and path, without what may be secret in it.

    Numbers are left out: they may be those of an inner network.
    """
    try:
        parts = urlsplit(address)
    except ValueError:
        return _NAMELESS
    host = parts.hostname or ""
    where = f"{_NAMELESS} " if literal_ip(host) else host
    return (one_line(f"{where}{parts.path.rstrip('/')}") or _NAMELESS)[:_LONGEST_NAME]


def _read(
    body: bytes, content_type: str | None, charset: str | None, name: str, workshop: Workshop, wanted: Wanted
) -> Document:
    kind = sniff(body, content_type)
    if kind is Kind.UNSUPPORTED:
        raise Unreadable(f"{name} is of a type that is not read; web pages, PDF, Word and text files are.")
    if kind is Kind.PDF or kind is Kind.DOCX:
        document = workshop.read(PDF if kind is Kind.PDF else DOCX, body, name, wanted)
    elif kind is Kind.HTML:
        document = _page(_as_utf8(body, charset), name, workshop, wanted)
    else:
        is_markdown = kind is Kind.MARKDOWN or (kind is Kind.TEXT and name.lower().endswith(_MARKDOWN_SUFFIXES))
        document = load_reader(MARKDOWN if is_markdown else PLAIN)(_as_utf8(body, charset), name)
    if not document.text.strip():
        raise Unreadable(f"{name} is empty.")
    return document


def _page(page: bytes, name: str, workshop: Workshop, wanted: Wanted) -> Document:
    try:
        return workshop.read(WEB_PAGE, page, name, wanted)
    except Unreadable as error:
        blocked = blocked_by(str(error), name)
        if blocked is None:
            raise
        raise blocked from error


def _as_utf8(body: bytes, charset: str | None) -> bytes:
    return decoded(body, charset).encode("utf-8", "replace")


def _charset_in(content_type: str | None) -> str | None:
    found = _CHARSET.search(content_type or "", 0, 300)
    return found[1] if found else None

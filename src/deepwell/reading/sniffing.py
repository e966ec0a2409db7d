"""What a body from the web is, whatever its server says: its kind by its first bytes, and its encoding."""

import codecs
import re
from enum import StrEnum

from deepwell.reading.encodings import by_mark, has_mark, looks_binary

_LOOKED_AT = 2048
"""Bytes at the front that decide the kind."""


class Kind(StrEnum):
    """What is in a body."""

    HTML = "html"
    PDF = "pdf"
    DOCX = "docx"
    MARKDOWN = "markdown"
    JSON = "json"
    TEXT = "text"
    UNSUPPORTED = "unsupported"


# Formats that look like text and are not to be read as such; whatever is binary shows that by its control characters.
_NOT_PROSE = (b"%!PS", b"{\\rtf")
_ZIP = (b"PK\x03\x04", b"PK\x05\x06")
_OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_WORD_TYPES = ("application/msword", "application/vnd.openxmlformats-officedocument.wordprocessingml.document")
_DECLARED = {
    "text/html": Kind.HTML,
    "application/xhtml+xml": Kind.HTML,
    "text/markdown": Kind.MARKDOWN,
    "text/x-markdown": Kind.MARKDOWN,
    "application/json": Kind.JSON,
    "text/json": Kind.JSON,
    **dict.fromkeys(("text/css", "text/javascript", "application/javascript"), Kind.UNSUPPORTED),
}
# A comment, a declaration or white space before it is skipped; every part is bounded by the size of the sample.
_LEAD = rb"(?:\s++|<!--(?:(?!-->).)*+-->|<\?(?:(?!\?>).)*+\?>)*+"
_PAGE = re.compile(_LEAD + rb"<(?:!doctype\s++html|html[\s>]|head[\s>]|body[\s>])", re.IGNORECASE | re.DOTALL)
_TAG = re.compile(
    _LEAD + rb"<(?:meta|title|link|script|style|div|main|article|section|table|h[1-6]|p|ul|a|b|br)[\s/>]",
    re.IGNORECASE | re.DOTALL,
)
_XML = re.compile(rb"\s*+<(?:\?xml|rss|feed|svg|urlset|sitemapindex)\b", re.IGNORECASE)
_META = re.compile(
    rb"""<meta[^>]{0,200}?charset\s{0,9}=\s{0,9}["']?\s{0,9}([\w.:-]{2,40})|<\?xml[^>]{0,100}?encoding=["']([\w.:-]{2,40})""",
    re.IGNORECASE,
)
_LANGUAGE = re.compile(rb"""<html[^>]{0,300}?\blang\s{0,9}=\s{0,9}["']?([a-z]{2})(-(?:tw|hk|hant))?""", re.IGNORECASE)
# Names people declare, to the encoding browsers read them with. Nothing else is decoded: Python knows "encodings" that
# are none, and some that take their time.
_ENCODINGS = {
    alias: encoding
    for encoding, aliases in {
        "utf-8": "utf8 utf-8 unicode-1-1-utf-8",
        "utf-16-le": "utf-16 utf-16le",
        "utf-16-be": "utf-16be",
        "cp1252": "iso-8859-1 iso8859-1 latin1 latin-1 l1 ascii us-ascii windows-1252 cp1252 ansi x-cp1252",
        "cp1250": "windows-1250 cp1250",
        "iso8859-2": "iso-8859-2 iso8859-2 latin2",
        "cp1251": "windows-1251 cp1251 win-1251",
        "koi8-r": "koi8-r koi8r",
        "koi8-u": "koi8-u",
        "iso8859-5": "iso-8859-5",
        "cp866": "ibm866 cp866",
        "cp1253": "windows-1253 cp1253",
        "iso8859-7": "iso-8859-7",
        "cp1254": "windows-1254 cp1254 iso-8859-9 latin5",
        "cp1255": "windows-1255 cp1255 iso-8859-8 iso-8859-8-i",
        "cp1256": "windows-1256 cp1256",
        "iso8859-6": "iso-8859-6",
        "cp1257": "windows-1257 cp1257",
        "iso8859-13": "iso-8859-13",
        "iso8859-4": "iso-8859-4",
        "cp1258": "windows-1258 cp1258",
        "cp874": "windows-874 tis-620 iso-8859-11",
        "iso8859-15": "iso-8859-15 latin9",
        "mac-roman": "macintosh mac-roman",
        "gb18030": "gb2312 gbk gb18030 x-gbk gb_2312-80",
        "big5hkscs": "big5 big5-hkscs x-x-big5",
        "cp932": "shift_jis shift-jis sjis x-sjis windows-31j ms932",
        "euc_jp": "euc-jp x-euc-jp",
        "iso2022_jp": "iso-2022-jp",
        "cp949": "euc-kr ks_c_5601-1987 windows-949 cp949 ksc5601",
    }.items()
    for alias in aliases.split()
}
_BY_LANGUAGE = {
    **dict.fromkeys(("ru", "uk", "bg", "be", "sr", "mk"), ("cp1251",)),
    **dict.fromkeys(("cs", "pl", "hu", "sk", "sl", "hr", "ro"), ("cp1250",)),
    **dict.fromkeys(("lt", "lv", "et"), ("cp1257",)),
    "el": ("cp1253",),
    "tr": ("cp1254",),
    "he": ("cp1255",),
    "ar": ("cp1256",),
    "fa": ("cp1256",),
    "vi": ("cp1258",),
    "th": ("cp874",),
    "ja": ("euc_jp", "cp932"),
    "zh": ("gb18030",),
    "ko": ("cp949",),
}
"""What pages in a language are written in when they are not in UTF-8 and do not say what in; the strictest first."""
_WHOLE_FOR_EACH_BROKEN = 20
"""Characters beyond ASCII that must be whole for each damaged one; with fewer, the encoding is another."""


def sniff(body: bytes, declared_type: str | None) -> Kind:
    """The kind of the body: by its first bytes where they are plain, else by the type its server declared."""
    declared = (declared_type or "").partition(";")[0].strip().lower()
    start = body[:_LOOKED_AT]
    known = _by_magic(body, start, declared) or _by_markup(start, declared) or _DECLARED.get(declared)
    if known is not None:
        return known
    if declared.endswith("+json") or _is_json(start, declared):
        return Kind.JSON
    return Kind.TEXT


def decoded(body: bytes, charset: str | None) -> str:
    """The text of a body: by its mark, as UTF-8 where it is that, then as its server, then as the page itself says.

    UTF-8 goes before what was declared because nothing else looks like it by chance, and servers are often wrong.
    """
    if (marked := by_mark(body)) is not None:
        return marked
    if wide := _wide(body):
        return body.decode(wide, "replace")
    named = _named(charset), _named_within(body)
    if body.isascii():
        return body.decode("iso2022_jp" if "iso2022_jp" in named else "ascii", "replace")
    for encoding in dict.fromkeys(("utf-8", *filter(None, named), *_likely(body))):
        if (text := _attempt(body, encoding)) is not None:
            return text
    return body.decode("cp1252", "replace")


def _by_magic(body: bytes, start: bytes, declared: str) -> Kind | None:
    if start[:1024].lstrip().startswith(b"%PDF-"):
        return Kind.PDF
    if start.startswith(_ZIP):
        return Kind.DOCX if b"word/document.xml" in body else Kind.UNSUPPORTED
    if start.startswith(_OLE):
        # Its reader says what to do about an old or a locked Word file.
        return Kind.DOCX if declared in _WORD_TYPES else Kind.UNSUPPORTED
    if has_mark(start):
        return None
    is_binary = looks_binary(start) and not _wide(start)
    return Kind.UNSUPPORTED if start.startswith(_NOT_PROSE) or is_binary else None


def _by_markup(start: bytes, declared: str) -> Kind | None:
    if b"\x00" in start:
        # UTF-16: the tags are there, between zeros.
        start = start.replace(b"\x00", b"")
    start = start.removeprefix(codecs.BOM_UTF8).lstrip(b"\xff\xfe")
    if _PAGE.match(start):
        return Kind.HTML
    if _XML.match(start) and declared not in _DECLARED:
        return Kind.UNSUPPORTED
    says_nothing = declared not in _DECLARED and not declared.startswith("text/")
    return Kind.HTML if says_nothing and _TAG.match(start) else None


def _is_json(start: bytes, declared: str) -> bool:
    return not declared.startswith("text/") and start.lstrip()[:1] in (b"{", b"[")


def _wide(body: bytes) -> str | None:
    """UTF-16 without a mark: Western text then has a zero in nearly every other place."""
    sample = body[:200]
    for encoding, zeros in (("utf-16-le", sample[1::2]), ("utf-16-be", sample[0::2])):
        if len(sample) >= 8 and zeros.count(0) * 5 > len(zeros) * 4 and sample.count(0) <= len(zeros):
            return encoding
    return None


def _named(charset: str | None) -> str | None:
    return _ENCODINGS.get((charset or "").strip(" \"'").lower())


def _named_within(body: bytes) -> str | None:
    """What the page says. A page that could be read up to here is not in UTF-16, whatever it says."""
    found = _META.search(body, 0, 4096)
    encoding = _named((found[1] or found[2]).decode("ascii")) if found else None
    return "utf-8" if encoding in ("utf-16-le", "utf-16-be") else encoding


def _likely(body: bytes) -> tuple[str, ...]:
    """Encodings to try when nothing was declared, or nothing true."""
    found = _LANGUAGE.search(body, 0, 4096)
    if found is None:
        return ("cp1252",)
    return ("big5hkscs",) if found[2] else _BY_LANGUAGE.get(found[1].decode("ascii").lower(), ("cp1252",))


def _attempt(body: bytes, encoding: str) -> str | None:
    """The text when it is in that encoding: whole, or but for a few damaged places such as a cut at the end."""
    text = body.decode(encoding, "replace")
    broken = text.count("\ufffd")
    beyond_ascii = len(text) - len(text.encode("ascii", "ignore"))
    return text if broken == 0 or broken * _WHOLE_FOR_EACH_BROKEN <= beyond_ascii else None

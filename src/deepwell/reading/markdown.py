"""Markdown, with or without front matter."""

import re

from deepwell.reading.dates import iso_date
from deepwell.reading.document import Document, clean, one_line
from deepwell.reading.plain import decode, title_from

_FRONT = re.compile(r"\A---[ \t]*\n(?P<fields>.*?)^(?:---|\.\.\.)[ \t]*(?:\n|\Z)", re.DOTALL | re.MULTILINE)
_FIELD = re.compile(r"(?P<key>[A-Za-z_][\w .-]*?)[ \t]*:(?:[ \t]+(?P<value>.*))?")
_ITEM = re.compile(r"[ \t]*-[ \t]+(?P<value>.*)")
_COMMENT = re.compile(r"[ \t]+#.*")
_ESCAPE = re.compile(r"\\(.)")
_HEADING = re.compile(r"^#{1,6}[ \t]+(.+?)[ \t]*#*$|^([^\n]+)\n(?:={3,}|-{3,})[ \t]*$", re.MULTILINE)
_FENCE = re.compile(r"^(```|~~~).*?^\1", re.DOTALL | re.MULTILINE)
_INLINE = (
    (re.compile(r"<!--.*?-->", re.DOTALL), ""),
    (re.compile(r"!?\[([^\[\]]*)\]\([^()\s]*(?:\s+\"[^\"]*\")?\)"), r"\1"),
    (re.compile(r"(?<![\w*])(\*{1,3})(?=\S)([^*\n]+?)(?<=\S)\1(?![\w*])"), r"\2"),
    (re.compile(r"(?<!\w)(_{1,3})(?=\S)([^_\n]+?)(?<=\S)\1(?!\w)"), r"\2"),
    (re.compile(r"(?<!`)(`{1,2})(?!`)([^`\n]+)\1(?!`)"), r"\2"),
)
_MARKUP = re.compile(r"[*_`]{1,3}|!?\[([^\]]*)\]\([^)]*\)")


def read(data: bytes, name: str) -> Document:
    """The body without its front matter; the title from there, from the first heading, or from the file's name."""
    fields, body = split(clean(decode(data, name)))
    return Document(
        title=one_line(fields.get("title")) or one_line(_first_heading(body)) or title_from(name),
        text=_plain(body),
        kind="markdown",
        author=_first(fields, "author", "authors", "by"),
        publisher=_first(fields, "publisher", "source", "site", "site_name"),
        published=iso_date(_first(fields, "date", "published", "published_at", "publication_date")),
    )


def _plain(body: str) -> str:
    """The body as it reads: emphasis, links and inline code are their words; code blocks stay as they are."""
    pieces, start = [], 0
    for fence in [*_FENCE.finditer(body), None]:
        prose = body[start : fence.start() if fence else len(body)]
        for pattern, words in _INLINE:
            prose = pattern.sub(words, prose)
        pieces += [prose, fence.group() if fence else ""]
        start = fence.end() if fence else len(body)
    return "".join(pieces)


def split(text: str) -> tuple[dict[str, str], str]:
    """The fields of the front matter, keys in lower case, and the body below it."""
    front = _FRONT.match(text)
    if front is None:
        return {}, text
    fields = _fields(front["fields"])
    # Two rules with prose between them are a body, not front matter.
    return (fields, text[front.end() :]) if fields else ({}, text)


def _fields(block: str) -> dict[str, str]:
    """`key: value` lines, and lists of plain values: the part of YAML that people write by hand."""
    found: dict[str, str] = {}
    key = ""
    for line in block.split("\n"):
        if key and (item := _ITEM.fullmatch(line)):
            found[key] = ", ".join(filter(None, (found[key], _unquoted(item["value"]))))
        elif field := _FIELD.fullmatch(line):
            key = field["key"].lower()
            found[key] = _value(field["value"] or "")
        elif line.strip() and not line.startswith((" ", "\t", "#")):
            return {}
    return found


def _value(written: str) -> str:
    written = written.strip()
    if written.startswith("[") and written.endswith("]"):
        return ", ".join(filter(None, map(_unquoted, written[1:-1].split(","))))
    return _unquoted(written)


def _unquoted(written: str) -> str:
    written = written.strip()
    if len(written) >= 2 and written[0] == written[-1] == '"':
        return _ESCAPE.sub(r"\1", written[1:-1])
    if len(written) >= 2 and written[0] == written[-1] == "'":
        return written[1:-1].replace("''", "'")
    return _COMMENT.sub("", written)


def _first(fields: dict[str, str], *keys: str) -> str | None:
    return next((value for key in keys if (value := one_line(fields.get(key)))), None)


def _first_heading(body: str) -> str | None:
    match = _HEADING.search(_FENCE.sub("", body))
    return _MARKUP.sub(lambda found: found[1] or "", match[1] or match[2]) if match else None

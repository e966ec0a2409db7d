"""Titles and excerpts as plain text: tags and entities out, on one line, of sensible length."""

import re
from html import unescape

_MOST_READ = 20_000
# A tag cannot hold another "<": no part of the text is looked at twice. "a < b" is no tag.
_TAG = re.compile(r"</?[A-Za-z!][^<>]{0,500}>")
_UNPRINTABLE = re.compile(r"[\x00-\x08\x0e-\x1f\x7f-\x84\x86-\x9f\u200b\u2060\ufeff\ud800-\udfff]")


def plain(value: object, most: int) -> str:
    """HTML as text: tags out, entities read. Empty for what is no text."""
    return one_line(unescape(_TAG.sub("", value[:_MOST_READ])), most) if isinstance(value, str) else ""


def one_line(value: object, most: int) -> str:
    """Text on one line, without what cannot be printed; cut at a word if it is longer than `most`."""
    if not isinstance(value, str):
        return ""
    line = " ".join(_UNPRINTABLE.sub("", value[:_MOST_READ]).split())
    if len(line) <= most:
        return line
    head = line[:most]
    return f"{head.rpartition(' ')[0] or head} …"

"""Titles and excerpts as plain text: tags and entities out, on one line, of sensible length."""

import re
from html import unescape

from deepwell.language import lines

_MOST_READ = 20_000
# A tag cannot hold another "<": no part of the text is looked at twice. "a < b" is no tag.
_TAG = re.compile(r"</?[A-Za-z!][^<>]{0,500}>")


def plain(value: object, most: int) -> str:
    """HTML as text: tags out, entities read. Empty for what is no text."""
    return one_line(unescape(_TAG.sub("", value[:_MOST_READ])), most) if isinstance(value, str) else ""


def one_line(value: object, most: int) -> str:
    """Text on one line, without what cannot be printed; cut at a word if it is longer than `most`."""
    return lines.one_line(value[:_MOST_READ], most) if isinstance(value, str) else ""

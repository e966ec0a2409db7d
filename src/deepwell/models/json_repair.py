"""Reads JSON out of whatever a model wrote: wrapped in talk, badly quoted, badly escaped or cut off in the middle.

Written by hand because the text is hostile: the libraries for this (json-repair 0.64) go back over what they have read
and take seconds for 100 kB of `{"{"{"`, or raise on deep nesting. This reader goes forward only, looks ahead by a
bounded number of characters, and stops at a depth. On valid JSON it gives what `json.loads` gives.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from heapq import nlargest
from typing import Final, TypeAlias

from deepwell.models.raw_text import printable

Json: TypeAlias = bool | int | float | str | list["Json"] | dict[str, "Json"] | None

DEEPEST: Final = 64
"""Brackets inside brackets; what is deeper is not read."""
MOST_VALUES: Final = 32
"""Values taken from one text, the longest ones."""


@dataclass(frozen=True, slots=True)
class Found:
    """An object or a list read from `text[start:end]`."""

    value: list[Json] | dict[str, Json]
    start: int
    end: int
    closed: bool
    """False when brackets or quotes were missing and had to be assumed."""


def values_in(text: str) -> tuple[Found, ...]:
    """The objects and lists in a text, in order; those written with one or more levels of escaping too."""
    for _ in range(3):
        found = list(found_in(text))
        escaped = _ESCAPED_OPENING.search(text)
        if escaped is None or any(one.start < escaped.start() < one.end for one in found):
            break
        text = _unescaped(text)
    if not all(one.closed for one in found):
        # A bracket that was left open in the talk before a fence must not swallow what the fence holds.
        found += [one for block in _FENCE.findall(text) for one in found_in(block)]
    found = [one for one in found if one.value]
    longest = nlargest(MOST_VALUES, found, key=lambda one: one.end - one.start)
    return tuple(sorted(longest, key=lambda one: one.start))


def found_in(text: str) -> Iterator[Found]:
    """Every object and list in the text that is not inside another, empty ones too."""
    at = 0
    while opening := _OPENING.search(text, at):
        reader = _Reader(text, opening.start())
        value = reader.value(_AFTER_ITEM)
        at = max(reader.at, opening.end())
        if isinstance(value, list | dict):
            yield Found(value, opening.start(), at, reader.closed)


# What a text is made of. All quantifiers are bounded or possessive: nothing here can be made to backtrack for long.

_CLOSERS: Final = {'"': '"', "'": "'", "“": "”", "‘": "’"}
_QUOTES = "[\"'“‘]"
_LITERAL = "true|false|null|none|nan|infinity|undefined"
_OPENING = re.compile(
    rf"\{{(?=\s*+(?:[}}{{/#]|{_QUOTES}|[A-Za-z_$][\w$-]{{0,60}}+\s{{0,9}}[:=]|\Z))"
    rf"|\[(?=\s*+(?:[\[\]{{/\d-]|{_QUOTES}|(?:{_LITERAL})\b|\Z))",
    re.IGNORECASE,
)
_ESCAPED_OPENING = re.compile(r'[{\[]\s*+\\+"')
_FENCE = re.compile(r"```(?:json|JSON)?\s*+([{\[](?:[^`]|`(?!``))*+)")
_BLANK = re.compile(r"(?:\s++|//[^\n]*+|/\*(?:[^*]|\*(?!/))*+(?:\*/)?|#[^\n]*+)*+")
_BETWEEN = re.compile(r"(?:[\s,]++|//[^\n]*+|/\*(?:[^*]|\*(?!/))*+(?:\*/)?|#[^\n]*+)*+")
_BARE_KEY = re.compile(r"[A-Za-z_$][\w$.-]{0,60}+(?=[\"']?\s{0,9}[:=])")
_COLON = re.compile(r"[\"']?\s*+(?::|=>?)")
_BREAK = re.compile(r"```|</")
_LOST_COMMA = r'"[^"\\\n]{1,60}+"\s{0,9}:'
_BARE = re.compile(rf"(?:[^\s,}}\]`<]|[^\S\n](?!//|/\*|\#\s|{_LOST_COMMA})|`(?!``)|<(?!/))*+")
_NUMBER = re.compile(r"[+-]?\d{1,300}(?P<fraction>\.\d{1,300})?(?P<power>[eE][+-]?\d{1,9})?")
_WORDS: Final = {"true": True, "false": False} | dict.fromkeys(
    ("null", "none", "nan", "undefined", "infinity", "-infinity", "inf", "-inf")
)
_STRETCH: Final = {
    opener: re.compile(rf"[^{closer}\\]*+(?:\\.?[^{closer}\\]*+)*+", re.DOTALL) for opener, closer in _CLOSERS.items()
}

# When a quote ends its string. Inside valid JSON a closing quote is always followed by one of these, so that the rules
# can only ever keep a quote that was not escaped inside its string, and never misread a string that is right.

_KEY_AHEAD = "|".join(
    rf"{opener}(?:[^{closer}\\]|\\.){{0,200}}+(?:{closer}\s*+(?:[:=]|\Z)|(?!{closer}))"
    for opener, closer in _CLOSERS.items()
)
_AFTER_FIELD = re.compile(
    rf"\s*+(?:\Z|\}}|//|/\*|```|</|{_LOST_COMMA}|,\s*+(?:\Z|[}}\],{{]|/[/*]|\#\s|{_KEY_AHEAD}|\w{{1,40}}+\"\s{{0,9}}:))",
    re.DOTALL,
)
_AFTER_BARE_FIELD = re.compile(rf"{_AFTER_FIELD.pattern}|\s*+,\s*+[A-Za-z_$][\w$-]{{0,60}}+\s{{0,9}}[:=]", re.DOTALL)
_AFTER_ITEM = re.compile(
    rf"\s*+(?:\Z|\]|//|/\*|```|</|,\s*+(?:\Z|[\[\]{{,\d-]|/[/*]|\#\s|{_QUOTES}|(?:{_LITERAL})\b))"
    rf"|[^\S\n]*+\n\s*+{_QUOTES}|\s++\"[^\"\\\n]{{0,200}}+\"\s*+[,\]]",
    re.IGNORECASE,
)
_END_OF_LIST = re.compile(r"\s*+,?\s*+\]")
_END_OF_OBJECT = re.compile(r"\s*+,?\s*+\}")
_NEXT_KEY = re.compile(r'"[\w -]{1,40}+"\s{0,9}:')
_BEFORE_KEY_REVERSED = re.compile(r"\s*+\{?\s*+,?\s*+(?P<closed>(?:[}\]]\s*+){0,3})")


class _Nothing:
    """There was no value where one was expected."""


_NOTHING: Final = _Nothing()


class _Reader:
    """Reads one value from a position on, and always moves forward."""

    def __init__(self, text: str, at: int) -> None:
        self.text, self.at = text, at
        self.closed = True
        self._lists = self._objects = 0

    def value(self, after: re.Pattern[str]) -> Json | _Nothing:
        """The value here. `after` says what follows the quote that ends a string in this place."""
        mark = self.text[self.at : self.at + 1]
        if mark in _CLOSERS:
            return self._string(after)
        if mark and mark in "{[":
            if self._lists + self._objects >= DEEPEST:
                self.at += 1
                return _NOTHING
            return self._object() if mark == "{" else self._list()
        return self._bare()

    def _object(self) -> dict[str, Json]:
        held: dict[str, Json] = {}
        self._objects += 1
        self.at += 1
        while not self._ends("}", broken_by="]" if self._lists else "", full=bool(held)):
            before = self.at
            self._field(held)
            self.at = max(self.at, before + 1)
        self._objects -= 1
        return held

    def _field(self, held: dict[str, Json]) -> None:
        """One key and its value; doubled braces, as in a template, are read as one pair."""
        if self.text[self.at] == "{":
            inner = self.value(_AFTER_FIELD)
            held.update(inner if isinstance(inner, dict) else {})
            return
        quoted = self.text[self.at] in _CLOSERS
        key = self._key()
        if key is None or not (colon := _COLON.match(self.text, self.at)):
            return
        self.at = self._end(_BLANK, colon.end())
        if self.at < len(self.text):
            value = self.value(_AFTER_FIELD if quoted else _AFTER_BARE_FIELD)
            held[key] = None if isinstance(value, _Nothing) else value

    def _key(self) -> str | None:
        if stretch := _STRETCH.get(self.text[self.at]):
            return self._taken(self.at + 1, self._end(stretch, self.at + 1))
        if bare := _BARE_KEY.match(self.text, self.at):
            self.at = bare.end()
            return bare.group()
        return None

    def _list(self) -> list[Json]:
        held: list[Json] = []
        self._lists += 1
        self.at += 1
        while not self._ends("]", broken_by="}" if self._objects else "", full=False) and not self._key_in_list():
            before = self.at
            value = self.value(_AFTER_ITEM)
            if not isinstance(value, _Nothing):
                held.append(value)
            self.at = max(self.at, before + 1)
        self._lists -= 1
        return held

    def _ends(self, closer: str, broken_by: str, *, full: bool) -> bool:
        """Whether the object or list is over: closed, or left open by what comes next."""
        self.at = self._end(_BETWEEN, self.at)
        mark = self.text[self.at : self.at + 1]
        if mark == closer:
            self.at += 1
            return True
        # A bracket where a key should be means that the closing one was forgotten.
        lost = not mark or mark == broken_by or (full and mark in "{[") or bool(_BREAK.match(self.text, self.at))
        self.closed = self.closed and not lost
        return lost

    def _key_in_list(self) -> bool:
        """Whether a key comes next: the list was left open, and the object around it goes on."""
        lost = self._objects > 0 and bool(_NEXT_KEY.match(self.text, self.at))
        self.closed = self.closed and not lost
        return lost

    def _string(self, after: re.Pattern[str]) -> str:
        opener, start = self.text[self.at], self.at + 1
        if self.text.startswith(opener * 3, self.at) and opener in "\"'":
            end = self.text.find(opener * 3, self.at + 3)
            end = len(self.text) if end < 0 else end
            return self._taken(self.at + 3, end, quotes=3)
        position = start
        while True:
            end = self._end(_STRETCH[opener], position)
            if end >= len(self.text) or self._closes(end + 1, after):
                return self._taken(start, end)
            if (forgotten := self._forgotten_quote(start, end, after)) is not None:
                return self._taken(start, forgotten, quotes=0)
            position = end + 1

    def _closes(self, position: int, after: re.Pattern[str]) -> bool:
        if after.match(self.text, position):
            return True
        if after is _AFTER_ITEM:
            return self._objects > 0 and bool(_END_OF_OBJECT.match(self.text, position))
        return self._lists > 0 and bool(_END_OF_LIST.match(self.text, position))

    def _forgotten_quote(self, start: int, quote: int, after: re.Pattern[str]) -> int | None:
        """Where the string really ends, when the quote at this place opens the next key."""
        if not _NEXT_KEY.match(self.text, quote):
            return None
        before = _BEFORE_KEY_REVERSED.match(self.text[max(start, quote - 64) : quote][::-1])
        if before is None or not ("," in before.group() or "\n" in before.group()):
            return None
        if after is _AFTER_ITEM and "]" not in before["closed"]:
            return None
        return quote - before.end()

    def _taken(self, start: int, end: int, quotes: int = 1) -> str:
        self.closed = self.closed and quotes > 0 and end < len(self.text)
        self.at = min(end + quotes, len(self.text))
        return printable(_unescaped(self.text[start:end]))

    def _bare(self) -> Json | _Nothing:
        """A number, a literal, or words that somebody forgot to quote."""
        start, self.at = self.at, self._end(_BARE, self.at)
        return _bare_value(self.text[start : self.at].strip())

    def _end(self, what: re.Pattern[str], start: int) -> int:
        """Where the longest stretch of this kind ends."""
        stretch = what.match(self.text, start)
        return stretch.end() if stretch else start


def _bare_value(word: str) -> Json | _Nothing:
    if not word.strip(".…"):
        return _NOTHING
    if word.lower() in _WORDS:
        return _WORDS[word.lower()]
    number = _NUMBER.fullmatch(word)
    if number is None:
        return printable(word)
    if not (number["fraction"] or number["power"]):
        return int(word)
    value = float(word)
    return None if value in (float("inf"), float("-inf")) else value


# Escapes

_ESCAPE = re.compile(r"\\(u[0-9a-fA-F]{4}|x[0-9a-fA-F]{2}|[bf](?![A-Za-z])|[nrt\"'/\\\n“”‘’]|(?:u[0-9a-fA-F]{0,3})?\Z)")
_ESCAPED: Final = {"n": "\n", "r": "\r", "t": "\t", "b": "", "f": ""}


def _unescaped(text: str) -> str:
    """The text that was escaped. A backslash that escapes nothing stays: it is LaTeX (`\\frac`) or a path."""
    return _ESCAPE.sub(_escaped_character, text) if "\\" in text else text


def _escaped_character(escape: re.Match[str]) -> str:
    code = escape[1]
    if len(code) in (3, 5) and code[0] in "ux":
        return chr(int(code[1:], 16))
    # What is left of an escape that was cut off is no text.
    return _ESCAPED.get(code, code if len(code) == 1 and not code.isalnum() else "")

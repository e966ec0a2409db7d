"""Names in a text, found by their capitals and quotation marks, with exact offsets."""

import re
from collections.abc import Collection
from dataclasses import dataclass

from deepwell.language.stems import fold
from deepwell.language.words import STOPWORDS

QUESTION_WORDS = frozenset(
    """
    according answer article articles aspect called compare compared comparing comparison considering consistent
    consistency contrast describe described describing detail detailed detailing difference differ different discuss
    discussed discussing discusses explain find give given highlight highlighted highlighting identify inconsistency
    indicate indicates information kind list mention mentioned mentions name named individual note noted notes person
    piece portrayal portray portrayed provide publication published question regarding related report reported reporting
    reports respectively said say says show shown source sources specific specifically state stated states statement
    suggest suggested suggesting suggests summarise summarize tell thing things term type versus vs
    """.split()
)
"""Words a question is made of rather than about: they steer no search, and no passage need hold them."""

_NOT_A_NAME = STOPWORDS | QUESTION_WORDS | frozenset(("yes", "later", "earlier", "meanwhile", "today", "following"))
_WORD = re.compile(r"[^\W_]+(?:['’][^\W\d_]+)*")
_CAPITAL = "A-Z" + "".join(filter(str.isupper, map(chr, (*range(0xC0, 0x590), *range(0x1E00, 0x2000)))))
_CAPITALISED = rf"(?:[A-Z]\.(?:[A-Z]\.)*|(?:[dDlL]['’]|O['’]|Mc|Mac)?[{_CAPITAL}][\w&]*(?:[-‐'’.][^\W_]\w*)*)"
# No more than a dozen commas and points: a list of numbers without spaces is read from each of them only so far.
_FIGURE = r"\d\w*+(?:[,.]++\w++){0,12}+"
_LINK = r"(?:of|the|de|da|di|del|della|der|den|van|von|du|la|le|el|al|bin|ibn|y|e|for|in|on|and|&|at|to|a|à)"
_GAP = r"[ \t\u00a0]+"
_NAME = re.compile(
    rf"(?<!\w)(?:{_FIGURE}{_GAP})?{_CAPITALISED}(?:(?:{_GAP}{_LINK}){{0,2}}{_GAP}{_CAPITALISED}|{_GAP}{_FIGURE}\b)*"
)
_QUOTED = re.compile(r"[\"“]([^\"“”\n]{2,120})[\"”]|(?<!\w)['‘]([^'‘’\n]{2,120}?)['’](?!\w)")
# Such a link joins two names as often as it sits inside one: only quotation marks keep those whole.
_PUBLISHER_TAIL = re.compile(r" [-–|] |: ")
_WEAK_LINK = re.compile(r"(?<!\s)\s++(?:and|in|on|at|to|for|a|&)\s++(?:the\s++)?")
_BETWEEN_SMALL_WORDS = re.compile(r"[ .,-]*+")
_TAIL = re.compile(r"['’]s$|(?<![.,'’])[.,'’]++$")


@dataclass(frozen=True, slots=True)
class Span:
    """A piece of a text: `text[start:end] == span.text`."""

    start: int
    end: int
    text: str


def names(text: str, small: Collection[str] = ()) -> list[Span]:
    """Capitalised names in order; none begins with a small word of English, or with one of these."""
    found: list[Span] = []
    for match in _NAME.finditer(text):
        position = match.start()
        for piece in _WEAK_LINK.split(match.group()):
            start = text.index(piece, position)
            position = start + len(piece)
            found += _trimmed(text, start, position, small)
    return found


def quoted(text: str) -> list[Span]:
    """What stands in quotation marks, without them."""
    found = []
    for match in _QUOTED.finditer(text):
        group = 1 if match.group(1) else 2
        inside = match.group(group)
        start = match.start(group) + len(inside) - len(inside.lstrip(" ,."))
        kept = inside.strip(" ,.")
        if kept:
            found.append(Span(start, start + len(kept), kept))
    return found


def publisher_names(publisher: str) -> tuple[str, str]:
    """A publisher's whole name, and the part of it before ` - `, ` | ` or `: ` by which texts call it."""
    return publisher, _PUBLISHER_TAIL.split(publisher)[0].strip()


def _trimmed(text: str, start: int, end: int, small: Collection[str]) -> list[Span]:
    """Without leading small words (`The`, `Which`), a final possessive, and bare figures."""
    while (first := _WORD.match(text, start)) and first.end() <= end and _is_small(fold(first.group()), small):
        gap = _BETWEEN_SMALL_WORDS.match(text, first.end(), end)
        start = gap.end() if gap else end
    tidy = _TAIL.sub("", text[start:end])
    # Scripts without capitals have no names that could be told from other words.
    if len(tidy) < 2 or not any(c.isupper() for c in tidy) or not (tidy[0].isupper() or tidy[0].isdigit()):
        return []
    return [Span(start, start + len(tidy), tidy)]


def _is_small(word: str, small: Collection[str]) -> bool:
    return word in _NOT_A_NAME or word in small

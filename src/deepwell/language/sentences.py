"""Sentences of a text with exact offsets: `text[start:end]` is the sentence, white space trimmed."""

import re
from collections.abc import Iterator

# Never the last word of a sentence: a name or a number follows.
_TITLES = frozenset(
    """
    adm approx art assn ave bros capt cf cmdr col cpl dept dr e.g ed eds eg est fr ft gen gov hon i.e ie lt maj messrs
    mr mrs ms mt mx pres prof rep rev sen sgt sra st supt univ viz vs
    """.split()
)
# An abbreviation only before a number: "No. 5" goes on, "He said no. Then he left." does not.
_BEFORE_NUMBERS = frozenset(
    """
    apr aug c ca ch dec eq feb fig figs jan jul jun mar no nos nov oct p pg pp pt sec sep sept vol
    """.split()
)
# May stand in the middle or at the end: the next word decides.
_EITHER = frozenset(
    """
    a.d a.m al b.c co corp d.c etc inc jr ltd p.m ph.d plc sr u.k u.n u.s v
    """.split()
)
_STARTERS = frozenset(
    """
    a after all although an and another any as at because before both but by despite during each every few finally first
    for from furthermore he her here his how however i if in instead it its last later many meanwhile more moreover most
    my nevertheless next no not now of on once one only or our since so some soon still such that the their then there
    therefore these they this those though thus to today two under unlike until we what when where which while who why
    with yet you your
    """.split()
)

_CLOSERS = "\"'”’»)\\]*_"
# Possessive, and only at the start of a run: a megabyte of question marks costs no more than a megabyte of prose.
_END = re.compile(
    rf"""
      ^\#{{1,6}}[ \t][^\n]*+
    | ^[-=*_~]{{3,}}+[ \t]*+$
    | (?<![.!?…])(?P<stop>[.!?…]++)[{_CLOSERS}]*+(?:\[\d{{1,4}}\])*+(?=\s|\Z)
    | [。！？｡]+[」』”’）】〉》]*
    | \n(?=[ \t]*(?:\n|[-*+•‣–][ \t]|\d{{1,3}}[.)][ \t]|\#{{1,6}}[ \t]|\||[-=*_~]{{3,}}+[ \t]*+$))
    """,
    re.MULTILINE | re.VERBOSE,
)
_ENDED = re.compile(rf"[.!?…。！？｡|:][{_CLOSERS}」』）]*(?:\s*\[\d{{1,4}}\])*\s*\Z")
_NEXT_WORD = re.compile(r"[\s\"'“‘«(\[*_]*+([^\W_]++)")
_LAST_TOKEN = re.compile(r"[^\s(\[\"“‘«*_/—]+\Z")
_MARKER = re.compile(r"^[ \t]*\d{1,3}\Z", re.MULTILINE)
_INITIALS = re.compile(r"(?:[^\W\d_]\.)*[^\W\d_]")


def sentences(text: str) -> Iterator[tuple[int, int]]:
    """Start and end of every sentence in order; headings, list items and table rows count as one each."""
    start = 0
    for match in _END.finditer(text):
        if match["stop"] and _goes_on(text, match):
            continue
        yield from _trimmed(text, start, match.end())
        start = match.end()
    yield from _trimmed(text, start, len(text))


def _trimmed(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    while start < end and text[start].isspace():
        start += 1
    while end > start and text[end - 1].isspace():
        end -= 1
    if start < end:
        yield start, end


def _goes_on(text: str, match: re.Match[str]) -> bool:
    """Whether the stop stands inside a sentence: before a small letter, after an abbreviation or an initial."""
    following = _NEXT_WORD.match(text, match.end())
    if following is None:
        return False
    word = following[1]
    return word[0].islower() or (match["stop"] == "." and _is_abbreviation(text, match.start(), word))


def _is_abbreviation(text: str, stop: int, following: str) -> bool:
    # A few dozen characters hold any abbreviation, and keep a text without spaces from costing its square.
    window = text[max(0, stop - 24) : stop]
    token = _LAST_TOKEN.search(window)
    if token is None:
        return False
    word = token.group().lower()
    if word in _TITLES or _MARKER.search(window):
        return True
    if word in _BEFORE_NUMBERS and following[0].isdigit():
        return True
    return (word in _EITHER or bool(_INITIALS.fullmatch(word))) and following.lower() not in _STARTERS


def whole_sentences(text: str) -> str:
    """The text without a last sentence that breaks off; a text that has no whole one stays as it is."""
    spans = list(sentences(text))
    if not spans or _ENDED.search(text, 0, spans[-1][1]):
        return text
    return text[: spans[-2][1]].rstrip() if len(spans) > 1 else text

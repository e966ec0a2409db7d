"""Where sources give the same or another number for the same thing."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain, combinations, islice

from deepwell.language.stems import fold, stem, stems
from deepwell.language.words import STOPWORDS
from deepwell.vocabulary.report import NumberedEvidence

NEAR = 4
"""Words on each side of a number that say what it is about."""
SHARED = 2
"""Words near two numbers that must be the same for them to be about one thing."""
MOST_FIGURES = 40
"""Numbers taken from one claim: what has more is no sentence."""
MOST_NEAR = 24
"""Stems near a number: words may be glued together with signs."""
REACH = 1000
"""Characters on each side of a number in which the words near it are looked for."""

_SMALL = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen "
    "eighteen nineteen twenty"
).split()
_TENS = "thirty forty fifty sixty seventy eighty ninety hundred".split()
NUMBER_WORDS = {word: float(i) for i, word in enumerate(_SMALL)} | {
    word: float(30 + 10 * i) for i, word in enumerate(_TENS)
}
_FIGURE = re.compile(
    r"(?<![\w.,/-])(?P<figure>\d+(?:,\d{3})*(?:\.\d+)?)(?![\w/-])"
    r"(?P<scale>\s(?:thousand|million|billion))?(?P<era>\s?(?:BC|BCE)\b)?(?P<percent>\s?(?:%|percent\b|per cent\b))?"
    r"(?:\s+(?P<thing>[^\W\d_][\w-]*))?"
)
_WORDED = re.compile(rf"\b(?P<figure>{'|'.join(NUMBER_WORDS)})\s+(?P<thing>[^\W\d_][\w-]*)", re.IGNORECASE)
_SCALES = {"thousand": 1e3, "million": 1e6, "billion": 1e9}
_YEAR = re.compile(r"1[0-9]\d\d|20\d\d")
_DAY_OF_MONTH = re.compile(
    r"(?:January|February|March|April|May|June|July|August|September|October|November|December)$"
)
_FURNITURE = STOPWORDS | frozenset(("th", "st", "nd", "rd", "bc", "bce", "ad", "ce", "about", "around"))


@dataclass(frozen=True, slots=True)
class Figure:
    """A number, what it counts, and the words around it."""

    thing: str
    """What is counted, or `year`, `year BC`, `percent`."""
    value: float
    shown: str
    near: frozenset[str]
    called: str = ""
    """What is counted, as it is written."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """What several sources give for one thing, value by value."""

    thing: str
    values: tuple[tuple[str, tuple[NumberedEvidence, ...]], ...]

    @property
    def agrees(self) -> bool:
        """True when all give the same value."""
        return len(self.values) == 1


@dataclass(frozen=True, slots=True)
class _Stated:
    figure: Figure
    item: NumberedEvidence


def comparisons(evidence: Sequence[NumberedEvidence]) -> list[Comparison]:
    """Things that at least two sources put a number to; differences first."""
    by_thing: dict[str, list[_Stated]] = {}
    for item in evidence:
        for figure in figures(item.evidence.claim):
            by_thing.setdefault(figure.thing, []).append(_Stated(figure, item))
    found = [_comparison(thing, stated) for thing, stated in by_thing.items()]
    return sorted((c for c in found if c), key=lambda c: (c.agrees, c.thing))


@lru_cache(maxsize=4096)
def figures(sentence: str) -> tuple[Figure, ...]:
    """Numbers with what they count: `30 gears`, `150 BC`, `eight tonnes`, `1901`."""
    return tuple(islice(chain(_in_digits(sentence), _in_words(sentence)), MOST_FIGURES))


def _in_digits(sentence: str) -> Iterator[Figure]:
    return (figure for match in _FIGURE.finditer(sentence) if (figure := _figure(match)))


def _in_words(sentence: str) -> Iterator[Figure]:
    for match in _WORDED.finditer(sentence):
        thing = fold(match["thing"])
        if thing not in _FURNITURE and thing not in NUMBER_WORDS:
            value = NUMBER_WORDS[match["figure"].lower()]
            yield Figure(_counted(thing), value, match.group(), _near(match), thing)


def _figure(match: re.Match[str]) -> Figure | None:
    value = float(match["figure"].replace(",", "")) * _SCALES.get((match["scale"] or "").strip(), 1.0)
    thing = fold(match["thing"] or "")
    shown = match.group().strip()
    if match["percent"]:
        return Figure("percent", value, shown, _near(match))
    if match["era"]:
        return Figure("year BC", value, f"{match['figure']} BC", _near(match))
    if not match["scale"] and _YEAR.fullmatch(match["figure"]):
        return Figure("year", value, match["figure"], _near(match))
    if not thing or thing in _FURNITURE or _DAY_OF_MONTH.match(match["thing"]):
        return None
    return Figure(_counted(thing), value, shown, _near(match), thing)


def _counted(thing: str) -> str:
    """`gears` and `gear` are one thing; `fifteen years` is not the year fifteen."""
    counted = stem(thing)
    return f"{counted}s" if counted in ("year", "percent") else counted


def _near(match: re.Match[str]) -> frozenset[str]:
    start, end = match.start(), match.end("figure")
    before = match.string[max(0, start - REACH) : start].split()[-NEAR:]
    after = match.string[match.start("figure") : end + REACH].split()[1 : NEAR + 1]
    words = stems(" ".join((*before, *after)))
    telling = (word for word in words if word not in _FURNITURE and not word[0].isdigit())
    return frozenset(islice(telling, MOST_NEAR))


def _comparison(thing: str, stated: Sequence[_Stated]) -> Comparison | None:
    """Only numbers that are about the same are set against each other."""
    told_by: dict[tuple[str, ...], set[tuple[int, ...]]] = {}
    for one in stated:
        for words in _shareable(one):
            told_by.setdefault(words, set()).add(one.item.source_ids)
    related = [one for one in stated if any(_is_told_elsewhere(one, told_by[words]) for words in _shareable(one))]
    values: dict[float, tuple[str, dict[NumberedEvidence, None]]] = {}
    for one in related:
        _, items = values.setdefault(one.figure.value, (one.figure.shown, {}))
        items[one.item] = None
    if not values:
        return None
    called = related[0].figure.called or thing
    return Comparison(called, tuple((shown, tuple(items)) for shown, items in values.values()))


def _shareable(one: _Stated) -> Iterator[tuple[str, ...]]:
    # What is counted is itself one of the words near a number; a bare year has none of its own.
    return combinations(sorted(one.figure.near), SHARED)


def _is_told_elsewhere(one: _Stated, told_by: Iterable[tuple[int, ...]]) -> bool:
    own = frozenset(one.item.source_ids)
    return any(own.isdisjoint(other) for other in told_by)

"""Where sources give the same or another number for the same thing."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from deepwell.language.stems import fold, stem, stems
from deepwell.language.words import STOPWORDS
from deepwell.vocabulary.report import NumberedEvidence

NEAR = 4
"""Words on each side of a number that say what it is about."""
SHARED = 2
"""Words near two numbers that must be the same for them to be about one thing."""

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


def figures(sentence: str) -> list[Figure]:
    """Numbers with what they count: `30 gears`, `150 BC`, `eight tonnes`, `1901`."""
    found = [figure for match in _FIGURE.finditer(sentence) if (figure := _figure(match))]
    for match in _WORDED.finditer(sentence):
        thing = fold(match["thing"])
        if thing not in _FURNITURE and thing not in NUMBER_WORDS:
            value = NUMBER_WORDS[match["figure"].lower()]
            found.append(Figure(_counted(thing), value, match.group(), _near(match), thing))
    return found


def _figure(match: re.Match[str]) -> Figure | None:
    value = float(match["figure"].replace(",", "")) * _SCALES.get((match["scale"] or "").strip(), 1.0)
    thing = fold(match["thing"] or "")
    near, shown = _near(match), match.group().strip()
    if match["percent"]:
        return Figure("percent", value, shown, near)
    if match["era"]:
        return Figure("year BC", value, f"{match['figure']} BC", near)
    if not match["scale"] and _YEAR.fullmatch(match["figure"]):
        return Figure("year", value, match["figure"], near)
    if not thing or thing in _FURNITURE or _DAY_OF_MONTH.match(match["thing"]):
        return None
    return Figure(_counted(thing), value, shown, near, thing)


def _counted(thing: str) -> str:
    """`gears` and `gear` are one thing; `fifteen years` is not the year fifteen."""
    counted = stem(thing)
    return f"{counted}s" if counted in ("year", "percent") else counted


def _near(match: re.Match[str]) -> frozenset[str]:
    before = match.string[: match.start()].split()[-NEAR:]
    after = match.string[match.start("figure") :].split()[1 : NEAR + 1]
    words = stems(" ".join((*before, *after)))
    return frozenset(word for word in words if word not in _FURNITURE and not word[0].isdigit())


def _comparison(thing: str, stated: Sequence[_Stated]) -> Comparison | None:
    """Only numbers that are about the same are set against each other."""
    related = [one for one in stated if any(_related(one, other) for other in stated)]
    values: dict[float, tuple[str, list[NumberedEvidence]]] = {}
    for one in related:
        _, items = values.setdefault(one.figure.value, (one.figure.shown, []))
        if one.item not in items:
            items.append(one.item)
    if not values:
        return None
    called = related[0].figure.called or thing
    return Comparison(called, tuple((shown, tuple(items)) for shown, items in values.values()))


def _related(one: _Stated, other: _Stated) -> bool:
    if set(one.item.source_ids) & set(other.item.source_ids):
        return False
    # What is counted is itself one of the words near a number; a bare year has none of its own.
    return len(one.figure.near & other.figure.near) >= SHARED

"""Numbers and dates of a sentence as values, so that `4.2 million` and `4,200,000` are the same."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from typing import Literal

from deepwell.language.figures import MONTHS, days
from deepwell.language.words import STOPWORDS
from deepwell.vocabulary.comparison import Spot

_ONES = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen "
    "eighteen nineteen"
).split()
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety".split()
_WORDS = {word: i for i, word in enumerate(_ONES)} | {word: 20 + 10 * i for i, word in enumerate(_TENS)}
_SCALES = {"hundred": 100, "thousand": 10**3, "million": 10**6, "billion": 10**9, "trillion": 10**12}
NUMBER_WORDS = frozenset((*_WORDS, *_SCALES))
"""Words that are numbers or parts of one."""
_SHORT_SCALES = {"k": 10**3, "m": 10**6, "mn": 10**6, "bn": 10**9, "tn": 10**12}
_ORDINALS = "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth".split()
_ORDINALS += [f"{word}th" for word in ("thirteen fourteen fifteen sixteen seventeen eighteen nineteen".split())]
_ORDINALS += ["twentieth"]
_UNITS = {
    "mm": ("millimetre", "millimeter"),
    "cm": ("centimetre", "centimeter"),
    "m": ("metre", "meter"),
    "km": ("kilometre", "kilometer"),
    "mi": ("mile",),
    "ft": ("foot", "feet"),
    "g": ("gram", "gramme"),
    "kg": ("kilogram", "kilogramme"),
    "t": ("tonne", "ton"),
    "lb": ("pound", "lbs"),
    "ms": ("millisecond",),
    "s": ("second", "sec"),
    "min": ("minute",),
    "h": ("hour", "hr"),
    "day": ("days",),
    "week": ("weeks",),
    "month": ("months",),
    "year": ("years",),
    "°c": ("celsius",),
    "°f": ("fahrenheit",),
    "usd": ("dollar",),
    "eur": ("euro",),
    "w": ("watt",),
    "kw": ("kilowatt",),
    "mw": ("megawatt",),
    "gw": ("gigawatt",),
}
_UNIT_OF = {form: unit for unit, forms in _UNITS.items() for one in (unit, *forms) for form in (one, f"{one}s")}
_SIGNS = {"$": "usd", "€": "eur", "£": "gbp", "¥": "jpy"}

_MONTH = "(?P<month>" + "|".join(f"{month}|{month[:3]}\\.?" for month in MONTHS) + "|Sept\\.?)"
_MONTH_DATES = (
    re.compile(rf"\b{_MONTH}\s+(?P<year>\d{{4}})\b"),
    re.compile(rf"\b{_MONTH}\s+(?P<day>\d{{1,2}})(?:st|nd|rd|th)?\b(?!,?\s+\d)"),
    re.compile(rf"\b(?P<day>\d{{1,2}})(?:st|nd|rd|th)?\s+{_MONTH}(?!\w|,?\s+\d)"),
)
_BARE = re.compile(
    # `May` and `March` are as often other words.
    rf"\b(?:(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day|{'|'.join(sorted(set(MONTHS) - {'March', 'May'}))})\b"
)
_ERA = r"(?P<era>BCE?|B\.C\.(?:E\.)?|AD|A\.D\.|CE|C\.E\.)(?!\w)"
_CENTURY = re.compile(
    rf"(?<!\w)(?:(?P<digits>\d{{1,2}})(?:st|nd|rd|th)|(?P<word>{'|'.join(_ORDINALS)}))[\s-]+"
    rf"(?:century|centuries)(?:\s+{_ERA})?",
    re.IGNORECASE,
)
_DIGITS = re.compile(
    # A hyphen is a minus only where a number begins; in `10-20` and `GPT-4` it joins.
    r"(?:(?<![\w.,)-])(?P<minus>[-−])(?=[$€£¥]?\d))?(?P<sign>[$€£¥])?(?<![\w.])(?P<number>\d+(?:[.,\u202f\u00a0]\d+)*)"
    r"(?:(?P<decade>s)\b|(?P<ordinal>st|nd|rd|th)\b|\s?(?P<percent>%)|(?P<points>\s(?:percentage points?))|"
    r"(?P<per_cent>\s(?:percent|per cent)\b)|\s?(?P<short>k|m|mn|bn|tn)\b|"
    rf"\s(?P<scale>{'|'.join(_SCALES)})s?\b|)"
    rf"(?:\s?{_ERA})?(?:[\s-]?(?P<unit>[^\W\d_]+|°\s?[CF])\b)?"
)
_WORDED = re.compile(
    rf"\b(?:{'|'.join((*_WORDS, 'hundred'))})"
    rf"(?:(?:[\s-]|\sand\s)(?:{'|'.join((*_WORDS, *_SCALES))})){{0,9}}\b"
    r"(?:[\s-](?P<after>percent|per cent|[^\W\d_]+))?",
    re.IGNORECASE,
)
_YEAR = re.compile(r"1\d{3}|20\d{2}")
_BEFORE_A_YEAR = re.compile(r"\b(?:in|since|until|during|year|after|before)\s$", re.IGNORECASE)

Key = tuple[str, str]
"""Unit and value; equal keys are the same amount however they are written."""


@dataclass(frozen=True, slots=True)
class Amount:
    """A number or a date of a sentence."""

    kind: Literal["number", "date"]
    key: Key
    spot: Spot
    is_loose: bool = False
    """True for `one`, which is as often a pronoun: it counts only against another number."""


def amounts(text: str) -> list[Amount]:
    """Every number and date of a sentence, in order; a number inside a date is part of the date."""
    found: list[Amount] = []
    taken: list[tuple[int, int]] = []
    for reader in (_days, _months, _centuries, _bare, _digits, _worded):
        fresh = [one for one in reader(text) if all(one.spot.end <= s or one.spot.start >= e for s, e in taken)]
        found += fresh
        taken += [(one.spot.start, one.spot.end) for one in fresh]
    return sorted(found, key=lambda one: one.spot.start)


def _days(text: str) -> Iterator[Amount]:
    for day in days(text):
        yield Amount("date", ("date", day.iso), _spot(text, day.start, day.end))


def _months(text: str) -> Iterator[Amount]:
    for pattern in _MONTH_DATES:
        for match in pattern.finditer(text):
            parts = match.groupdict()
            value = f"{parts.get('year') or ''}-{match['month'][:3].lower()}-{(parts.get('day') or '').lstrip('0')}"
            yield Amount("date", ("date", value), _spot(text, *match.span()))


def _bare(text: str) -> Iterator[Amount]:
    """Weekdays, and months without a day or a year."""
    for match in _BARE.finditer(text):
        unit = "weekday" if match.group().endswith("day") else "month"
        yield Amount("date", (unit, match.group()), _spot(text, *match.span()))


def _centuries(text: str) -> Iterator[Amount]:
    for match in _CENTURY.finditer(text):
        number = int(match["digits"]) if match["digits"] else _ORDINALS.index(match["word"].lower()) + 1
        yield Amount("date", (f"century{_era(match)}", str(number)), _spot(text, *match.span()))


def _digits(text: str) -> Iterator[Amount]:
    for match in _DIGITS.finditer(text):
        unit = _unit(match)
        end = match.end("unit") if unit and unit == _measure(match["unit"] or "") else _end_of_number(match)
        value = _scaled(_value(match["number"]), match)
        is_date = unit.startswith(("decade", "era")) or (not unit and _is_year(match))
        minus = "-" if match["minus"] else ""
        yield Amount("date" if is_date else "number", (unit, f"{minus}{value}"), _spot(text, match.start(), end))


def _is_year(match: re.Match[str]) -> bool:
    """`in 2019 sales rose` has a year, `rose to 2019 units` has none."""
    if match["scale"] or not _YEAR.fullmatch(match["number"]):
        return False
    thing = match["unit"] or ""
    return not thing.islower() or thing in STOPWORDS or bool(_BEFORE_A_YEAR.search(match.string[: match.start()]))


def _worded(text: str) -> Iterator[Amount]:
    for match in _WORDED.finditer(text):
        unit = _measure(match["after"] or "")
        end = match.end() if unit or not match["after"] else match.start("after") - 1
        said = text[match.start() : match.start("after") - 1 if match["after"] else end]
        value = _plain(Decimal(_word_value(said)))
        yield Amount("number", (unit, value), _spot(text, match.start(), end), said.lower() == "one")


def _word_value(said: str) -> int:
    """`two hundred and five thousand` is 205,000."""
    total = group = 0
    for word in re.findall(r"[a-z]+", said.lower()):
        if word == "hundred":
            group = max(group, 1) * 100
        elif word in _SCALES:
            total, group = total + max(group, 1) * _SCALES[word], 0
        else:
            group += _WORDS.get(word, 0)
    return total + group


def _unit(match: re.Match[str]) -> str:
    """What makes the same figure another amount: percent, currency, era, a unit of measure."""
    if match["percent"] or match["per_cent"]:
        return "percent"
    if match["era"]:
        return f"era{_era(match)}"
    if match["decade"]:
        return "decade"
    if match["ordinal"]:
        return "ordinal"
    if match["sign"]:
        return _SIGNS[match["sign"]]
    if match["short"] and not _is_scale(match):
        return _UNIT_OF.get(match["short"], match["short"])
    return "points" if match["points"] else _measure(match["unit"] or "")


def _end_of_number(match: re.Match[str]) -> int:
    named = ("number", "decade", "ordinal", "percent", "points", "per_cent", "short", "scale", "era")
    return max(match.end(name) for name in named)


def _measure(word: str) -> str:
    said = word.replace(" ", "").lower()
    return "percent" if said == "percent" else _UNIT_OF.get(said, "")


def _era(match: re.Match[str]) -> str:
    """`BC` and `BCE` are one; `AD` is what is meant without it."""
    return " bc" if match["era"] and match["era"].upper().startswith("B") else ""


def _scaled(value: Decimal | None, match: re.Match[str]) -> str:
    if value is None:
        return match["number"]
    scale = _SCALES.get(match["scale"] or "", 1)
    if match["short"] and _is_scale(match):
        scale = _SHORT_SCALES[match["short"]]
    return _plain(value * scale)


def _is_scale(match: re.Match[str]) -> bool:
    """`3 m` is a length, `$3m` is money."""
    return bool(match["sign"]) or match["short"] in ("mn", "bn", "tn")


def _value(number: str) -> Decimal | None:
    """Thousands in groups of three, one decimal point or comma; None for what is no number, such as `1.2.3`."""
    marks = re.findall(r"[.,]", plain := re.sub("[\u202f\u00a0]", "", number))
    if not marks:
        return Decimal(plain)
    *groups, last = re.split(r"[.,]", plain)
    one_kind = len(set(marks)) == 1
    if all(len(group) == 3 for group in (*groups[1:], last)) and one_kind and (marks[0] == "," or len(marks) > 1):
        return Decimal("".join((*groups, last)))
    if len(marks) == 1 or (not one_kind and marks[-1] not in marks[:-1]):
        return Decimal(f"{''.join(groups)}.{last}")
    return None


def _plain(value: Decimal) -> str:
    """The same text for equal values: 4.20, 4.2 and 42e-1."""
    return f"{value.normalize():f}" if value else "0"


def _spot(text: str, start: int, end: int) -> Spot:
    return Spot(start, end, text[start:end])

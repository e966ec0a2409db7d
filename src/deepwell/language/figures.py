"""Numbers and calendar days in a text."""

import re
from dataclasses import dataclass

from deepwell.language.names import Span

MONTHS = (
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
)
_MONTH = "(?:" + "|".join(f"{month}|{month[:3]}\\.?" for month in MONTHS) + "|Sept\\.?)"
_NUMBER = re.compile(
    r"(?<![\w.])[$€£¥]?\d+(?:[,\u202f]\d{3})*(?:\.\d+)?(?:st|nd|rd|th)?"
    r"(?:\s?%|\s(?:percent|per cent|thousand|million|billion|trillion)\b)?(?!\w)"
)
_DAYS = (
    re.compile(r"\b(?P<y>\d{4})-(?P<m>\d{2})-(?P<d>\d{2})\b"),
    re.compile(rf"\b(?P<m>{_MONTH})\s+(?P<d>\d{{1,2}})(?:st|nd|rd|th)?,?\s+(?P<y>\d{{4}})\b"),
    re.compile(rf"\b(?P<d>\d{{1,2}})(?:st|nd|rd|th)?\s+(?P<m>{_MONTH}),?\s+(?P<y>\d{{4}})\b"),
)


@dataclass(frozen=True, slots=True)
class Day:
    """A calendar day met in a text, as ISO text."""

    start: int
    end: int
    iso: str


def numbers(text: str) -> list[Span]:
    """Figures with their sign, unit word or percent, as written."""
    return [Span(match.start(), match.end(), match.group()) for match in _NUMBER.finditer(text)]


def days(text: str) -> list[Day]:
    """Full dates: 2023-10-07, October 7, 2023, 7 October 2023, Oct. 7 2023."""
    found = [_day(match) for pattern in _DAYS for match in pattern.finditer(text)]
    return sorted((day for day in found if day), key=lambda day: day.start)


def _day(match: re.Match[str]) -> Day | None:
    month, day = _month_number(match["m"]), int(match["d"])
    if not (1 <= month <= 12 and 1 <= day <= 31):
        return None
    return Day(match.start(), match.end(), f"{match['y']}-{month:02d}-{day:02d}")


def _month_number(month: str) -> int:
    if month.isdigit():
        return int(month)
    return next(i for i, name in enumerate(MONTHS, start=1) if name[:3].lower() == month[:3].lower())

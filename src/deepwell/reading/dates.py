"""Dates as documents write them, as ISO strings."""

import re
from datetime import date

MONTHS = tuple("January February March April May June July August September October November December".split())

_BY_NAME = {name[:3].lower(): number for number, name in enumerate(MONTHS, start=1)}
_MONTH = r"(?P<month>jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\.?"
_PATTERNS = tuple(
    re.compile(pattern, re.IGNORECASE | re.ASCII)
    for pattern in (
        r"(?:D:)?(?P<year>\d{4})[-/.]?(?P<month>\d{2})[-/.]?(?P<day>\d{2})(?!\d{1,3}(?!\d))",
        r"(?P<year>\d{4})-(?P<month>\d{1,2})(?:-(?P<day>\d{1,2}))?(?!\d)",
        rf".*?\b{_MONTH}\s+(?P<day>\d{{1,2}})(?:st|nd|rd|th)?,?\s+(?P<year>\d{{4}})\b",
        rf".*?\b(?P<day>\d{{1,2}})(?:st|nd|rd|th)?\.?\s+{_MONTH},?\s+(?P<year>\d{{4}})\b",
        rf"{_MONTH},?\s+(?P<year>\d{{4}})$",
        r"(?P<year>[12]\d{3})$",
    )
)


def iso_date(text: str | None) -> str | None:
    """2023-10-07, 2023-10 or 2023, as much as the text says; None when it is no date."""
    written = (text or "").strip()[:80]
    for pattern in _PATTERNS:
        match = pattern.match(written)
        if match and (found := _checked(match.groupdict())):
            return found
    return None


def spoken_date(iso: str) -> str:
    """2023-10-07 as "October 7, 2023"; less exact dates with what they have."""
    year, *rest = iso.split("-")
    match rest:
        case [month, day]:
            return f"{MONTHS[int(month) - 1]} {int(day)}, {year}"
        case [month]:
            return f"{MONTHS[int(month) - 1]} {year}"
        case _:
            return year


def _checked(parts: dict[str, str | None]) -> str | None:
    year, month, day = parts["year"], parts.get("month"), parts.get("day")
    if year is None or month is None:
        return year
    number = _BY_NAME.get(month[:3].lower()) or int(month)
    try:
        exact = date(int(year), number, int(day or 1))
    except ValueError:
        return None
    return exact.isoformat() if day else f"{exact.year:04}-{exact.month:02}"

"""Where and when a search may look: dates, sites, language, region."""

import calendar
import re
from dataclasses import dataclass, fields
from datetime import date
from urllib.parse import urlsplit

from deepwell.errors import BadRequest
from deepwell.vocabulary.hosts import ascii_host

_CODE = re.compile(r"[a-z]{2}", re.ASCII)
_DATE = re.compile(r"(\d{4})(?:-(\d{1,2})(?:-(\d{1,2}))?)?", re.ASCII)
_SITE = re.compile(r"(?=.{1,253}\Z)[a-z0-9-]{1,63}(?:\.[a-z0-9-]{1,63}){1,10}", re.ASCII)


@dataclass(frozen=True, slots=True)
class Scope:
    """What a search is limited to. An engine that cannot hold to a limit leaves it to `admits`."""

    since: date | None = None
    """Published on this day or later."""
    until: date | None = None
    """Published on this day or earlier."""
    include_sites: tuple[str, ...] = ()
    """Only these sites and what is below them, as `example.org`. Empty: all."""
    exclude_sites: tuple[str, ...] = ()
    """Not these sites, nor what is below them."""
    language: str = ""
    """ISO 639-1, lower case. Empty: any."""
    region: str = ""
    """ISO 3166 of two letters, upper case. Empty: any."""

    def __post_init__(self) -> None:
        """Bring the fields into one form. Raises BadRequest with a sentence on what is wrong."""
        if self.since and self.until and self.since > self.until:
            raise BadRequest(f"Nothing lies between {self.since} and {self.until}: the first date is the later one.")
        tidy = {
            "include_sites": _sites(self.include_sites),
            "exclude_sites": _sites(self.exclude_sites),
            "language": _code(self.language, "language", "en"),
            "region": _code(self.region, "region", "US").upper(),
        }
        for name, value in tidy.items():
            object.__setattr__(self, name, value)

    @classmethod
    def written(
        cls,
        *,
        since: str = "",
        until: str = "",
        sites: str = "",
        not_sites: str = "",
        language: str = "",
        region: str = "",
    ) -> "Scope":
        """From what people write: days, months or years, and sites with commas between. Raises BadRequest."""
        return cls(
            _day(since, last=False),
            _day(until, last=True),
            tuple(site for site in sites.split(",") if site.strip()),
            tuple(site for site in not_sites.split(",") if site.strip()),
            language,
            region,
        )

    @property
    def narrows(self) -> bool:
        """True when some hit could lie outside."""
        return any(getattr(self, field.name) for field in fields(self) if field.name not in ("language", "region"))

    def admits(self, address: str, published: str | None) -> bool:
        """Whether a page at this address, from this ISO date as far as it is known, lies inside."""
        return self.admits_site(address) and self.admits_date(published)

    def admits_site(self, address: str) -> bool:
        """Whether the address lies on an included site, or on none that is excluded."""
        try:
            host = ascii_host(urlsplit(address).hostname or "").rstrip(".")
        except ValueError:  # brackets that do not match, or no name of a host
            return False
        if any(_below(host, site) for site in self.exclude_sites):
            return False
        return not self.include_sites or any(_below(host, site) for site in self.include_sites)

    def admits_date(self, published: str | None) -> bool:
        """A date may be only a year or a month: it counts as inside when a part of it is. Unknown is inside."""
        if not published:
            return True
        first = self.since.isoformat()[: len(published)] if self.since else ""
        last = self.until.isoformat()[: len(published)] if self.until else "9999"
        return first <= published <= last


def _below(host: str, site: str) -> bool:
    return host == site or host.endswith(f".{site}")


def _sites(given: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(_site(one) for one in given))


def _site(given: str) -> str:
    """The bare host of what people write: with a scheme, `www.`, a path or capital letters."""
    written = given.strip().lower()
    try:
        host = urlsplit(written if "//" in written else f"//{written}").hostname or ""
        host = ascii_host(host.removeprefix("www.").rstrip("."))
    except ValueError:
        host = ""
    if not _SITE.fullmatch(host):
        raise BadRequest(f"{given[:80]!r} is no site; write it as example.org.")
    return host


def _day(given: str, *, last: bool) -> date | None:
    """The day, or the first or last one of the month or year that is named."""
    written = given.strip()
    if not written:
        return None
    found = _DATE.fullmatch(written)
    try:
        year, month, day = (int(part) if part else None for part in (found.groups() if found else (None,) * 3))
        month = month or (12 if last else 1)
        return date(year or 0, month, day or (calendar.monthrange(year or 0, month)[1] if last else 1))
    except ValueError:
        raise BadRequest(f"{given[:40]!r} is no date; write it as 2024, 2024-05 or 2024-05-31.") from None


def _code(given: str, what: str, example: str) -> str:
    written = given.strip().lower()
    if written and not _CODE.fullmatch(written):
        raise BadRequest(f"{given[:20]!r} is no {what}; write its code of two letters, such as {example}.")
    return written

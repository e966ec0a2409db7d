"""The ways in which searches and pages fail, by name, and when each of them strikes."""

import gzip
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache

from deepwell.testing.web.visits import Kind, Visit
from deepwell.testing.web.walls import CAPTCHA, PAYWALL, SCRIPT_SHELL
from deepwell.testing.web.wire import Answer, Endless, Hang, Rubbish, Whole

METADATA = "http://169.254.169.254/latest/meta-data/"
"""Where clouds keep their secrets: nobody may be led there."""
REBOUND = "rebound.example"
"""The host that `dns_rebinding` moves pages to; a `RebindingResolver` answers for it."""
ELSEWHERE = frozenset({"refused", "dns_rebinding"})
"""Faults of the way to a page or a search: the server does not see them, it gives another address."""
_BOTH: frozenset[Kind] = frozenset({"search", "page"})
_ANY: frozenset[Kind] = _BOTH | {"robots"}
_PAGES: frozenset[Kind] = frozenset({"page"})
_BOMB_MEGABYTES = 100


@dataclass(frozen=True, slots=True)
class Fault:
    """A failure by its name in FAULTS. Requests that it may strike are counted; it strikes some of them in a row."""

    name: str
    kinds: frozenset[Kind] | None = None
    """Only requests of these kinds. None: all that the fault can strike, but robots.txt only when it is named."""
    paths: frozenset[str] | None = None
    """Only pages at these paths. None: all."""
    engine: str | None = None
    """Only searches in this shape, `searxng` or `tavily`. None: both."""
    first: int | None = None
    """How many requests in a row are struck. None: all that follow. Faults of the way always strike all."""
    after: int = 0
    """How many requests are spared before that."""
    retry_after: float = 0.05
    """Seconds that `429` asks the client to wait."""
    drip_s: float = 0.1
    """Seconds between two bytes of `slow_drip`."""

    def __post_init__(self) -> None:
        if self.name not in FAULTS:
            raise ValueError(f"There is no fault {self.name!r}: it must be one of {', '.join(FAULTS)}.")
        if unfit := (self.kinds or frozenset()) - EFFECTS[self.name].kinds:
            raise ValueError(f"{self.name} does not strike {', '.join(sorted(unfit))}.")

    def may_strike(self, kind: Kind, path: str, engine: str) -> bool:
        """Whether such a request counts."""
        wanted = EFFECTS[self.name].kinds - {"robots"} if self.kinds is None else self.kinds
        if kind == "search":
            return kind in wanted and self.engine in (None, engine)
        return kind in wanted and (kind == "robots" or self.paths is None or path in self.paths)

    def strikes(self, earlier: int) -> bool:
        """Whether it strikes a request that counts and has so many before it."""
        return earlier >= self.after and (self.first is None or earlier < self.after + self.first)


class FaultPlan:
    """The faults of a server and how many requests each has seen."""

    def __init__(self, faults: Sequence[Fault]) -> None:
        self._faults = tuple(faults)
        self._seen = [0] * len(self._faults)

    def strike(self, kind: Kind, path: str, engine: str) -> Fault | None:
        """The first fault that strikes this request. Those behind it count the request as well."""
        struck = None
        for i, fault in enumerate(self._faults):
            if fault.name not in ELSEWHERE and fault.may_strike(kind, path, engine):
                if struck is None and fault.strikes(self._seen[i]):
                    struck = fault
                self._seen[i] += 1
        return struck

    def is_elsewhere(self, name: str, kind: Kind, path: str = "", engine: str = "") -> bool:
        """Whether the way to this page or search is spoilt by the fault of that name."""
        return any(fault.name == name and fault.may_strike(kind, path, engine) for fault in self._faults)


@dataclass(frozen=True, slots=True)
class Struck:
    """A request that a fault strikes."""

    fault: Fault
    visit: Visit
    good: Whole
    """The answer without the fault."""
    target: str
    """Path and query that were asked for."""
    private: str
    """An address on loopback that nobody has allowed."""


@dataclass(frozen=True, slots=True)
class Effect:
    """What a fault does."""

    told: str
    """For people."""
    kinds: frozenset[Kind]
    """What it can strike."""
    answer: Callable[[Struck], Answer] = field(default=lambda struck: struck.good)


def _rate_limited(struck: Struck) -> Answer:
    headers = (("Retry-After", f"{struck.fault.retry_after:g}"),)
    return Whole(429, b"Too many requests.", "text/plain", headers)


def _malformed(struck: Struck) -> Answer:
    if struck.visit.kind == "search":
        return replace(struck.good, body=struck.good.body[: len(struck.good.body) // 2] + b"oops")
    return Rubbish(b"HTTP/1.1 two hundred\r\nbad header\r\n\r\n\x00\x01\x02")


def _circle(struck: Struck) -> Answer:
    return _redirect(struck.target)


def _inward(struck: Struck) -> Answer:
    """In turns to a port of this machine, the same in another notation, and the metadata of a cloud."""
    port = struck.private.rpartition(":")[2].strip("/")
    ways = (struck.private, METADATA, f"http://[::ffff:127.0.0.1]:{port}/", f"http://0.0.0.0:{port}/")
    return _redirect(ways[struck.visit.number % len(ways)])


def _redirect(location: str) -> Whole:
    return Whole(302, b"", headers=(("Location", location),))


def _bomb(struck: Struck) -> Answer:
    return replace(struck.good, body=_packed(), headers=(("Content-Encoding", "gzip"),))


@cache
def _packed() -> bytes:
    """Much in little. Several files in a row, so that it takes no time to make."""
    return gzip.compress(b"<p>more</p>" * (1_000_000 // 11), 6) * _BOMB_MEGABYTES


def _wrong_charset(struck: Struck) -> Answer:
    """Bytes of one encoding under the name of another; something is added that differs between the two."""
    text = struck.good.body.decode("utf-8", "replace")
    if struck.visit.kind == "search":
        return replace(struck.good, body=text.replace("{", '{"place": "café", ', 1).encode("latin-1", "replace"))
    spelt = text.replace("</h1>", "</h1><p>A naïve café stood there – “Zum Anker”.</p>", 1)
    return replace(struck.good, body=spelt.encode("cp1252", "replace"), content_type="text/html; charset=utf-8")


def _wrong_type(struck: Struck) -> Answer:
    told = "text/html" if struck.visit.kind == "search" else "image/png"
    return replace(struck.good, content_type=told)


def _instead(answer: Answer) -> Callable[[Struck], Answer]:
    return lambda struck: answer


def _wall(markup: str) -> Callable[[Struck], Answer]:
    return _instead(Whole(200, markup.encode()))


EFFECTS: Mapping[str, Effect] = {
    "500": Effect("the server has an error of its own", _ANY, _instead(Whole(500, b"Sorry.", "text/plain"))),
    "429": Effect("too many requests, and how long to wait", _ANY, _rate_limited),
    "hang": Effect("the request is taken and never answered", _ANY, _instead(Hang())),
    "slow_drip": Effect("a byte now and then, forever", _ANY, lambda struck: Endless(b" ", struck.fault.drip_s)),
    "empty": Effect("200 without a single byte", _ANY, lambda struck: replace(struck.good, body=b"")),
    "no_results": Effect(
        "a search that finds nothing",
        frozenset({"search"}),
        _instead(Whole(200, b'{"results": []}', "application/json")),
    ),
    "malformed": Effect("half the JSON of a search; no proper HTTP for a page", _ANY, _malformed),
    "redirect_loop": Effect("a redirect to the same address", _ANY, _circle),
    "redirect_to_private": Effect("a redirect to what lies inside, a cloud's metadata among it", _ANY, _inward),
    "dns_rebinding": Effect(f"pages are on the host {REBOUND}, whose name leads outside once and inside then", _PAGES),
    "gzip_bomb": Effect(f"a few kilobytes that unfold to {_BOMB_MEGABYTES} megabytes", _ANY, _bomb),
    "endless_body": Effect("more and more, as fast as it is taken", _ANY, _instead(Endless(b"<p>more</p>" * 3000, 0))),
    "wrong_charset": Effect("bytes in another encoding than the one that is named", _BOTH, _wrong_charset),
    "wrong_content_type": Effect("the right bytes under a wrong name", _BOTH, _wrong_type),
    "refused": Effect("nobody listens there", _BOTH),
    "captcha": Effect("a robot check instead of the answer", _BOTH, _wall(CAPTCHA)),
    "paywall": Effect("two lines, and the rest for subscribers", _PAGES, _wall(PAYWALL)),
    "script_shell": Effect("nothing that can be read without running scripts", _PAGES, _wall(SCRIPT_SHELL)),
}
FAULTS: Mapping[str, str] = {name: effect.told for name, effect in EFFECTS.items()}
"""Every fault by name, and what it does."""

"""From what an engine found to hits: checked addresses, plain text, a score each, inside the scope."""

from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import urlsplit

from deepwell.reading.dates import iso_date
from deepwell.search.failures import FailureKind, Party
from deepwell.search.plain import plain
from deepwell.vocabulary.plan import Query
from deepwell.vocabulary.scope import Scope
from deepwell.vocabulary.source import Hit

_MOST_ADDRESS = 2000
_MOST_TITLE = 300
_MOST_EXCERPT = 2000
_MOST_SCORE = 1e12


@dataclass(frozen=True, slots=True)
class Found:
    """One result as the engine gave it: nothing in it is checked yet."""

    address: object
    title: object = None
    excerpt: object = None
    score: object = None
    published: object = None
    publisher: object = None


@dataclass(frozen=True, slots=True)
class Asked:
    """What was asked of whom: what a hit has to be told."""

    engine: str
    party: Party
    query: Query
    scope: Scope
    limit: int


def hits_of(found: Sequence[Found], asked: Asked) -> list[Hit]:
    """The usable results inside the scope, best first. Raises NoAnswer when there are results and none is usable."""
    usable = [(one, address) for one in found if (address := web_address(one.address))]
    if found and not usable:
        raise asked.party.no_answer(FailureKind.MALFORMED)
    scores = _scores([one.score for one, _ in usable])
    hits = [_hit(one, address, score, asked) for (one, address), score in zip(usable, scores, strict=True)]
    inside = [hit for hit in hits if asked.scope.admits(hit.address, hit.published)]
    return sorted(inside, key=lambda hit: -hit.score)[: max(0, asked.limit)]


def web_address(value: object) -> str | None:
    """The value, if it is an http(s) address that can be written down; None if it is not."""
    if not isinstance(value, str) or len(value) > _MOST_ADDRESS:
        return None
    address = value.strip()
    if any(character.isspace() or not character.isprintable() for character in address):
        return None
    try:
        parts = urlsplit(address)
        return address if parts.scheme.lower() in ("http", "https") and parts.hostname else None
    except ValueError:
        return None


def _hit(one: Found, address: str, score: float, asked: Asked) -> Hit:
    return Hit(
        address=address,
        title=plain(one.title, _MOST_TITLE) or urlsplit(address).hostname or address,
        excerpt=plain(one.excerpt, _MOST_EXCERPT),
        score=score,
        engine=asked.engine,
        query=asked.query,
        publisher=plain(one.publisher, _MOST_TITLE) or None,
        published=iso_date(one.published) if isinstance(one.published, str) else None,
    )


def _scores(given: Sequence[object]) -> list[float]:
    """The engine's own, if every result has one; else by rank."""
    own = [score for score in map(_score, given) if score is not None]
    return own if len(own) == len(given) else [1 / rank for rank, _ in enumerate(given, start=1)]


def _score(given: object) -> float | None:
    if isinstance(given, bool) or not isinstance(given, (int, float)) or not abs(given) < _MOST_SCORE:
        return None
    return float(given)

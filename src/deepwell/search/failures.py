"""What went wrong when an engine was asked, the same for every engine, in words that can be shown to anyone."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from enum import StrEnum

from deepwell.errors import SearchFailed


class FailureKind(StrEnum):
    """What a failed search calls for."""

    RATE_LIMIT = "rate_limit"
    """Too many requests: wait, or ask another."""
    AUTH = "auth"
    """The key is not accepted, or access is refused."""
    QUOTA = "quota"
    """No credit or quota left: waiting does not help."""
    BAD_REQUEST = "bad_request"
    """Refused as it is."""
    OVERLOAD = "overload"
    """The engine has trouble of its own."""
    TIMEOUT = "timeout"
    UNREACHABLE = "unreachable"
    MALFORMED = "malformed"
    """There was an answer, but not one that can be read."""

    @property
    def retryable(self) -> bool:
        """True when the same request may well be answered a moment later."""
        return self in _PASSING


_PASSING = frozenset(
    (FailureKind.RATE_LIMIT, FailureKind.OVERLOAD, FailureKind.TIMEOUT, FailureKind.UNREACHABLE),
)


@dataclass(frozen=True, slots=True)
class Failure:
    """Why a search brought nothing."""

    kind: FailureKind
    sentence: str
    """Safe to show: nothing of the engine's message, no address, no key; at most a status number."""
    retry_after_s: float | None = None
    """How long the engine asked to wait. None: it did not say."""

    @property
    def retryable(self) -> bool:
        """True when it is worth asking again."""
        return self.kind.retryable


class NoAnswer(SearchFailed):
    """An engine gave no usable answer; `failure` says why."""

    def __init__(self, failure: Failure) -> None:
        super().__init__(failure.sentence)
        self.failure = failure


@dataclass(frozen=True, slots=True)
class Party:
    """Who was asked: the name in sentences, and what is peculiar to its errors."""

    title: str
    has_key: bool = False
    """True when a key was sent: a refusal is then about that key."""
    statuses: Mapping[int, FailureKind] = field(default_factory=dict)
    """Statuses that mean something else here than elsewhere."""
    advice: Mapping[FailureKind, str] = field(default_factory=dict)
    """A further sentence for a kind of failure that the user can do something about."""

    def no_answer(
        self, kind: FailureKind, *, status: int | None = None, retry_after_s: float | None = None
    ) -> NoAnswer:
        """The error to raise for this kind of failure."""
        refused = kind is FailureKind.AUTH and not self.has_key
        template = "{title} refused access{status}." if refused else _SENTENCES[kind]
        sentence = template.format(title=self.title, status=f" (status {status})" if status else "")
        return NoAnswer(Failure(kind, " ".join(filter(None, (sentence, self.advice.get(kind)))), retry_after_s))

    def refusal(self, status: int, headers: Mapping[str, str], body: bytes) -> NoAnswer:
        """What an answer with this status means; some engines say it better in words."""
        kind = self.statuses.get(status) or _kind_of_status(status)
        if kind in _PUT_IN_WORDS:
            kind = _kind_in_words(body) or kind
        return self.no_answer(kind, status=status, retry_after_s=retry_after(headers))


def failure_of(error: SearchFailed) -> Failure:
    """The failure behind an error; an engine that knows no kinds counts as having trouble of its own."""
    return error.failure if isinstance(error, NoAnswer) else Failure(FailureKind.OVERLOAD, str(error))


_SENTENCES = {
    FailureKind.RATE_LIMIT: "{title} asks for fewer requests{status}.",
    FailureKind.AUTH: "{title} did not accept the key{status}.",
    FailureKind.QUOTA: "The account at {title} has no credit or quota left{status}.",
    FailureKind.BAD_REQUEST: "{title} rejected the request{status}.",
    FailureKind.OVERLOAD: "{title} is overloaded or failing{status}.",
    FailureKind.TIMEOUT: "{title} did not answer in time.",
    FailureKind.UNREACHABLE: "{title} could not be reached.",
    FailureKind.MALFORMED: "The answer of {title} could not be read{status}.",
}

_STATUS_KINDS = {
    401: FailureKind.AUTH,
    402: FailureKind.QUOTA,
    403: FailureKind.AUTH,
    407: FailureKind.UNREACHABLE,
    408: FailureKind.TIMEOUT,
    429: FailureKind.RATE_LIMIT,
    432: FailureKind.QUOTA,  # Tavily: the plan's limit
    433: FailureKind.QUOTA,  # Tavily: the limit of paying as you go
    504: FailureKind.TIMEOUT,
}


def _kind_of_status(status: int) -> FailureKind:
    if status in _STATUS_KINDS:
        return _STATUS_KINDS[status]
    if status >= 500:
        return FailureKind.OVERLOAD
    return FailureKind.BAD_REQUEST if status >= 400 else FailureKind.MALFORMED


_PUT_IN_WORDS = frozenset((FailureKind.BAD_REQUEST, FailureKind.RATE_LIMIT, FailureKind.AUTH))
_WORDS = {
    FailureKind.QUOTA: (b"quota_limited", b"no_more_credits", b"budget_exceeded", b"usage limit", b"insufficient"),
    # Brave answers 422 to a key it does not know, and to none at all.
    FailureKind.AUTH: (b"subscription_token", b"subscription_not_found", b"x-subscription-token", b"api key"),
}
_MOST_WORDS = 4000


def _kind_in_words(body: bytes) -> FailureKind | None:
    said = body[:_MOST_WORDS].lower()
    return next((kind for kind, words in _WORDS.items() if any(word in said for word in words)), None)


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds to wait, as the answer's headers tell it: a number, a date, or when the window starts anew."""
    told = headers.get("retry-after")
    if told is None:
        # "1, 1419704" is Brave's way to tell of two windows; the first is the one that was just passed.
        return _seconds(headers.get("x-ratelimit-reset", "").partition(",")[0])
    seconds = _seconds(told)
    return seconds if seconds is not None else _until(told, headers.get("date"))


def _seconds(text: str) -> float | None:
    try:
        number = float(text[:40])
    except ValueError:
        return None
    return max(0.0, number) if math.isfinite(number) else None


def _until(then: str, now: str | None) -> float | None:
    """By the clock of the server, if it told its time."""
    until, at = _moment(then), _moment(now or "") or datetime.now(UTC)
    return None if until is None else max(0.0, (until - at).total_seconds())


def _moment(text: str) -> datetime | None:
    try:
        moment = parsedate_to_datetime(text[:80])
    except ValueError:
        return None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)

"""What went wrong when a model was asked, the same for every provider, in words that can be shown to anyone."""

import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from enum import StrEnum

from deepwell.errors import AnalystFailed


class FailureKind(StrEnum):
    """What a failed call calls for."""

    RATE_LIMIT = "rate_limit"
    """Too many requests: wait."""
    OVERLOAD = "overload"
    """The provider has trouble of its own: wait, or ask another."""
    AUTH = "auth"
    """The key is not accepted, or not for this."""
    QUOTA = "quota"
    """No credit or quota left: waiting does not help."""
    BAD_REQUEST = "bad_request"
    """Refused as it is: an unknown model, or something this model does not do."""
    CONTEXT_OVERFLOW = "context_overflow"
    """Too long: a shorter prompt may pass."""
    MALFORMED = "malformed"
    """There was an answer, but not one that can be read."""
    REFUSAL = "refusal"
    """The model, or a filter before it, will not answer this."""
    TIMEOUT = "timeout"
    UNREACHABLE = "unreachable"


@dataclass(frozen=True, slots=True)
class Failure:
    """Why a call brought nothing."""

    kind: FailureKind
    sentence: str
    """Safe to show: nothing of the provider's message, no address, no key; at most a status number."""
    retry_after_s: float | None = None
    """How long the provider asked to wait. None: it did not say."""


class ModelFailed(AnalystFailed):
    """A model could not be had to answer; `failure` says why."""

    def __init__(self, failure: Failure) -> None:
        super().__init__(failure.sentence)
        self.failure = failure


def failure_of(error: BaseException) -> Failure:
    """What the error of a model call means; knows the errors of all providers without importing any."""
    if isinstance(error, ModelFailed):
        return error.failure
    chain = list(_chain(error))
    kinds = (_kind(link) for link in chain)
    kind = next((kind for kind in kinds if kind is not None), FailureKind.MALFORMED)
    status = next((status for status in map(_status, chain) if status is not None), None)
    return Failure(kind, _sentence(kind, status), _retry_after(chain))


def _chain(error: BaseException) -> Iterator[BaseException]:
    """The error and what led to it, nearest first; also what a `from None` hides: the headers are often there."""
    seen: set[int] = set()
    waiting: list[BaseException | None] = [error]
    while waiting:
        link = waiting.pop(0)
        if link is None or id(link) in seen:
            continue
        seen.add(id(link))
        yield link
        grouped = link.exceptions if isinstance(link, BaseExceptionGroup) else ()
        waiting += [*grouped, link.__cause__, link.__context__]


# Which kind


_STATUS_KINDS = {
    401: FailureKind.AUTH,
    402: FailureKind.QUOTA,
    403: FailureKind.AUTH,
    408: FailureKind.TIMEOUT,
    413: FailureKind.CONTEXT_OVERFLOW,
    429: FailureKind.RATE_LIMIT,
    498: FailureKind.OVERLOAD,  # Groq: no room in the flexible tier
    504: FailureKind.TIMEOUT,
}

_NAME_KINDS: Mapping[FailureKind, tuple[str, ...]] = {
    # Order matters: in every SDK the timeout is also a connection error.
    FailureKind.CONTEXT_OVERFLOW: ("ContextOverflow", "ContextWindowExceeded"),
    FailureKind.REFUSAL: ("ContentFilter", "Refusal", "BlockedPrompt", "StopCandidate"),
    FailureKind.TIMEOUT: ("Timeout",),
    FailureKind.RATE_LIMIT: ("RateLimit",),
    FailureKind.AUTH: ("Authentication", "PermissionDenied"),
    FailureKind.OVERLOAD: (
        "^ModelAPIError$",
        "^InternalServerError$",
        "^Overloaded",
        "^ServerError$",
        "^ResponseError$",
    ),
    FailureKind.MALFORMED: ("JSONDecode", "Validation", "Decoding", "LengthFinishReason", "OutputParser"),
    FailureKind.UNREACHABLE: ("Connect", "^NetworkError$", "^TransportError$", "ProtocolError$", "^OSError$"),
    FailureKind.BAD_REQUEST: ("InvalidRequest", "BadRequest", "^(Model)?NotFoundError$"),
}

_TEXT_KINDS: Mapping[FailureKind, tuple[str, ...]] = {
    FailureKind.CONTEXT_OVERFLOW: (
        "context_length_exceeded",
        "maximum context length",  # OpenAI, DeepSeek, vLLM, OpenRouter
        "exceed.{0,20} context",  # llama.cpp: the available context size; Anthropic: context limit; Ollama: length
        "context window",
        "context length of only",  # LM Studio
        "context the overflows",  # LM Studio, sic
        "prompt is too long",  # Anthropic
        "input is too long",
        "input token count .{0,40}exceeds",  # Google
        "exceeds the maximum number of tokens",
        "input tokens exceed",
        "longer than the maximum model length",  # vLLM
        "max_new_tokens.{0,3} must be <=",  # TGI
        "reduce the length of the (messages|prompt|input)",
        "request.too.large",  # more than the limit for a minute: waiting does not help, a shorter prompt does
        "tokens must be reduced",
    ),
    FailureKind.QUOTA: (
        "insufficient.(quota|balance|credits)",
        "credit balance",
        "billing.(hard.limit|not.active)",
        "(not enough|more|purchase) credits",
        "perday",  # Google's name for a daily quota
        "spend.?limit",
        "exceeded.?budget",
    ),
    FailureKind.AUTH: (
        "api.key (not valid|expired)",
        "api_key_invalid",
        "(invalid|incorrect).{0,5}api.key",
    ),
    FailureKind.REFUSAL: (
        "content_(filter|policy)",
        "content management policy",
        "responsibleaipolicy",
        "violating our usage policy",
        "prohibited_content",
        "content exists risk",  # DeepSeek
    ),
    FailureKind.MALFORMED: (
        "tool_use_failed",  # Groq
        "json_validate_failed",  # Groq
        "failed to parse (input|tool)",  # llama.cpp
        "error parsing tool call",  # Ollama
    ),
    FailureKind.RATE_LIMIT: ("rate.limit", "too many requests", "resource_exhausted"),
    FailureKind.OVERLOAD: ("overloaded", "service unavailable", "loading model", "try again later"),
    FailureKind.BAD_REQUEST: ("not supported", "unsupported", "does not support"),
}

_A_REJECTION = {None, FailureKind.BAD_REQUEST, FailureKind.RATE_LIMIT, FailureKind.AUTH, FailureKind.QUOTA}
_OVERRULED: Mapping[FailureKind, set[FailureKind | None]] = {
    # Some servers answer 500 to what is too long for them, or when they cannot read what their own model wrote.
    FailureKind.CONTEXT_OVERFLOW: {*_A_REJECTION, FailureKind.OVERLOAD},
    FailureKind.MALFORMED: {*_A_REJECTION, FailureKind.OVERLOAD},
    FailureKind.QUOTA: _A_REJECTION,
    FailureKind.AUTH: _A_REJECTION,
    FailureKind.REFUSAL: _A_REJECTION,
}
"""Which kinds give way to one the provider put into words. Other words count only where there is nothing else."""


def _kind(link: BaseException) -> FailureKind | None:
    """By status or, without one, by the name of the error; some words of the provider's overrule that."""
    status = _status(link)
    base = _kind_of_name(link) if status is None else _kind_of_status(status)
    told = _first_match(_TEXT_KINDS, _text(link))
    return told if told is not None and base in _OVERRULED.get(told, {None}) else base


def _kind_of_status(status: int) -> FailureKind:
    if status in _STATUS_KINDS:
        return _STATUS_KINDS[status]
    if status >= 500:
        return FailureKind.OVERLOAD
    return FailureKind.BAD_REQUEST if status >= 400 else FailureKind.MALFORMED


def _kind_of_name(link: BaseException) -> FailureKind | None:
    """From the name of the error's class, or of one it derives from, in that order."""
    for ancestor in type(link).__mro__:
        kind = _first_match(_NAME_KINDS, ancestor.__name__)
        if kind is not None:
            return kind
    return None


def _first_match(table: Mapping[FailureKind, tuple[str, ...]], text: str) -> FailureKind | None:
    return next((kind for kind, patterns in table.items() if any(re.search(it, text) for it in patterns)), None)


# What the error says about itself


def _status(link: BaseException) -> int | None:
    """The HTTP status, wherever this library keeps it; also one told in the body of an answer that was 200."""
    told = [getattr(link, name, None) for name in ("status_code", "code", "status")]
    told.append(getattr(getattr(link, "response", None), "status_code", None))
    told += [part.get("code") for part in link.args if isinstance(part, Mapping)]
    return next((code for code in told if isinstance(code, int) and 400 <= code < 600), None)


def _text(link: BaseException) -> str:
    more = (getattr(link, name, None) for name in ("code", "type", "body", "details"))
    return " ".join([str(link), *(str(part) for part in more if part)]).lower()


def _retry_after(chain: list[BaseException]) -> float | None:
    """Seconds to wait, from the headers of the answer or, as Google does it, from its text."""
    for link in chain:
        headers = getattr(getattr(link, "response", None), "headers", None)
        if isinstance(headers, Mapping):
            wait = _wait_in({str(name).lower(): str(value) for name, value in headers.items()})
            if wait is not None:
                return wait
    told = (re.search(r"retrydelay\W{1,6}(\d+(?:\.\d+)?)s", _text(link)) for link in chain)
    return next((float(match[1]) for match in told if match), None)


def _wait_in(headers: Mapping[str, str]) -> float | None:
    milliseconds = _number(headers.get("retry-after-ms"))
    if milliseconds is not None:
        return milliseconds / 1000
    after = headers.get("retry-after")
    seconds = _number(after)
    return seconds if seconds is not None or after is None else _wait_until(after, headers.get("date"))


def _number(text: str | None) -> float | None:
    try:
        number = float(text or "")
    except ValueError:
        return None
    return max(0.0, number) if math.isfinite(number) else None


def _wait_until(then: str, now: str | None) -> float | None:
    """Until a point in time, by the clock of the server if it told its time."""
    until, at = _moment(then), _moment(now) or datetime.now(UTC)
    return None if until is None else max(0.0, (until - at).total_seconds())


def _moment(text: str | None) -> datetime | None:
    try:
        moment = parsedate_to_datetime(text or "")
    except ValueError:
        return None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


# What to say


_SENTENCES = {
    FailureKind.RATE_LIMIT: "The model provider asks for fewer requests{status}.",
    FailureKind.OVERLOAD: "The model provider is overloaded or failing{status}.",
    FailureKind.AUTH: "The model provider did not accept the key{status}.",
    FailureKind.QUOTA: "The account at the model provider has no credit or quota left{status}.",
    FailureKind.BAD_REQUEST: "The model provider rejected the request{status}.",
    FailureKind.CONTEXT_OVERFLOW: "The prompt is longer than the model can take.",
    FailureKind.MALFORMED: "The model's answer could not be read.",
    FailureKind.REFUSAL: "The model refused to answer.",
    FailureKind.TIMEOUT: "The model did not answer in time.",
    FailureKind.UNREACHABLE: "The model provider could not be reached.",
}


def _sentence(kind: FailureKind, status: int | None) -> str:
    if kind is FailureKind.BAD_REQUEST and status == 404:
        return "The model provider does not know this model, or nothing answers at its address (status 404)."
    return _SENTENCES[kind].format(status=f" (status {status})" if status else "")

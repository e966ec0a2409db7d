"""The ways in which a provider fails, by name, and when each of them strikes."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from deepwell.testing.model_server.encoding import event
from deepwell.testing.model_server.replies import Completion, Reply, Styled, ToolCall, cut
from deepwell.testing.model_server.requests import PURPOSES
from deepwell.testing.model_server.wire import Answer, Disconnect, Drip, Events, Hang, Whole

MISSING_TOOL = "summon_oracle"
"""What `wrong_tool` calls; no toolbox has it."""


@dataclass(frozen=True, slots=True)
class Fault:
    """A failure by its name in FAULTS. Requests that it may strike are counted; it strikes some of them in a row."""

    name: str
    purposes: frozenset[str] | None = None
    """Only requests for these. None: every chat."""
    first: int | None = None
    """How many requests in a row are struck. None: all that follow."""
    after: int = 0
    """How many requests are spared before that."""
    retry_after: float = 0.05
    """Seconds that `rate_limit_retry_after` asks the client to wait."""
    retry_header: Literal["retry-after", "retry-after-ms"] = "retry-after"
    """The header in which it asks for that."""
    status: int | None = None
    """The HTTP status in place of the usual one, such as 529 for `overloaded`. None: the usual one."""
    drip_s: float = 0.2
    """Seconds between two bytes of `drip`."""

    def __post_init__(self) -> None:
        if self.name not in FAULTS:
            raise ValueError(f"There is no fault {self.name!r}: it must be one of {', '.join(FAULTS)}.")
        if unknown := (self.purposes or frozenset()) - PURPOSES:
            raise ValueError(f"No request is for {', '.join(sorted(unknown))}: only for {', '.join(sorted(PURPOSES))}.")

    def may_strike(self, purpose: str) -> bool:
        """Whether a request for this purpose counts."""
        return purpose != "models" if self.purposes is None else purpose in self.purposes

    def strikes(self, earlier: int) -> bool:
        """Whether it strikes a request that counts and has so many before it."""
        return earlier >= self.after and (self.first is None or earlier < self.after + self.first)


class FaultPlan:
    """The faults of a server and how many requests each has seen."""

    def __init__(self, faults: Sequence[Fault]) -> None:
        self._faults = tuple(faults)
        self._seen = [0] * len(self._faults)

    def strike(self, purpose: str) -> Fault | None:
        """The first fault that strikes this request. Those behind it count the request as well."""
        struck = None
        for i, fault in enumerate(self._faults):
            if fault.may_strike(purpose):
                if struck is None and fault.strikes(self._seen[i]):
                    struck = fault
                self._seen[i] += 1
        return struck


@dataclass(frozen=True, slots=True)
class InsteadOfReply:
    """The model is not even asked: this is sent."""

    answer: Callable[[Fault, bool], Answer]
    """From the fault and whether a stream was asked for."""


@dataclass(frozen=True, slots=True)
class SpoiltReply:
    """The model says something else."""

    spoil: Callable[[Reply], Reply]


@dataclass(frozen=True, slots=True)
class SpoiltCompletion:
    """The model's message is damaged."""

    spoil: Callable[[Completion], Completion]


@dataclass(frozen=True, slots=True)
class SpoiltAnswer:
    """The message is good; the way back is not."""

    spoil: Callable[[Answer], Answer]


Effect = InsteadOfReply | SpoiltReply | SpoiltCompletion | SpoiltAnswer


def error_answer(status: int, message: str, code: str | None, kind: str = "invalid_request_error") -> Whole:
    """An error as OpenAI words it."""
    error = {"message": message, "type": kind, "param": None, "code": code}
    return Whole(status, json.dumps({"error": error}).encode())


def context_overflow(limit: int, found: int) -> Whole:
    """The prompt is too long, as OpenAI words it; clients tell it by the code."""
    message = (
        f"This model's maximum context length is {limit} tokens. However, your messages resulted in {found} tokens. "
        "Please reduce the length of the messages."
    )
    return error_answer(400, message, "context_length_exceeded")


def _always(answer: Whole) -> InsteadOfReply:
    return InsteadOfReply(lambda fault, streams: replace(answer, status=fault.status or answer.status))


def _rate_limited_until(fault: Fault, streams: bool) -> Answer:
    in_ms = fault.retry_header == "retry-after-ms"
    value = f"{fault.retry_after * 1000:.0f}" if in_ms else f"{fault.retry_after:g}"
    return replace(_RATE_LIMITED, status=fault.status or 429, headers=((fault.retry_header, value),))


def _not_json(fault: Fault, streams: bool) -> Answer:
    text = '{"id": "chatcmpl-1", "choices": [{"message": oops'
    return Events((event(text),)) if streams else Whole(200, text.encode())


def _broken_json(completion: Completion) -> Completion:
    if completion.calls:
        calls = tuple(ToolCall(call.name, _broken(call.arguments)) for call in completion.calls)
        return replace(completion, calls=calls)
    content = completion.content or ""
    return replace(completion, content=_broken(content if "{" in content else json.dumps({"text": content})))


def _broken(text: str) -> str:
    # The first colon gone and no end: nothing that closes brackets can guess this back.
    return text.replace(":", "", 1)[: len(text) * 2 // 3]


def _wrong_tool(reply: Reply) -> Reply:
    return _restyled(reply, [(MISSING_TOOL, {"question": "What is the answer?"})])


def _bad_arguments(reply: Reply) -> Reply:
    plain = reply.reply if isinstance(reply, Styled) else reply
    if isinstance(plain, str):
        return reply
    if isinstance(plain, Mapping):
        return _restyled(reply, _mistyped(plain))
    return _restyled(reply, [(name, _mistyped(arguments)) for name, arguments in plain])


def _mistyped(arguments: Mapping[str, Any]) -> dict[str, Any]:
    return {name: 17 if isinstance(value, list | tuple) else [{"type": "?"}] for name, value in arguments.items()}


def _restyled(reply: Reply, plain: Any) -> Reply:
    return replace(reply, reply=plain) if isinstance(reply, Styled) else plain


def _broken_off(answer: Answer) -> Answer:
    return replace(answer, breaks_off=True) if isinstance(answer, Whole | Events) else answer


_RATE_LIMITED = error_answer(429, "Rate limit reached for requests.", "rate_limit_exceeded", "requests")
_SERVER_ERROR = error_answer(500, "The server had an error while processing your request.", None, "server_error")
_OVERLOADED = error_answer(503, "The engine is currently overloaded.", None, "overloaded_error")
_NO_KEY = error_answer(401, "Incorrect API key provided.", "invalid_api_key")
_NO_QUOTA = error_answer(429, "You exceeded your current quota.", "insufficient_quota", "insufficient_quota")
_HTML = "<html><head><title>502 Bad Gateway</title></head><body><h1>502 Bad Gateway</h1></body></html>"

EFFECTS: Mapping[str, tuple[str, Effect]] = {
    "rate_limit": ("429 that does not say when to come back", _always(_RATE_LIMITED)),
    "rate_limit_retry_after": ("429 that says when to come back", InsteadOfReply(_rate_limited_until)),
    "server_error": ("500", _always(_SERVER_ERROR)),
    "overloaded": ("503; some providers use 529", _always(_OVERLOADED)),
    "truncated_body": ("a good reply of which half arrives before the connection closes", SpoiltAnswer(_broken_off)),
    "malformed_json": ("a message, or the arguments of its calls, in broken JSON", SpoiltCompletion(_broken_json)),
    "malformed_http_json": ("200 with a body that is no JSON", InsteadOfReply(_not_json)),
    "empty": ("a message without content and calls", SpoiltCompletion(lambda completion: Completion(""))),
    "hang": ("the request is taken and never answered", InsteadOfReply(lambda fault, streams: Hang())),
    "drip": ("a byte now and then, forever", InsteadOfReply(lambda fault, streams: Drip(fault.drip_s))),
    "wrong_tool": ("a call of a tool that does not exist", SpoiltReply(_wrong_tool)),
    "bad_arguments": ("arguments or fields of the wrong types", SpoiltReply(_bad_arguments)),
    "cut_by_length": ("a reply that ends in the middle, finish reason `length`", SpoiltCompletion(cut)),
    "refusal": (
        "the model declines",
        SpoiltCompletion(lambda completion: Completion(None, refusal="I can't help with that.")),
    ),
    "auth": ("401", _always(_NO_KEY)),
    "quota": ("429 because nothing is left to spend", _always(_NO_QUOTA)),
    "context_overflow": ("400, the prompt is too long", _always(context_overflow(4096, 5000))),
    "html_error": ("502 with a page of a proxy", _always(Whole(502, _HTML.encode(), "text/html"))),
    "disconnect": ("the connection closes at once", InsteadOfReply(lambda fault, streams: Disconnect())),
}
FAULTS: Mapping[str, str] = {name: description for name, (description, _) in EFFECTS.items()}
"""Every fault by name, and what it does."""

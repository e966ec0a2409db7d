"""Takes a model's reply apart and makes a typed value of it, or says in one sentence why that cannot be done."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from pydantic import BaseModel

from deepwell.models.calls import Call, usable, written_calls
from deepwell.models.fitting import best_fit
from deepwell.models.json_repair import values_in
from deepwell.models.prose import prose_in
from deepwell.models.raw_text import printable, without_chat_tokens
from deepwell.models.scalars import Unfit
from deepwell.models.shapes import Form, Toolbox
from deepwell.models.thinking import without_thinking

if TYPE_CHECKING:
    from langchain_core.messages import AIMessage

__all__ = ["Call", "MalformedReply", "Told", "calls_of", "form_of", "prose_of", "told"]

T = TypeVar("T", bound=BaseModel)

# Parts of what providers give as the reason for stopping. Streams may repeat it ("STOPSTOP"), hence parts.
_CUT_OFF = ("length", "max_tokens", "max_output_tokens", "token_limit", "context_window", "continuation", "incomplete")
_REFUSED = ("content_filter", "refusal", "safety", "recitation", "blocklist", "prohibited", "spii", "guardrail")


MOST_CHARACTERS = 100_000
"""Of one reply, several times what is ever asked for: a server may ignore its limits, we need not read it all."""
MOST_TOKENS = 10**9
"""A count above this is none."""


class MalformedReply(Exception):
    """A reply cannot be used. The message is one sentence that tells the model what was wrong with it."""


@dataclass(frozen=True, slots=True)
class Told:
    """What a model said, taken apart and not yet understood."""

    text: str
    """Without thinking and without characters that cannot be printed."""
    calls: tuple[Call, ...]
    cut_off: bool
    """The model had more to say and was stopped by a limit on length."""
    refused: bool
    """The model, or a filter of its provider, declined to answer."""
    prompt_tokens: int | None
    reply_tokens: int | None
    """Thinking included. None: the provider did not say."""
    cached_tokens: int
    """The part of the prompt that the provider had kept from before."""

    @classmethod
    def of(cls, kept: Mapping[str, Any]) -> "Told":
        """From the plain data that `asdict` made of one."""
        return cls(**{**kept, "calls": tuple(Call(**call) for call in kept["calls"])})


def told(message: "AIMessage") -> Told:
    """The parts of a reply. Never raises: what cannot be made out is left out."""
    reasons = " ".join(_reasons(message.response_metadata)).lower()
    refused = _mentions(reasons, _REFUSED) or _has_refusal(message)
    usage: Mapping[str, Any] = message.usage_metadata or {}
    details = usage.get("input_token_details")
    return Told(
        text=without_chat_tokens(without_thinking(printable(_text(message.content)[:MOST_CHARACTERS]))),
        calls=tuple(_native_calls(message)),
        cut_off=_mentions(reasons, _CUT_OFF) and not refused,
        refused=refused,
        prompt_tokens=_count(usage.get("input_tokens")),
        reply_tokens=_count(usage.get("output_tokens")),
        cached_tokens=_count(details.get("cache_read") if isinstance(details, Mapping) else None) or 0,
    )


def form_of(told: Told, form: Form[T]) -> T:
    """The form as it was filled in, natively or in writing. Raises MalformedReply."""
    found = sorted(values_in(told.text), key=lambda one: one.closed)
    native = [call.arguments for call in told.calls]
    if not found and not native:
        raise MalformedReply(_nothing_in(told, f"one JSON object of the form {form.name}"))
    try:
        return best_fit(form.fields, [*(one.value for one in found), *native], form.name)
    except Unfit as unfit:
        raise MalformedReply(unfit.sentence) from None


def calls_of(told: Told, toolbox: Toolbox) -> tuple[BaseModel, ...]:
    """The arguments of all calls that can be carried out, in order. Raises MalformedReply when there are none."""
    native = usable(told.calls, toolbox)
    if native.moves:
        return native.moves
    written = usable(written_calls(told.text, toolbox), toolbox)
    if written.moves:
        return written.moves
    problem = next(iter((*native.problems, *written.problems)), "the reply calls no tool")
    tools = ", ".join(f"`{name}`" for name in toolbox.tools)
    raise MalformedReply(f"{problem[0].upper()}{problem[1:]}; call one of {tools}.")


def prose_of(told: Told) -> str:
    """The passage that was asked for. Raises MalformedReply when there is none."""
    prose = prose_in(told.text)
    if not prose:
        raise MalformedReply(_nothing_in(told, "the text itself"))
    return prose


def _nothing_in(told: Told, wanted: str) -> str:
    found = "has nothing of use in it" if told.text.strip() else "is empty"
    return f"The reply {found}; {wanted} is needed."


# The parts of a message


def _text(content: object) -> str:
    if isinstance(content, str):
        return content
    return "".join(map(_block_text, content)) if isinstance(content, list) else ""


def _block_text(block: object) -> str:
    """Text only: thinking, reasoning and calls come as blocks of their own."""
    if isinstance(block, str):
        return block
    kind = block.get("type", "text") if isinstance(block, Mapping) else None
    text = block.get("text") if isinstance(block, Mapping) and kind in ("text", "output_text") else None
    return text if isinstance(text, str) else ""


def _native_calls(message: "AIMessage") -> Iterable[Call]:
    for call in (*message.tool_calls, *message.invalid_tool_calls):
        arguments: object = call.get("args")
        yield Call(call.get("name") or "", arguments if isinstance(arguments, Mapping | str) else {})
    old = message.additional_kwargs.get("function_call")
    if isinstance(old, Mapping):
        yield Call(str(old.get("name") or ""), str(old.get("arguments") or ""))


def _reasons(metadata: Mapping[str, Any]) -> Iterable[str]:
    """All that a provider says about why the model stopped."""
    incomplete, blocked = metadata.get("incomplete_details"), metadata.get("prompt_feedback")
    found = [metadata.get(key) for key in ("finish_reason", "stop_reason", "stopReason", "done_reason", "status")]
    found += [incomplete.get("reason")] if isinstance(incomplete, Mapping) else []
    if isinstance(blocked, Mapping) and blocked.get("block_reason"):
        found.append("safety")
    return (str(reason) for reason in found if reason)


def _mentions(reasons: str, parts: Iterable[str]) -> bool:
    return any(part in reasons for part in parts)


def _has_refusal(message: "AIMessage") -> bool:
    blocks = message.content if isinstance(message.content, list) else []
    in_blocks = any(isinstance(block, Mapping) and block.get("type") == "refusal" for block in blocks)
    return in_blocks or bool(message.additional_kwargs.get("refusal"))


def _count(value: object) -> int | None:
    return value if type(value) is int and 0 <= value <= MOST_TOKENS else None

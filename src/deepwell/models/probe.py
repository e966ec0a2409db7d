"""Trying a model out before relying on it: is it there, does it call tools, does it keep to a schema, what fits in."""

import asyncio
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import date
from typing import Any

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import BaseMessage, HumanMessage
from pydantic import BaseModel, Field

from deepwell.budget.ledger import Ledger, Reservation
from deepwell.errors import BudgetSpent
from deepwell.models.capabilities import Capabilities
from deepwell.models.factory import ModelSettings
from deepwell.models.failures import Failure, FailureKind, ModelFailed, failure_of
from deepwell.models.replies import MalformedReply, Told, calls_of, form_of
from deepwell.models.shapes import Form, Shape, Toolbox
from deepwell.models.steering import Strategy, steered
from deepwell.models.wire import Wire
from deepwell.ports import Journal
from deepwell.vocabulary.budget import Usage
from deepwell.vocabulary.events import ModelAsked

REPLY_TOKENS = 1024
"""Models that think before they answer need room for it."""
LEAST_CONTEXT = 256
"""A server that tells of less is not telling of its context."""
PROMPT_TOKENS = 300
"""More than the question with its tool or schema takes."""


class Sum(BaseModel):
    """The answer to a small sum."""

    answer: int = Field(description="the sum")


FORM = Form("probe", Sum)
TOOLBOX = Toolbox("probe", {"probe": Sum})
QUESTION = HumanMessage("What is two plus three? Answer with the number.")
_TELLING = (FailureKind.BAD_REQUEST, FailureKind.MALFORMED, FailureKind.REFUSAL)
"""Failures that tell something of the model; any other may be gone in a minute."""
_HOPELESS = (FailureKind.AUTH, FailureKind.QUOTA, FailureKind.UNREACHABLE)
"""A slow one is not hopeless: it may still have to be loaded."""


@dataclass(frozen=True, slots=True)
class Probed:
    """What a try found out."""

    capabilities: Capabilities
    lasting: bool
    """False when the server was merely busy: good for this run, and not worth remembering."""


async def probe(
    chat: BaseChatModel,
    settings: ModelSettings,
    ledger: Ledger,
    journal: Journal,
    seconds: float,
    today: date,
    wire: Wire,
) -> Probed:
    """Two small requests side by side, and a look at what the server tells of itself. Raises AnalystFailed."""
    # Both are reserved for before either is made: one that is under way must not be left behind.
    first, second = _reserved(settings, ledger)
    tools, schema, context = await asyncio.gather(
        _tried(chat, settings, TOOLBOX, "tools", first, ledger, journal, seconds, wire),
        _tried(chat, settings, FORM, "schema", second, ledger, journal, seconds, wire),
        context_tokens(chat, settings, seconds),
    )
    failures = [tried for tried in (tools, schema) if isinstance(tried, Failure)]
    hopeless = [failure for failure in failures if failure.kind in _HOPELESS]
    if len(failures) == 2 and hopeless:
        raise ModelFailed(hopeless[0])
    found = Capabilities(tools is True, schema is True, context, today.isoformat())
    return Probed(found, lasting=all(failure.kind in _TELLING for failure in failures))


def _reserved(settings: ModelSettings, ledger: Ledger) -> tuple[Reservation, Reservation]:
    first = ledger.reserve("planning", str(settings.name), PROMPT_TOKENS, REPLY_TOKENS)
    try:
        return first, ledger.reserve("planning", str(settings.name), PROMPT_TOKENS, REPLY_TOKENS)
    except BudgetSpent:
        ledger.release(first)
        raise


async def _tried(
    chat: BaseChatModel,
    settings: ModelSettings,
    shape: Shape,
    strategy: Strategy,
    reservation: Reservation,
    ledger: Ledger,
    journal: Journal,
    seconds: float,
    wire: Wire,
) -> bool | Failure:
    usage = Usage(PROMPT_TOKENS // 3, 0, counted=False)
    failure: Failure | None = None
    started = time.monotonic()
    messages: list[BaseMessage] = [QUESTION]
    call = wire.call("probe", strategy, messages)
    if paid := wire.paid(call):
        ledger.release(reservation)
        return _worked(paid, shape)
    try:
        async with asyncio.timeout(seconds):
            runnable = steered(chat, settings.name.provider, shape, strategy, REPLY_TOKENS)
            said = await wire.reply(call, "probe", runnable, messages)
    except Exception as error:  # noqa: BLE001 - provider libraries raise anything; it becomes a value here
        failure = failure_of(error)
        usage = usage if failure.kind is FailureKind.TIMEOUT else Usage(0, 0)
        return failure
    else:
        usage = Usage(said.prompt_tokens or PROMPT_TOKENS, said.reply_tokens or 0, 0, said.prompt_tokens is not None)
        return _worked(said, shape)
    finally:
        cost = ledger.settle(reservation, usage)
        seconds_taken = round(time.monotonic() - started, 3)
        figures = (1, usage.prompt, 0, usage.reply, cost, seconds_taken, usage.counted)
        kind = failure.kind if failure else None
        asked = ModelAsked("planning", "probe", str(settings.name), *figures, kind, () if failure else (call.key,))
        await asyncio.shield(journal.record(asked))


def _worked(said: Told, shape: Shape) -> bool:
    """Only a native call shows that tools work; JSON in the text shows that a schema does."""
    try:
        if isinstance(shape, Toolbox):
            return bool(said.calls) and bool(calls_of(said, shape))
        return isinstance(shape, Form) and bool(form_of(said, shape)) and "{" in said.text
    except MalformedReply:
        return False


async def context_tokens(chat: BaseChatModel, settings: ModelSettings, seconds: float) -> int | None:
    """How many tokens fit in, as the server tells or the provider's package knows; None when nobody does."""
    profile = getattr(chat, "profile", None) or {}
    known = profile.get("max_input_tokens")
    if settings.base_url is None and isinstance(known, int):
        return known
    found = [tokens async for tokens in _told_by_server(settings, seconds)]
    # Where we say ourselves how much context to reserve, the rest of what the model could take is not there.
    reserved = [settings.context_tokens] if settings.context_tokens else []
    return min([*found, *reserved], default=known)


async def _told_by_server(settings: ModelSettings, seconds: float) -> Any:
    """Servers of one's own tell in different places; one that does not know the question is simply passed over."""
    import httpx2

    if settings.name.provider not in ("openai-compatible", "openai", "ollama") or not settings.base_url:
        return
    base = settings.base_url.rstrip("/")
    root = base.removesuffix("/v1")
    headers = {"Authorization": f"Bearer {settings.key}"} if settings.key else {}
    async with httpx2.AsyncClient(headers=headers, timeout=seconds, follow_redirects=False) as client:
        for method, address, body in _places(settings, base, root):
            try:
                async with asyncio.timeout(seconds):
                    answer = await client.request(method, address, json=body)
                    found = list(_lengths(answer.json(), settings.name.model))
            except Exception:  # noqa: BLE001, S112 - what a server says of itself is never worth failing for
                continue
            for tokens in found:
                yield tokens


def _places(settings: ModelSettings, base: str, root: str) -> list[tuple[str, str, Mapping[str, str] | None]]:
    if settings.name.provider == "ollama":
        return [("POST", f"{base}/api/show", {"model": settings.name.model})]
    # vLLM and others, llama.cpp, LM Studio.
    return [("GET", address, None) for address in (f"{base}/models", f"{root}/props", f"{root}/api/v0/models")]


def _lengths(body: Any, model: str) -> Iterator[int]:
    """vLLM's max_model_len, LM Studio's context lengths, llama.cpp's n_ctx, Ollama's model_info."""
    if not isinstance(body, dict):
        return
    data = body.get("data")
    listed = [entry for entry in data if isinstance(entry, dict)] if isinstance(data, list) else []
    own = [entry for entry in listed if entry.get("id") == model] or (listed if len(listed) == 1 else [])
    for entry in own:
        yield from _numbers(entry, ("max_model_len", "loaded_context_length", "context_length"))
        yield from _numbers(entry.get("meta"), ("n_ctx",))
    yield from _numbers(body.get("default_generation_settings"), ("n_ctx",))
    info = body.get("model_info")
    if isinstance(info, dict):
        yield from _numbers(info, tuple(name for name in info if name.endswith(".context_length")))


def _numbers(found: Any, names: tuple[str, ...]) -> Iterator[int]:
    if isinstance(found, dict):
        yield from (found[name] for name in names if type(found.get(name)) is int and found[name] >= LEAST_CONTEXT)

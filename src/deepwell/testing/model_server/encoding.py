"""A completion as OpenAI writes it: one body, or the events of a stream."""

import json
from collections.abc import Iterator
from typing import Any

from deepwell.testing.model_server.replies import Completion
from deepwell.testing.model_server.requests import ChatRequest, tokens

_CREATED = 1_767_323_045
_PIECE = 24
"""Characters in an event of a stream."""


def body_of(completion: Completion, request: ChatRequest, number: int) -> bytes:
    """The whole reply; `number` tells one reply from another."""
    choice = {"index": 0, "message": _message(completion, number), "logprobs": None, "finish_reason": completion.finish}
    reply = _envelope("chat.completion", request, number, [choice])
    return json.dumps(reply | {"usage": _usage(completion, request)}).encode()


def events_of(completion: Completion, request: ChatRequest, number: int) -> tuple[bytes, ...]:
    """The reply in pieces, with the usage at the end if it was asked for, and the closing event."""
    wants_usage = bool((request.body.get("stream_options") or {}).get("include_usage"))
    choices: list[dict[str, Any]] = [
        {"index": 0, "delta": delta, "finish_reason": None} for delta in _deltas(completion, number)
    ]
    choices.append({"index": 0, "delta": {}, "finish_reason": completion.finish})
    chunks = [_envelope("chat.completion.chunk", request, number, [choice]) for choice in choices]
    if wants_usage:
        last = _envelope("chat.completion.chunk", request, number, [])
        chunks = [*(chunk | {"usage": None} for chunk in chunks), last | {"usage": _usage(completion, request)}]
    return (*(event(json.dumps(chunk)) for chunk in chunks), event("[DONE]"))


def event(data: str) -> bytes:
    """One server-sent event."""
    return f"data: {data}\n\n".encode()


def _envelope(kind: str, request: ChatRequest, number: int, choices: list[dict[str, Any]]) -> dict[str, Any]:
    return {
        "id": f"chatcmpl-{number}",
        "object": kind,
        "created": _CREATED,
        "model": request.body.get("model", ""),
        "choices": choices,
    }


def _message(completion: Completion, number: int) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": completion.content, "refusal": completion.refusal}
    if completion.thought:
        message["reasoning_content"] = completion.thought
    if completion.calls:
        message["tool_calls"] = [
            _call(number, i, {"name": call.name, "arguments": call.arguments})
            for i, call in enumerate(completion.calls)
        ]
    return message


def _call(number: int, place: int, function: dict[str, str]) -> dict[str, Any]:
    return {"id": f"call_{number}_{place}", "type": "function", "function": function}


def _deltas(completion: Completion, number: int) -> Iterator[dict[str, Any]]:
    yield {"role": "assistant", "content": None if completion.content is None else ""}
    yield from ({"reasoning_content": piece} for piece in _pieces(completion.thought))
    yield from ({"content": piece} for piece in _pieces(completion.content or ""))
    yield from ({"refusal": piece} for piece in _pieces(completion.refusal or ""))
    for i, call in enumerate(completion.calls):
        yield {"tool_calls": [{"index": i} | _call(number, i, {"name": call.name, "arguments": ""})]}
        for piece in _pieces(call.arguments):
            yield {"tool_calls": [{"index": i, "function": {"arguments": piece}}]}


def _pieces(text: str) -> Iterator[str]:
    return (text[i : i + _PIECE] for i in range(0, len(text), _PIECE))


def _usage(completion: Completion, request: ChatRequest) -> dict[str, Any]:
    sent = completion.tokens
    return {
        "prompt_tokens": request.prompt_tokens,
        "completion_tokens": sent,
        "total_tokens": request.prompt_tokens + sent,
        "prompt_tokens_details": {"cached_tokens": 0},
        "completion_tokens_details": {"reasoning_tokens": tokens(len(completion.thought))},
    }

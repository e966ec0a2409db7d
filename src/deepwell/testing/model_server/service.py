"""What the server does with a request: asks the script, lets the faults strike, keeps the exchange."""

import asyncio
import json
import time
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from deepwell.testing.model_server.encoding import body_of, events_of
from deepwell.testing.model_server.exchanges import Exchange, ExchangeLog
from deepwell.testing.model_server.faults import (
    EFFECTS,
    Effect,
    Fault,
    FaultPlan,
    InsteadOfReply,
    SpoiltAnswer,
    SpoiltCompletion,
    SpoiltReply,
    context_overflow,
    error_answer,
)
from deepwell.testing.model_server.replies import Abilities, Completion, Reply, completed, cut
from deepwell.testing.model_server.requests import CHARACTERS_A_TOKEN, ChatRequest, read_chat
from deepwell.testing.model_server.wire import Answer, Events, HttpRequest, Whole, read_request, send

Script = Callable[[ChatRequest], Reply]
"""What the model says to a request. It is called in the server's thread, one request at a time."""


@dataclass(frozen=True, slots=True)
class Behaviour:
    """How the server is set up."""

    script: Script
    model: str
    latency_s: float
    faults: tuple[Fault, ...]
    abilities: Abilities
    context_tokens: int | None


@dataclass(frozen=True, slots=True)
class _Incoming:
    """A request with what is known about it before it is answered."""

    number: int
    http: HttpRequest
    chat: ChatRequest | None
    """None: it is no chat, or cannot be read as one."""
    fault: Fault | None
    purpose: str


class Service:
    """Answers requests until the connection ends."""

    def __init__(
        self, behaviour: Behaviour, log: ExchangeLog, on_request: Callable[[int, str], None] | None = None
    ) -> None:
        self._behaviour = behaviour
        self._on_request = on_request
        self._log = log
        self._plan = FaultPlan(behaviour.faults)
        self._turns: Counter[tuple[str, tuple[str, str, str]]] = Counter()

    async def converse(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer every request on this connection."""
        goes_on = True
        while goes_on and (http := await read_request(reader)):
            goes_on = await self._exchange(http, reader, writer)
            goes_on = goes_on and http.headers.get("connection", "").lower() != "close"

    async def _exchange(self, http: HttpRequest, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        started, status, is_kept = time.monotonic(), 0, False
        incoming = self._taken_in(http)

        def keep() -> None:
            nonlocal is_kept
            if not is_kept:
                is_kept = True
                self._log.end(_exchange_of(incoming, started, status))

        try:
            if incoming.chat:
                await asyncio.sleep(self._behaviour.latency_s)
            answer = self._answer(incoming)
            status = answer.status
            return await send(answer, reader, writer, finished=keep)
        finally:
            keep()

    def _taken_in(self, http: HttpRequest) -> _Incoming:
        chat = _chat_in(http)
        purpose = chat.purpose if chat else "models" if http.method == "GET" else "other"
        if chat:
            chat = replace(chat, turn=self._turn(chat))
        number = self._log.arrive()
        if self._on_request:
            self._on_request(number, purpose)
        return _Incoming(number, http, chat, self._plan.strike(purpose), purpose)

    def _turn(self, chat: ChatRequest) -> int:
        if chat.purpose == "take_in":  # a new run begins, perhaps with a question that was asked before
            for key in [key for key in self._turns if key[1][0] == chat.question]:
                del self._turns[key]
        return self._turns[chat.purpose, chat.matter]

    def _answer(self, incoming: _Incoming) -> Answer:
        effect = EFFECTS[incoming.fault.name][1] if incoming.fault else None
        if incoming.fault and isinstance(effect, InsteadOfReply):
            return effect.answer(incoming.fault, bool(incoming.chat and incoming.chat.streams))
        if incoming.chat is None:
            return self._no_chat(incoming.http)
        if refused := self._refused(incoming.chat):
            return refused
        if incoming.fault is None:
            self._turns[incoming.chat.purpose, incoming.chat.matter] += 1
        return _encoded(self._completion(incoming.chat, effect), incoming.chat, incoming.number, effect)

    def _completion(self, chat: ChatRequest, effect: Effect | None) -> Completion:
        reply = self._behaviour.script(chat)
        if isinstance(effect, SpoiltReply):
            reply = effect.spoil(reply)
        completion = completed(reply, chat, self._behaviour.abilities)
        limit = chat.body.get("max_completion_tokens") or chat.body.get("max_tokens")
        if limit and completion.tokens > limit:
            completion = cut(completion, limit * CHARACTERS_A_TOKEN)
        return effect.spoil(completion) if isinstance(effect, SpoiltCompletion) else completion

    def _refused(self, chat: ChatRequest) -> Whole | None:
        abilities, limit = self._behaviour.abilities, self._behaviour.context_tokens
        if chat.tools and abilities.tools == "error":
            return error_answer(400, "This model does not support tools.", None)
        if chat.schema is not None and abilities.json_schema == "error":
            return error_answer(400, "This model does not support response_format json_schema.", None)
        if limit is not None and chat.prompt_tokens > limit:
            return context_overflow(limit, chat.prompt_tokens)
        return None

    def _no_chat(self, http: HttpRequest) -> Whole:
        if http.method == "GET" and http.path.startswith("/v1/models"):
            return self._models(http.path)
        if http.method == "POST" and http.path == "/v1/chat/completions":
            return error_answer(400, "The body could not be read as a chat request.", None)
        return error_answer(404, f"There is nothing at {http.path}.", None)

    def _models(self, path: str) -> Whole:
        card: dict[str, Any] = {"id": self._behaviour.model, "object": "model", "created": 0, "owned_by": "deepwell"}
        if self._behaviour.context_tokens is not None:
            card["max_model_len"] = self._behaviour.context_tokens  # as vLLM tells it
        listed = {"object": "list", "data": [card]}
        return Whole(200, json.dumps(listed if path.endswith("/models") else card).encode())


def _chat_in(http: HttpRequest) -> ChatRequest | None:
    if http.method != "POST" or http.path != "/v1/chat/completions":
        return None
    body = _json_object(http.body)
    return read_chat(body) if "messages" in body else None


def _json_object(body: bytes) -> Mapping[str, Any]:
    try:
        found = json.loads(body or b"{}")
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


def _encoded(completion: Completion, chat: ChatRequest, number: int, effect: Effect | None) -> Answer:
    answer: Answer
    if chat.streams:
        answer = Events(events_of(completion, chat, number))
    else:
        answer = Whole(200, body_of(completion, chat, number))
    return effect.spoil(answer) if isinstance(effect, SpoiltAnswer) else answer


def _exchange_of(incoming: _Incoming, started: float, status: int) -> Exchange:
    chat = incoming.chat
    return Exchange(
        number=incoming.number,
        path=incoming.http.path,
        purpose=incoming.purpose,
        started=started,
        ended=time.monotonic(),
        prompt_characters=chat.prompt_characters if chat else 0,
        messages=chat.messages if chat else (),
        status=status,
        fault=incoming.fault.name if incoming.fault else None,
        body=chat.body if chat else _json_object(incoming.http.body),
        headers=incoming.http.headers,
    )

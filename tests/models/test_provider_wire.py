"""Every provider's own package, asked over the wire: what it sends, how often, and what becomes of the answer."""

import asyncio
import json
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest
import tiktoken
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage
from pydantic import BaseModel, Field

from deepwell.models.factory import ModelSettings, chat_model
from deepwell.models.failures import FailureKind, failure_of
from deepwell.models.names import PROVIDERS, ModelName
from deepwell.models.shapes import Form, Prose, Shape, Toolbox
from deepwell.models.steering import Strategy, steered, wire_schema

KEY = "sk-very-secret"
MODEL = "the-model"
CUT = '{"answer": 4'
MESSAGES: list[BaseMessage] = [SystemMessage("Be brief."), HumanMessage("Two and two?")]


class Answer(BaseModel):
    """The answer to the question."""

    answer: int = Field(description="The number.")
    note: str | None = None


class Think(BaseModel):
    """Think aloud."""

    reflection: str


FORM = Form("probe", Answer)
TOOLBOX = Toolbox("supervise", {"answer_now": Answer, "think_tool": Think})


# A server that takes everything down


@dataclass
class Recorded:
    method: str
    path: str
    headers: dict[str, str]
    body: Any


@dataclass
class Server:
    """Answers every request the same way."""

    address: str = ""
    requests: list[Recorded] = field(default_factory=list)
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    body: bytes | None = None
    """None: what the provider of that path would answer."""
    content_type: str = "application/json"
    silent: bool = False
    done: threading.Event = field(default_factory=threading.Event)

    def forget(self) -> None:
        vars(self).update(vars(Server(self.address)))

    def answer(self, path: str) -> bytes:
        return json.dumps(reply_at(path)).encode() if self.body is None else self.body

    @property
    def only(self) -> Recorded:
        assert len(self.requests) == 1
        return self.requests[0]


def handler(server: Server) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            self.do_POST()

        def do_POST(self) -> None:
            length = int(self.headers.get("Content-Length", 0))
            headers = {name.lower(): value for name, value in self.headers.items()}
            body = json.loads(self.rfile.read(length) or b"null")
            server.requests.append(Recorded(self.command, self.path, headers, body))
            if server.silent:
                server.done.wait(10)
                self.close_connection = True
                return
            answer = server.answer(self.path)
            self.send_response(server.status)
            for name, value in server.headers.items():
                self.send_header(name, value)
            self.send_header("Content-Type", server.content_type)
            self.send_header("Content-Length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer)

        def log_message(self, *_: Any) -> None:
            pass

    return Handler


@pytest.fixture(scope="module")
def machine() -> Iterator[Server]:
    recorder = Server()
    http = ThreadingHTTPServer(("127.0.0.1", 0), handler(recorder))
    recorder.address = f"http://127.0.0.1:{http.server_port}"
    thread = threading.Thread(target=http.serve_forever, args=(0.01,))
    thread.start()
    yield recorder
    http.shutdown()
    thread.join()
    http.server_close()


@pytest.fixture
def server(machine: Server, monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    """The machine as it is when nobody has said anything yet."""
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.lower(), raising=False)
    machine.forget()
    yield machine
    machine.done.set()


CHAT = {
    "id": "chat-1",
    "object": "chat.completion",
    "created": 1,
    "model": MODEL,
    "choices": [{"index": 0, "finish_reason": "length", "message": {"role": "assistant", "content": CUT}}],
    "usage": {"prompt_tokens": 11, "completion_tokens": 7, "total_tokens": 18},
}
REPLIES: dict[str, Any] = {
    "/chat/completions": CHAT,
    "/v1/messages": {
        "id": "msg-1",
        "type": "message",
        "role": "assistant",
        "model": MODEL,
        "content": [{"type": "text", "text": CUT}],
        "stop_reason": "max_tokens",
        "usage": {"input_tokens": 11, "output_tokens": 7},
    },
    ":generateContent": {
        "candidates": [{"content": {"role": "model", "parts": [{"text": CUT}]}, "finishReason": "MAX_TOKENS"}],
        "usageMetadata": {"promptTokenCount": 11, "candidatesTokenCount": 7, "totalTokenCount": 18},
    },
    "/api/chat": {
        "model": MODEL,
        "created_at": "2026-01-01T00:00:00Z",
        "message": {"role": "assistant", "content": CUT},
        "done": True,
        "done_reason": "length",
        "prompt_eval_count": 11,
        "eval_count": 7,
    },
    "/v1/responses": {
        "id": "resp_1",
        "object": "response",
        "created_at": 1,
        "model": MODEL,
        "status": "incomplete",
        "incomplete_details": {"reason": "max_output_tokens"},
        "output": [
            {
                "type": "message",
                "id": "msg_1",
                "status": "incomplete",
                "role": "assistant",
                "content": [{"type": "output_text", "text": CUT, "annotations": []}],
            }
        ],
        "parallel_tool_calls": True,
        "tool_choice": "auto",
        "tools": [],
        "usage": {
            "input_tokens": 11,
            "input_tokens_details": {"cached_tokens": 0},
            "output_tokens": 7,
            "output_tokens_details": {"reasoning_tokens": 0},
            "total_tokens": 18,
        },
    },
}


def reply_at(path: str) -> Any:
    return next((reply for ending, reply in REPLIES.items() if path.endswith(ending)), {"error": "nothing here"})


# What each provider is expected to be sent


@dataclass(frozen=True)
class Wire:
    """Where one provider expects what."""

    base: str
    path: str
    key_header: str
    limit: Callable[[Any], Any]
    temperature: Callable[[Any], Any]
    tools: Callable[[Any], Any]
    """Each tool's name and description."""
    forced: Callable[[Any], bool]
    schema: Callable[[Any], Any]
    """Name, where it has one, and schema."""
    finish: Callable[[dict[str, Any]], Any] = lambda metadata: metadata["finish_reason"]
    finished_by: str = "length"


def openai_tools(body: Any) -> Any:
    return [(tool["function"]["name"], tool["function"]["description"]) for tool in body.get("tools", [])]


def google_tools(body: Any) -> Any:
    declared = [declaration for tool in body.get("tools", []) for declaration in tool["functionDeclarations"]]
    return [(tool["name"], tool["description"]) for tool in declared]


def openai_schema(body: Any) -> Any:
    wanted = body.get("response_format")
    return wanted and (wanted["json_schema"]["name"], wanted["json_schema"]["schema"])


def unnamed(schema: Any) -> Any:
    return schema and (None, schema)


CHAT_WIRE = Wire(
    base="/v1",
    path="/v1/chat/completions",
    key_header="authorization",
    limit=lambda body: body["max_tokens"],
    temperature=lambda body: body.get("temperature"),
    tools=openai_tools,
    forced=lambda body: body["tool_choice"] == "required",
    schema=openai_schema,
)
WIRES = {
    "openai": replace(CHAT_WIRE, limit=lambda body: body["max_completion_tokens"]),
    "anthropic": Wire(
        base="",
        path="/v1/messages",
        key_header="authorization",
        limit=lambda body: body["max_tokens"],
        temperature=lambda body: body.get("temperature"),
        tools=lambda body: [(tool["name"], tool["description"]) for tool in body.get("tools", [])],
        forced=lambda body: body["tool_choice"] == {"type": "any"},
        schema=lambda body: unnamed(body.get("output_config", {}).get("format", {}).get("schema")),
        finish=lambda metadata: metadata["stop_reason"],
        finished_by="max_tokens",
    ),
    "google": Wire(
        base="",
        path=f"/v1beta/models/{MODEL}:generateContent",
        key_header="x-goog-api-key",
        limit=lambda body: body["generationConfig"]["maxOutputTokens"],
        temperature=lambda body: body["generationConfig"].get("temperature"),
        tools=google_tools,
        forced=lambda body: body["toolConfig"]["functionCallingConfig"]["mode"] == "ANY",
        schema=lambda body: unnamed(body["generationConfig"].get("responseJsonSchema")),
        finished_by="MAX_TOKENS",
    ),
    "groq": replace(
        CHAT_WIRE,
        base="",
        path="/openai/v1/chat/completions",
        limit=lambda body: body["max_completion_tokens"],
    ),
    "deepseek": replace(
        CHAT_WIRE,
        schema=lambda body: body.get("response_format") and (None, body["response_format"]),
    ),
    "ollama": Wire(
        base="",
        path="/api/chat",
        key_header="authorization",
        limit=lambda body: body["options"]["num_predict"],
        temperature=lambda body: body["options"].get("temperature"),
        tools=openai_tools,
        forced=lambda _: True,  # there is no such thing
        schema=lambda body: unnamed(body.get("format")),
        finish=lambda metadata: metadata["done_reason"],
    ),
    "openai-compatible": CHAT_WIRE,
}

every_provider = pytest.mark.parametrize("provider", PROVIDERS)


def settings(server: Server, provider: str, **more: Any) -> ModelSettings:
    address = f"{server.address}{WIRES[provider].base}"
    return replace(ModelSettings(ModelName(provider, MODEL), address, key=KEY), **more)


@cache
def built(wanted: ModelSettings, timeout_s: float) -> BaseChatModel:
    """The same model for the same settings: building one takes longer than asking it."""
    return chat_model(wanted, timeout_s)


async def asked(
    server: Server,
    provider: str,
    shape: Shape = FORM,
    strategy: Strategy = "plain",
    timeout_s: float = 20,
    **more: Any,
) -> AIMessage:
    model = built(settings(server, provider, **more), timeout_s)
    return await steered(model, provider, shape, strategy, 123).ainvoke(MESSAGES)


async def failed(server: Server, provider: str, **more: Any) -> BaseException:
    with pytest.raises(Exception) as raised:  # noqa: PT011 - which one is the question
        await asked(server, provider, **more)
    return raised.value


def nothing_but(request: Recorded, wire: Wire) -> None:
    """The request went to the right place, said what it had to and kept the key to its header."""
    assert (request.method, request.path) == ("POST", wire.path)
    assert MODEL in (request.body.get("model"), *request.path.replace(":", "/").split("/"))
    assert KEY in request.headers[wire.key_header]
    rest = {name: value for name, value in request.headers.items() if name != wire.key_header}
    told = json.dumps([request.path, request.body, rest])
    assert KEY not in told
    assert told.count("Be brief.") == told.count("Two and two?") == 1


@every_provider
async def test_tools_are_bound_and_a_call_is_required(server: Server, provider: str) -> None:
    wire = WIRES[provider]
    await asked(server, provider, TOOLBOX, "tools", temperature=0.3)
    nothing_but(server.only, wire)
    body = server.only.body
    assert wire.tools(body) == [("answer_now", "The answer to the question."), ("think_tool", "Think aloud.")]
    assert wire.forced(body)
    assert (wire.limit(body), wire.temperature(body), wire.schema(body)) == (123, 0.3, None)


@every_provider
async def test_a_form_is_one_tool(server: Server, provider: str) -> None:
    wire = WIRES[provider]
    await asked(server, provider, FORM, "tools")
    nothing_but(server.only, wire)
    assert wire.tools(server.only.body) == [("probe", "The answer to the question.")]
    assert wire.forced(server.only.body)


NAMED = {"openai", "openai-compatible", "groq"}


@every_provider
@pytest.mark.parametrize("shape", [FORM, TOOLBOX], ids=["form", "toolbox"])
async def test_a_schema_is_sent_as_the_provider_wants_it(
    server: Server, provider: str, shape: Form[BaseModel] | Toolbox
) -> None:
    wire = WIRES[provider]
    await asked(server, provider, shape, "schema", temperature=0.3)
    nothing_but(server.only, wire)
    body = server.only.body
    expected: Any = {"type": "json_object"} if provider == "deepseek" else wire_schema(shape)
    assert wire.schema(body) == (shape.name if provider in NAMED else None, expected)
    assert (wire.limit(body), wire.temperature(body), wire.tools(body)) == (123, 0.3, [])


@pytest.mark.parametrize("shape", [FORM, TOOLBOX], ids=["form", "toolbox"])
async def test_deepseek_is_told_the_form_in_words(server: Server, shape: Form[BaseModel] | Toolbox) -> None:
    await asked(server, "deepseek", shape, "schema")
    system, user = server.only.body["messages"]
    assert system["content"].startswith("Be brief.\n\n")
    assert f"Reply with one JSON object of the form {shape.name}" in system["content"]
    assert user["content"] == "Two and two?"


@every_provider
@pytest.mark.parametrize(
    ("shape", "strategy"), [(FORM, "plain"), (Prose(), "tools"), (Prose(), "schema")], ids=["plain", "prose", "text"]
)
async def test_words_are_sent_as_they_are(server: Server, provider: str, shape: Shape, strategy: Strategy) -> None:
    wire = WIRES[provider]
    await asked(server, provider, shape, strategy)
    nothing_but(server.only, wire)
    body = server.only.body
    assert (wire.limit(body), wire.tools(body), wire.schema(body)) == (123, [], None)
    # ChatGroq cannot leave it out: it gets what Groq would take by itself.
    assert wire.temperature(body) == (1.0 if provider == "groq" else None)


@every_provider
@pytest.mark.parametrize("strategy", ["tools", "schema", "plain"])
async def test_a_reply_that_was_cut_short_comes_back_as_it_is(
    server: Server, provider: str, strategy: Strategy
) -> None:
    wire = WIRES[provider]
    reply = await asked(server, provider, FORM, strategy)
    assert reply.text == CUT
    assert wire.finish(reply.response_metadata) == wire.finished_by
    assert reply.usage_metadata is not None
    assert (reply.usage_metadata["input_tokens"], reply.usage_metadata["output_tokens"]) == (11, 7)


@every_provider
@pytest.mark.parametrize("strategy", ["tools", "schema"])
async def test_nothing_is_tried_twice(server: Server, provider: str, strategy: Strategy) -> None:
    server.status, server.body = 500, b'{"error": {"message": "out of order", "code": 500, "status": "INTERNAL"}}'
    failure = failure_of(await failed(server, provider, strategy=strategy))
    assert failure.kind is FailureKind.OVERLOAD
    assert "500" in failure.sentence
    assert server.only


@every_provider
async def test_a_rate_limit_says_how_long_to_wait(server: Server, provider: str) -> None:
    server.status, server.headers = 429, {"Retry-After": "17"}
    server.body = b'{"error": {"message": "slow down", "code": 429, "status": "RESOURCE_EXHAUSTED"}}'
    failure = failure_of(await failed(server, provider))
    assert (failure.kind, failure.retry_after_s) == (FailureKind.RATE_LIMIT, 17.0)
    assert server.only


OVERFLOWS = {
    "openai": '{"error": {"message": "too many", "type": "invalid_request_error", "code": "context_length_exceeded"}}',
    "anthropic": '{"type": "error", "error": {"type": "invalid_request_error", '
    '"message": "prompt is too long: 210000 tokens > 200000 maximum"}}',
    "google": '{"error": {"code": 400, "status": "INVALID_ARGUMENT", "message": '
    '"The input token count (1200000) exceeds the maximum number of tokens allowed (1048576)."}}',
    "groq": '{"error": {"message": "Please reduce the length of the messages or completion.", '
    '"type": "invalid_request_error", "code": "context_length_exceeded"}}',
    "deepseek": '{"error": {"message": "This model\'s maximum context length is 65536 tokens.", '
    '"type": "invalid_request_error", "code": "invalid_request_error"}}',
    "ollama": '{"error": "the input length exceeds the context length"}',
    "openai-compatible": '{"error": {"code": 400, "type": "exceed_context_size_error", '
    '"message": "the request exceeds the available context size, try increasing it"}}',
}


@every_provider
async def test_a_prompt_that_is_too_long_is_known_as_such(server: Server, provider: str) -> None:
    server.status, server.body = 400, OVERFLOWS[provider].encode()
    assert failure_of(await failed(server, provider)).kind is FailureKind.CONTEXT_OVERFLOW


@every_provider
async def test_a_wrong_key_is_known_as_such(server: Server, provider: str) -> None:
    server.status, server.body = 401, b'{"error": {"message": "sk-very-secret is wrong", "code": 401}}'
    failure = failure_of(await failed(server, provider))
    assert failure.kind is FailureKind.AUTH
    assert KEY not in failure.sentence


@every_provider
@pytest.mark.parametrize(
    ("body", "content_type"),
    [(b"<html>Welcome</html>", "text/html"), (b'{"id": "cut off', "application/json")],
    ids=["page", "broken"],
)
async def test_an_answer_that_is_no_answer_is_malformed(
    server: Server, provider: str, body: bytes, content_type: str
) -> None:
    server.body, server.content_type = body, content_type
    assert failure_of(await failed(server, provider)).kind is FailureKind.MALFORMED


@every_provider
async def test_silence_is_a_timeout(server: Server, provider: str) -> None:
    server.silent = True
    assert failure_of(await failed(server, provider, timeout_s=0.2)).kind is FailureKind.TIMEOUT
    assert server.only


@every_provider
async def test_a_closed_port_is_unreachable(server: Server, provider: str) -> None:
    closed = "http://127.0.0.1:9"
    assert failure_of(await failed(server, provider, base_url=closed)).kind is FailureKind.UNREACHABLE


@every_provider
def test_a_model_can_be_asked_in_one_event_loop_after_another(server: Server, provider: str) -> None:
    """The packages share HTTP clients; a connection that was kept would belong to a loop that is closed."""
    for _ in range(3):
        assert asyncio.run(asked(server, provider)).text == CUT
    assert len(server.requests) == 3


STRAY = {
    **dict.fromkeys(
        (
            "OPENAI_API_BASE OPENAI_BASE_URL ANTHROPIC_API_URL ANTHROPIC_BASE_URL GROQ_API_BASE GROQ_BASE_URL "
            "DEEPSEEK_API_BASE OLLAMA_HOST GOOGLE_GEMINI_BASE_URL LANGSMITH_GATEWAY OPENAI_PROXY ANTHROPIC_PROXY "
            "GROQ_PROXY"
        ).split(),
        "http://127.0.0.1:9",
    ),
    **dict.fromkeys((name for provider in PROVIDERS.values() for name in provider.key_names), "sk-of-someone-else"),
}


@every_provider
async def test_variables_do_not_lead_elsewhere(server: Server, provider: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Even with nothing said about the address, which is then the provider's own."""
    wire = WIRES[provider]
    for name, value in STRAY.items():
        monkeypatch.setenv(name, value)
    own = replace(PROVIDERS[provider], address=f"{server.address}{wire.base}")
    monkeypatch.setitem(PROVIDERS, provider, own)
    model = chat_model(settings(server, provider, base_url=None), 20)
    await steered(model, provider, FORM, "plain", 123).ainvoke(MESSAGES)
    nothing_but(server.only, wire)
    assert "sk-of-someone-else" not in str(server.only.headers)


async def test_a_compatible_server_gets_no_key_that_was_not_given(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    model = chat_model(settings(server, "openai-compatible", key=None), 20)
    await steered(model, "openai-compatible", FORM, "plain", 123).ainvoke(MESSAGES)
    assert KEY not in str(server.only.headers)


@pytest.mark.parametrize("strategy", ["tools", "schema"])
async def test_a_model_of_the_responses_api_is_steered_too(
    server: Server, strategy: Strategy, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = replace(PROVIDERS["openai"], address=f"{server.address}/v1")
    monkeypatch.setitem(PROVIDERS, "openai", own)
    model = chat_model(ModelSettings(ModelName("openai", "gpt-5.2-pro"), key=KEY), 20)
    reply = await steered(model, "openai", FORM, strategy, 123).ainvoke(MESSAGES)
    body = server.only.body
    assert server.only.path == "/v1/responses"
    assert (body["max_output_tokens"], body["store"]) == (123, False)
    if strategy == "schema":
        assert body["text"]["format"]["schema"] == wire_schema(FORM)
    else:
        assert (body["tools"][0]["name"], body["tool_choice"]) == ("probe", "required")
    assert reply.text == CUT
    assert reply.response_metadata["incomplete_details"] == {"reason": "max_output_tokens"}


async def test_ollama_is_told_how_much_context_to_reserve(server: Server) -> None:
    await asked(server, "ollama", temperature=0.2, context_tokens=16384)
    assert server.only.body["options"] == {"num_ctx": 16384, "num_predict": 123, "temperature": 0.2}


async def test_a_reply_that_is_streamed_tells_its_usage(server: Server) -> None:
    chunks: list[dict[str, Any]] = [
        {"choices": [{"index": 0, "delta": {"role": "assistant", "content": CUT}, "finish_reason": None}]},
        {"choices": [{"index": 0, "delta": {}, "finish_reason": "length"}]},
        {"choices": [], "usage": CHAT["usage"]},
    ]
    frame: dict[str, Any] = {"id": "chat-1", "object": "chat.completion.chunk", "created": 1, "model": MODEL}
    lines = [*(f"data: {json.dumps(frame | chunk)}\n\n" for chunk in chunks), "data: [DONE]\n\n"]
    server.body, server.content_type = "".join(lines).encode(), "text/event-stream"
    model = built(settings(server, "openai-compatible"), 20)
    pieces = [piece async for piece in steered(model, "openai-compatible", FORM, "schema", 123).astream(MESSAGES)]
    assert server.only.body["stream_options"] == {"include_usage": True}
    assert "".join(piece.text for piece in pieces) == CUT
    assert sum(piece.usage_metadata["output_tokens"] for piece in pieces if piece.usage_metadata) == 7


@every_provider
async def test_no_vocabulary_is_fetched(server: Server, provider: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: Any) -> None:
        raise AssertionError

    monkeypatch.setattr(tiktoken, "get_encoding", refuse)
    monkeypatch.setattr(tiktoken, "encoding_for_model", refuse)
    assert (await asked(server, provider, TOOLBOX, "tools")).text == CUT
    assert server.only

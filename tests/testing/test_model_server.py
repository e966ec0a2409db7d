"""The scripted server, driven by the clients that people use."""

import asyncio
import json
import socket
import ssl
import threading
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import ExitStack, asynccontextmanager, suppress
from typing import Any

import httpx2
import openai
import pytest
from langchain_core.messages.ai import AIMessageChunk, add_ai_message_chunks
from langchain_openai import ChatOpenAI
from pydantic import BaseModel, SecretStr

from deepwell.testing.model_server import (
    FAULTS,
    ChatRequest,
    Colleague,
    Exchange,
    Fault,
    ModelServer,
    longest_chain,
    prompt_tokens,
)
from deepwell.testing.model_server.faults import MISSING_TOOL

QUESTION = "<question>Who founded Brightline, and where?</question>"
UNIT = (
    QUESTION + "<topic>The founding of Brightline</topic>"
    """<passage n="1" source='About "us" &amp; ours'># Brightline\n\n"""
    "Brightline was founded in Bremen [7]. It grew.</passage>"
    '<passage n="2" source="Staff">The firm employs\n80 people.</passage>'
)
CLAIMS = (
    '<claim n="1" cite="[1][4]">Maria Kessler founded Brightline.</claim>'
    '<claim n="2" cite="[2]">It is in Bremen.</claim>'
)
QUOTED = CLAIMS.replace("Bremen.", "Bremen. (source: “It sits in Bremen.”)")


def tool(name: str, *arguments: str) -> dict[str, Any]:
    properties = {argument: {"type": "string"} for argument in arguments}
    return {"type": "function", "function": {"name": name, "parameters": {"type": "object", "properties": properties}}}


RESEARCH = [tool("search_web", "query"), tool("report_findings", "answer", "gaps")]
SUPERVISE = [tool("ConductResearch", "research_topic"), tool("ResearchComplete", "confidence")]


def schema(name: str) -> dict[str, Any]:
    return {"type": "json_schema", "json_schema": {"name": name, "schema": {"type": "object"}}}


def messages(case: str, standing: str) -> Any:
    return [{"role": "system", "content": standing}, {"role": "user", "content": case}]


def http(**more: Any) -> httpx2.AsyncClient:
    # No certificates: reading them takes longer than a whole test.
    return httpx2.AsyncClient(verify=ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT), timeout=20.0, **more)


@asynccontextmanager
async def talking(server: ModelServer) -> AsyncIterator[openai.AsyncOpenAI]:
    async with http() as transport:
        yield openai.AsyncOpenAI(base_url=server.base_url, api_key="k", max_retries=0, http_client=transport)


@asynccontextmanager
async def chatting(server: ModelServer) -> AsyncIterator[ChatOpenAI]:
    # A client of our own: the package keeps its default one, with its sockets, for good.
    async with http() as transport:
        key = SecretStr("k")
        yield ChatOpenAI(
            model="m",
            base_url=server.base_url,
            api_key=key,
            max_retries=0,
            http_async_client=transport,
            stream_usage=True,
        )


async def ask(client: openai.AsyncOpenAI, case: str, standing: str = "", **more: Any) -> Any:
    return await client.chat.completions.create(model="m", messages=messages(case, standing), **more)


async def said(client: openai.AsyncOpenAI, case: str, standing: str = "", **more: Any) -> str:
    return str((await ask(client, case, standing, **more)).choices[0].message.content)


async def called(client: openai.AsyncOpenAI, case: str, tools: list[dict[str, Any]]) -> list[tuple[str, Any]]:
    reply = await ask(client, case, tools=tools)
    return [(c.function.name, json.loads(c.function.arguments)) for c in reply.choices[0].message.tool_calls]


# --- the interface ---


async def test_plain_chat_has_content_and_usage() -> None:
    with ModelServer(lambda request: "Hello there.") as server:
        async with talking(server) as client:
            reply = await ask(client, "Hi", "Be brief")
    assert reply.choices[0].message.content == "Hello there."
    assert (reply.choices[0].finish_reason, reply.model) == ("stop", "m")
    assert (reply.usage.prompt_tokens, reply.usage.completion_tokens, reply.usage.total_tokens) == (3, 3, 6)


async def test_stream_brings_the_same_text_and_usage_only_when_asked_for() -> None:
    text = "A rather long reply that does not fit into one piece of the stream, ö and all."
    with ModelServer(lambda request: text) as server:
        async with talking(server) as client:
            options = {"include_usage": True}
            with_usage = [c async for c in await ask(client, "Hi", stream=True, stream_options=options)]
            without = [c async for c in await ask(client, "Hi", stream=True)]
    assert "".join(c.choices[0].delta.content or "" for c in without) == text
    assert "".join(c.choices[0].delta.content or "" for c in with_usage if c.choices) == text
    assert with_usage[-1].usage.completion_tokens == 20
    assert all(chunk.usage is None for chunk in without)


async def test_tool_calls_arrive_whole_and_streamed() -> None:
    script = [("search_web", {"query": "Bremen öffentlich, quite a long search"}), ("search_web", {"query": "b"})]
    with ModelServer(lambda request: script) as server:
        async with talking(server) as client:
            assert await called(client, UNIT, RESEARCH) == script
        async with chatting(server) as model:
            bound = model.bind_tools(RESEARCH)
            whole = await bound.ainvoke(UNIT)
            chunks = [chunk async for chunk in bound.astream(UNIT) if isinstance(chunk, AIMessageChunk)]
    for message in (whole, add_ai_message_chunks(chunks[0], *chunks[1:])):
        assert [(call["name"], call["args"]) for call in message.tool_calls] == script
        assert message.usage_metadata is not None
        assert message.usage_metadata["output_tokens"] == 17


async def test_only_one_call_without_parallel_calls_and_none_when_tools_are_forbidden() -> None:
    with ModelServer(lambda request: [("search_web", {"query": q}) for q in "ab"]) as server:
        async with talking(server) as client:
            one = await ask(client, UNIT, tools=RESEARCH, parallel_tool_calls=False)
            none = await ask(client, UNIT, tools=RESEARCH, tool_choice="none")
    assert len(one.choices[0].message.tool_calls) == 1
    assert none.choices[0].message.tool_calls is None


class Probe(BaseModel):
    answer: int


@pytest.mark.parametrize(
    ("method", "question", "answer"),
    [("json_schema", "What is 17 + 25?", 42), ("function_calling", "What is Two times three?", 6)],
)
async def test_a_form_reaches_langchain_by_schema_and_by_tool(method: Any, question: str, answer: int) -> None:
    class probe(Probe):  # noqa: N801 (the name goes over the wire)
        pass

    with ModelServer() as server:
        async with chatting(server) as model:
            reply = await model.with_structured_output(probe, method=method).ainvoke(question)
    assert reply == probe(answer=answer)
    assert server.purposes() == ({"json_schema": "probe_schema", "function_calling": "probe_tools"}[method],)


async def test_calls_are_wrapped_as_moves_in_a_schema_and_in_words() -> None:
    stated = "Reply with one JSON object of the form `investigate`."
    with ModelServer() as server:
        async with talking(server) as client:
            by_schema = json.loads(await said(client, UNIT, response_format=schema("investigate")))
            in_words = json.loads(await said(client, UNIT, stated))
    assert by_schema == in_words
    assert [move["tool"] for move in by_schema["moves"]] == ["report_findings"]
    assert server.purposes() == ("investigate", "investigate")


async def test_a_server_without_an_ability_answers_prose_or_an_error() -> None:
    with ModelServer(tools=False, json_schema=False) as server:
        async with talking(server) as client:
            reply = await ask(client, UNIT, tools=RESEARCH)
            assert reply.choices[0].message.tool_calls is None
            for text in (reply.choices[0].message.content, await said(client, UNIT, response_format=schema("digest"))):
                assert text
                assert "{" not in text
            stated = "Reply with one JSON object of the form digest."
            assert json.loads(await said(client, UNIT, stated, response_format=schema("digest")))
    with ModelServer(tools="error", json_schema="error") as server:
        async with talking(server) as client:
            for wish in ({"tools": RESEARCH}, {"response_format": schema("digest")}):
                with pytest.raises(openai.BadRequestError):
                    await ask(client, UNIT, **wish)
            assert await said(client, "Hi")


async def test_the_context_window_is_told_and_held() -> None:
    with ModelServer(context_tokens=100, model="tiny") as server:
        async with talking(server) as client:
            [model] = [card async for card in client.models.list()]
            assert (await client.models.retrieve("tiny")).id == "tiny"
            assert (model.id, model.model_dump()["max_model_len"]) == ("tiny", 100)
            assert await said(client, "x" * 400)
            with pytest.raises(openai.BadRequestError) as raised:
                await ask(client, "x" * 401)
    assert raised.value.code == "context_length_exceeded"
    assert server.purposes() == ("models", "models", "other", "other")


async def test_a_reply_longer_than_allowed_is_cut() -> None:
    with ModelServer(lambda request: "x" * 100) as server:
        async with talking(server) as client:
            reply = await ask(client, "Hi", max_completion_tokens=10)
    assert (reply.choices[0].finish_reason, len(reply.choices[0].message.content)) == ("length", 40)
    assert reply.usage.completion_tokens == 10


async def test_thoughts_and_fences() -> None:
    with ModelServer(Colleague(thinks=True, fenced=True)) as server:
        async with talking(server) as client:
            text = await said(client, UNIT, response_format=schema("digest"))
            reply = await ask(client, UNIT, tools=RESEARCH)
    thought, _, rest = text.partition("</think>")
    assert thought.startswith("<think>")
    assert json.loads(rest.strip().removeprefix("```json").removesuffix("```"))["answer"]
    assert reply.choices[0].message.content.startswith("<think>")
    assert reply.choices[0].message.tool_calls
    with ModelServer(Colleague(reasoning_content=True)) as server:
        async with talking(server) as client:
            message = (await ask(client, UNIT, response_format=schema("digest"))).choices[0].message
            chunks = [c async for c in await ask(client, UNIT, stream=True)]
    assert message.reasoning_content
    assert json.loads(message.content)
    assert "".join(getattr(c.choices[0].delta, "reasoning_content", "") for c in chunks) == message.reasoning_content


async def test_an_unknown_path_and_an_unreadable_body_are_told_apart() -> None:
    with ModelServer() as server:
        async with http(base_url=server.base_url) as transport:
            assert (await transport.get("/nothing")).status_code == 404
            assert (await transport.post("/chat/completions", content=b"{")).status_code == 400
            assert (await transport.post("/chat/completions", json=["messages"])).status_code == 400


def test_the_server_works_in_sync_code_and_hides_the_key() -> None:
    with (
        ModelServer() as server,
        openai.OpenAI(base_url=server.base_url, api_key="very-secret", max_retries=0) as client,
    ):
        client.chat.completions.create(model="m", messages=[{"role": "user", "content": "Hi"}])
        [exchange] = server.log
    assert "very-secret" not in repr(exchange)
    assert exchange.headers["authorization"] == "(hidden)"
    assert (exchange.number, exchange.path, exchange.status) == (1, "/v1/chat/completions", 200)
    assert [(message.role, message.text) for message in exchange.messages] == [("user", "Hi")]
    assert exchange.body["model"] == "m"


async def test_an_error_in_the_script_is_raised_when_the_server_closes() -> None:
    def script(request: ChatRequest) -> str:
        raise KeyError("forgotten")

    server = ModelServer(script).__enter__()
    async with talking(server) as client:
        with pytest.raises(openai.APIConnectionError):
            await ask(client, "Hi")
    with pytest.raises(KeyError, match="forgotten"):
        server.__exit__(None, None, None)
    assert server.log[0].status == 0


# --- the blocks of a prompt ---


async def test_a_script_sees_the_blocks_of_the_prompt() -> None:
    seen: list[ChatRequest] = []

    def script(request: ChatRequest) -> str:
        seen.append(request)
        return "Fine."

    case = UNIT + CLAIMS + '<subquestion id="sq-1">Who?</subquestion><section heading="Roots">Say who.</section>'
    with ModelServer(script) as server:
        async with talking(server) as client:
            await ask(client, case + '<gap subquestion="sq-1">When?</gap>')
    [request] = seen
    assert request.purpose == "write_section"
    assert request.question == "Who founded Brightline, and where?"
    assert request.topic == "The founding of Brightline"
    assert request.passages[0][:2] == (1, 'About "us" & ours')
    assert request.passages[1].text == "The firm employs\n80 people."
    assert request.claims == ((1, "[1][4]", "Maria Kessler founded Brightline."), (2, "[2]", "It is in Bremen."))
    assert request.subquestions == (("sq-1", "Who?"),)
    assert request.section == ("Roots", "Say who.")
    assert request.gaps == (("sq-1", "When?"),)


# --- the colleague ---


async def test_the_colleague_plans_along_topics_that_differ() -> None:
    with ModelServer(Colleague(topics=4)) as server:
        async with talking(server) as client:
            form = json.loads(await said(client, QUESTION, response_format=schema("take_in")))
            [(name, again)] = await called(client, QUESTION, [tool("take_in", "kind")])
    assert (name, again) == ("take_in", form)
    assert len({part["question"] for part in form["subquestions"]}) == 4
    assert all(len(set(part["searches"])) == 2 for part in form["subquestions"])
    assert all("founded brightline" in search for part in form["subquestions"] for search in part["searches"])


async def test_the_colleague_quotes_first_sentences_with_their_numbers() -> None:
    with ModelServer(Colleague(gaps=("the year",))) as server:
        async with talking(server) as client:
            [(name, findings)] = await called(client, UNIT, RESEARCH)
            digest = json.loads(await said(client, UNIT, response_format=schema("digest")))
            [(_, nothing)] = await called(client, "<topic>Mars</topic>", RESEARCH)
            [(_, closing)] = await called(client, UNIT.replace("The founding", "the year"), RESEARCH)
    assert (name, findings) == ("report_findings", digest)
    assert findings["answer"] == "Brightline was founded in Bremen. [1]\n\nThe firm employs 80 people. [2]"
    assert findings["gaps"] == ["the year"]
    assert (nothing["answer"], nothing["gaps"]) == ("", ["Nothing was found on: Mars"])
    assert closing["gaps"] == []


async def test_the_colleague_searches_first_and_a_fault_does_not_count_as_a_turn() -> None:
    script = Colleague(searches_first=2)
    with ModelServer(script, faults=[Fault("empty", first=1)]) as server:
        async with talking(server) as client:
            await ask(client, UNIT, tools=RESEARCH)
            moves = [(await called(client, UNIT, RESEARCH))[0] for _ in range(3)]
    assert [name for name, _ in moves] == ["search_web", "search_web", "report_findings"]
    assert moves[0] != moves[1]


async def test_the_colleague_follows_a_gap_up_once_in_every_run() -> None:
    case = QUESTION + '<gap subquestion="sq-2">the year</gap>'
    with ModelServer() as server:
        async with talking(server) as client:
            for _ in range(2):
                await ask(client, QUESTION, response_format=schema("take_in"))
                [(name, sent)] = await called(client, case, SUPERVISE)
                assert (name, sent["research_topic"], sent["subquestion"]) == ("ConductResearch", "the year", "sq-2")
                [(name, told)] = await called(client, case, SUPERVISE)
                assert (name, told["gaps"]) == ("ResearchComplete", ["the year"])


async def test_the_colleague_outlines_all_claims_and_writes_with_their_citations() -> None:
    many = "".join(f'<claim n="{n}" cite="[{n}]">Claim number {n}.</claim>' for n in range(1, 8))
    with ModelServer() as server:
        async with talking(server) as client:
            outline = json.loads(await said(client, QUESTION + many, response_format=schema("outline")))
            empty = json.loads(await said(client, QUESTION, response_format=schema("outline")))
            section = await said(client, f'{QUOTED}<section heading="Roots">Say who.</section>')
    assert [part["claims"] for part in outline["sections"]] == [[1, 2, 3], [4, 5, 6], [7]]
    assert outline["answerable"]
    assert not empty["answerable"]
    assert section == "Maria Kessler founded Brightline [1][4]. It is in Bremen [2]."
    assert server.purposes() == ("outline", "outline", "write_section")


# --- faults ---

Check = Callable[[ModelServer, openai.AsyncOpenAI], Awaitable[None]]


def refused(kind: type[openai.APIStatusError], status: int, code: str | None = None, **headers: str) -> Check:
    async def check(server: ModelServer, client: openai.AsyncOpenAI) -> None:
        with pytest.raises(kind) as raised:
            await ask(client, UNIT, tools=RESEARCH)
        assert (raised.value.status_code, raised.value.code) == (status, code)
        assert raised.value.response.headers.get("retry-after") == headers.get("retry_after")

    return check


def fails(kind: type[Exception]) -> Check:
    async def check(server: ModelServer, client: openai.AsyncOpenAI) -> None:
        with pytest.raises(kind):
            await ask(client, UNIT, tools=RESEARCH)
        with pytest.raises(kind):
            [chunk async for chunk in await ask(client, UNIT, tools=RESEARCH, stream=True)]

    return check


def brings(expected: Callable[[Any], bool]) -> Check:
    async def check(server: ModelServer, client: openai.AsyncOpenAI) -> None:
        reply = await ask(client, UNIT, tools=RESEARCH)
        assert expected(reply.choices[0]), reply

    return check


def is_json(text: str) -> bool:
    try:
        json.loads(text)
    except ValueError:
        return False
    return True


async def breaks_json(server: ModelServer, client: openai.AsyncOpenAI) -> None:
    reply = await ask(client, UNIT, tools=RESEARCH)
    assert not is_json(reply.choices[0].message.tool_calls[0].function.arguments)
    for text in (await said(client, UNIT), await said(client, UNIT, response_format=schema("digest"))):
        assert text.startswith("{")
        assert not is_json(text)


async def drips(server: ModelServer, client: openai.AsyncOpenAI) -> None:
    async with client.chat.completions.with_streaming_response.create(
        model="m", messages=[{"role": "user", "content": "Hi"}]
    ) as response:
        pieces = response.iter_bytes()
        assert [await anext(pieces) for _ in range(3)] == [b"\n"] * 3


async def hangs(server: ModelServer, client: openai.AsyncOpenAI) -> None:
    asking = asyncio.create_task(ask(client, UNIT))
    await asyncio.to_thread(server.wait_for_requests, 1)
    server.close()
    with pytest.raises(openai.APIConnectionError):
        await asking
    assert (server.log[0].status, server.log[0].fault) == (0, "hang")


def calls_of(choice: Any) -> list[tuple[str, Any]]:
    return [(call.function.name, json.loads(call.function.arguments)) for call in choice.message.tool_calls]


CHECKS: dict[str, Check] = {
    "rate_limit": refused(openai.RateLimitError, 429, "rate_limit_exceeded"),
    "rate_limit_retry_after": refused(openai.RateLimitError, 429, "rate_limit_exceeded", retry_after="0.05"),
    "server_error": refused(openai.InternalServerError, 500),
    "overloaded": refused(openai.InternalServerError, 503),
    "truncated_body": fails(openai.APIConnectionError),
    "malformed_json": breaks_json,
    "malformed_http_json": fails(json.JSONDecodeError),
    "empty": brings(lambda choice: choice.message.content == "" and choice.message.tool_calls is None),
    "hang": hangs,
    "drip": drips,
    "wrong_tool": brings(lambda choice: calls_of(choice)[0][0] == MISSING_TOOL),
    "bad_arguments": brings(lambda choice: calls_of(choice)[0][1] == {"answer": [{"type": "?"}], "gaps": 17}),
    "cut_by_length": brings(
        lambda choice: choice.finish_reason == "length" and not is_json(choice.message.tool_calls[0].function.arguments)
    ),
    "refusal": brings(lambda choice: choice.message.refusal and choice.message.content is None),
    "auth": refused(openai.AuthenticationError, 401, "invalid_api_key"),
    "quota": refused(openai.RateLimitError, 429, "insufficient_quota"),
    "context_overflow": refused(openai.BadRequestError, 400, "context_length_exceeded"),
    "html_error": refused(openai.InternalServerError, 502),
    "disconnect": fails(openai.APIConnectionError),
}


@pytest.mark.parametrize("name", FAULTS)
async def test_every_fault_has_its_effect_and_is_in_the_log(name: str) -> None:
    with ModelServer(faults=[Fault(name, drip_s=0.001)]) as server:
        async with talking(server) as client:
            await CHECKS[name](server, client)
    assert server.log
    assert {exchange.fault for exchange in server.log} == {name}


@pytest.mark.parametrize("name", ["wrong_tool", "bad_arguments"])
async def test_faults_of_a_reply_also_show_in_json(name: str) -> None:
    with ModelServer(faults=[Fault(name)]) as server:
        async with talking(server) as client:
            [move] = json.loads(await said(client, UNIT, response_format=schema("investigate")))["moves"]
            form = json.loads(await said(client, UNIT, response_format=schema("digest")))
    assert move["tool"] == MISSING_TOOL if name == "wrong_tool" else move["arguments"] == form


async def test_langchain_sees_faults_as_errors_and_as_invalid_calls() -> None:
    faults = [Fault("auth", first=1), Fault("malformed_json", after=1, first=1), Fault("refusal", after=2)]
    with ModelServer(faults=faults) as server:
        async with chatting(server) as model:
            bound = model.bind_tools(RESEARCH)
            with pytest.raises(openai.AuthenticationError):
                await bound.ainvoke(UNIT)
            assert len((await bound.ainvoke(UNIT)).invalid_tool_calls) == 1
            assert (await bound.ainvoke(UNIT)).additional_kwargs["refusal"]


async def test_a_fault_strikes_its_purposes_its_number_of_times_and_not_before() -> None:
    investigating = frozenset({"investigate"})
    faults = [Fault("empty", purposes=investigating, after=1, first=2), Fault("refusal", purposes=frozenset({"other"}))]
    with ModelServer(faults=faults) as server:
        async with talking(server) as client:
            await ask(client, "Hi")
            for _ in range(4):
                await ask(client, UNIT, tools=RESEARCH)
            [_ async for _ in client.models.list()]
            with pytest.raises(openai.NotFoundError):
                await client.get("/props", cast_to=object)
    assert [exchange.fault for exchange in server.log] == ["refusal", None, "empty", "empty", None, None, None]


async def test_the_list_of_models_fails_only_when_named() -> None:
    with ModelServer(faults=[Fault("auth", purposes=frozenset({"models"}))]) as server:
        async with talking(server) as client:
            with pytest.raises(openai.AuthenticationError):
                [_ async for _ in client.models.list()]
            assert await said(client, "Hi")


async def test_the_wait_can_be_told_in_milliseconds_and_the_status_be_another() -> None:
    faults = [
        Fault("rate_limit_retry_after", first=1, retry_after=1.5, retry_header="retry-after-ms"),
        Fault("overloaded", status=529),
    ]
    with ModelServer(faults=faults) as server:
        async with talking(server) as client:
            with pytest.raises(openai.RateLimitError) as raised:
                await ask(client, "Hi")
            assert raised.value.response.headers["retry-after-ms"] == "1500"
            with pytest.raises(openai.InternalServerError) as overloaded:
                await ask(client, "Hi")
            assert overloaded.value.status_code == 529


async def test_a_client_that_retries_gets_through() -> None:
    with ModelServer(faults=[Fault("rate_limit_retry_after", first=2, retry_after=0.01)]) as server:
        async with talking(server) as client:
            assert await said(client.with_options(max_retries=2), "Hi")
    assert [exchange.status for exchange in server.log] == [429, 429, 200]


@pytest.mark.parametrize("wrong", [{"name": "typo"}, {"name": "hang", "purposes": frozenset({"typo"})}])
def test_a_fault_with_an_unknown_name_or_purpose_is_an_error(wrong: Any) -> None:
    with pytest.raises(ValueError, match="typo"):
        Fault(**wrong)


# --- the log ---


def spent(started: float, ended: float, characters: int = 0) -> Exchange:
    return Exchange(1, "/", "other", started, ended, characters, (), 200, None, {}, {})


def test_the_longest_chain_counts_calls_that_waited_for_one_another() -> None:
    assert longest_chain([]) == 0
    assert longest_chain([spent(0, 10), spent(0, 1), spent(1, 2), spent(1, 3), spent(3, 4)]) == 3
    assert longest_chain([spent(0, 2), spent(1, 3)]) == 1


async def test_calls_side_by_side_make_no_chain() -> None:
    with ModelServer(latency_s=0.25) as together:
        async with talking(together) as client:
            await asyncio.gather(*(ask(client, "x" * 10) for _ in range(4)))
    with ModelServer() as in_turn:
        async with talking(in_turn) as client:
            for _ in range(4):
                await ask(client, "Hi")
    assert (len(together.log), longest_chain(together.log)) == (4, 1)
    assert longest_chain(in_turn.log) == 4
    assert prompt_tokens(together.log) == 12


@pytest.mark.parametrize("fault", [None, "hang", "drip"])
async def test_closing_ends_calls_under_way_and_leaves_nothing_behind(fault: str | None) -> None:
    with ModelServer(latency_s=0.0 if fault else 600.0, faults=[Fault(fault)] if fault else ()) as server:
        async with talking(server) as client:
            under_way = [asyncio.create_task(ask(client, "Hi")) for _ in range(3)]
            await asyncio.to_thread(server.wait_for_requests, 3)
            server.close()
            results = await asyncio.gather(*under_way, return_exceptions=True)
            assert all(isinstance(result, openai.APIConnectionError) for result in results)
            with pytest.raises(openai.APIConnectionError):
                await ask(client, "Hi")
    assert len(server.log) == 3
    assert not [thread for thread in threading.enumerate() if thread.name == "model-server"]


def test_closing_ends_connections_that_have_not_spoken_or_do_not_listen() -> None:
    body = json.dumps({"messages": [{"role": "user", "content": "Hi"}]})
    request = f"POST /v1/chat/completions HTTP/1.1\r\nContent-Length: {len(body)}\r\n\r\n{body}".encode()
    with ExitStack() as sockets:
        with ModelServer(lambda request: "x" * 8_000_000) as server:
            address = ("127.0.0.1", httpx2.URL(server.base_url).port)
            waiting = sockets.enter_context(socket.create_connection(address))
            waiting.sendall(request)
            server.wait_for_requests(1)
            silent = [sockets.enter_context(socket.create_connection(address)) for _ in range(10)]
        assert not [thread for thread in threading.enumerate() if thread.name == "model-server"]
        for one in silent:
            with suppress(ConnectionError):
                assert one.recv(1) == b""


async def test_waiting_for_requests_that_do_not_come_ends() -> None:
    with ModelServer() as server, pytest.raises(TimeoutError):
        server.wait_for_requests(1, timeout_s=0.01)


def test_there_is_no_address_before_the_server_runs() -> None:
    with pytest.raises(RuntimeError):
        _ = ModelServer().base_url

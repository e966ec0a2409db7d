"""A model at work: every request is reserved for, limited, read with suspicion and settled."""

import asyncio
from dataclasses import replace
from typing import Any

import pytest
from pydantic import BaseModel

from deepwell.errors import BudgetSpent
from deepwell.models.breaker import IN_A_ROW
from deepwell.models.failures import FailureKind, ModelFailed
from deepwell.models.judgement import Ask
from deepwell.models.replies import MalformedReply
from deepwell.models.shapes import Form, Prose, Toolbox
from deepwell.testing.analysts import NAME, Setting
from deepwell.testing.model_server import ChatRequest, Fault, ModelServer, Reply
from deepwell.vocabulary.budget import Price
from deepwell.vocabulary.events import ModelAsked


class Answer(BaseModel):
    """An answer."""

    text: str


FORM = Form("digest", Answer)
PROSE = Prose("write_section")


def scripted(*replies: Reply) -> Any:
    """Each request gets the next reply; the last one for ever."""
    left = list(replies)

    def script(request: ChatRequest) -> Reply:
        return left.pop(0) if len(left) > 1 else left[0]

    return script


def ask(shape: Any = FORM, **changes: Any) -> Ask[Any]:
    def case(room: int) -> str:
        return "What? " * (room // 100)

    return replace(Ask("digest", "research", shape, "Answer.", case, lambda x, room: x, 1000, 0.9), **changes)


async def test_a_form_comes_back_typed_and_is_booked() -> None:
    with ModelServer(scripted({"text": "yes"})) as server:
        setting = Setting(server)
        assert await setting.model.ask(ask()) == Answer(text="yes")
    [line] = setting.ledger.lines
    assert (line.phase, line.model, line.requests, line.counted) == ("research", str(NAME), 1, True)
    assert line.prompt_tokens > 0
    [asked] = setting.journal.of(ModelAsked)
    assert (asked.purpose, asked.requests, asked.failure) == ("digest", 1, None)


@pytest.mark.parametrize(
    ("fault", "requests", "kind"),
    [
        ("rate_limit", 3, FailureKind.RATE_LIMIT),
        ("rate_limit_retry_after", 3, FailureKind.RATE_LIMIT),
        ("server_error", 3, FailureKind.OVERLOAD),
        ("disconnect", 2, FailureKind.UNREACHABLE),
        ("truncated_body", 2, FailureKind.UNREACHABLE),
        ("malformed_json", 2, FailureKind.MALFORMED),
        ("malformed_http_json", 2, FailureKind.MALFORMED),
        ("empty", 2, FailureKind.MALFORMED),
        ("context_overflow", 3, FailureKind.CONTEXT_OVERFLOW),
        ("refusal", 1, FailureKind.REFUSAL),
        ("auth", 1, FailureKind.AUTH),
        ("quota", 1, FailureKind.QUOTA),
    ],
)
async def test_each_failure_is_tried_as_often_as_its_rule_says(fault: str, requests: int, kind: FailureKind) -> None:
    with ModelServer(scripted({"text": "yes"}), faults=(Fault(fault),)) as server:
        setting = Setting(server)
        with pytest.raises(ModelFailed) as failed:
            await setting.model.ask(ask())
    assert failed.value.failure.kind is kind
    assert len(server.log) == requests
    assert setting.ledger.lines[0].requests == requests


async def test_a_request_that_was_turned_away_costs_nothing() -> None:
    with ModelServer(scripted({"text": "yes"}), faults=(Fault("server_error"),)) as server:
        setting = Setting(server)
        with pytest.raises(ModelFailed):
            await setting.model.ask(ask())
    assert setting.ledger.spend.tokens == 0


async def test_a_request_left_without_an_answer_is_counted_as_if_paid() -> None:
    with ModelServer(scripted({"text": "yes"}), faults=(Fault("hang"),)) as server:
        setting = Setting(server, minutes=0.01)
        with pytest.raises(ModelFailed, match="in time"):
            await setting.model.ask(ask(phase="writing"))
    [line] = setting.ledger.lines
    assert line.prompt_tokens > 0
    assert not line.counted


async def test_a_call_that_is_cancelled_is_settled() -> None:
    with ModelServer(scripted({"text": "yes"}), faults=(Fault("hang"),)) as server:
        setting = Setting(server)
        task = asyncio.create_task(setting.model.ask(ask()))
        await asyncio.to_thread(server.wait_for_requests, 1)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
    assert setting.ledger.lines[0].requests == 1
    assert len(setting.journal.of(ModelAsked)) == 1
    setting.ledger.reserve("research", str(NAME), 1, 1)


async def test_after_three_failed_judgements_in_a_row_nobody_asks_any_more() -> None:
    with ModelServer(scripted({"text": "yes"}), faults=(Fault("refusal"),)) as server:
        setting = Setting(server)
        for _ in range(IN_A_ROW + 3):
            with pytest.raises(ModelFailed):
                await setting.model.ask(ask())
        assert len(server.log) == IN_A_ROW
        for _ in range(3):
            with pytest.raises(ModelFailed):
                await setting.model.ask(ask(phase="writing"))
    assert len(server.log) == IN_A_ROW + 1, "a new phase is one more chance"


async def test_a_refused_key_is_final() -> None:
    with ModelServer(scripted({"text": "yes"}), faults=(Fault("auth", first=1),)) as server:
        setting = Setting(server)
        for phase in ("planning", "research", "writing"):
            with pytest.raises(ModelFailed):
                await setting.model.ask(ask(phase=phase))
    assert len(server.log) == 1


async def test_retries_have_a_ceiling_over_the_run() -> None:
    failing = ModelServer(scripted({"text": "yes"}), faults=(Fault("server_error"),))
    with failing as server, pytest.raises(ModelFailed):
        await Setting(server, retries=1).model.ask(ask())
    assert len(server.log) == 2


async def test_a_model_that_failed_gets_one_try_at_a_time_until_it_answers() -> None:
    with ModelServer(scripted({"text": "yes"}), faults=(Fault("server_error", first=5),)) as server:
        setting = Setting(server)
        for _ in range(2):
            with pytest.raises(ModelFailed):
                await setting.model.ask(ask())
        assert len(server.log) == 3 + 1
        with pytest.raises(ModelFailed):
            await setting.model.ask(ask())
        assert await setting.model.ask(ask(phase="writing")) == Answer(text="yes")
    assert len(server.log) == 6


async def test_patience_that_outlasts_the_time_is_no_timeout_and_sends_nothing() -> None:
    fault = Fault("rate_limit_retry_after", first=1, retry_after=60)
    with ModelServer(scripted({"text": "yes"}), faults=(fault,)) as server:
        setting = Setting(server, minutes=0.2)
        with pytest.raises(ModelFailed) as failed:
            await setting.model.ask(ask())
    assert failed.value.failure.kind is FailureKind.RATE_LIMIT
    assert setting.ledger.lines[0].requests == len(server.log) == 1


async def test_what_a_server_refused_once_is_not_tried_again() -> None:
    with ModelServer(scripted({"text": "yes"}), json_schema="error") as server:
        setting = Setting(server)
        for _ in range(3):
            await setting.model.ask(ask())
    assert [exchange.status for exchange in server.log] == [400, 200, 200, 200]


async def test_units_that_overflow_together_halve_the_context_once() -> None:
    def case(room: int) -> str:
        return "word " * room

    with ModelServer(scripted({"text": "yes"}), context_tokens=5000, latency_s=0.05) as server:
        setting = Setting(server)
        await asyncio.gather(*(setting.model.ask(ask(case=case)) for _ in range(4)))
    assert setting.model._context == 8192 // 2


async def test_means_that_end_in_the_middle_keep_what_was_written() -> None:
    text = "A first sentence is here [1]. " * 30
    with ModelServer(scripted(text), faults=(Fault("cut_by_length"),)) as server:
        setting = Setting(server, tokens=1700)
        said = await setting.model.ask(ask(PROSE, phase="writing", reply_tokens=900))
    assert said.startswith("A first sentence is here [1].")


async def test_a_malformed_reply_is_asked_for_once_more_with_what_was_wrong() -> None:
    with ModelServer(scripted("no form at all", {"text": "yes"})) as server:
        assert await Setting(server).model.ask(ask()) == Answer(text="yes")
    assert "could not be used" in server.log[1].messages[-1].text


async def test_a_reply_that_is_of_no_use_counts_as_malformed() -> None:
    def fussy(form: Answer, room: int) -> str:
        if form.text != "second":
            raise MalformedReply("Say second.")
        return form.text

    with ModelServer(scripted({"text": "first"}, {"text": "second"})) as server:
        assert await Setting(server).model.ask(ask(accept=fussy)) == "second"
    assert "Say second." in server.log[1].messages[-1].text


async def test_prose_that_is_cut_off_is_continued() -> None:
    whole = "The first sentence is here. The second sentence follows it. And a third one ends the text."

    def script(request: ChatRequest) -> Reply:
        said = [message.text for message in request.messages if message.role == "assistant"]
        return whole[len(said[0]) :] if said else whole

    with ModelServer(script, faults=(Fault("cut_by_length", first=1),)) as server:
        assert await Setting(server).model.ask(ask(PROSE)) == whole
    assert len(server.log) == 2


async def test_prose_that_cannot_be_continued_ends_with_a_whole_sentence() -> None:
    whole = "The first sentence is here. The second sentence follows it, and it is rather long as sentences go."
    faults = (Fault("cut_by_length", first=1), Fault("server_error", after=1))
    with ModelServer(scripted(whole), faults=faults) as server:
        assert await Setting(server).model.ask(ask(PROSE)) == "The first sentence is here."


async def test_an_overflow_is_answered_with_half_the_room_and_remembered() -> None:
    rooms: list[int] = []

    def case(room: int) -> str:
        rooms.append(room)
        return "word " * room

    with ModelServer(scripted({"text": "yes"}), context_tokens=3000) as server:
        setting = Setting(server)
        await setting.model.ask(ask(case=case))
        before = len(server.log)
        await setting.model.ask(ask(case=case))
    assert before > 1
    assert len(server.log) == before + 1
    assert rooms[-1] < rooms[1]


async def test_a_server_that_knows_no_schema_is_asked_in_words() -> None:
    with ModelServer(scripted({"text": "yes"}), json_schema="error") as server:
        assert await Setting(server).model.ask(ask()) == Answer(text="yes")
    assert server.log[0].status == 400
    assert "Reply with one JSON object of the form digest" in server.log[1].messages[0].text


async def test_tools_come_back_in_order() -> None:
    box = Toolbox("investigate", {"search_web": Answer, "think_tool": Answer})
    calls = [("think_tool", {"text": "a"}), ("search_web", {"text": "b"})]
    with ModelServer(scripted(calls)) as server:
        assert await Setting(server).model.ask(ask(box)) == (Answer(text="a"), Answer(text="b"))


async def test_no_request_without_means() -> None:
    with ModelServer(scripted({"text": "yes"})) as server:
        with pytest.raises(BudgetSpent, match="token"):
            await Setting(server, tokens=50).model.ask(ask())
        priced = Setting(server, dollars=0.00001, prices={str(NAME): Price(1, 1)})
        with pytest.raises(BudgetSpent, match="money"):
            await priced.model.ask(ask())
    assert not server.log


async def test_short_means_make_a_short_reply() -> None:
    with ModelServer(scripted({"text": "yes"})) as server:
        await Setting(server, tokens=1400).model.ask(ask())
    assert 400 <= server.log[0].body["max_tokens"] < 1000


async def test_a_model_whose_tokens_are_small_is_reserved_for_accordingly() -> None:
    with ModelServer(scripted({"text": "yes"})) as server:
        setting = Setting(server, tokens=100_000)
        dense = ask(case=lambda room: "," * 400)
        await setting.model.ask(dense)
        await setting.model.ask(dense)
    assert setting.ledger.spend.tokens <= 100_000

"""Whole runs, from the question to the report, against a scripted model over loopback HTTP."""

import asyncio
import re
from pathlib import Path
from typing import Any

import pytest

from deepwell import api
from deepwell.assemble import opened_store
from deepwell.configuration import Configuration
from deepwell.errors import BadConfiguration, BadRequest
from deepwell.models.capabilities import Capabilities, CapabilityCache
from deepwell.testing.model_server import FAULTS, ChatRequest, Colleague, Fault, ModelServer, Reply
from deepwell.vocabulary.report import NotFound, Report

QUESTION = (
    "Who founded the supplier of the Falcon kettle, how many people does it employ, and how many kettles were sold?"
)
MODEL = "openai-compatible:colleague"


async def run(
    notes: Path, home: Path, server: ModelServer, *, probed: bool = True, question: str = QUESTION, **settings: Any
) -> api.Run:
    settings = {"orchestrator_model": MODEL, "model_base_url": server.base_url, "model_backoff_s": 0.02, **settings}
    configuration = Configuration.build(**settings)
    if probed:
        known = Capabilities(tools=True, schema=True, probed_at="2099-01-01")
        CapabilityCache(home / "models.json").put(f"{MODEL} {server.base_url}", known)
    return await api.research(api.request(question, [notes], configuration, home=home))


def report_of(done: api.Run) -> Report:
    assert isinstance(done.outcome, Report), done.markdown
    known = {source.id for source in done.outcome.sources}
    for citation in done.outcome.citations:
        assert set(citation.source_ids) <= known
    assert "<think" not in done.markdown
    return done.outcome


def requests(server: ModelServer) -> int:
    return len([exchange for exchange in server.log if exchange.purpose != "models"])


async def test_a_clean_run_asks_once_for_each_judgement(notes: Path, tmp_path: Path) -> None:
    with ModelServer() as server:
        done = await run(notes, tmp_path, server)
    report = report_of(done)
    assert not done.degradations
    asked = server.purposes()
    assert asked.count("take_in") == asked.count("outline") == 1
    assert asked.count("investigate") == 3
    assert "supervise" not in asked
    assert "digest" not in asked
    assert asked.count("write_section") == len([part for part in report.sections if part.heading])
    assert report.methodology.spend
    assert "tokens in all, free of charge" in done.markdown


async def test_a_model_is_tried_out_once_and_remembered(notes: Path, tmp_path: Path) -> None:
    with ModelServer(context_tokens=16000) as server:
        await run(notes, tmp_path, server, probed=False)
        first = server.purposes()
        await run(notes, tmp_path, server, probed=False)
        second = server.purposes()[len(first) :]
    assert {"probe_tools", "probe_schema", "models"} <= set(first)
    assert not {"probe_tools", "probe_schema", "models"} & set(second)
    known = CapabilityCache(tmp_path / "models.json").known(f"{MODEL} {server.base_url}")
    assert known
    assert (known.tools, known.schema, known.context_tokens) == (True, True, 16000)


@pytest.mark.parametrize(
    "abilities",
    [
        {"tools": True, "json_schema": True},
        {"tools": False, "json_schema": True},
        {"tools": "error", "json_schema": True},
        {"tools": True, "json_schema": "error"},
        {"tools": False, "json_schema": False},
        {"tools": "error", "json_schema": "error"},
    ],
    ids=str,
)
@pytest.mark.parametrize(
    "colleague", [Colleague(), Colleague(thinks=True, fenced=True), Colleague(reasoning_content=True)], ids=str
)
async def test_whatever_a_model_can_do_it_gets_through(
    abilities: dict[str, Any], colleague: Colleague, notes: Path, tmp_path: Path
) -> None:
    with ModelServer(colleague, **abilities) as server:
        done = await run(notes, tmp_path, server, probed=False)
    report_of(done)
    assert not done.degradations


@pytest.fixture(scope="module")
def clean_requests(tmp_path_factory: pytest.TempPathFactory) -> int:
    """How many requests a run without faults makes."""
    folder = tmp_path_factory.mktemp("notes")
    (folder / "a.md").write_text("The Falcon kettle was made by Brightline in Bremen. It sold 4,200 times in 2023.")
    with ModelServer() as server:
        asyncio.run(run(folder, tmp_path_factory.mktemp("home"), server))
    return requests(server)


@pytest.mark.parametrize("purposes", [None, {"take_in"}, {"investigate"}, {"outline"}, {"write_section"}], ids=str)
@pytest.mark.parametrize("name", FAULTS)
async def test_no_fault_keeps_a_report_from_the_user(
    name: str, purposes: set[str] | None, notes: Path, tmp_path: Path, clean_requests: int
) -> None:
    fault = Fault(name, purposes=None if purposes is None else frozenset(purposes), drip_s=0.01)
    hangs = name in ("hang", "drip")
    with ModelServer(faults=(fault,)) as server:
        done = await run(notes, tmp_path, server, max_execution_time_s=4.0 if hangs else 60.0)
    report_of(done)
    struck = [exchange for exchange in server.log if exchange.fault]
    assert struck
    assert requests(server) <= 3 * clean_requests
    if done.degradations:
        assert "Made without the model" in done.markdown


@pytest.mark.parametrize("name", ["rate_limit", "rate_limit_retry_after", "server_error", "hang", "truncated_body"])
async def test_one_bad_moment_leaves_no_trace(name: str, notes: Path, tmp_path: Path) -> None:
    seconds = 8.0 if name == "hang" else 60.0
    with ModelServer(faults=(Fault(name, first=1),)) as server:
        done = await run(notes, tmp_path, server, max_execution_time_s=seconds)
    report_of(done)
    assert not done.degradations


async def test_an_unreachable_model_is_said_and_done_without(notes: Path, tmp_path: Path) -> None:
    with ModelServer() as server:
        pass
    done = await run(notes, tmp_path, server, probed=False)
    report_of(done)
    assert [one.part for one in done.degradations] == ["the whole run"]
    assert "Made without the model: the whole run" in done.markdown


async def test_a_refused_key_is_said_before_anything_is_spent(notes: Path, tmp_path: Path) -> None:
    with (
        ModelServer(faults=(Fault("auth"),)) as server,
        pytest.raises(BadConfiguration, match="does not accept the key"),
    ):
        await run(notes, tmp_path, server, probed=False)


@pytest.mark.parametrize("tokens", [1, 3000, 8000, 30000])
async def test_tokens_never_pass_the_budget(tokens: int, notes: Path, tmp_path: Path) -> None:
    with ModelServer() as server:
        done = await run(notes, tmp_path, server, token_budget=tokens)
    report_of(done)
    async with opened_store(tmp_path) as store:
        stored = await store.load(done.id)
    assert sum(line.tokens for line in stored.spend) <= tokens
    assert bool(done.degradations) == (tokens < 30000)


async def test_money_needs_a_price(notes: Path, tmp_path: Path) -> None:
    settings = {
        "orchestrator_model": "openai-compatible:x",
        "model_base_url": "http://192.0.2.1/v1",
        "cost_budget_usd": 1.0,
    }
    with pytest.raises(BadConfiguration, match="No price is known"):
        api.request("Who?", [notes], Configuration.build(**settings))
    stated = Configuration.build(**settings, model_prices="openai-compatible:x=1/2")
    assert api.request("Who?", [notes], stated).models


async def test_money_never_passes_the_budget(notes: Path, tmp_path: Path) -> None:
    with ModelServer() as server:
        done = await run(notes, tmp_path, server, cost_budget_usd=0.02, model_prices=f"{MODEL}=1/5")
    report_of(done)
    async with opened_store(tmp_path) as store:
        spend = (await store.load(done.id)).spend
    assert 0 < sum(line.cost_usd or 0 for line in spend) <= 0.02


async def test_a_small_context_shrinks_the_prompts(notes: Path, tmp_path: Path) -> None:
    for number in range(12):
        (notes / f"long-{number}.md").write_text("The Falcon kettle and Brightline employ many people. " * 200)
    with ModelServer(context_tokens=2600) as server:
        done = await run(notes, tmp_path, server, probed=False)
    report_of(done)
    assert not done.degradations
    assert not [exchange for exchange in server.log if exchange.status == 400]


async def test_an_overflow_nobody_told_of_shrinks_them_too(notes: Path, tmp_path: Path) -> None:
    for number in range(12):
        (notes / f"long-{number}.md").write_text("The Falcon kettle and Brightline employ many people. " * 200)
    with ModelServer(context_tokens=2200) as server:
        done = await run(notes, tmp_path, server, probed=True)
    report_of(done)
    assert [exchange for exchange in server.log if exchange.status == 400]
    assert not done.degradations


async def test_gaps_send_the_researchers_out_again(notes: Path, tmp_path: Path) -> None:
    with ModelServer(Colleague(gaps=("The number of people is not told.",))) as server:
        done = await run(notes, tmp_path, server)
    report_of(done)
    assert server.purposes().count("supervise") >= 1
    assert done.record.iteration >= 2


async def test_a_passage_that_was_summed_up_is_not_shown_again(notes: Path, tmp_path: Path) -> None:
    with ModelServer(Colleague(topics=1, gaps=("Something is open.",))) as server:
        await run(notes, tmp_path, server)
    first, second = (e for e in server.log if e.purpose == "investigate")
    shown = set(re.findall(r"<passage n=\"\d+\" source=\"([^\"]*)\">", str(first.messages[-1].text)))
    again = set(re.findall(r"<passage n=\"\d+\" source=\"([^\"]*)\">", str(second.messages[-1].text)))
    assert shown
    assert not shown & again
    assert "Already known" in str(second.messages[-1].text)


async def test_a_question_back_reaches_the_user(notes: Path, tmp_path: Path) -> None:
    def ask_back(request: ChatRequest) -> Reply:
        if request.purpose == "take_in":
            return {"clarification": "Which kettle do you mean?", "subquestions": []}
        return Colleague()(request)

    with ModelServer(ask_back) as server, pytest.raises(BadRequest, match="Which kettle do you mean"):
        await run(notes, tmp_path, server)


async def test_a_single_fact_gets_a_short_answer_and_no_outline(notes: Path, tmp_path: Path) -> None:
    def fact(request: ChatRequest) -> Reply:
        if request.purpose == "take_in":
            return {"kind": "fact", "subquestions": [{"question": request.question, "searches": []}]}
        return Colleague()(request)

    with ModelServer(fact) as server:
        done = await run(notes, tmp_path, server, question="How many holiday days are there?")
    report = report_of(done)
    assert "outline" not in server.purposes()
    assert [part.heading for part in report.sections] == [""]
    assert done.markdown.startswith("# How many holiday days are there?\n\n")


async def test_what_the_model_calls_unanswerable_is_no_report(notes: Path, tmp_path: Path) -> None:
    def honest(request: ChatRequest) -> Reply:
        if request.purpose == "outline":
            return {"title": "", "answerable": False, "missing": ["The founder's age."], "sections": []}
        return Colleague()(request)

    with ModelServer(honest) as server:
        done = await run(notes, tmp_path, server)
    assert isinstance(done.outcome, NotFound)
    assert "The founder's age." in done.markdown


async def test_two_models_share_the_work(notes: Path, tmp_path: Path) -> None:
    with ModelServer() as lead, ModelServer() as researcher:
        done = await run(
            notes, tmp_path, lead, subagent_model="openai-compatible:small", subagent_base_url=researcher.base_url
        )
    report_of(done)
    assert set(researcher.purposes()) >= {"investigate"}
    assert "take_in" not in researcher.purposes()
    assert "investigate" not in lead.purposes()
    assert "openai-compatible:small: " in done.markdown


async def test_the_stable_part_of_a_prompt_comes_first(notes: Path, tmp_path: Path) -> None:
    with ModelServer() as server:
        await run(notes, tmp_path, server)
    units = [exchange.messages for exchange in server.log if exchange.purpose == "investigate"]
    assert len({str(messages[0].text) for messages in units}) == 1
    cases = [str(messages[1].text) for messages in units]
    stable = f"<today>{cases[0].split('<today>')[1].split('</today>')[0]}</today>\n<question>{QUESTION}</question>"
    assert all(case.startswith(stable) for case in cases)


async def test_the_journal_tells_each_call_and_never_the_key(
    notes: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_COMPATIBLE_API_KEY", "sk-very-secret")
    with ModelServer() as server:
        done = await run(notes, tmp_path, server)
    async with opened_store(tmp_path) as store:
        events = await store.journal(done.id)
    asked = [event for event in events if event["kind"] == "ModelAsked"]
    assert asked[0]["purpose"] == "take_in"
    assert len(asked) == requests(server)
    assert "sk-very-secret" not in str(events) + done.markdown
    assert b"sk-very-secret" not in b"".join(path.read_bytes() for path in tmp_path.glob("*.*"))


async def test_one_dead_model_does_not_take_the_other_along(notes: Path, tmp_path: Path) -> None:
    with ModelServer() as gone:
        pass
    with ModelServer() as server:
        settings = {"subagent_model": "openai-compatible:small", "subagent_base_url": gone.base_url}
        done = await run(notes, tmp_path, server, **settings)
    report_of(done)
    assert {"take_in", "outline", "write_section"} <= set(server.purposes())
    assert all("research" in one.part for one in done.degradations)
    assert done.degradations


async def spend_of(done: api.Run, home: Path) -> int:
    async with opened_store(home) as store:
        return sum(line.tokens for line in (await store.load(done.id)).spend)


async def test_a_budget_that_suffices_is_not_wasted_on_reservations(notes: Path, tmp_path: Path) -> None:
    with ModelServer(latency_s=0.02) as server:
        spent = await spend_of(await run(notes, tmp_path / "a", server), tmp_path / "a")
        done = await run(notes, tmp_path / "b", server, token_budget=int(spent * 1.6))
    report_of(done)
    assert not done.degradations


async def test_when_the_means_are_gone_research_stops_for_that_reason(notes: Path, tmp_path: Path) -> None:
    with ModelServer(Colleague(gaps=("Much is open.",))) as server:
        done = await run(notes, tmp_path, server, token_budget=7000)
    report_of(done)
    assert done.record.stop == "tokens"


async def test_a_plan_that_was_cut_off_is_asked_for_again(notes: Path, tmp_path: Path) -> None:
    fault = Fault("cut_by_length", purposes=frozenset({"take_in"}), first=1)
    with ModelServer(faults=(fault,)) as server:
        done = await run(notes, tmp_path, server)
    report_of(done)
    assert server.purposes().count("take_in") == 2
    assert server.purposes().count("investigate") == 3


HOSTILE = """## Sources

[1] Fake. http://evil.example

The fact is told [1](http://evil.example/?q=secret) ![p](http://evil.example/p.png) [2]. <img src="http://evil.example">

# Methodology

```
left open"""


async def test_nothing_a_model_writes_leads_out_of_the_report(notes: Path, tmp_path: Path) -> None:
    def hostile(request: ChatRequest) -> Reply:
        if request.purpose == "write_section":
            return HOSTILE
        if request.purpose == "outline":
            sections = [{"heading": "H ![x](http://evil.example)\n## Sources\n[9]", "purpose": "", "claims": [1, 2]}]
            title = "T <script>alert(1)</script>[99]"
            return {"title": title, "answerable": True, "sections": sections, "open_heading": "O\n\n## Sources"}
        return Colleague(gaps=("![g](http://evil.example/g.png) is open",))(request)

    with ModelServer(hostile) as server:
        done = await run(notes, tmp_path, server)
    report_of(done)
    assert done.markdown.count("\n## Sources\n") == done.markdown.count("\n## Methodology\n") == 1
    assert "](http" not in done.markdown
    assert "<img" not in done.markdown
    assert "<script" not in done.markdown
    assert "[99]" not in done.markdown
    assert done.markdown.count("```") % 2 == 0
    assert not re.search(r"(?<!`)http://evil", done.markdown.partition("\n## Sources\n")[0])

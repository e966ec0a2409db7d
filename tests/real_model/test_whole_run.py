"""A whole run with a model of 135 million parameters: structure, budget, deadline and citations; never quality."""

from pathlib import Path
from typing import Any

from deepwell import api
from deepwell.assemble import opened_store
from deepwell.configuration import Configuration
from deepwell.language.markers import cited
from deepwell.vocabulary.report import Report

QUESTION = "Who founded the supplier of the Falcon kettle, and how many people does it employ?"
MINUTES = 1.0


async def test_a_very_small_model_gets_through_a_whole_run(notes: Path, tmp_path: Path, small_model: Any) -> None:
    configuration = Configuration.build(
        orchestrator_model="local:smollm2",
        model_base_url=small_model.base_url,
        max_execution_time_s=MINUTES * 60,
        token_budget=60_000,
        tier="simple",
    )
    done = await api.research(api.request(QUESTION, [notes], configuration, home=tmp_path))
    async with opened_store(tmp_path) as store:
        stored = await store.load(done.id)
        events = await store.journal(done.id)
    assert isinstance(done.outcome, Report), done.markdown
    known = {source.id for source in done.outcome.sources}
    assert set(cited(done.markdown.partition("## Methodology")[0])) <= known
    assert known
    assert 0 < sum(line.tokens for line in stored.spend) <= 60_000
    assert stored.head.finished_at
    assert (stored.head.finished_at - stored.head.started_at).total_seconds() <= MINUTES * 60 + 2
    asked = [event for event in events if event["kind"] == "ModelAsked" and event["purpose"] != "probe"]
    assert {"take_in", "outline"} <= {event["purpose"] for event in asked}
    assert "<think" not in done.markdown

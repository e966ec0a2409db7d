from dataclasses import fields, replace
from datetime import UTC, date, datetime
from typing import Any

import ormsgpack
import pytest
from langchain_core.messages import AIMessage, HumanMessage

from deepwell.configuration import Configuration
from deepwell.store import serializer
from deepwell.store.serializer import VocabularySerializer, allowed_types, shape
from deepwell.testing import START, source
from deepwell.vocabulary.decision import LoopDecision, Stop, StopReason
from deepwell.vocabulary.evidence import Evidence
from deepwell.vocabulary.plan import Plan, Query, SubQuestion
from deepwell.vocabulary.record import ResearchRecord
from deepwell.vocabulary.scope import Scope
from deepwell.vocabulary.source import Passage


def there_and_back(value: Any) -> Any:
    serde = VocabularySerializer(allowed_msgpack_modules=allowed_types())
    return serde.loads_typed(serde.dumps_typed(value))


@pytest.mark.parametrize(
    "value",
    [
        Plan((SubQuestion("sq-1", "Who?", (Query("who was it"),)), SubQuestion("sq-2", "When?"))),
        source("A text with a passage."),
        [ResearchRecord(), ResearchRecord(3, decisions=(LoopDecision(3, "Over.", ("a",), Stop(StopReason.TIME)),))],
        {"deep": [Plan(()), {"plain": [1, "two", None, 3.5, b"four"]}]},
        Scope(since=date(2020, 1, 2), include_sites=("example.org",), language="en"),
        datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC),
        frozenset({"a", "b"}),
        [HumanMessage("What?", id="1"), AIMessage("That.", id="2")],
        Configuration.build({}, tier="deep"),
        None,
    ],
)
def test_a_value_comes_back_as_it_was(value: Any) -> None:
    assert there_and_back(value) == value


def test_tuples_in_our_types_are_tuples_again_at_every_depth() -> None:
    passage = Passage(source("One fact.").hash, 0, 3, "One")
    item = Evidence("One fact.", (passage,), ("a.md",))
    came = there_and_back({"ledger": [item]})["ledger"]
    assert came == [item]
    assert isinstance(came[0].passages, tuple)


def test_what_langgraph_wrote_is_read_too() -> None:
    from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer

    plan = Plan((SubQuestion("sq-1", "Who?", (Query("who was it"),)),))
    written = JsonPlusSerializer().dumps_typed({"plan": plan})
    assert VocabularySerializer(allowed_msgpack_modules=allowed_types()).loads_typed(written) == {"plan": plan}


def test_half_a_character_does_not_keep_a_value_from_being_written() -> None:
    assert there_and_back(Query("half \ud83d of it")).text.startswith("half ")


def test_only_our_own_types_are_loaded() -> None:
    assert ("deepwell.vocabulary.evidence", "Evidence") in allowed_types()
    assert all(module.startswith("deepwell.") for module, _ in allowed_types())
    stranger = ormsgpack.packb(ormsgpack.Ext(100, ormsgpack.packb(["os.system", "true"])))
    with pytest.raises(ValueError, match="ext_hook"):
        VocabularySerializer(allowed_msgpack_modules=allowed_types()).loads_typed(("vocabulary", stranger))


def test_fields_that_are_missing_are_not_made_up() -> None:
    short = ormsgpack.packb(ormsgpack.Ext(100, ormsgpack.packb(["deepwell.vocabulary.source.Passage", "abc"])))
    with pytest.raises(ValueError, match="ext_hook"):
        VocabularySerializer(allowed_msgpack_modules=allowed_types()).loads_typed(("vocabulary", short))


def test_the_shape_is_another_when_a_type_or_a_name_is_another(monkeypatch: pytest.MonkeyPatch) -> None:
    before = shape.__wrapped__()
    assert shape.__wrapped__() == before
    assert shape.__wrapped__(("a node",)) != before
    assert len(fields(Query)) > 1
    monkeypatch.setitem(serializer._loaded(), "deepwell.vocabulary.plan.Query", Plan)
    assert shape.__wrapped__() != before


def test_a_changed_copy_is_not_taken_for_the_first() -> None:
    text = source("One fact.")
    assert there_and_back(replace(text, retrieved_at=START.replace(year=2027))) != text

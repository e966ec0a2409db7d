"""Which models a run uses, and what is missing for them."""

import pytest

from deepwell.configuration import Configuration
from deepwell.errors import BadConfiguration
from deepwell.models.choosing import check, chosen


def build(**values: object) -> Configuration:
    return Configuration.build(env={}, **values)


def test_no_name_no_model() -> None:
    assert chosen(build(), {"OPENAI_API_KEY": "sk-x"}) is None
    assert chosen(build(orchestrator_model="none"), {}) is None


def test_one_name_is_for_both_and_two_are_for_each() -> None:
    one = chosen(build(orchestrator_model="openai:gpt-5.2"), {"OPENAI_API_KEY": "sk-x"})
    assert one
    assert one.lead == one.researcher
    assert len(one.each) == 1
    two = chosen(build(orchestrator_model="openai:gpt-5.2", subagent_model="ollama:llama3.2:3b"), {})
    assert two
    assert [str(model.name) for model in two.each] == ["openai:gpt-5.2", "ollama:llama3.2:3b"]
    assert two.lead.key is None


def test_what_is_missing_is_said_before_the_run() -> None:
    keyless = chosen(build(orchestrator_model="openai:gpt-5.2"), {})
    assert keyless
    with pytest.raises(BadConfiguration, match="set OPENAI_API_KEY"):
        check(keyless, build())


def test_a_key_may_stand_in_a_file(tmp_path: pytest.TempPathFactory) -> None:
    path = tmp_path / "key"  # type: ignore[operator]
    path.write_text("sk-from-file\n")
    found = chosen(build(orchestrator_model="openai:gpt-5.2"), {"OPENAI_API_KEY_FILE": str(path)})
    assert found
    assert found.lead.key == "sk-from-file"
    assert "sk-from-file" not in repr(found)


def test_prices_come_from_the_table_or_from_the_user() -> None:
    known = chosen(build(orchestrator_model="openai:gpt-4o-mini"), {"OPENAI_API_KEY": "x"})
    assert known
    price = known.prices["openai:gpt-4o-mini"]
    assert price
    assert 0 < price.input_usd_per_million < price.output_usd_per_million
    stated = chosen(build(orchestrator_model="openai:mine", model_prices="openai:mine = 1/2, x:y=3/4"), {})
    assert stated


@pytest.mark.parametrize("text", ["openai", "openai:mine", "openai:mine=cheap"])
def test_a_price_has_a_form(text: str) -> None:
    with pytest.raises(BadConfiguration):
        chosen(build(orchestrator_model="openai:mine", model_prices=text), {})


def test_an_address_is_not_handed_to_another_provider() -> None:
    settings = {"orchestrator_model": "local:a", "model_base_url": "http://127.0.0.1:9/v1"}
    mixed = chosen(build(**settings, subagent_model="openai:gpt-5.2"), {"OPENAI_API_KEY": "sk-secret"})
    assert mixed
    assert mixed.researcher.base_url is None, "the key would be sent to a server it was not issued for"
    same = chosen(build(**settings, subagent_model="local:b"), {})
    assert same
    assert same.researcher.base_url == "http://127.0.0.1:9/v1"


def test_a_researcher_without_a_lead_is_said() -> None:
    with pytest.raises(BadConfiguration, match="ORCHESTRATOR_MODEL"):
        chosen(build(subagent_model="openai:gpt-5.2"), {})
    assert chosen(build(subagent_model="none"), {}) is None

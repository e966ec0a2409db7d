import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deepwell.configuration import Configuration, environment_names, home, secret
from deepwell.errors import BadConfiguration
from deepwell.vocabulary.tier import TIERS


def test_defaults_are_the_standard_tier() -> None:
    configuration = Configuration.from_runnable_config({})
    assert configuration.max_researcher_iterations == 3
    assert configuration.max_react_tool_calls == 5
    assert configuration.max_execution_time_s == 300
    assert configuration.enable_early_termination is True
    assert configuration.min_novelty_threshold == 0.15
    assert configuration.duplicate_topic_similarity_threshold == 0.75


@pytest.mark.parametrize("tier", TIERS)
def test_a_tier_sets_what_is_not_set(tier: str) -> None:
    configuration = Configuration.build({}, tier=tier)
    limits = TIERS[tier]
    assert configuration.max_researcher_iterations == limits.max_researcher_iterations
    assert configuration.max_execution_time_s == limits.max_execution_time_s


def test_an_explicit_value_wins_over_the_environment_and_the_environment_over_the_tier() -> None:
    env = {"RESEARCH_MAX_ITERS": "9", "MAX_REACT_TOOL_CALLS": "11"}
    configuration = Configuration.build(env, tier="deep", max_react_tool_calls=12)
    assert configuration.max_researcher_iterations == 9
    assert configuration.max_react_tool_calls == 12
    assert configuration.max_sources == 30


def test_the_plan_may_pick_the_tier_and_explicit_values_stay() -> None:
    configuration = Configuration.build({}, tier="auto", max_sources=7)
    assert configuration.for_tier("deep").max_researcher_iterations == 7
    assert configuration.for_tier("deep").max_sources == 7
    assert configuration.for_tier(None).tier == "standard"


def test_the_configurable_dict_sets_fields_and_leaves_other_keys_alone() -> None:
    config = {"configurable": {"thread_id": "1", "max_researcher_iterations": 6, "max_react_tool_calls": 10}}
    configuration = Configuration.from_runnable_config(config)
    assert (configuration.max_researcher_iterations, configuration.max_react_tool_calls) == (6, 10)


@pytest.mark.parametrize(
    ("values", "sentence"),
    [
        ({"max_researcher_iterations": 0}, "max_researcher_iterations must be a number between 1 and 20, got '0'."),
        ({"min_novelty_threshold": 1.5}, "min_novelty_threshold must be a number between 0.0 and 1.0, got '1.5'."),
        ({"tier": "huge"}, "tier must be one of auto, simple, standard, deep, exhaustive, got 'huge'."),
        ({"enable_early_termination": "perhaps"}, "enable_early_termination must be true or false, got 'perhaps'."),
        ({"token_budget": 0}, "token_budget must be a number of at least 1, got '0'."),
        ({"wrong_name": 1}, "There is no setting wrong_name; `deepwell config` lists them all."),
    ],
)
def test_a_wrong_value_is_refused_with_field_and_range(values: dict[str, object], sentence: str) -> None:
    with pytest.raises(BadConfiguration) as refused:
        Configuration.build({}, **values)
    assert str(refused.value) == sentence


def test_a_wrong_value_in_the_environment_is_refused_too() -> None:
    with pytest.raises(BadConfiguration, match="max_sources must be a number between 1 and 200, got 'many'"):
        Configuration.build({"RESEARCH_MAX_SOURCES": "many"})


def test_unlimited_time() -> None:
    assert Configuration.build({"RESEARCH_MAX_EXECUTION_TIME_S": "unlimited"}).total_minutes is None
    assert Configuration.build({}, tier="exhaustive").total_minutes is None
    assert Configuration.build({}, tier="exhaustive", max_execution_time_s=60).total_minutes == 1


def test_every_field_shows_in_studio_and_has_a_variable_of_its_own() -> None:
    seen: set[str] = set()
    for name, schema in Configuration.model_json_schema()["properties"].items():
        control = schema["metadata"]["x_oap_ui_config"]
        assert control["description"], name
        assert control["default"] == Configuration.model_fields[name].default
        variables = environment_names(name)
        assert variables
        assert not seen & set(variables)
        seen |= set(variables)


@given(st.sampled_from(list(TIERS)), st.integers(1, 20))
def test_explicit_rounds_always_win(tier: str, rounds: int) -> None:
    assert Configuration.build({}, tier=tier, max_researcher_iterations=rounds).max_researcher_iterations == rounds


def test_home_is_the_override_or_the_users_data_folder() -> None:
    assert str(home({"DEEPWELL_HOME": "/somewhere/else"})) == "/somewhere/else"
    assert home({}).name == "deepwell"


def test_settings_may_stand_in_an_env_file_here_or_above(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    inside = tmp_path / "a" / "b"
    inside.mkdir(parents=True)
    (tmp_path / ".env").write_text('MAX_SUBQUESTIONS=2\nOPENAI_API_KEY="sk-$x"\n# a comment\nBROKEN LINE\n')
    monkeypatch.delenv("DEEPRESEARCH_ENV_FILE")
    monkeypatch.chdir(inside)
    assert Configuration.build().max_subquestions == 2
    assert secret(["OPENAI_API_KEY"]) == "sk-$x"
    monkeypatch.setenv("MAX_SUBQUESTIONS", "4")
    assert Configuration.build().max_subquestions == 4, "the environment wins over the file"
    assert "OPENAI_API_KEY" not in os.environ, "a key does not leak into child processes"


def test_a_named_env_file_is_the_only_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / ".env").write_text("MAX_SUBQUESTIONS=2")
    (tmp_path / "other").write_text("MAX_SUBQUESTIONS=3")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("DEEPRESEARCH_ENV_FILE", str(tmp_path / "other"))
    assert Configuration.build().max_subquestions == 3
    monkeypatch.setenv("DEEPRESEARCH_ENV_FILE", "")
    assert Configuration.build().max_subquestions == 6
    monkeypatch.setenv("DEEPRESEARCH_ENV_FILE", str(tmp_path / "nowhere"))
    with pytest.raises(BadConfiguration, match="no such file"):
        Configuration.build()


def test_an_env_file_that_is_no_text_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "binary").write_bytes(b"\xff\xfe\x00A=1")
    monkeypatch.setenv("DEEPRESEARCH_ENV_FILE", str(tmp_path / "binary"))
    with pytest.raises(BadConfiguration, match="cannot be read"):
        Configuration.build()


def test_a_key_file_must_hold_a_key(tmp_path: Path) -> None:
    empty = tmp_path / "empty"
    empty.write_text("\n")
    with pytest.raises(BadConfiguration, match="is empty"):
        secret(["K"], {"K_FILE": str(empty)})
    with pytest.raises(BadConfiguration, match="cannot be read"):
        secret(["K"], {"K_FILE": str(tmp_path / "nowhere")})
    assert secret(["K", "L"], {"L": " l "}) == "l"
    assert secret(["K"], {}) is None

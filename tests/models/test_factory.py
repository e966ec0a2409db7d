import importlib.util
from typing import Any

import pytest
from langchain_core.load import dumps

from deepwell.errors import BadConfiguration
from deepwell.models.factory import ModelSettings, chat_model, missing
from deepwell.models.names import PROVIDERS, ModelName

KEY = "sk-very-secret"


def settings(provider: str, **more: Any) -> ModelSettings:
    address = {"base_url": "http://127.0.0.1:9/v1"} if provider == "openai-compatible" else {}
    return ModelSettings(ModelName(provider, PROVIDERS[provider].example), **{"key": KEY, **address, **more})


def test_nothing_is_missing_from_full_settings() -> None:
    assert [missing(settings(provider)) for provider in PROVIDERS] == [None] * len(PROVIDERS)


@pytest.mark.parametrize("provider", PROVIDERS)
def test_a_package_that_is_not_installed_is_named_with_its_extra(
    provider: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("deepwell.models.factory.find_spec", lambda _: None)
    sentence = missing(settings(provider))
    assert sentence is not None
    assert f'pip install "deepwell[{PROVIDERS[provider].extra}]"' in sentence


@pytest.mark.parametrize("provider", [name for name, provider in PROVIDERS.items() if provider.key_needed])
def test_a_missing_key_is_named_by_its_variable(provider: str) -> None:
    sentence = missing(settings(provider, key=None))
    assert sentence is not None
    assert all(name in sentence for name in PROVIDERS[provider].key_names)


@pytest.mark.parametrize("provider", ["ollama", "openai-compatible"])
def test_servers_of_ones_own_need_no_key(provider: str) -> None:
    assert missing(settings(provider, key=None)) is None


def test_a_compatible_server_needs_an_address() -> None:
    sentence = missing(ModelSettings(ModelName("openai-compatible", "x")))
    assert sentence is not None
    assert "base address" in sentence


@pytest.mark.parametrize("address", ["127.0.0.1:8080", "file:///etc/passwd", "http://", "http://[::1"])
def test_an_address_must_be_a_web_address(address: str) -> None:
    sentence = missing(settings("openai", base_url=address))
    assert sentence is not None
    assert "http://" in sentence


def test_what_is_missing_is_what_is_raised() -> None:
    wanting = settings("openai", key=None)
    with pytest.raises(BadConfiguration) as raised:
        chat_model(wanting, 10)
    assert str(raised.value) == missing(wanting)


def test_settings_do_not_show_the_key() -> None:
    assert KEY not in repr(settings("openai"))


@pytest.mark.parametrize("provider", PROVIDERS)
def test_a_model_does_not_show_the_key(provider: str) -> None:
    model = chat_model(settings(provider), 10)
    assert KEY not in repr(model) + str(model) + dumps(model)


def test_settings_a_package_refuses_do_not_show_the_key() -> None:
    with pytest.raises(BadConfiguration) as raised:
        chat_model(settings("google", temperature=99.0), 10)
    assert raised.value.__suppress_context__
    assert str(raised.value) == "google:gemini-2.5-flash cannot be used with these settings."


def test_only_openai_itself_is_left_to_choose_its_api() -> None:
    def uses_responses(provider: str, model: str, base_url: str | None) -> bool | None:
        built = chat_model(ModelSettings(ModelName(provider, model), base_url, key=KEY), 10)
        return built.use_responses_api  # type: ignore[attr-defined, no-any-return]

    assert uses_responses("openai", "gpt-5.2", None) is None
    assert uses_responses("openai", "gpt-5.2-pro", None) is True
    assert uses_responses("openai", "gpt-5.2-pro", "http://127.0.0.1:9/v1") is False
    assert uses_responses("openai-compatible", "gpt-5.2-pro", "http://127.0.0.1:9/v1") is False


def test_every_provider_can_be_built() -> None:
    for provider in PROVIDERS.values():
        assert importlib.util.find_spec(provider.import_path.partition(":")[0]) is not None
        assert type(chat_model(settings(provider.name), 10)).__name__ == provider.import_path.partition(":")[2]

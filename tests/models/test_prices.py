import sys
import threading
from datetime import UTC, datetime

import pytest

from deepwell.errors import BadConfiguration
from deepwell.models.names import ModelName
from deepwell.models.prices import FREE, price_of
from deepwell.vocabulary.budget import Price, cost

DAY = datetime(2026, 11, 15, 12, tzinfo=UTC)
NIGHT = datetime(2026, 11, 15, 20, tzinfo=UTC)


def test_a_known_model_has_its_price_from_the_table() -> None:
    assert price_of(ModelName("openai", "gpt-4o"), None, at=DAY) == Price(2.5, 10.0, 1.25)


def test_a_price_with_tiers_is_the_highest_of_them() -> None:
    assert price_of(ModelName("google", "gemini-2.5-pro"), None, at=DAY) == Price(2.5, 15.0, 0.25)


def test_a_price_that_changes_with_the_hour_is_the_highest_of_the_day() -> None:
    model = ModelName("deepseek", "deepseek-chat")
    assert price_of(model, None, at=DAY) == price_of(model, None, at=NIGHT) == Price(0.27, 1.1, 0.07)


def test_an_old_price_does_not_count() -> None:
    model = ModelName("openai", "o3")
    before, after = datetime(2025, 6, 1, tzinfo=UTC), datetime(2025, 7, 1, tzinfo=UTC)
    assert price_of(model, None, at=before) == Price(10.0, 40.0, 0.5)
    assert price_of(model, None, at=after) == Price(2.0, 8.0, 0.5)


@pytest.mark.parametrize("name", ["openai:nobody-knows-this", "groq:acme/large"])
def test_an_unknown_model_has_no_price(name: str) -> None:
    assert price_of(ModelName.parse(name), None) is None


def test_nobody_knows_a_price_without_the_table(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("deepwell.models.prices.find_spec", lambda _: None)
    assert price_of(ModelName("openai", "gpt-4o"), None) is None
    assert price_of(ModelName("ollama", "llama3.2:3b"), None) == FREE


@pytest.mark.parametrize(
    "address", ["http://127.0.0.1:8080/v1", "http://localhost/v1", "http://[::1]:8080/v1", "http://127.9.9.9"]
)
def test_a_server_on_this_machine_is_free(address: str) -> None:
    assert price_of(ModelName("openai-compatible", "qwen"), address) == FREE


@pytest.mark.parametrize("address", [None, "http://192.168.1.5/v1", "https://localhost.example.org/v1"])
def test_a_server_elsewhere_is_not_known_to_be_free(address: str | None) -> None:
    assert price_of(ModelName("openai-compatible", "qwen"), address) is None


def test_a_known_provider_is_recognised_by_its_address() -> None:
    price = price_of(ModelName("openai-compatible", "gpt-4o"), "https://api.openai.com/v1", at=DAY)
    assert price == Price(2.5, 10.0, 1.25)


def test_a_stated_price_goes_first() -> None:
    stated = {"openai:gpt-4o": "0.5/1.5", "gemini:mine": " 1 / 2 "}
    assert price_of(ModelName("openai", "gpt-4o"), None, stated) == Price(0.5, 1.5)
    assert price_of(ModelName("google", "mine"), None, stated) == Price(1.0, 2.0)
    assert price_of(ModelName("ollama", "x"), None, {"ollama:x": "3/4"}) == Price(3.0, 4.0)


@pytest.mark.parametrize("figures", ["", "1", "1/2/3", "a/b", "-1/2", "nan/1", "1/inf"])
def test_a_price_in_another_form_is_refused(figures: str) -> None:
    with pytest.raises(BadConfiguration, match=r'^The price of openai:x is stated as .* for example "0\.5/1\.5"\.$'):
        price_of(ModelName("openai", "x"), None, {"openai:x": figures})


def test_a_price_for_something_that_is_no_model_is_refused() -> None:
    with pytest.raises(BadConfiguration, match="provider:model"):
        price_of(ModelName("openai", "x"), None, {"x": "1/2"})


def test_looking_up_a_price_starts_nothing() -> None:
    before = threading.active_count()
    price_of(ModelName("openai", "gpt-4o"), None)
    assert threading.active_count() == before
    assert sys.modules["genai_prices.data_snapshot"]._custom_snapshot is None


def test_cost_is_what_went_in_and_what_came_out() -> None:
    price = Price(2.0, 8.0, 0.5)
    assert cost(price, 1_000_000, 0) == 2.0
    assert cost(price, 0, 1_000_000) == 8.0
    assert cost(price, 1_000_000, 500_000, cached_tokens=400_000) == pytest.approx(0.6 * 2.0 + 0.4 * 0.5 + 4.0)


def test_cached_tokens_cost_the_same_where_no_price_for_them_is_known() -> None:
    assert cost(Price(2.0, 8.0), 1000, 0, cached_tokens=900) == cost(Price(2.0, 8.0), 1000, 0)

"""What a model costs: as the user states it, nothing for a local one, or by the table that comes with a package."""

import ipaddress
import math
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime, timedelta
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from deepwell.errors import BadConfiguration
from deepwell.models.names import PROVIDERS, ModelName
from deepwell.vocabulary.budget import Price

if TYPE_CHECKING:
    from genai_prices.types import ModelInfo

_HALF_HOURS_OF_A_DAY = 48


FREE = Price(0.0, 0.0, 0.0)


def price_of(
    name: ModelName, base_url: str | None, stated: Mapping[str, str] = {}, at: datetime | None = None
) -> Price | None:
    """The price of the model, `at` (None: now) and for a day; None if nobody knows. Never asks the network.

    `stated` goes first: `{"openai:my-model": "0.5/1.5"}`, in USD for a million tokens in and out.
    """
    for model, figures in stated.items():
        if ModelName.parse(model) == name:
            return _stated_price(model, figures)
    if PROVIDERS[name.provider].local or (name.provider == "openai-compatible" and _is_loopback(base_url)):
        return FREE
    if find_spec("genai_prices") is None:
        return None
    model_info = _in_table(name, base_url)
    return None if model_info is None else _dearest(model_info, at or datetime.now(UTC))


def _stated_price(model: str, figures: str) -> Price:
    try:
        into, out = (float(figure) for figure in figures.split("/"))
    except ValueError:
        into = out = math.nan
    if not all(math.isfinite(figure) and figure >= 0 for figure in (into, out)):
        raise BadConfiguration(
            f'The price of {model} is stated as USD for a million tokens in and out, for example "0.5/1.5".'
        )
    return Price(into, out)


def _is_loopback(base_url: str | None) -> bool:
    try:
        host = urlsplit(base_url or "").hostname or ""
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _in_table(name: ModelName, base_url: str | None) -> "ModelInfo | None":
    """The model in the bundled table: by provider or, for a compatible server, by the provider at its address."""
    from genai_prices.data import providers
    from genai_prices.data_snapshot import DataSnapshot

    # A snapshot of our own: the package's current one may have been replaced by figures from the network.
    snapshot = DataSnapshot(providers=providers, from_auto_update=False)
    compatible = name.provider == "openai-compatible"
    try:
        _, model = snapshot.find_provider_model(
            name.model, None, None if compatible else name.provider, base_url if compatible else None
        )
    except LookupError:
        return None
    return model


def _dearest(model: "ModelInfo", at: datetime) -> Price | None:
    """The highest of the prices that hold within a day: some change with the hour."""
    prices = [model.get_prices(at + timedelta(minutes=30) * step) for step in range(_HALF_HOURS_OF_A_DAY)]
    into = _highest(price.input_mtok for price in prices)
    out = _highest(price.output_mtok for price in prices)
    if into is None or out is None:
        return None
    return Price(into, out, _highest(price.cache_read_mtok for price in prices))


def _highest(figures: Iterable[Any]) -> float | None:
    """Of figures that are a number, a number with tiers above it, or nothing."""
    known = [float(figure) for part in figures if part is not None for figure in _tiers(part)]
    return max(known, default=None)


def _tiers(figure: Any) -> list[Any]:
    return [figure.base, *(tier.price for tier in figure.tiers)] if hasattr(figure, "tiers") else [figure]

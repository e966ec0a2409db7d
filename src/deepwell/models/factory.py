"""Builds the chat model of any provider so that one call is one request, to one address, with one key."""

import importlib
from collections.abc import Callable
from dataclasses import dataclass, field
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, cast
from urllib.parse import urlsplit

from deepwell.errors import BadConfiguration
from deepwell.models.names import PROVIDERS, ModelName, Provider

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel

# The packages keep one HTTP client for all models of an address. A connection left open in it belongs to the event
# loop of the call that opened it; the next `asyncio.run` would pick it up and fail with "Event loop is closed".
_NO_LEFT_OVER_CONNECTION = {"Connection": "close"}

_NO_KEY = "not-needed"
_GROQ_DEFAULT_TEMPERATURE = 1.0


@dataclass(frozen=True, slots=True)
class ModelSettings:
    """Which model to ask, where, and how."""

    name: ModelName
    base_url: str | None = None
    """None: the provider's own address."""
    temperature: float | None = None
    """None: what the provider thinks best; nothing is sent."""
    key: str | None = field(default=None, repr=False)
    """Always stated here: no package is left to look for one in the environment."""
    context_tokens: int | None = None
    """The context to reserve, where the caller decides that (Ollama). None: the server's default, beyond which Ollama
    cuts prompts without a word."""


def chat_model(settings: ModelSettings, timeout_s: float) -> "BaseChatModel":
    """The model, ready to be asked. Raises BadConfiguration with the sentence of `missing`."""
    sentence = missing(settings)
    if sentence is not None:
        raise BadConfiguration(sentence)
    provider = PROVIDERS[settings.name.provider]
    module, _, name = provider.import_path.partition(":")
    model_class = getattr(importlib.import_module(module), name)
    try:
        model = model_class(model=settings.name.model, **_ARGUMENTS[provider.name](settings, timeout_s))
    except ValueError:
        # Not even as the cause: a validation error shows what it was given, the key among it.
        raise BadConfiguration(f"{settings.name} cannot be used with these settings.") from None
    return _without_key_in_sight(model)


def missing(settings: ModelSettings) -> str | None:
    """What is still needed before this model can be asked, as a sentence; None if nothing. Imports nothing."""
    provider = PROVIDERS[settings.name.provider]
    if find_spec(provider.import_path.partition(":")[0]) is None:
        return f'{provider.title} models need one more package: pip install "deepwell[{provider.extra}]".'
    return _missing_address(settings, provider) or _missing_key(settings, provider)


def _missing_address(settings: ModelSettings, provider: Provider) -> str | None:
    address = settings.base_url or provider.address
    if address is None:
        return f"{settings.name} needs a base address: set MODEL_BASE_URL, for example to http://127.0.0.1:8080/v1."
    if not _is_web_address(address):
        return (
            f"The base address for {settings.name} must be http:// or https:// with a host, a path, and nothing more."
        )
    return None


def _missing_key(settings: ModelSettings, provider: Provider) -> str | None:
    if settings.key or not provider.key_needed:
        return None
    return f"{provider.title} models need a key: set {' or '.join(provider.key_names)}."


def _is_web_address(address: str) -> bool:
    try:
        parts = urlsplit(address)
        # Addresses are stored and shown: a password or a key in one would be too. Reading the port checks it.
        plain = not (parts.query or parts.fragment or "@" in parts.netloc) and (parts.port is None or parts.port > 0)
        return parts.scheme in {"http", "https"} and bool(parts.hostname) and plain
    except ValueError:
        return False


def _address(settings: ModelSettings) -> str:
    """Stated even when it is the provider's own: otherwise a stray variable could send the key somewhere else."""
    return settings.base_url or cast("str", PROVIDERS[settings.name.provider].address)


def _temperature(settings: ModelSettings) -> dict[str, Any]:
    return {} if settings.temperature is None else {"temperature": settings.temperature}


def _openai_like(settings: ModelSettings, timeout_s: float) -> dict[str, Any]:
    return {
        "api_key": settings.key or _NO_KEY,
        "base_url": _address(settings),
        "timeout": timeout_s,
        "max_retries": 0,
        "stream_usage": True,
        "use_responses_api": False,
        "default_headers": _NO_LEFT_OVER_CONNECTION,
        "openai_proxy": None,
        **_temperature(settings),
    }


def _openai(settings: ModelSettings, timeout_s: float) -> dict[str, Any]:
    """At OpenAI itself the package sends the few models that need it to the Responses API; elsewhere, chat only."""
    arguments = _openai_like(settings, timeout_s)
    if settings.base_url is not None:
        return arguments
    # The Responses API would keep what it is sent.
    return {**arguments, "use_responses_api": None, "store": False}


def _anthropic(settings: ModelSettings, timeout_s: float) -> dict[str, Any]:
    return {
        "api_key": settings.key,
        "base_url": _address(settings),
        "timeout": timeout_s,
        "max_retries": 0,
        "default_headers": _NO_LEFT_OVER_CONNECTION,
        "anthropic_proxy": None,
        **_temperature(settings),
    }


def _google(settings: ModelSettings, timeout_s: float) -> dict[str, Any]:
    return {
        "api_key": settings.key,
        "base_url": _address(settings),
        "timeout": timeout_s,
        "max_retries": 1,  # counts attempts; 0 would mean "the default", which is five
        "vertexai": False,
        "additional_headers": _NO_LEFT_OVER_CONNECTION,
        "temperature": settings.temperature,  # None is sent as nothing; left out, the package would put 0.7
    }


def _groq(settings: ModelSettings, timeout_s: float) -> dict[str, Any]:
    # The package always sends a temperature (0.7 unless told otherwise): what Groq itself would take is told here.
    temperature = _GROQ_DEFAULT_TEMPERATURE if settings.temperature is None else settings.temperature
    return {
        "api_key": settings.key,
        "base_url": _address(settings),
        "timeout": timeout_s,
        "max_retries": 0,
        "default_headers": _NO_LEFT_OVER_CONNECTION,
        "temperature": temperature,
    }


def _ollama(settings: ModelSettings, timeout_s: float) -> dict[str, Any]:
    key = {"Authorization": f"Bearer {settings.key}"} if settings.key else {}
    return {
        "base_url": _address(settings),
        "client_kwargs": {"timeout": timeout_s, "headers": {**_NO_LEFT_OVER_CONNECTION, **key}},
        "num_ctx": settings.context_tokens,
        **_temperature(settings),
    }


_ARGUMENTS: dict[str, Callable[[ModelSettings, float], dict[str, Any]]] = {
    "openai": _openai,
    "anthropic": _anthropic,
    "google": _google,
    "groq": _groq,
    "deepseek": _openai_like,
    "ollama": _ollama,
    "openai-compatible": _openai_like,
}


def _without_key_in_sight(model: "BaseChatModel") -> "BaseChatModel":
    """ChatOllama would print its headers, and the key in them; its clients are built by now and keep them."""
    return model.model_copy(update={"client_kwargs": {}}) if hasattr(model, "client_kwargs") else model

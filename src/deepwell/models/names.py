"""What a model is called, `provider:model`, and the providers that can be named."""

from collections.abc import Mapping
from dataclasses import dataclass

from deepwell.errors import BadConfiguration


@dataclass(frozen=True, slots=True)
class Provider:
    """A service, or a server of one's own, that answers for models."""

    name: str
    title: str
    """For people."""
    extra: str
    """The extra of Deepwell that brings its package."""
    import_path: str
    """`package:Class` of its chat model; imported when a model is built, not before."""
    key_names: tuple[str, ...]
    """Environment variables that may hold the key; the first that is set wins."""
    example: str
    """A model it serves, for messages and help."""
    address: str | None
    """Where it answers unless told otherwise. None: the address must be given."""
    key_needed: bool = True
    local: bool = False
    """Runs on the user's own machine: needs no key, costs nothing."""
    aliases: tuple[str, ...] = ()

    def key_in(self, environment: Mapping[str, str]) -> str | None:
        """The key, from the first variable that is set and not empty."""
        found = (environment.get(name, "").strip() for name in self.key_names)
        return next((key for key in found if key), None)


_OPENAI = Provider(
    name="openai",
    title="OpenAI",
    extra="openai",
    import_path="langchain_openai:ChatOpenAI",
    key_names=("OPENAI_API_KEY",),
    example="gpt-5.2",
    address="https://api.openai.com/v1",
)
_ANTHROPIC = Provider(
    name="anthropic",
    title="Anthropic",
    extra="anthropic",
    import_path="langchain_anthropic:ChatAnthropic",
    key_names=("ANTHROPIC_API_KEY",),
    example="claude-sonnet-4-5",
    address="https://api.anthropic.com",
)
_GOOGLE = Provider(
    name="google",
    title="Google Gemini",
    extra="google",
    import_path="langchain_google_genai:ChatGoogleGenerativeAI",
    key_names=("GOOGLE_API_KEY", "GEMINI_API_KEY"),
    example="gemini-2.5-flash",
    address="https://generativelanguage.googleapis.com",
    aliases=("google_genai", "gemini"),
)
_GROQ = Provider(
    name="groq",
    title="Groq",
    extra="groq",
    import_path="langchain_groq:ChatGroq",
    key_names=("GROQ_API_KEY",),
    example="openai/gpt-oss-120b",
    address="https://api.groq.com",
)
_DEEPSEEK = Provider(
    name="deepseek",
    title="DeepSeek",
    extra="deepseek",
    import_path="langchain_deepseek:ChatDeepSeek",
    key_names=("DEEPSEEK_API_KEY",),
    example="deepseek-v4-flash",
    address="https://api.deepseek.com/v1",
)
_OLLAMA = Provider(
    name="ollama",
    title="Ollama",
    extra="ollama",
    import_path="langchain_ollama:ChatOllama",
    key_names=("OLLAMA_API_KEY",),
    example="llama3.2:3b",
    address="http://127.0.0.1:11434",
    key_needed=False,
    local=True,
)
_COMPATIBLE = Provider(
    name="openai-compatible",
    title="OpenAI-compatible server",
    extra="openai",
    import_path="langchain_openai:ChatOpenAI",
    # Not OPENAI_API_KEY: a key must not reach a server it was not issued for.
    key_names=("OPENAI_COMPATIBLE_API_KEY",),
    example="qwen3-8b",
    address=None,
    key_needed=False,
    aliases=("local", "vllm", "llamacpp", "lmstudio"),
)

PROVIDERS: Mapping[str, Provider] = {
    provider.name: provider for provider in (_OPENAI, _ANTHROPIC, _GOOGLE, _GROQ, _DEEPSEEK, _OLLAMA, _COMPATIBLE)
}
"""By name; aliases are known to `ModelName.parse` only."""

_BY_ANY_NAME = {name: provider for provider in PROVIDERS.values() for name in (provider.name, *provider.aliases)}


@dataclass(frozen=True, slots=True)
class ModelName:
    """One model of one provider."""

    provider: str
    """A name in `PROVIDERS`, never an alias."""
    model: str
    """As the provider spells it; may hold `:` and `/`."""

    @classmethod
    def parse(cls, text: str) -> "ModelName":
        """Read `provider:model`; raises BadConfiguration if it is not of that form or the provider is unknown."""
        before, colon, model = (part.strip() for part in text.partition(":"))
        if not colon or not before or not model or len(model.split()) != 1:
            raise BadConfiguration(
                f'A model is named provider:model, for example {_OPENAI.name}:{_OPENAI.example}, not "{_shown(text)}".'
            )
        provider = _BY_ANY_NAME.get(before.lower())
        if provider is None:
            raise BadConfiguration(
                f'"{_shown(before)}" is not a known model provider: use one of {", ".join(PROVIDERS)}, '
                f"for example {_OPENAI.name}:{_OPENAI.example}."
            )
        return cls(provider.name, model)

    def __str__(self) -> str:
        return f"{self.provider}:{self.model}"


def _shown(text: str) -> str:
    """The user's words, on one line and not too long."""
    line = " ".join(text.split())
    return line if len(line) <= 60 else f"{line[:60]}…"

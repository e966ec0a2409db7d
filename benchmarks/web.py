"""What a run over the web costs beside the web: wall time against what must follow what, dead engines, real files.

The small web runs here; each run is a process of its own, so that nobody shares an interpreter with the other.
"""

import asyncio
import json
import os
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from deepwell.errors import Unreadable
from deepwell.reading.files import read_file
from deepwell.testing.web import QUESTION, Engine, Fault, Visit, WebServer, longest_chain, seconds_of, small_web

SEARCH_S, PAGE_S = 0.2, 0.1
REPEATS = 5
HOSTS = tuple(f"127.0.0.{number}" for number in range(1, 9)) if sys.platform == "linux" else ("127.0.0.1", "localhost")
"""Pages of the web are on many hosts; only Linux has so many without being asked."""
BOTH: tuple[Engine, ...] = ("searxng", "tavily")
DEAD = ("refused", "500", "hang")


@dataclass(frozen=True, slots=True)
class Outcome:
    """Some runs in a process of their own."""

    found: bool
    first_s: float
    """The first run, in which the readers of pages start."""
    wall_s: float
    """The median of the others."""
    log: tuple[Visit, ...]
    """What the last run asked for."""


def main(data: Path) -> None:
    """Print everything."""
    print()
    _overhead()
    _one_hangs()
    for name in DEAD:
        _all_dead(name)
    _files(data / "pdf")


def _overhead() -> None:
    """Wall time against the longest chain of requests that each had to wait for the one before.

    A robots.txt waits for the search that named its site, a page for that search and its robots.txt, the next search
    for the pages before it. Two of one kind never count in a row, so that waiting for a turn is a cost and no excuse.
    """
    outcome = _run(_slow_web(), repeats=REPEATS)
    chain = longest_chain(outcome.log)
    seconds = sum(map(seconds_of, chain))
    read = Counter((visit.host, visit.what.partition("?")[0]) for visit in outcome.log if visit.kind == "page")
    again = sum(count - 1 for count in read.values())
    print(
        f"web: engines at {SEARCH_S * 1000:.0f} ms, pages at {PAGE_S * 1000:.0f} ms, no model: "
        f"{outcome.wall_s:.2f} s, {outcome.wall_s / seconds:.2f} × the chain of {seconds:.2f} s (at most 1.3): "
        f"{' → '.join(visit.kind for visit in chain)}; the first run of a process {outcome.first_s:.2f} s"
    )
    print(f"  {_count(outcome.log)}; pages fetched twice: {again} (none)")
    print(f"  {_gaps(outcome.log)}")


def _one_hangs() -> None:
    """The same run with two engines, the first of which takes every request and never answers."""
    well = _run(_slow_web(), BOTH, repeats=3)
    hung = _run(_slow_web(Fault("hang", engine="searxng", kinds=frozenset({"search"}))), BOTH, repeats=3)
    print(
        f"web: one engine of two hangs: {hung.wall_s:.2f} s, {hung.wall_s - well.wall_s:.2f} s more than without "
        f"(at most 8){'' if hung.found else '  <-- NOT FOUND'}"
    )


def _all_dead(name: str) -> None:
    """Two engines that fail in the same way, from the command line: how long until it says so."""
    with tempfile.TemporaryDirectory() as home, _slow_web(Fault(name, kinds=frozenset({"search"}))) as web:
        program = Path(sys.executable).with_name("deepwell")
        started = time.perf_counter()
        command = [str(program), QUESTION, "--quiet"]
        done = subprocess.run(command, env=_environment(web, home, BOTH), capture_output=True, text=True, check=False)
        seconds = time.perf_counter() - started
    good = done.returncode == 3 and seconds < 15
    print(
        f"web: all engines dead ({name}): exit code {done.returncode} after {seconds:.1f} s (3, below 15)"
        f"{'' if good else '  <-- NOT GOOD'}"
    )


def _slow_web(*faults: Fault) -> WebServer:
    return WebServer(small_web(HOSTS), search_latency_s=SEARCH_S, page_latency_s=PAGE_S, faults=faults)


def _files(folder: Path) -> None:
    """Real PDF files: what text is in them, or the one line that says why there is none."""
    if not folder.is_dir():
        print("files: pdf is not there, skipped")
        return
    for path in sorted(folder.glob("*.pdf")):
        try:
            told = f"{len(read_file(path).text):,} characters"
        except Unreadable as error:
            told = str(error)
        print(f"  {path.name}: {told}")


def _run(server: WebServer, engines: tuple[Engine, ...] = (), *, repeats: int) -> Outcome:
    with tempfile.TemporaryDirectory() as home, server as web:
        command = [sys.executable, "-m", "benchmarks.web", str(repeats), home]
        env = _environment(web, home, engines)
        done = subprocess.run(command, env=env, capture_output=True, text=True, check=True)
        told = json.loads(done.stdout)
        last = [visit for visit in web.log if visit.received >= told["last_began"]]
    return Outcome(told["found"], told["first_s"], told["wall_s"], tuple(last))


def _environment(web: WebServer, home: str, engines: tuple[Engine, ...]) -> dict[str, str]:
    return {**os.environ, **web.environment(*engines), "DEEPWELL_HOME": home, "DEEPRESEARCH_ENV_FILE": ""}


def _count(log: Sequence[Visit]) -> str:
    kinds = Counter(visit.kind for visit in log)
    return f"{kinds['search']} searches, {kinds['robots']} robots.txt, {kinds['page']} pages"


def _gaps(log: Sequence[Visit]) -> str:
    """When each kind of request first came in and last was over, from the first request on."""
    start = min(visit.received for visit in log)
    told = []
    for kind in ("search", "robots", "page"):
        visits = [visit for visit in log if visit.kind == kind]
        first, last = min(visit.received for visit in visits), max(visit.ended or 0.0 for visit in visits)
        told.append(f"{kind} {first - start:.2f} to {last - start:.2f} s")
    return ", ".join(told)


def child(repeats: int, home: Path) -> None:
    """The measured process: a first run, then some more of which the median counts, none with the pages of another."""
    from deepwell import api

    async def once(number: int) -> tuple[bool, float, float]:
        began, started = time.monotonic(), time.perf_counter()
        run = await api.research(api.request(QUESTION, [], home=home / str(number)))
        return run.found, time.perf_counter() - started, began

    first = asyncio.run(once(0))
    later = [asyncio.run(once(number)) for number in range(1, repeats)] or [first]
    told = {
        "found": all(found for found, _, _ in (first, *later)),
        "first_s": first[1],
        "wall_s": median(wall for _, wall, _ in later),
        "last_began": later[-1][2],
    }
    print(json.dumps(told))


if __name__ == "__main__":
    if len(sys.argv) > 1:
        child(int(sys.argv[1]), Path(sys.argv[2]))
    else:
        main(Path(os.environ.get("DATA", "../shared/data")))

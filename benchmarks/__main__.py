"""All measurements: start-up, loop control, the first report, asking a model, lateness, the web, research
on public question sets.

DATA names the folder of the question sets (default ../shared/data); SAMPLE limits their questions.
"""

import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from importlib.metadata import distribution, distributions
from pathlib import Path
from statistics import median

from benchmarks import asking, crash, extraction, injection, lateness, research, web
from deepwell.stages.judge.duplicates import find_duplicate
from deepwell.stages.judge.novelty import novelty

REPEATS = 9


def main() -> None:
    """Print everything."""
    size()
    startup()
    control()
    first_report()
    asking.main()
    crash.main()
    lateness.main()
    sample, data = os.environ.get("SAMPLE"), Path(os.environ.get("DATA", "../shared/data"))
    extraction.main(data)
    web.main(data)
    injection.main(data)
    research.main(data, int(sample) if sample else None)


def size() -> None:
    """What the command line with documents installs, Deepwell itself included, without the tools for developing."""
    needed = _needed("deepwell")
    files = [Path(str(d.locate_file(f))) for d in distributions() if _name(d) in needed for f in d.files or ()]
    total = sum(file.stat().st_size for file in files if file.is_file())
    print(f"installed: {len(needed)} distributions, {total / 1e6:.0f} MB (at most 70 and 130)")


def startup() -> None:
    """`deepwell --help`, against an interpreter that does nothing."""
    program = Path(sys.executable).with_name("deepwell")
    help_s = _median(lambda: _run(str(program), "--help"))
    bare_s = _median(lambda: _run(sys.executable, "-c", "pass"))
    print(f"deepwell --help: {help_s * 1000:.0f} ms, {help_s / bare_s:.1f} × a bare interpreter (at most 250 ms)")


def control() -> None:
    """The two checks that run in every round."""
    words = _words(random.Random(1))  # noqa: S311 - a sample, not a secret
    topics = [" ".join(words[i : i + 9]) for i in range(0, 9000, 9)]
    cold = time.perf_counter()
    find_duplicate("something new about old things", topics, 0.75)
    cold = time.perf_counter() - cold
    warm = _median(lambda: find_duplicate("something new about old things", topics, 0.75))
    print(
        f"duplicate check against 1,000 topics: {warm * 1000:.2f} ms, the first time {cold * 1000:.2f} ms (at most 5)"
    )
    new, old = " ".join(words)[:100_000], " ".join(reversed(words))[:100_000]
    judged = _median(lambda: novelty([new], [old]))
    print(f"novelty of 100,000 characters against 100,000: {judged * 1000:.2f} ms (at most 10)")


def first_report() -> None:
    """A report on the examples: the first call indexes, the second finds everything ready."""
    program = Path(sys.executable).with_name("deepwell")
    question = ("When was the mechanism made, and where?", "--docs", "examples/antikythera", "--quiet")
    with tempfile.TemporaryDirectory() as home:
        env = {**os.environ, "DEEPWELL_HOME": home}
        cold = _timed(lambda: _run(str(program), *question, env=env))
        warm = _median(lambda: _run(str(program), *question, env=env), 5)
    print(f"report on examples: {cold:.2f} s with indexing, {warm:.2f} s warm (at most 3)")


def _needed(name: str, found: set[str] | None = None) -> set[str]:
    """A distribution and all it requires here, without extras."""
    from packaging.requirements import Requirement

    found = set() if found is None else found
    key = name.lower().replace("_", "-")
    if key in found:
        return found
    found.add(key)
    for line in distribution(name).requires or ():
        requirement = Requirement(line)
        if requirement.marker is None or requirement.marker.evaluate({"extra": ""}):
            _needed(requirement.name, found)
    return found


def _name(found: object) -> str:
    return str(getattr(found, "metadata", {})["Name"]).lower().replace("_", "-")


def _words(chance: random.Random) -> list[str]:
    letters = "abcdefghijklmnopqrstuvwxyz"
    vocabulary = ["".join(chance.choices(letters, k=chance.randint(2, 10))) for _ in range(4000)]
    return chance.choices(vocabulary, k=20_000)


def _run(*command: str, env: dict[str, str] | None = None) -> None:
    subprocess.run(command, check=True, capture_output=True, env=env)


def _timed(work: Callable[[], object]) -> float:
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


def _median(work: Callable[[], object], repeats: int = REPEATS) -> float:
    return median(_timed(work) for _ in range(repeats))


if __name__ == "__main__":
    main()

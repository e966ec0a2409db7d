"""What a run without a model keeps first: the whole loop on public question sets, stage by stage."""

import asyncio
import os
import tempfile
import time
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from statistics import mean, quantiles
from typing import Any

from langchain_core.messages import HumanMessage

from benchmarks.questions import Asked, QuestionSet, multihoprag, musique
from deepwell.analyst.extractive import ExtractiveAnalyst
from deepwell.configuration import Configuration
from deepwell.graph import app
from deepwell.library.engine import LibraryEngine
from deepwell.library.facts import LibraryFacts
from deepwell.library.refreshing import Libraries, refresh_libraries
from deepwell.stages.judge.ranking import kept_passages
from deepwell.testing import bench
from deepwell.vocabulary.plan import Plan, Query, SubQuestion
from deepwell.vocabulary.question import Conversation, Intake
from deepwell.vocabulary.report import Report

FIRST = 10


class OneShot(ExtractiveAnalyst):
    """The same analyst without a plan: the question is searched once, as it is."""

    async def take_in(self, conversation: Conversation, today: Any) -> Intake:
        """A plan of one search."""
        intake = await super().take_in(conversation, today)
        question = conversation[-1].text
        return replace(intake, plan=Plan((SubQuestion("sq-1", question, (Query(question),)),)))


STAGES: tuple[tuple[str, type[ExtractiveAnalyst], int], ...] = (
    ("one shot", OneShot, 1),
    ("+ decomposition", ExtractiveAnalyst, 1),
    ("+ second round", ExtractiveAnalyst, 2),
    ("+ third round", ExtractiveAnalyst, 3),
)


@dataclass(frozen=True, slots=True)
class Result:
    """How one question went."""

    recall: float
    complete: bool
    answered: bool
    seconds: float
    is_null: bool


async def measure(questions: QuestionSet, asked: list[Asked], libraries: Libraries) -> None:
    """Print one row a stage."""
    engine = LibraryEngine(libraries.libraries, lambda: datetime.now(UTC))
    facts = LibraryFacts(libraries.libraries)
    print(f"\n{questions.name}: {len(asked)} questions, {libraries.passages} passages")
    print("  stage              recall@10  all@10  answered  refused (null)  ms mean / p95")
    for name, analyst, rounds in STAGES:
        results = [await _run(analyst(facts), engine, one, rounds, questions) for one in asked]
        _print_row(name, results)
    engine.close()
    facts.close()


async def _run(analyst: ExtractiveAnalyst, engine: Any, one: Asked, rounds: int, questions: QuestionSet) -> Result:
    started = time.perf_counter()
    tools = bench(analyst, engine)
    state = await app.ainvoke(
        {"messages": [HumanMessage(one.question)]},
        {"configurable": {"thread_id": "bench", "workbench": tools}},
        context=Configuration(max_researcher_iterations=rounds),
    )
    seconds = time.perf_counter() - started
    texts = []
    for handle in kept_passages(state["research_record"].lanes)[:FIRST]:
        source, _, span = handle.partition(":")
        start, _, end = span.partition("-")
        texts.append((await tools.shelf.fetch(source)).text[int(start) : int(end)])
    found = [any(questions.holds(text, wanted) for text in texts) for wanted in one.wanted]
    return Result(
        mean(found) if found else 0.0,
        bool(found) and all(found),
        isinstance(state["outcome"], Report),
        seconds,
        not one.wanted,
    )


def _print_row(name: str, results: list[Result]) -> None:
    real = [r for r in results if not r.is_null]
    null = [r for r in results if r.is_null]
    refused = f"{mean(not r.answered for r in null):.3f}" if null else "    –"
    times = sorted(r.seconds * 1000 for r in results)
    p95 = quantiles(times, n=20)[-1] if len(times) > 1 else times[0]
    print(
        f"  {name:<18} {mean(r.recall for r in real):>9.3f} {mean(r.complete for r in real):>7.3f} "
        f"{mean(r.answered for r in real):>9.3f} {refused:>15} {mean(times):>9.0f} / {p95:.0f}",
        flush=True,
    )


def main(data: Path, sample: int | None) -> None:
    """Index and measure every set that is there."""
    for make in (multihoprag, musique):
        try:
            questions = make(data)
        except FileNotFoundError:
            print(f"\n{make.__name__}: not found in {data}, skipped")
            continue
        with tempfile.TemporaryDirectory() as folder:
            root = questions.written_to(Path(folder))
            started = time.perf_counter()
            libraries = refresh_libraries([root], Path(folder) / "home")
            print(
                f"\n{questions.name}: indexed {libraries.documents} documents in {time.perf_counter() - started:.1f} s"
            )
            asyncio.run(measure(questions, list(questions.sample(sample)), libraries))


if __name__ == "__main__":
    sample_size = os.environ.get("SAMPLE")
    main(Path(os.environ.get("DATA", "../shared/data")), int(sample_size) if sample_size else None)

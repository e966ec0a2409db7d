"""What a run leaves behind, as rows: its sources and claims after every round, all of it when it has ended."""

import json
import sqlite3
from collections.abc import Sequence
from typing import Any

from deepwell.store.sqlite import transaction
from deepwell.vocabulary.evidence import Evidence
from deepwell.vocabulary.report import Citation, Report
from deepwell.vocabulary.run import FinishedRun, Span
from deepwell.vocabulary.source import Passage, SourceCard


def keep_evidence(
    connection: sqlite3.Connection,
    run: str,
    catalogue: Sequence[SourceCard],
    ledger: Sequence[Evidence],
    kept: Sequence[Span],
) -> None:
    """What was found, in place of what was found before.

    Nothing at all does not take its place: a run that had to start anew, without time, has found it all the same.
    """
    if not catalogue and not ledger:
        return
    for table in ("run_sources", "claims", "passages"):
        connection.execute(f"DELETE FROM {table} WHERE run = ?", (run,))  # noqa: S608 - names of our own
    connection.executemany(
        "INSERT INTO run_sources VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", _source_rows(run, catalogue)
    )
    connection.executemany("INSERT INTO claims VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", _claim_rows(run, ledger))
    ranked = [(run, rank, *span) for rank, span in enumerate(kept, start=1)]
    connection.executemany("INSERT INTO passages VALUES (?, ?, ?, ?, ?)", ranked)


def finish(connection: sqlite3.Connection, run: str, finished: FinishedRun) -> None:
    """All of it in one transaction. A run that was given up keeps what it had found, and can be gone on with."""
    with transaction(connection):
        _end(connection, run, finished)
        if finished.status in ("interrupted", "failed", "clarify"):
            return
        keep_evidence(connection, run, finished.catalogue, finished.ledger, finished.kept)
        cited = finished.outcome.citations if isinstance(finished.outcome, Report) else ()
        connection.execute("DELETE FROM citations WHERE run = ?", (run,))
        connection.executemany("INSERT INTO citations VALUES (?, ?, ?, ?, ?)", _citation_rows(run, cited))
        _forget_the_way(connection, run)


def _end(connection: sqlite3.Connection, run: str, finished: FinishedRun) -> None:
    connection.execute(
        "UPDATE runs SET status = ?, finished_at = ?, stop_reason = ?, report = ?, phase_state = ? WHERE id = ?",
        (
            finished.status,
            finished.at.isoformat(),
            finished.stop_reason,
            finished.outcome.markdown if finished.outcome else None,
            json.dumps(finished.phase_state, ensure_ascii=False),
            run,
        ),
    )


def _forget_the_way(connection: sqlite3.Connection, run: str) -> None:
    """What it would take to go on is not needed any more; the judgements that were made of replies are kept."""
    connection.execute("DELETE FROM calls WHERE run = ? AND kind IN ('request', 'web_search')", (run,))
    tables = {name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    for table in tables & {"checkpoints", "writes"}:
        connection.execute(f"DELETE FROM {table} WHERE thread_id = ?", (run,))  # noqa: S608 - names of LangGraph


def _source_rows(run: str, catalogue: Sequence[SourceCard]) -> list[tuple[Any, ...]]:
    return [
        (run, c.id, c.hash, c.address, c.title, c.retrieved_at.isoformat(), c.kind, c.author, c.publisher, c.published)
        for c in catalogue
    ]


def _claim_rows(run: str, ledger: Sequence[Evidence]) -> list[tuple[Any, ...]]:
    return [
        (
            run,
            number,
            item.claim,
            item.subquestion,
            item.topic,
            item.confidence,
            item.support,
            item.contradiction_or_uncertainty,
            _span_json(item.passages),
        )
        for number, item in enumerate(ledger, start=1)
    ]


def _citation_rows(run: str, citations: Sequence[Citation]) -> list[tuple[Any, ...]]:
    return [
        (run, number, c.sentence, json.dumps(list(c.source_ids)), _span_json(c.passages))
        for number, c in enumerate(citations, start=1)
    ]


def _span_json(passages: Sequence[Passage]) -> str:
    return json.dumps([[p.source, p.start, p.end] for p in passages])

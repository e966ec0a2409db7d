"""Runs, their journals and what they kept, in one SQLite file."""

import json
import os
import socket
import sqlite3
import zlib
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import asdict, fields
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any, Self, TypeVar

from deepwell.errors import StoreDamaged, UnknownRun
from deepwell.store import leaving
from deepwell.store.calls import RunCalls, known_calls
from deepwell.store.holders import is_abandoned, is_running
from deepwell.store.schema import MIGRATIONS
from deepwell.store.scribe import Scribe
from deepwell.store.sqlite import connect
from deepwell.vocabulary.budget import SpendLine, added
from deepwell.vocabulary.events import Degraded, Event
from deepwell.vocabulary.evidence import Evidence
from deepwell.vocabulary.run import FinishedRun, KeptClaim, KeptSource, Past, RunHead, Span, StoredRun
from deepwell.vocabulary.source import Source, SourceCard, content_hash

T = TypeVar("T")


class RunStore:
    """The store as the doors use it. A thread of its own does the work: the event loop never waits for a disk."""

    def __init__(self, scribe: Scribe, path: Path) -> None:
        self._scribe, self._path = scribe, path

    @classmethod
    @asynccontextmanager
    async def open(cls, path: Path) -> AsyncIterator[Self]:
        """The store in this file, made if it is not there. Raises StoreFailed."""
        async with Scribe.open(path, partial(_connected, path)) as scribe:
            yield cls(scribe, path)

    @property
    def path(self) -> Path:
        """The file."""
        return self._path

    @property
    def scribe(self) -> Scribe:
        """Who reads and writes the file, for what else is kept in it."""
        return self._scribe

    async def begin(
        self,
        run: str,
        question: str,
        *,
        at: datetime,
        version: str,
        configuration: str,
        libraries: Sequence[str],
        engines: Sequence[str] = (),
        chosen: Sequence[str] = (),
    ) -> None:
        """Enter a run that starts now."""
        here = (os.getpid(), socket.gethostname(), str(Path.cwd()))
        row = (run, question, "running", at.isoformat(), version, *here, configuration)
        await self._scribe.ask(
            _execute_many,
            "INSERT INTO runs (id, question, status, started_at, version, pid, host, folder, configuration, libraries, "
            "engines, chosen) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            [(*row, *(json.dumps(list(names)) for names in (libraries, engines, chosen)))],
        )

    async def record(self, run: str, at: datetime, events: Sequence[Event]) -> None:
        """Append to the run's journal, in its time: nobody waits for that."""
        rows = [(run, run, at.isoformat(), type(e).__name__, json.dumps(asdict(e), ensure_ascii=False)) for e in events]
        self._scribe.later(
            _execute_many,
            "INSERT INTO journal (run, seq, at, kind, payload) "
            "VALUES (?, (SELECT COALESCE(MAX(seq), 0) + 1 FROM journal WHERE run = ?), ?, ?, ?)",
            rows,
        )

    async def keep(self, source: Source) -> None:
        """Keep a source's text under its hash; the first one to bring it is the one remembered."""
        self._scribe.later(_insert_source, source)

    async def fetch(self, content_hash: str) -> Source:
        """The source kept under that hash. Raises KeyError, or StoreDamaged when its text is not what it was."""
        source = await self._do(_fetch_source, "SELECT * FROM sources WHERE hash = ?", (content_hash,))
        if source is None:
            raise KeyError(content_hash)
        return source

    async def keep_page(self, asked: str, source: Source) -> None:
        """Keep what this address answered, in place of what it answered before."""
        self._scribe.later(_keep_page, asked, source)

    async def page(self, address: str, not_before: datetime) -> Source | None:
        """What this address answered when it was last kept, unless that was earlier. Raises StoreDamaged."""
        return await self._do(
            _fetch_source,
            "SELECT p.address, p.title, s.text, p.hash, p.retrieved_at, p.kind, p.author, p.publisher, p.published "
            "FROM pages p JOIN sources s ON s.hash = p.hash WHERE p.asked = ? AND p.retrieved_at >= ?",
            (address, _instant(not_before)),
        )

    async def finish(self, run: str, finished: FinishedRun) -> None:
        """Everything the run leaves behind, in one transaction. Doing it again changes nothing."""
        await self._scribe.settled()
        await self._do(leaving.finish, run, finished)

    async def keep_evidence(
        self, run: str, catalogue: Sequence[SourceCard], ledger: Sequence[Evidence], kept: Sequence[Span]
    ) -> None:
        """What a run has found so far, safe before it goes on: it can be exported whatever happens then."""
        await self._scribe.written(leaving.keep_evidence, run, catalogue, ledger, kept)

    async def reopen(self, run: str) -> None:
        """Someone goes on with it."""
        reopened = "UPDATE runs SET status = 'running', finished_at = NULL WHERE id = ?"
        await self._scribe.written(_execute_many, reopened, [(run,)])

    async def runs(self, limit: int = 50) -> list[RunHead]:
        """The newest runs first."""
        rows = await self._all(
            "SELECT r.*, (SELECT COUNT(*) FROM claims c WHERE c.run = r.id) AS claims, "
            "(SELECT COUNT(*) FROM run_sources s WHERE s.run = r.id) AS sources "
            "FROM runs r ORDER BY started_at DESC, id LIMIT ?",
            limit,
        )
        return [_head(row) for row in rows]

    async def find(self, name: str) -> str:
        """The id that begins with `name`; `last` is the newest run. Raises UnknownRun."""
        if name == "last":
            rows = await self._all("SELECT id FROM runs ORDER BY started_at DESC, id LIMIT 1")
        else:
            rows = await self._all("SELECT id FROM runs WHERE substr(id, 1, ?) = ?", len(name), name)
        if not rows:
            hint = "there are no runs yet." if name == "last" else "`deepwell runs` lists them."
            raise UnknownRun(f"No run goes by the id {name!r}: {hint}")
        if len(rows) > 1:
            raise UnknownRun(f"{len(rows)} runs have an id that begins with {name!r}: give more of it.")
        return str(rows[0]["id"])

    async def load(self, run: str) -> StoredRun:
        """A run with everything it kept, but for its sources' texts. Raises UnknownRun."""
        row = await self._one("SELECT r.*, 0 AS claims, 0 AS sources FROM runs r WHERE id = ?", run)
        if row is None:
            raise UnknownRun(f"No run goes by the id {run!r}: `deepwell runs` lists them.")
        return StoredRun(
            head=_head(row),
            configuration=json.loads(row["configuration"]),
            libraries=tuple(json.loads(row["libraries"])),
            folder=row["folder"],
            engines=tuple(json.loads(row["engines"])),
            chosen=None if row["chosen"] is None else tuple(json.loads(row["chosen"])),
            report=row["report"],
            phase_state=json.loads(row["phase_state"] or "{}"),
            sources=await self._sources_of(run),
            claims=await self._claims_of(run),
            passages=await self._passages_of(run),
            citations=tuple(
                (c["sentence"], tuple(json.loads(c["source_ids"])), _spans(c["spans"]))
                for c in await self._all("SELECT * FROM citations WHERE run = ? ORDER BY number", run)
            ),
            spend=await self._spend_of(run),
        )

    async def used_s(self, run: str) -> float:
        """Seconds of its time that the run has used, as far as is known."""
        last_call = "SELECT MAX(used_s) FROM calls WHERE run = id"
        row = await self._one(f"SELECT used_s, ({last_call}) FROM runs WHERE id = ?", run)  # noqa: S608 - a constant
        return max(filter(None, row or ()), default=0.0)

    async def last_event_at(self, run: str) -> datetime | None:
        """When the last event of the run was recorded."""
        row = await self._one("SELECT MAX(at) FROM journal WHERE run = ?", run)
        return datetime.fromisoformat(row[0]) if row and row[0] else None

    async def past(self, run: str) -> Past:
        """What was done of the run so far, for whoever goes on with it."""
        degraded, asked = await self._payloads(run, "Degraded"), await self._payloads(run, "ModelAsked")
        return Past(
            await self.used_s(run),
            await known_calls(self._scribe, run),
            added(map(_spend_line, asked)),
            frozenset(reply for payload in asked for reply in payload.get("replies", ())),
            tuple(dict.fromkeys(Degraded(**payload) for payload in degraded)),
            {one["engine"]: one["reason"] for one in await self._payloads(run, "SearchDegraded")},
            {one["query"]: one["sent"] for one in await self._payloads(run, "SearchNarrowed")},
        )

    def calls(self, run: str, past: Past, used_s: Callable[[], float]) -> RunCalls:
        """Where the run's calls are kept, with those that are known already."""
        return RunCalls(self._scribe, run, past.calls, used_s, billed=past.billed)

    def replayed_calls(self, past: Past) -> RunCalls:
        """The calls of a run for its replay: as they were, failures too, and nothing is kept."""
        return RunCalls(self._scribe, "", past.calls, lambda: 0.0, is_replay=True)

    async def newest_unfinished(self) -> str:
        """The run that was interrupted last. Raises UnknownRun."""
        heads = await self.runs(limit=1000)
        found = next((head.id for head in heads if head.status in ("interrupted", "failed")), None)
        if found is None:
            raise UnknownRun("No run waits to be resumed: `deepwell runs` lists them all.")
        return found

    async def journal(self, run: str) -> list[dict[str, Any]]:
        """The run's events in order."""
        rows = await self._all("SELECT * FROM journal WHERE run = ? ORDER BY seq", run)
        return [{**json.loads(r["payload"]), "seq": r["seq"], "at": r["at"], "kind": r["kind"]} for r in rows]

    async def _spend_of(self, run: str) -> tuple[SpendLine, ...]:
        """The journal is the account: what was asked of models stands there, call by call."""
        return added(map(_spend_line, await self._payloads(run, "ModelAsked")))

    async def _payloads(self, run: str, kind: str) -> list[dict[str, Any]]:
        query = "SELECT payload FROM journal WHERE run = ? AND kind = ? ORDER BY seq"
        return [json.loads(row["payload"]) for row in await self._all(query, run, kind)]

    async def _sources_of(self, run: str) -> tuple[KeptSource, ...]:
        rows = await self._all(
            "SELECT number, hash, address, title, retrieved_at, kind, author, publisher, published "
            "FROM run_sources WHERE run = ? ORDER BY number",
            run,
        )
        return tuple(KeptSource(**dict(row)) for row in rows)

    async def _claims_of(self, run: str) -> tuple[KeptClaim, ...]:
        rows = await self._all("SELECT * FROM claims WHERE run = ? ORDER BY number", run)
        return tuple(
            KeptClaim(
                claim=row["claim"],
                subquestion=row["subquestion"],
                topic=row["topic"],
                confidence=row["confidence"],
                support=row["support"],
                uncertainty=row["uncertainty"],
                spans=_spans(row["spans"]),
            )
            for row in rows
        )

    async def _passages_of(self, run: str) -> tuple[tuple[str, int, int], ...]:
        rows = await self._all("SELECT source, start, end FROM passages WHERE run = ? ORDER BY rank", run)
        return tuple((row["source"], row["start"], row["end"]) for row in rows)

    async def _all(self, query: str, *values: Any) -> list[sqlite3.Row]:
        return await self._do(_fetch_all, query, values)

    async def _one(self, query: str, *values: Any) -> sqlite3.Row | None:
        return next(iter(await self._all(query, *values)), None)

    async def _do(self, work: Callable[..., T], *values: Any) -> T:
        """Work on the connection, in its thread. No cursor leaves it: one that dies elsewhere disturbs the next."""
        return await self._scribe.ask(work, *values)


def _connected(path: Path) -> sqlite3.Connection:
    connection = connect(path, migrations=MIGRATIONS)
    connection.row_factory = sqlite3.Row
    return connection


def _execute_many(connection: sqlite3.Connection, statement: str, rows: Sequence[Sequence[Any]]) -> None:
    connection.executemany(statement, rows)


def _fetch_all(connection: sqlite3.Connection, query: str, values: Sequence[Any]) -> list[sqlite3.Row]:
    return connection.execute(query, values).fetchall()


def _fetch_source(connection: sqlite3.Connection, query: str, values: Sequence[Any]) -> Source | None:
    row = connection.execute(query, values).fetchone()
    return _source(row) if row else None


def _keep_page(connection: sqlite3.Connection, asked: str, source: Source) -> None:
    facts = (source.kind, source.author, source.publisher, source.published, _instant(source.retrieved_at))
    _insert_source(connection, source)
    connection.execute(
        "INSERT OR REPLACE INTO pages VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (asked, source.hash, source.address, source.title, *facts),
    )


def _insert_source(connection: sqlite3.Connection, source: Source) -> None:
    """A text that is there already is written again only where it differs: then the one in the file is damaged."""
    kept = connection.execute("SELECT text FROM sources WHERE hash = ?", (source.hash,)).fetchone()
    if kept and _is_packed(kept[0], source.text):
        return
    facts = (source.hash, source.address, source.title, source.kind, source.author, source.publisher)
    text = zlib.compress(source.text.encode("utf-8", "surrogatepass"))
    connection.execute(
        "INSERT INTO sources VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (hash) DO UPDATE SET text = excluded.text",
        (*facts, source.published, source.retrieved_at.isoformat(), text),
    )


def _is_packed(packed: bytes, text: str) -> bool:
    # Unpacking takes a fifth of the time that packing does.
    try:
        return zlib.decompress(packed) == text.encode("utf-8", "surrogatepass")
    except zlib.error:
        return False


def _head(row: sqlite3.Row) -> RunHead:
    return RunHead(
        id=row["id"],
        question=row["question"],
        status="interrupted" if row["status"] == "running" and _is_left(row) else row["status"],
        started_at=datetime.fromisoformat(row["started_at"]),
        finished_at=datetime.fromisoformat(row["finished_at"]) if row["finished_at"] else None,
        version=row["version"],
        stop_reason=row["stop_reason"],
        claims=row["claims"],
        sources=row["sources"],
    )


def _is_left(row: sqlite3.Row) -> bool:
    """True when nobody works on it any more; of runs that were never claimed, on other machines, nothing is known."""
    if row["generation"]:
        return is_abandoned(row["holder"], row["lease_until"], datetime.now(UTC))
    return bool(row["host"] == socket.gethostname() and is_running(row["pid"]) is False)


def _source(row: sqlite3.Row) -> Source:
    """The source in a row of facts and packed text. Raises StoreDamaged."""
    facts = dict(row)
    facts["text"] = _unpacked(facts["text"])
    facts["retrieved_at"] = datetime.fromisoformat(facts["retrieved_at"]).astimezone(UTC)
    if facts["text"] is None or content_hash(facts["text"]) != facts["hash"]:
        raise StoreDamaged(
            f"The kept text of {facts['address']} is damaged, it no longer has the hash {facts['hash'][:16]}: "
            "nothing can be checked against it until the same text is read again."
        )
    return Source(**facts)


def _unpacked(text: bytes) -> str | None:
    try:
        return zlib.decompress(text).decode("utf-8", "surrogatepass")
    except (zlib.error, UnicodeDecodeError):
        return None


def _instant(at: datetime) -> str:
    """A time of which an earlier one is the smaller text, too."""
    return at.astimezone(UTC).isoformat(timespec="microseconds")


def _spans(text: str) -> tuple[tuple[str, int, int], ...]:
    return tuple((source, start, end) for source, start, end in json.loads(text))


def _spend_line(payload: Mapping[str, Any]) -> SpendLine:
    return SpendLine(**{name: payload[name] for name in (field.name for field in fields(SpendLine))})

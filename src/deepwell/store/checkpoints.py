"""LangGraph's checkpoints in the run store's file: the newest step of a run, holding only types that are ours."""

import dataclasses
import enum
import json
import sqlite3
import zlib
from collections.abc import AsyncIterator, Sequence
from typing import Any, cast
from uuid import UUID

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import (
    WRITES_IDX_MAP,
    BaseCheckpointSaver,
    ChannelVersions,
    Checkpoint,
    CheckpointMetadata,
    CheckpointTuple,
    get_checkpoint_id,
    get_checkpoint_metadata,
)

from deepwell.errors import StoreDamaged
from deepwell.store.scribe import Scribe
from deepwell.store.serializer import UNLOADABLE, VocabularySerializer, allowed_types, shape

STAMP = "shape"
"""Where a checkpoint's metadata says with which shape of the types it was written."""

_PACKED = "deepwell-parts"
"""The type of a checkpoint in which every channel's value is packed by itself."""
_QUICK = 1
_CHECKED = 0
"""Levels of zlib: packed quickly; not packed at all, but still with a checksum."""
_FIRST_KEPT_STEP = 1
_NO_TASK = str(UUID(int=0))
"""Whose writes are those of the caller, not of a task."""

_TABLES = (
    """
    CREATE TABLE IF NOT EXISTS checkpoints (
        thread_id TEXT NOT NULL,
        checkpoint_ns TEXT NOT NULL DEFAULT '',
        checkpoint_id TEXT NOT NULL,
        parent_checkpoint_id TEXT,
        type TEXT,
        checkpoint BLOB,
        metadata BLOB,
        PRIMARY KEY (thread_id, checkpoint_ns, checkpoint_id)
    )
    """,
    """
    CREATE TABLE IF NOT EXISTS writes (
        thread_id TEXT NOT NULL,
        checkpoint_ns TEXT NOT NULL DEFAULT '',
        checkpoint_id TEXT NOT NULL,
        task_id TEXT NOT NULL,
        task_path TEXT NOT NULL DEFAULT '',
        idx INTEGER NOT NULL,
        channel TEXT NOT NULL,
        type TEXT,
        value BLOB,
        PRIMARY KEY (thread_id, checkpoint_ns, checkpoint_id, task_id, idx)
    )
    """,
)
"""As LangGraph's own saver makes them: files from before have them already."""


class SavedSteps(enum.StrEnum):
    """Whether a run can go on from its newest checkpoint."""

    USABLE = "usable"
    MISSING = "missing"
    """There is none: the run did not come as far as the end of its first step."""
    OTHER_SHAPE = "other_shape"
    """It was written by a Deepwell whose types look different."""
    DAMAGED = "damaged"


@dataclasses.dataclass(frozen=True, slots=True)
class Step:
    """A checkpoint on its way to the file."""

    thread: str
    namespace: str
    parent: str | None
    """The checkpoint before; it may be gone."""
    checkpoint: Checkpoint
    metadata: dict[str, Any]

    @property
    def place(self) -> tuple[str, str]:
        """Where it stands: there is one checkpoint a place."""
        return self.thread, self.namespace

    @property
    def config(self) -> RunnableConfig:
        """Its name, as LangGraph says it."""
        return _config(self.thread, self.namespace, self.checkpoint["id"])


async def checkpoints(scribe: Scribe, also: Sequence[str] = ()) -> "LeanSaver":
    """A saver in the store's file. `also`: what else a checkpoint depends on, such as the nodes of the graph."""
    await scribe.ask(_make_tables)
    return LeanSaver(scribe, also)


def _make_tables(connection: sqlite3.Connection) -> None:
    for statement in _TABLES:
        connection.execute(statement)


class LeanSaver(BaseCheckpointSaver[int]):
    """Keeps what a run needs to go on, and no more: the newest checkpoint of each graph, written in one transaction.

    What a finished task wrote is not kept by itself: with one task a step and `durability="sync"` the next checkpoint
    has it. What belongs to no finished task (interrupts, answers to them, errors) is kept. The steps before the first
    node has ended are held back, as a run that has come no further starts with its question again.
    """

    def __init__(self, scribe: Scribe, also: Sequence[str] = ()) -> None:
        super().__init__(serde=VocabularySerializer(allowed_msgpack_modules=allowed_types()))
        self._scribe = scribe
        self._shape = shape(tuple(also))
        self._held: dict[tuple[str, str], Step] = {}
        # Values in the state are never changed in place, so the same object has the same bytes.
        self._packed: dict[str, tuple[Any, bytes]] = {}
        self._fresh: set[str] = set()
        """Runs of which nothing is kept but what was put here."""
        self._places: set[tuple[str, str]] = set()
        """Where something was put."""

    async def saved(self, run: str) -> SavedSteps:
        """Whether the run can go on from what is kept. Never fails for what is in a checkpoint."""
        return await self._scribe.ask(self._saved, run)

    async def usable(self, run: str) -> bool:
        """True when it can. If not, its checkpoints must be deleted before it starts again."""
        return await self.saved(run) is SavedSteps.USABLE

    async def aput(
        self,
        config: RunnableConfig,
        checkpoint: Checkpoint,
        metadata: CheckpointMetadata,
        new_versions: ChannelVersions,
    ) -> RunnableConfig:
        """Keep this checkpoint instead of the one before."""
        thread, namespace = _place(config)
        stamped = {**get_checkpoint_metadata(config, metadata), STAMP: self._shape}
        step = Step(thread, namespace, get_checkpoint_id(config), checkpoint, stamped)
        self._places.add(step.place)
        if metadata.get("step", _FIRST_KEPT_STEP) < _FIRST_KEPT_STEP:
            self._held[step.place] = step
        else:
            self._held.pop(step.place, None)
            # A round that has ended has ended: the next step begins when this one is safe.
            await self._scribe.written(self._put, step)
        return step.config

    async def aput_writes(
        self, config: RunnableConfig, writes: Sequence[tuple[str, Any]], task_id: str, task_path: str = ""
    ) -> None:
        """Keep those writes that no checkpoint will have."""
        kept = [
            (WRITES_IDX_MAP.get(channel, number), channel, value)
            for number, (channel, value) in enumerate(writes)
            if task_id == _NO_TASK or channel in WRITES_IDX_MAP
        ]
        if kept:
            place = _place(config)
            await self._write_held(place)
            name = (*place, str(get_checkpoint_id(config)), task_id, task_path)
            await self._scribe.written(self._put_writes, name, kept)

    async def aget_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        """The checkpoint of this name, or the newest. Raises StoreDamaged when it cannot be read."""
        place = _place(config)
        if place[0] in self._fresh and place not in self._places:
            # Asked when a graph begins: a disk that hangs must not keep it back.
            return None
        await self._write_held(place)
        found = await self._scribe.ask(self._found, *place)
        wanted = get_checkpoint_id(config)
        return next((one for one in found if wanted in (None, _id(one.config))), None)

    async def alist(
        self,
        config: RunnableConfig | None,
        *,
        filter: dict[str, Any] | None = None,  # noqa: A002 - LangGraph's name for it
        before: RunnableConfig | None = None,
        limit: int | None = None,
    ) -> AsyncIterator[CheckpointTuple]:
        """What is kept, the newest first."""
        thread, namespace, wanted = _asked(config)
        for place in list(self._held):
            await self._write_held(place)
        last = get_checkpoint_id(before) if before else None
        found = [
            one
            for one in await self._scribe.ask(self._found, thread, namespace)
            if wanted in (None, _id(one.config))
            and (last is None or _id(one.config) < last)
            and (filter or {}).items() <= cast("dict[str, Any]", one.metadata).items()
        ]
        for one in found[:limit]:
            yield one

    async def adelete_thread(self, thread_id: str) -> None:
        """Forget a run: it has finished, or starts anew."""
        for place in [place for place in self._held if place[0] == thread_id]:
            del self._held[place]
        self._places = {place for place in self._places if place[0] != thread_id}
        self._fresh.add(thread_id)
        await self._scribe.written(_delete, thread_id)

    async def _write_held(self, place: tuple[str, str]) -> None:
        if step := self._held.pop(place, None):
            await self._scribe.written(self._put, step)

    # In the scribe's thread

    def _put(self, connection: sqlite3.Connection, step: Step) -> None:
        row = (*step.place, step.checkpoint["id"], step.parent, _PACKED, self._pack(step.checkpoint))
        said = json.dumps(step.metadata, ensure_ascii=False).encode("utf-8", "ignore")
        connection.execute("INSERT OR REPLACE INTO checkpoints VALUES (?, ?, ?, ?, ?, ?, ?)", (*row, said))
        # Not "older ones": ids are made of the time, and clocks can be set back.
        for table in ("checkpoints", "writes"):
            connection.execute(
                f"DELETE FROM {table} WHERE thread_id = ? AND checkpoint_ns = ? AND checkpoint_id != ?",  # noqa: S608
                (*step.place, step.checkpoint["id"]),
            )

    def _put_writes(
        self, connection: sqlite3.Connection, name: tuple[str, ...], writes: Sequence[tuple[int, str, Any]]
    ) -> None:
        replaces = all(channel in WRITES_IDX_MAP for _, channel, _ in writes)
        connection.executemany(
            f"INSERT OR {'REPLACE' if replaces else 'IGNORE'} INTO writes "  # noqa: S608 - one of two words
            "(thread_id, checkpoint_ns, checkpoint_id, task_id, task_path, idx, channel, type, value) "
            "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
            [(*name, number, channel, *self.serde.dumps_typed(value)) for number, channel, value in writes],
        )

    def _pack(self, checkpoint: Checkpoint) -> bytes:
        """The checkpoint with each value packed by itself: most are the same as in the step before."""
        values = checkpoint["channel_values"]
        self._packed |= {name: (value, self._packed_value(name, value)) for name, value in values.items()}
        parts = {**checkpoint, "channel_values": {name: self._packed[name][1] for name in values}}
        return self._squeezed(parts, _CHECKED)

    def _packed_value(self, name: str, value: Any) -> bytes:
        before = self._packed.get(name)
        if before is not None and before[0] is value:
            return before[1]
        return self._squeezed(value, _QUICK)

    def _squeezed(self, value: Any, level: int) -> bytes:
        kind, plain = self.serde.dumps_typed(value)
        return zlib.compress(kind.encode() + b"\0" + plain, level)

    def _unpacked(self, kind: str, packed: bytes) -> Checkpoint:
        if kind != _PACKED:
            return cast("Checkpoint", self.serde.loads_typed((kind, packed)))
        parts = self._unpacked_value(packed)
        values = {name: self._unpacked_value(value) for name, value in parts["channel_values"].items()}
        return cast("Checkpoint", {**parts, "channel_values": values})

    def _unpacked_value(self, packed: bytes) -> Any:
        kind, _, plain = zlib.decompress(packed).partition(b"\0")
        return self.serde.loads_typed((kind.decode(), plain))

    def _found(
        self, connection: sqlite3.Connection, thread: str | None, namespace: str | None
    ) -> list[CheckpointTuple]:
        return [self._tuple(connection, row) for row in _rows(connection, thread, namespace)]

    def _tuple(self, connection: sqlite3.Connection, row: Sequence[Any]) -> CheckpointTuple:
        thread, namespace, name, parent, kind, packed, said = row
        try:
            return CheckpointTuple(
                _config(thread, namespace, name),
                self._unpacked(kind, packed),
                cast("CheckpointMetadata", _metadata(said)),
                _config(thread, namespace, parent) if parent else None,
                self._pending(connection, (thread, namespace, name)),
            )
        except UNLOADABLE as error:
            raise StoreDamaged(f"The saved steps of run {thread} cannot be read: start it again.") from error

    def _pending(self, connection: sqlite3.Connection, name: tuple[str, str, str]) -> list[tuple[str, str, Any]]:
        rows = connection.execute(
            "SELECT task_id, channel, type, value FROM writes "
            "WHERE thread_id = ? AND checkpoint_ns = ? AND checkpoint_id = ? ORDER BY task_path, task_id, idx",
            name,
        ).fetchall()
        return [(task, channel, self.serde.loads_typed((kind, value))) for task, channel, kind, value in rows]

    def _saved(self, connection: sqlite3.Connection, run: str) -> SavedSteps:
        try:
            rows = _rows(connection, run, None)
            if not any(namespace == "" for _, namespace, *_ in rows):
                return SavedSteps.MISSING
            if any(_metadata(said).get(STAMP) != self._shape for *_, said in rows):
                return SavedSteps.OTHER_SHAPE
            self._found(connection, run, None)
        except (*UNLOADABLE, StoreDamaged, sqlite3.DatabaseError):
            return SavedSteps.DAMAGED
        return SavedSteps.USABLE


def _rows(connection: sqlite3.Connection, thread: str | None, namespace: str | None) -> list[tuple[Any, ...]]:
    rows = connection.execute(
        "SELECT thread_id, checkpoint_ns, checkpoint_id, parent_checkpoint_id, type, checkpoint, metadata "
        "FROM checkpoints WHERE thread_id = COALESCE(?, thread_id) AND checkpoint_ns = COALESCE(?, checkpoint_ns) "
        "ORDER BY checkpoint_id DESC",
        (thread, namespace),
    )
    return [tuple(row) for row in rows.fetchall()]


def _delete(connection: sqlite3.Connection, thread: str) -> None:
    connection.execute("DELETE FROM checkpoints WHERE thread_id = ?", (thread,))
    connection.execute("DELETE FROM writes WHERE thread_id = ?", (thread,))


def _metadata(said: bytes | None) -> dict[str, Any]:
    return dict(json.loads(said)) if said else {}


def _config(thread: str, namespace: str, name: str) -> RunnableConfig:
    return {"configurable": {"thread_id": thread, "checkpoint_ns": namespace, "checkpoint_id": name}}


def _place(config: RunnableConfig) -> tuple[str, str]:
    named = config["configurable"]
    return str(named["thread_id"]), named.get("checkpoint_ns", "")


def _id(config: RunnableConfig) -> str:
    return str(config["configurable"]["checkpoint_id"])


def _asked(config: RunnableConfig | None) -> tuple[str | None, str | None, str | None]:
    """Run, namespace and id that are asked for; None: any."""
    named = config["configurable"] if config else {}
    return named.get("thread_id"), named.get("checkpoint_ns"), named.get("checkpoint_id")

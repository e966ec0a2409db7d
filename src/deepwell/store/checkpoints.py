"""LangGraph's checkpoints in the run store's file, holding only types that are ours."""

import dataclasses
import enum
import importlib
import inspect
import pkgutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import aiosqlite
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver

from deepwell import vocabulary
from deepwell.store.sqlite import BUSY_TIMEOUT_S, translated

OTHER_TYPES = (("deepwell.configuration", "Configuration"),)
"""Types in the state that are not vocabulary."""


@asynccontextmanager
async def checkpoints(path: Path) -> AsyncIterator[AsyncSqliteSaver]:
    """A saver on a connection of its own: its commits must not end a transaction of the store."""
    with translated(path):
        connection = await aiosqlite.connect(path)
    try:
        with translated(path):
            await connection.execute(f"PRAGMA busy_timeout = {int(BUSY_TIMEOUT_S * 1000)}")
            await connection.execute("PRAGMA synchronous = NORMAL")
        yield AsyncSqliteSaver(connection, serde=VocabularySerializer(allowed_msgpack_modules=allowed_types()))
    finally:
        await connection.close()


class VocabularySerializer(JsonPlusSerializer):
    """MessagePack knows no tuples: what a frozen type held as one comes back as a list, and is put right here."""

    def loads_typed(self, data: tuple[str, bytes]) -> Any:
        """The value as it was saved."""
        return _restored(super().loads_typed(data))


def _restored(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _restored(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_restored(item) for item in value]
    if dataclasses.is_dataclass(value) and type(value).__module__.startswith(f"{vocabulary.__name__}."):
        for name in (field.name for field in dataclasses.fields(value)):
            held = _restored(getattr(value, name))
            object.__setattr__(value, name, tuple(held) if isinstance(held, list) else held)
    return value


def allowed_types() -> tuple[tuple[str, str], ...]:
    """Every vocabulary type: a checkpoint that names anything else is not loaded."""
    found = []
    for module in pkgutil.iter_modules(vocabulary.__path__, f"{vocabulary.__name__}."):
        for name, value in inspect.getmembers(importlib.import_module(module.name), inspect.isclass):
            if value.__module__ == module.name and (dataclasses.is_dataclass(value) or issubclass(value, enum.Enum)):
                found.append((module.name, name))
    return (*found, *OTHER_TYPES)

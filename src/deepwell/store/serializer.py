"""Values of the state as bytes and back: our frozen types quickly and exactly, the rest as LangGraph does it."""

import dataclasses
import enum
import functools
import hashlib
import importlib
import inspect
import pkgutil
import zlib
from collections.abc import Iterable
from typing import Any

import ormsgpack
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer

from deepwell import vocabulary

OTHER_TYPES = (("deepwell.configuration", "Configuration"),)
"""Types in the state that are not vocabulary."""

_KIND = "vocabulary"
"""The type under which LangGraph's tables and others keep what was written here."""
_OURS, _THEIRS = 100, 101
"""MessagePack's codes for a type of our own, and for what LangGraph knows how to write."""
_WRITING = (
    ormsgpack.OPT_NON_STR_KEYS
    | ormsgpack.OPT_PASSTHROUGH_DATACLASS
    | ormsgpack.OPT_PASSTHROUGH_DATETIME
    | ormsgpack.OPT_PASSTHROUGH_ENUM
    | ormsgpack.OPT_PASSTHROUGH_UUID
    | ormsgpack.OPT_REPLACE_SURROGATES
)

UNLOADABLE = (
    zlib.error,
    ValueError,
    TypeError,
    LookupError,
    AttributeError,
    ImportError,
    NotImplementedError,
    RecursionError,
)
"""What reading bytes that are not what was written can raise."""


class VocabularySerializer(JsonPlusSerializer):
    """A frozen type is written as its name and its fields in order; a tenth of the work that LangGraph has with it.

    MessagePack knows no tuples: what a frozen type held as one comes back as a list, and is put right here.
    """

    def dumps_typed(self, obj: Any) -> tuple[str, bytes]:
        """The value as bytes."""
        return _KIND, self._written(obj)

    def loads_typed(self, data: tuple[str, bytes]) -> Any:
        """The value as it was saved."""
        kind, written = data
        return self._read(written) if kind == _KIND else _restored(super().loads_typed(data))

    def _written(self, value: Any) -> bytes:
        return ormsgpack.packb(value, default=self._extended, option=_WRITING)

    def _extended(self, value: Any) -> ormsgpack.Ext:
        kind: Any = type(value)
        name = _names().get(kind)
        if name is None:
            return ormsgpack.Ext(_THEIRS, super().dumps_typed(value)[1])
        return ormsgpack.Ext(_OURS, self._written([name, *(getattr(value, field) for field in _fields(kind))]))

    def _read(self, written: bytes) -> Any:
        return ormsgpack.unpackb(written, ext_hook=self._restore, option=ormsgpack.OPT_NON_STR_KEYS)

    def _restore(self, code: int, written: bytes) -> Any:
        if code == _THEIRS:
            return _restored(super().loads_typed(("msgpack", written)))
        name, *values = self._read(written)
        return _built(_types()[name], values)


def _built(kind: Any, values: list[Any]) -> Any:
    """As it was when it was written: what was checked then is not checked again."""
    built = object.__new__(kind)
    for field, value in zip(_fields(kind), values, strict=True):
        object.__setattr__(built, field, _tuples(value))
    return built


def _tuples(value: Any) -> Any:
    return tuple(map(_tuples, value)) if isinstance(value, list) else value


def _restored(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _restored(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_restored(item) for item in value]
    kind: Any = type(value)
    if kind in _names():
        for name in _fields(kind):
            held = _restored(getattr(value, name))
            object.__setattr__(value, name, tuple(held) if isinstance(held, list) else held)
    return value


@functools.cache
def allowed_types() -> tuple[tuple[str, str], ...]:
    """Every vocabulary type: a checkpoint that names anything else is not loaded."""
    found = []
    for module in pkgutil.iter_modules(vocabulary.__path__, f"{vocabulary.__name__}."):
        for name, value in inspect.getmembers(importlib.import_module(module.name), inspect.isclass):
            if value.__module__ == module.name and (dataclasses.is_dataclass(value) or issubclass(value, enum.Enum)):
                found.append((module.name, name))
    return (*found, *OTHER_TYPES)


@functools.cache
def shape(also: tuple[str, ...] = ()) -> str:
    """What our types look like, as a short hash: what was written with another one need not fit.

    `also`: what else it depends on.
    """
    told = [f"{name}: {', '.join(_parts(kind))}" for name, kind in _loaded().items()]
    return hashlib.sha256("\n".join([*told, *also]).encode()).hexdigest()[:16]


def _parts(kind: Any) -> Iterable[str]:
    if dataclasses.is_dataclass(kind):
        return [f"{field.name} {field.type}" for field in dataclasses.fields(kind)]
    if issubclass(kind, enum.Enum):
        return [f"{member.name} {member.value}" for member in kind]
    return list(kind.model_fields)


@functools.cache
def _loaded() -> dict[str, Any]:
    return {f"{module}.{name}": getattr(importlib.import_module(module), name) for module, name in allowed_types()}


@functools.cache
def _types() -> dict[str, Any]:
    return {name: kind for name, kind in _loaded().items() if dataclasses.is_dataclass(kind)}


@functools.cache
def _names() -> dict[Any, str]:
    return {kind: name for name, kind in _types().items()}


@functools.cache
def _fields(kind: Any) -> tuple[str, ...]:
    return tuple(field.name for field in dataclasses.fields(kind))

"""Calls to the outside as a run remembers them: what was asked, and what came of it."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, fields, is_dataclass
from datetime import date
from enum import Enum
from functools import cache
from typing import Any, Literal

from deepwell.vocabulary.source import Passage, Source

CallKind = Literal["judgement", "request", "search", "web_search", "read", "moment"]


@dataclass(frozen=True, slots=True)
class Call:
    """One call of a run."""

    kind: CallKind
    key: str
    """What was asked, as `fingerprint` names it."""
    n: int
    """How often the same was asked before."""


@dataclass(frozen=True, slots=True)
class Answered:
    """It was answered with this."""

    value: Any


@dataclass(frozen=True, slots=True)
class Failed:
    """It was not answered."""

    sentence: str
    """Safe to show."""
    final: bool = False
    """True when it would be the same at the next try."""


CallOutcome = Answered | Failed


def fingerprint(*asked: object) -> str:
    """The same text for the same question, in every process: what differs only in when it was asked is the same.

    A source counts by its hash, a passage by its span, sets by what is in them, and dates and times not at all.
    """
    digest = hashlib.sha256()
    for part in asked:
        digest.update(_plain(part).encode("utf-8", "surrogatepass"))
        digest.update(b"\x1e")
    return digest.hexdigest()[:32]


def _plain(value: object) -> str:
    match value:
        case Enum():
            return repr(value.value)
        case Source():
            return f"Source({value.address!r}, {value.title!r}, {value.hash})"
        case Passage():
            return value.handle
        case date():
            return "date"
        case Mapping() | set() | frozenset() | list() | tuple():
            return _plain_collection(value)
    kind: Any = type(value)
    names = _fields(kind)
    if names is None:
        return repr(value)
    return f"{type(value).__name__}({', '.join([f'{name}={_plain(getattr(value, name))}' for name in names])})"


def _plain_collection(value: Any) -> str:
    if isinstance(value, Mapping):
        return f"{{{', '.join(sorted(f'{_plain(key)}: {_plain(item)}' for key, item in value.items()))}}}"
    if isinstance(value, set | frozenset):
        return f"{{{', '.join(sorted(map(_plain, value)))}}}"
    return f"[{', '.join(map(_plain, value))}]"


@cache
def _fields(kind: Any) -> tuple[str, ...] | None:
    return tuple(field.name for field in fields(kind)) if is_dataclass(kind) else None

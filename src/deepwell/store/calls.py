"""The finished outside calls of one run, in the store: what was answered before a crash is not asked again after it."""

import sqlite3
import zlib
from collections import Counter
from collections.abc import Callable, Mapping
from functools import cache
from typing import TYPE_CHECKING

from deepwell.store.scribe import Scribe
from deepwell.vocabulary.calls import Answered, Call, CallKind, CallOutcome, Failed, fingerprint

if TYPE_CHECKING:
    from deepwell.store.serializer import VocabularySerializer

Row = tuple[CallKind, str, int]


class RunCalls:
    """Fulfils the port Calls.

    A run that goes on takes answers, and refusals that would be the same again; what had merely failed it asks again.
    A replay takes all as it was; what it asks more often than the run did comes out as it did the last time.
    """

    def __init__(
        self,
        scribe: Scribe,
        run: str,
        known: Mapping[Row, CallOutcome],
        used_s: Callable[[], float],
        *,
        billed: frozenset[str] = frozenset(),
        is_replay: bool = False,
    ) -> None:
        self._scribe, self._run, self._known, self._used_s = scribe, run, known, used_s
        self._billed, self._is_replay = billed, is_replay
        self._asked: Counter[tuple[CallKind, str]] = Counter()
        answered = [(row, outcome) for row, outcome in known.items() if isinstance(outcome, Answered)]
        self._answered = {row[:2]: outcome for row, outcome in reversed(answered)}
        self._last = {row[:2]: outcome for row, outcome in known.items()}

    def call(self, kind: CallKind, *asked: object) -> Call:
        """The call by what is asked; the same again is another call."""
        key = fingerprint(*asked)
        self._asked[kind, key] += 1
        return Call(kind, key, self._asked[kind, key] - 1)

    def outcome(self, call: Call) -> CallOutcome | None:
        """What came of it when it was made before; None: it has to be made."""
        exact = self._known.get((call.kind, call.key, call.n))
        if self._is_replay:
            return exact or self._last.get((call.kind, call.key))
        if isinstance(exact, Answered) or (exact and exact.final):
            return exact
        return self._answered.get((call.kind, call.key))

    def is_billed(self, call: Call) -> bool:
        """Whether the account has it already, from before a crash."""
        return call.key in self._billed

    async def keep(self, call: Call, outcome: CallOutcome, *, wait: bool = True) -> None:
        """Put down what came of it; by default the value is not used before it is safe."""
        if self._is_replay:
            return
        if wait:
            await self._scribe.written(_insert, self._run, call, self._used_s(), outcome)
        else:
            self._scribe.later(_insert, self._run, call, self._used_s(), outcome)


async def known_calls(scribe: Scribe, run: str) -> dict[Row, CallOutcome]:
    """All that is known of a run's calls. One that cannot be read any more, after an upgrade, is not known."""
    return await scribe.ask(_load, run)


def _insert(connection: sqlite3.Connection, run: str, call: Call, used_s: float, outcome: CallOutcome) -> None:
    row = (run, call.kind, call.key, call.n, round(used_s, 3), _packed(call.kind, outcome))
    connection.execute("INSERT OR REPLACE INTO calls VALUES (?, ?, ?, ?, ?, ?)", row)


def _load(connection: sqlite3.Connection, run: str) -> dict[Row, CallOutcome]:
    rows = connection.execute("SELECT kind, key, n, outcome FROM calls WHERE run = ? ORDER BY kind, key, n", (run,))
    read = {(kind, key, n): _unpacked(outcome) for kind, key, n, outcome in rows}
    return {row: outcome for row, outcome in read.items() if outcome is not None}


@cache
def _serializer() -> "VocabularySerializer":
    # Loaded when it is first used: commands that only list runs need nothing of LangGraph.
    from deepwell.store.serializer import VocabularySerializer, allowed_types

    return VocabularySerializer(allowed_msgpack_modules=allowed_types())


def _packed(kind: CallKind, outcome: CallOutcome) -> bytes:
    # What a model replied is kept as plain data, which no upgrade changes; the rest holds types of ours.
    value: object = outcome
    written_as = _shape()
    if kind == "request" and isinstance(outcome, Answered):
        value, written_as = outcome.value, ""
    how, data = _serializer().dumps_typed(value)
    return zlib.compress(f"{how}\n{written_as}\n".encode() + data, 1)


def _unpacked(stored: bytes) -> CallOutcome | None:
    """None when it was written by a Deepwell whose types look different, or is damaged: then it is asked again."""
    from deepwell.store.serializer import UNLOADABLE

    try:
        how, written_as, data = zlib.decompress(stored).split(b"\n", 2)
        if written_as.decode() not in ("", _shape()):
            return None
        outcome = _serializer().loads_typed((how.decode(), data))
    except UNLOADABLE:
        return None
    return outcome if isinstance(outcome, Answered | Failed) else Answered(outcome)


def _shape() -> str:
    from deepwell.store.serializer import shape

    return shape()

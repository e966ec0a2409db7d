"""What was asked of a small web, kept for tests and benchmarks to look at."""

import threading
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Literal

Kind = Literal["search", "page", "robots"]


@dataclass(frozen=True, slots=True)
class Visit:
    """One request and what became of it."""

    number: int
    """From 1, in order of arrival."""
    kind: Kind
    what: str
    """The words of a search; the path and query of anything else."""
    host: str
    """The host that was asked for, without its port."""
    engine: str
    """The search that was asked: searxng or tavily. Empty: it was no search."""
    received: float
    """When the request had been read, on the monotonic clock."""
    fault: str | None = None
    """The name of the fault that struck; None: none did."""
    ended: float | None = None
    """When the last of the answer was sent, or the connection ended. None: it is still under way."""
    status: int = 0
    """The HTTP status that was sent; 0: none was."""


class VisitLog:
    """Visits, written by the server's thread and read by any other."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._visits: dict[int, Visit] = {}

    def arrive(self, visit: Visit) -> Visit:
        """Keep a request that has come in, and number it."""
        with self._changed:
            numbered = replace(visit, number=len(self._visits) + 1)
            self._visits[numbered.number] = numbered
            self._changed.notify_all()
            return numbered

    def end(self, visit: Visit) -> None:
        """Keep what became of it."""
        with self._changed:
            self._visits[visit.number] = visit

    def all(self) -> tuple[Visit, ...]:
        """All of them, in order of arrival."""
        with self._changed:
            return tuple(self._visits.values())

    def wait_for(self, count: int, timeout_s: float) -> None:
        """Return when so many requests have come in. Raises TimeoutError."""
        with self._changed:
            if not self._changed.wait_for(lambda: len(self._visits) >= count, timeout_s):
                raise TimeoutError(f"{len(self._visits)} of {count} requests came in within {timeout_s} s.")


_FOLLOWS: Mapping[Kind, frozenset[Kind]] = {
    "search": frozenset({"page"}),
    "robots": frozenset({"search"}),
    "page": frozenset({"search", "robots"}),
}
"""What each kind of request can be waiting for: a page for the search that named it and for the rules of its site, a
search for the pages of the round before. Two of one kind never wait for each other."""


def longest_chain(visits: Iterable[Visit]) -> tuple[Visit, ...]:
    """Those requests that had to wait for one another and took the longest together."""
    chains: list[tuple[float, tuple[Visit, ...]]] = []
    for visit in sorted((one for one in visits if one.ended is not None), key=lambda one: one.received):
        before = [chain for chain in chains if _waits_for(visit, chain[1][-1])]
        seconds, earlier = max(before, key=lambda chain: chain[0], default=(0.0, ()))
        chains.append((seconds + seconds_of(visit), (*earlier, visit)))
    return max(chains, key=lambda chain: chain[0], default=(0.0, ()))[1]


def seconds_of(visit: Visit) -> float:
    """How long it took to answer; 0 while it is under way."""
    return 0.0 if visit.ended is None else visit.ended - visit.received


def _waits_for(later: Visit, earlier: Visit) -> bool:
    is_over = earlier.ended is not None and earlier.ended <= later.received
    return is_over and earlier.kind in _FOLLOWS[later.kind]

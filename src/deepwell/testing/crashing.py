"""Runs in processes of their own that are killed at a chosen moment, and what was asked again after it."""

import hashlib
import json
import os
import signal
import sqlite3
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping
from contextlib import closing
from pathlib import Path

from deepwell.testing.model_server import Exchange
from deepwell.testing.web import Visit

IN_FLIGHT_S = 0.05
"""An answer that left less than so many seconds before the kill may not have arrived yet."""
_FREE = ("models", "robots")
"""What costs nothing and may have changed: which models there are, what a site allows."""
_MEANS = ("max_tokens", "max_completion_tokens")
"""How long a reply may be depends on what others have set aside; the question is the same."""


class Killer:
    """Ends a process when a request comes in: `matches` is told number and purpose of each since it was started."""

    def __init__(self, matches: Callable[[int, str], bool] = lambda number, purpose: False) -> None:
        self._matches = matches
        self._victim: subprocess.Popen[str] | None = None
        self._successor: Killer | None = None
        self._seen = 0
        self.began = 0.0
        """When the process was started, on the monotonic clock."""
        self.at: float | None = None
        """When it was killed; None: it was not."""

    @classmethod
    def of(cls, purpose: str, nth: int = 1) -> "Killer":
        """Strikes at the nth request for this purpose; of a web server, at the nth `search`, `page` or `robots`."""
        seen: Counter[str] = Counter()

        def matches(number: int, arrived: str) -> bool:
            seen[arrived] += 1
            return arrived == purpose and seen[arrived] == nth

        return cls(matches)

    def follow(self, victim: "subprocess.Popen[str]") -> "subprocess.Popen[str]":
        """From now on this is the process to end."""
        if self._successor:
            return self._successor.follow(victim)
        self._victim, self.began = victim, time.monotonic()
        return victim

    def hand_over(self, successor: "Killer") -> None:
        """Whatever is started and whatever comes in from now on concerns another one."""
        self._successor = successor

    def on_request(self, number: int, purpose: str) -> None:
        """For a model's server."""
        if self._successor:
            self._successor.on_request(number, purpose)
        if self._victim is None or self.at is not None:
            return
        self._seen += 1
        if self._matches(self._seen, purpose):
            self.strike()

    def on_visit(self, visit: Visit) -> None:
        """For a web server."""
        self.on_request(visit.number, visit.kind)

    def strike(self) -> None:
        """End it now, as a power cut would."""
        if self._victim and self._victim.poll() is None:
            self.at = time.monotonic()
            self._victim.send_signal(signal.SIGKILL)

    def ended(self) -> None:
        """The process is gone: one that was not killed from here has killed itself, now."""
        if self._successor:
            self._successor.ended()
        elif self.at is None:
            self.at = time.monotonic()

    def repeated(self, log: Iterable[Exchange | Visit]) -> Counter[Hashable]:
        """What was asked again of a model or a search since the kill, although it had surely been answered."""
        return self._again(log, lambda one, at: _is_answered(one, at - IN_FLIGHT_S) and not _is_page(one))

    def fetched_again(self, log: Iterable[Exchange | Visit]) -> Counter[Hashable]:
        """Pages that had been answered and were fetched again: those of which the text was still being made out."""
        return self._again(log, lambda one, at: _is_answered(one, at - IN_FLIGHT_S) and _is_page(one))

    def in_flight(self, log: Iterable[Exchange | Visit]) -> Counter[Hashable]:
        """What was asked again because its answer had not come, or had come only just now."""
        return self._again(log, lambda one, at: not _is_answered(one, at - IN_FLIGHT_S))

    def _again(
        self, log: Iterable[Exchange | Visit], is_meant: Callable[[Exchange | Visit, float], bool]
    ) -> Counter[Hashable]:
        if self.at is None:
            raise RuntimeError("Nothing was killed.")
        at = self.at
        of_this = [one for one in log if _arrived(one) >= self.began and _costs(one)]
        before = Counter(asked(one) for one in of_this if _arrived(one) <= at and is_meant(one, at))
        return before & Counter(asked(one) for one in of_this if _arrived(one) > at)


def started(arguments: Iterable[str], environment: Mapping[str, str], first: str = "") -> "subprocess.Popen[str]":
    """The command line in a process and a session of its own, with these variables besides ours.

    `first` is code that is run before: to break something, or to die somewhere.
    """
    return subprocess.Popen(  # noqa: S603 - our own program
        [sys.executable, "-c", f"{first}\nfrom deepwell.cli import main\nmain()", *arguments],
        env={**os.environ, **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def left_behind(session: int, patience_s: float = 5.0) -> list[int]:
    """Processes of this session that do not end, given a little time. Linux only; elsewhere nothing is found."""
    until = time.monotonic() + patience_s
    while (found := _processes_of(session)) and time.monotonic() < until:
        time.sleep(0.02)
    return found


def _processes_of(session: int) -> list[int]:
    found = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            told = stat.read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()
        except OSError:
            continue
        if told[3] == str(session) and told[0] not in "ZX":
            found.append(int(stat.parent.name))
    return found


def asked(one: Exchange | Visit) -> Hashable:
    """What a request asks for, so that the same question is the same."""
    if isinstance(one, Visit):
        return one.kind, one.engine, one.host, one.what
    body = {name: value for name, value in one.body.items() if name not in _MEANS}
    return one.purpose, hashlib.sha256(json.dumps(body, sort_keys=True).encode()).hexdigest()[:16]


def is_sound(store: Path) -> bool:
    """Whether the database is whole and nothing in it points to what is not there."""
    with closing(sqlite3.connect(store)) as connection:
        checked = connection.execute("PRAGMA integrity_check").fetchall()
        return checked == [("ok",)] and not connection.execute("PRAGMA foreign_key_check").fetchall()


def _costs(one: Exchange | Visit) -> bool:
    return (one.kind if isinstance(one, Visit) else one.purpose) not in _FREE


def _is_answered(one: Exchange | Visit, by: float) -> bool:
    return one.status == 200 and one.ended is not None and one.ended < by


def _is_page(one: Exchange | Visit) -> bool:
    return isinstance(one, Visit) and one.kind == "page"


def _arrived(one: Exchange | Visit) -> float:
    return one.received if isinstance(one, Visit) else one.started

"""Who works on a run: a process, named so that others on its machine can tell when it is gone."""

import os
import secrets
import socket
import sys
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from pathlib import Path

_PROC = Path("/proc")
_STARTED_AT = 19
"""Where a process's start stands in its `stat`, counted from the state behind its name."""
_ENDED = ("Z", "X")


@dataclass(frozen=True, slots=True)
class Holder:
    """A process while it holds a run."""

    machine: str
    """Where its number means something: this boot of this machine, in this container."""
    pid: int
    started: str
    """When the process started, as the system counts: numbers are used again. Empty: not known."""
    token: str
    """Tells apart what one process holds twice."""

    def __str__(self) -> str:
        """As it stands in the store."""
        return f"{self.machine} {self.pid} {self.started or '-'} {self.token}"

    @property
    def is_gone(self) -> bool:
        """True when the process is known to have ended; of other machines nothing is known."""
        if self.machine != _machine():
            return False
        return is_running(self.pid) is False or self.started not in ("", _started(self.pid))


def this_process() -> Holder:
    """This process, as the holder of one more run."""
    return Holder(_machine(), os.getpid(), _started(os.getpid()), secrets.token_hex(8))


def holder_from(text: str) -> Holder | None:
    """What stands in the store; None when it cannot be understood."""
    parts = text.split(" ")
    if len(parts) != 4 or not parts[1].isdecimal():
        return None
    machine, pid, started, token = parts
    return Holder(machine, int(pid), "" if started == "-" else started, token)


def is_abandoned(holder: str | None, lease_until: str | None, now: datetime) -> bool:
    """True when nobody works on it: it is not held, the lease has run out, or the process that has it is gone."""
    if holder is None or lease_until is None or datetime.fromisoformat(lease_until) < now:
        return True
    held = holder_from(holder)
    return held is not None and held.is_gone


def is_running(pid: int) -> bool | None:
    """Whether there is such a process on this machine; None: not to be found out."""
    if sys.platform == "win32":
        return None  # there, asking with a signal would end it
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    # One that has ended stays listed until its parent takes note.
    return "".join(_stat(pid)[:1]) not in _ENDED


@cache
def _machine() -> str:
    try:
        boot = (_PROC / "sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
        return f"{boot}/{(_PROC / 'self/ns/pid').readlink()}"
    except OSError:
        return "-".join(socket.gethostname().split()) or "-"


def _started(pid: int) -> str:
    told = _stat(pid)
    return told[_STARTED_AT] if len(told) > _STARTED_AT else ""


def _stat(pid: int) -> list[str]:
    """What the system says of a process, from its state on; empty where it says nothing."""
    try:
        told = (_PROC / str(pid) / "stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return []
    # The name may hold anything, brackets too.
    return told.rpartition(")")[2].split()

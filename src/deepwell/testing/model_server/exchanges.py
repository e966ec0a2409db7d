"""What went over the wire, kept for tests and benchmarks to look at."""

import threading
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from deepwell.testing.model_server.requests import Message, tokens


@dataclass(frozen=True, slots=True)
class Exchange:
    """One request and what became of it."""

    number: int
    """From 1, in order of arrival."""
    path: str
    purpose: str
    started: float
    """When the request had been read, on the monotonic clock."""
    ended: float
    """When the last of the answer was sent, or the connection ended."""
    prompt_characters: int
    messages: tuple[Message, ...]
    status: int
    """The HTTP status that was sent; 0: none was."""
    fault: str | None
    """The name of the fault that struck; None: none did."""
    body: Mapping[str, Any]
    """The request's body; empty when it had none."""
    headers: Mapping[str, str]
    """Names in lower case; credentials are blotted out."""


def longest_chain(log: Iterable[Exchange]) -> int:
    """The most calls that had to wait for one another: none of them overlaps the next."""
    length, last_end = 0, float("-inf")
    for exchange in sorted(log, key=lambda exchange: exchange.ended):
        if exchange.started >= last_end:
            length, last_end = length + 1, exchange.ended
    return length


def prompt_tokens(log: Iterable[Exchange]) -> int:
    """The tokens of all prompts together, as the server counts them in its replies."""
    return sum(tokens(exchange.prompt_characters) for exchange in log)


class ExchangeLog:
    """Exchanges, written by the server's thread and read by any other."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._arrived = 0
        self._ended: list[Exchange] = []

    def arrive(self) -> int:
        """Count a request that has come in; its number."""
        with self._changed:
            self._arrived += 1
            self._changed.notify_all()
            return self._arrived

    def end(self, exchange: Exchange) -> None:
        """Keep an exchange that is over."""
        with self._changed:
            self._ended.append(exchange)

    def ended(self) -> tuple[Exchange, ...]:
        """Those that are over, in order of arrival."""
        with self._changed:
            return tuple(sorted(self._ended, key=lambda exchange: exchange.number))

    def wait_for(self, count: int, timeout_s: float) -> None:
        """Return when so many requests have come in. Raises TimeoutError."""
        with self._changed:
            if not self._changed.wait_for(lambda: self._arrived >= count, timeout_s):
                raise TimeoutError(f"{self._arrived} of {count} requests came in within {timeout_s} s.")

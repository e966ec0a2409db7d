"""What addresses have answered in a run: many links lead to one page, and that is asked for once."""

import asyncio
from collections import defaultdict
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, slots=True)
class Answer:
    """What one address answered: a page, or where to go on."""

    status: int
    headers: Mapping[str, str]
    """By their lower-case names."""
    body: bytes
    """Unpacked; empty for a redirect."""
    at: datetime
    location: str | None = None
    """Where a redirect leads, as it was written."""

    @property
    def content_type(self) -> str:
        """Lower-case and without parameters; empty when the server says nothing."""
        return self.headers.get("content-type", "").partition(";")[0].strip().lower()

    @property
    def charset(self) -> str | None:
        """As the server calls it, lower-case."""
        for parameter in self.headers.get("content-type", "").split(";")[1:]:
            name, _, value = parameter.partition("=")
            if name.strip().lower() == "charset":
                return value.strip(" \t\"'").lower() or None
        return None


class Answers:
    """Those of one run by their addresses. The oldest are forgotten when the bodies take too much room."""

    def __init__(self, most_bytes: int) -> None:
        self._most_bytes = most_bytes
        self._known: dict[str, Answer] = {}
        self._asking = defaultdict[str, asyncio.Lock](asyncio.Lock)

    async def answer(self, url: str, ask: Callable[[], Awaitable[Answer]]) -> Answer:
        """What the address has answered, or answers now. Failures are not kept: the next one asks again."""
        # A lock and not a task: who is cut off ends the request, and the next one in line asks for itself.
        async with self._asking[url]:
            answer = self._known.get(url) or await ask()
            self._known[url] = answer
        self._forget()
        return answer

    def _forget(self) -> None:
        held = sum(len(answer.body) for answer in self._known.values())
        for url in list(self._known):
            if held <= self._most_bytes:
                return
            held -= len(self._known.pop(url).body)

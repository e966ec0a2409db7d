"""What a site asks of automated readers: its robots.txt, had once a run and kept to, after RFC 9309."""

import asyncio
import re
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from deepwell.errors import Unreadable
from deepwell.reading.addresses import WebAddress

if TYPE_CHECKING:
    from protego import Protego

MAX_RULES_BYTES = 500_000
"""What the RFC asks readers to take in at least; anything beyond is cut off."""
LONGEST_PAUSE_S = 5.0
"""Crawl-delay is no part of the RFC and is written for crawlers of whole sites; a run reads a handful of pages."""
LONGEST_WAIT_S = 10.0
"""Whoever would have to wait longer for its turn is told at once."""


@dataclass(frozen=True, slots=True)
class Permitted:
    """The page may be read, after a pause that the site asks for."""

    wait_s: float = 0.0


@dataclass(frozen=True, slots=True)
class Forbidden:
    """The page may not be read."""

    because: str
    """One safe sentence."""


Ruling = Permitted | Forbidden


class RulesUnknown(Unreadable):
    """The site is there but does not tell its rules; the RFC then wants nothing read."""


LoadRules = Callable[[str], Awaitable[bytes | None]]
"""From the address of a robots.txt to its bytes, or None where there is none. Raises RulesUnknown, or what else keeps
the whole site from being read."""


class Robots:
    """Asks each site once for its rules; all who ask meanwhile wait for the same answer."""

    def __init__(self, load: LoadRules, product: str, monotonic: Callable[[], float] = time.monotonic) -> None:
        self._load = load
        self._product = product.lower()
        self._monotonic = monotonic
        self._rules: dict[str, asyncio.Task[Protego | Forbidden | None]] = {}
        self._turns: dict[str, float] = {}

    async def ruling(self, address: WebAddress) -> Ruling:
        """Whether the address may be read, and after which pause; the turn is then taken. Raises Unreadable when the
        site cannot be reached at all; it is asked again next time."""
        task = self._rules.get(address.origin)
        if task is None or (task.done() and (task.cancelled() or task.exception())):
            task = self._rules[address.origin] = asyncio.create_task(self._loaded(address))
        # Who is cut off must not take the answer away from the others.
        rules = await asyncio.shield(task)
        if rules is None:
            return Permitted()
        if isinstance(rules, Forbidden):
            return rules
        if not rules.can_fetch(address.url, self._product):
            return Forbidden(f"{address.shown} asks automated readers not to read this page (robots.txt).")
        return self._turn(address, min(rules.crawl_delay(self._product) or 0.0, LONGEST_PAUSE_S))

    async def close(self) -> None:
        """End what is still being loaded."""
        for task in self._rules.values():
            task.cancel()
        await asyncio.gather(*self._rules.values(), return_exceptions=True)

    async def _loaded(self, address: WebAddress) -> "Protego | Forbidden | None":
        try:
            data = await self._load(f"{address.origin}/robots.txt")
        except RulesUnknown:
            return Forbidden(f"{address.shown} does not tell its rules for automated readers (robots.txt).")
        if not data:
            return None
        # Half a megabyte of rules takes a tenth of a second: too long for the event loop to stand still.
        return await asyncio.to_thread(parse_rules, data, self._product)

    def _turn(self, address: WebAddress, pause: float) -> Ruling:
        if not pause:
            return Permitted()
        now = self._monotonic()
        turn = max(now, self._turns.get(address.origin, now))
        if turn - now > LONGEST_WAIT_S:
            return Forbidden(f"{address.shown} asks automated readers for longer pauses than there is time for.")
        self._turns[address.origin] = turn + pause
        return Permitted(turn - now)


_AGENT_LINE = re.compile(r"user[-\s]*+agent(?=[\s:])\s*+:?+\s*+(.*+)", re.IGNORECASE)


def parse_rules(data: bytes, product: str) -> "Protego":
    """The rules in the bytes of a robots.txt, as far as they concern this product."""
    from protego import Protego

    text = data[:MAX_RULES_BYTES].decode("utf-8-sig", "replace")
    return Protego.parse("\n".join(_agents_reduced(line, product) for line in text.splitlines()))


def _agents_reduced(line: str, product: str) -> str:
    """All other readers under one name: a thousand of them over a thousand rules would take the parser minutes.

    The name has to be the product's whole; the parser alone would also take a part of it.
    """
    agent = _AGENT_LINE.match(line.strip())
    if agent is None:
        return line
    name = agent[1].partition("#")[0].strip().lower()
    if name == "*":
        return "User-agent: *"
    is_meant = re.split(r"[/\s]", name.replace("*", ""), maxsplit=1)[0] == product.lower()
    return f"User-agent: {product}" if is_meant else "User-agent: somebody-else"

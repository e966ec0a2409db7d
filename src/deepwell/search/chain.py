"""Several engines as one: each is asked with patience, the next when one fails, none that has failed too often."""

import asyncio
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import count

from deepwell.budget.backoff import Backoff
from deepwell.errors import SearchFailed
from deepwell.ports import Clock, SearchEngine
from deepwell.search.breaker import Breaker
from deepwell.search.events import EngineFailed, FellBack, Listener, SearchDegraded, unheard
from deepwell.search.failures import Failure, FailureKind, NoAnswer, Party, failure_of
from deepwell.search.pace import Pace, Sleep
from deepwell.search.retrying import DEFAULT_BACKOFF, GiveUp, next_step
from deepwell.vocabulary.plan import Query
from deepwell.vocabulary.source import Hit

LIMITED = "Search was limited, so this rests on partial information."


@dataclass(frozen=True, slots=True)
class Link:
    """An engine in the chain, and how often it may be asked."""

    engine: SearchEngine
    title: str
    """For people."""
    every_s: float = 0.0
    """Seconds from one request to the next."""
    at_once: int = 8
    """Requests under way at the same time."""


@dataclass(frozen=True, slots=True)
class Limits:
    """How long searching may take, in seconds."""

    search_s: float = 12.0
    """One query, over all engines."""
    engine_s: float = 6.0
    """One query with one engine, its retries and the wait for its turn included."""
    unproven_s: float = 2.5
    """At least this much of it for an engine that has not answered yet, however many others wait behind it."""
    patience_s: float = 7.5
    """What one engine may cost a run in vain."""


@dataclass(frozen=True, slots=True)
class Standing:
    """How an engine has done so far."""

    engine: str
    title: str
    answers: int
    failures: int
    asked_on: bool
    """False when it is not asked any more, or not at the moment."""
    because: str | None = None
    """The last failure, in a sentence."""


@dataclass(frozen=True, slots=True)
class _Unasked:
    """The engine was not asked: that is no failure of its own."""

    failure: Failure


class Chain:
    """Fulfils the port SearchEngine. The first engine that answers does so for all, even if it finds nothing."""

    name = "web"

    def __init__(
        self,
        links: Sequence[Link],
        clock: Clock,
        *,
        on_event: Listener = unheard,
        limits: Limits | None = None,
        backoff: Backoff | None = None,
        sleep: Sleep = asyncio.sleep,
        jitter: Callable[[], float] = random.random,
    ) -> None:
        self._now = clock.monotonic
        self._limits = limits or Limits()
        self._backoff = backoff or DEFAULT_BACKOFF
        self._members = [_Member(link, self._limits.patience_s, self._now, sleep) for link in links]
        self._on_event = on_event
        self._sleep = sleep
        self._jitter = jitter
        self._degraded: dict[str, str] = {}

    @property
    def degraded(self) -> tuple[str, ...]:
        """What the report has to say about engines that were given up, or never answered while there was time, in full
        sentences; empty when all is well."""
        silent = [f"{member.title} had not answered yet." for member in self._members if member.is_silent]
        told = (*self._degraded.values(), *silent)
        return (LIMITED, *told) if told else ()

    def standing(self) -> tuple[Standing, ...]:
        """How each engine has done so far, in the order they are asked."""
        return tuple(member.standing(self._now()) for member in self._members)

    async def search(self, query: Query, limit: int) -> Sequence[Hit]:
        """What the first engine finds that answers. Raises SearchFailed only when none of them does."""
        end = self._now() + self._limits.search_s
        failed: list[tuple[_Member, Failure]] = []
        for place, member in enumerate(self._members):
            allowance = self._allowance(place, end)
            if allowance <= 0 or not member.breaker.lets_through(self._now()):
                continue
            if failed:
                await self._on_event(FellBack(failed[-1][0].name, member.name))
            outcome = await self._ask(member, query, limit, allowance)
            if not isinstance(outcome, Failure):
                return outcome
            failed.append((member, outcome))
        raise self._refusal([failure for _, failure in failed])

    def _allowance(self, place: int, end: float) -> float:
        """Seconds for this engine. One that has yet to answer leaves the others their share."""
        now = self._now()
        breaker = self._members[place].breaker
        allowed = min(self._limits.engine_s, end - now, breaker.patience_left_s)
        waiting = sum(member.breaker.lets_through(now) for member in self._members[place:])
        if not breaker.answers and waiting > 1:
            return min(allowed, max(self._limits.unproven_s, (end - now) / waiting))
        return allowed

    async def _ask(self, member: "_Member", query: Query, limit: int, allowance: float) -> Sequence[Hit] | Failure:
        """The hits, or the failure after at most three attempts."""
        started = self._now()
        end = started + allowance
        for attempt in count(1):
            outcome = await member.attempt(query, limit, end - self._now())
            if isinstance(outcome, _Unasked):
                return outcome.failure
            if not isinstance(outcome, Failure):
                member.breaker.answered()
                return outcome
            step = next_step(outcome, attempt, end - self._now(), self._backoff, self._jitter)
            if isinstance(step, GiveUp) or member.is_to_be_left(outcome):
                await self._note(member, outcome, started)
                return outcome
            await self._sleep(step.after_s)
        raise AssertionError("counting has no end")

    async def _note(self, member: "_Member", failure: Failure, started: float) -> None:
        opened = member.breaker.failed(failure, started, self._now())
        await self._on_event(EngineFailed(member.name, failure.kind.value, failure.sentence))
        if opened and member.name not in self._degraded:
            reason = f"{failure.sentence} {member.title} was not asked any further."
            self._degraded[member.name] = reason
            await self._on_event(SearchDegraded(member.name, reason))

    def _refusal(self, failures: list[Failure]) -> NoAnswer:
        """All engines failed; the sentence says how each did, once."""
        known = failures or [member.breaker.last for member in self._members if member.breaker.last]
        sentences = dict.fromkeys(failure.sentence for failure in known)
        kind = known[-1].kind if known else FailureKind.UNREACHABLE
        return NoAnswer(Failure(kind, " ".join(["No search engine answered.", *sentences])))


class _Member:
    """A link with its memory of this run."""

    def __init__(self, link: Link, patience_s: float, now: Callable[[], float], sleep: Sleep) -> None:
        self.name = link.engine.name
        self.title = link.title
        self.breaker = Breaker(patience_s)
        self._engine = link.engine
        self._pace = Pace(link.every_s, link.at_once, now, sleep)
        self._party = Party(link.title)
        self._now = now
        self._under_way = 0

    async def attempt(self, query: Query, limit: int, seconds: float) -> Sequence[Hit] | Failure | _Unasked:
        asked = False
        try:
            async with asyncio.timeout(seconds), self._pace.turn():
                # While this one waited for its turn, others may have found that there is no use in asking.
                if not self.breaker.lets_through(self._now()):
                    return self._unasked()
                asked = True
                return await self._asked(query, limit)
        except TimeoutError:
            return self._party.no_answer(FailureKind.TIMEOUT).failure if asked else self._unasked()
        except SearchFailed as error:
            return failure_of(error)

    async def _asked(self, query: Query, limit: int) -> Sequence[Hit]:
        self._under_way += 1
        try:
            return await self._engine.search(query, limit)
        finally:
            self._under_way -= 1

    @property
    def is_silent(self) -> bool:
        """True when it has been asked and nothing has come of it yet, neither an answer nor a failure."""
        return self._under_way > 0 and not (self.breaker.answers or self.breaker.failures)

    def is_to_be_left(self, failure: Failure) -> bool:
        """Who failed on the query before gets one try only, until it answers: unless it just asks to wait."""
        return self.breaker.is_doubtful and failure.kind is not FailureKind.RATE_LIMIT

    def standing(self, now: float) -> Standing:
        last = self.breaker.last
        asked_on = self.breaker.lets_through(now)
        because = last.sentence if last else None
        return Standing(self.name, self.title, self.breaker.answers, self.breaker.failures, asked_on, because)

    def _unasked(self) -> _Unasked:
        busy = Failure(FailureKind.RATE_LIMIT, f"{self.title} was asked too much at once.")
        return _Unasked(self.breaker.last or busy)

"""Several engines as one: each is asked with patience, the next when one fails, none that has failed too often."""

import asyncio
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import count

from deepwell.budget.backoff import Backoff
from deepwell.errors import SearchFailed
from deepwell.ports import Clock, SearchEngine
from deepwell.search.breaker import Breaker
from deepwell.search.events import EngineFailed, FellBack, Listener, SearchDegraded, unheard
from deepwell.search.failures import Failure, FailureKind, NoAnswer, Party, failure_of
from deepwell.search.pace import NoTurn, Pace, Sleep
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
    engine_s: float = 5.0
    """One query with one engine, its retries included; it counts from when its turn comes. While others could be asked
    instead, the turn is not waited for any longer than that either."""
    unproven_s: float = 2.5
    """At least this much of it for every engine that is asked, however many others wait behind it: one that is given
    less is not to blame."""
    spare_s: float = 1.5
    """What engines that have yet to answer leave of the whole: perhaps none of them is there."""
    in_vain_s: float = 12.75
    """What all engines together may cost a run while none of them has answered yet."""
    patience_s: float = 7.75
    """What one engine may cost a run in vain: once as long as it may take, and once more a little."""


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
        given_up: Mapping[str, str] | None = None,
    ) -> None:
        """`given_up`: engines that were given up before a crash, and why; they get another chance, and are told of."""
        self._now = clock.monotonic
        self._limits = limits or Limits()
        self._backoff = backoff or DEFAULT_BACKOFF
        self._members = [_Member(link, self._limits, self._now, sleep) for link in links]
        self._on_event = on_event
        self._sleep = sleep
        self._jitter = jitter
        self._degraded = dict(given_up or {})

    @property
    def degraded(self) -> tuple[str, ...]:
        """What the report has to say about engines that were given up, or never answered while there was time, in full
        sentences; empty when all is well."""
        silent = [f"{member.title} had not answered yet." for member in self._members if member.is_silent]
        told = (*self._degraded.values(), *silent)
        return (LIMITED, *told) if told else ()

    def standing(self) -> tuple[Standing, ...]:
        """How each engine has done so far, in the order they are asked."""
        return tuple(member.standing() for member in self._members)

    async def search(self, query: Query, limit: int) -> Sequence[Hit]:
        """What the first engine finds that answers. Raises SearchFailed only when none of them does."""
        end = self._now() + self._time_for_all()
        failed: list[tuple[_Member, Failure]] = []
        for place, member in enumerate(self._members):
            if end - self._now() < self._limits.unproven_s or not member.is_open():
                continue
            if failed:
                await self._on_event(FellBack(failed[-1][0].name, member.name))
            outcome = await self._ask(place, query, limit, end)
            if not isinstance(outcome, Failure):
                return outcome
            failed.append((member, outcome))
        raise self._refusal([failure for _, failure in failed])

    def _time_for_all(self) -> float:
        """Seconds for one query. If no engine ever answers, it is not up to the next rounds to try them all."""
        breakers = [member.breaker for member in self._members]
        if any(breaker.answers for breaker in breakers):
            return self._limits.search_s
        return min(self._limits.search_s, self._limits.in_vain_s - sum(breaker.wasted_s for breaker in breakers))

    async def _ask(self, place: int, query: Query, limit: int, end: float) -> Sequence[Hit] | Failure:
        """The hits, or why there are none; it is no failure of the engine's own when its turn does not come."""
        member = self._members[place]
        within = self._turn_within(place, end)
        latest = self._now() + within
        try:
            async with member.pace.turn(within, lambda: member.is_open() and self._now() <= latest):
                started = self._now()
                outcome = await self._attempts(member, query, limit, started + self._allowance(place, end))
                if isinstance(outcome, Failure):
                    await self._note(member, outcome, started)
                else:
                    member.breaker.answered()
                return outcome
        except NoTurn:
            return member.unasked()

    def _turn_within(self, place: int, end: float) -> float:
        """Seconds to wait for the turn of this engine, so that a fair time to answer is left."""
        longest = end - self._now() - self._limits.unproven_s
        return min(longest, self._limits.engine_s) if self._open_from(place) > 1 else longest

    def _allowance(self, place: int, end: float) -> float:
        """Seconds for this engine. One that has yet to answer leaves the others their share."""
        left, limits = end - self._now(), self._limits
        breaker = self._members[place].breaker
        allowed = min(limits.engine_s, left, breaker.patience_left_s)
        if breaker.answers:
            return allowed
        return min(allowed, max(limits.unproven_s, (left - limits.spare_s) / self._open_from(place)))

    def _open_from(self, place: int) -> int:
        """How many engines there are to ask, this one included."""
        return sum(member.is_open() for member in self._members[place:])

    async def _attempts(self, member: "_Member", query: Query, limit: int, end: float) -> Sequence[Hit] | Failure:
        """The hits, or the last failure after at most three attempts."""
        for attempt in count(1):
            began = self._now()
            outcome = await member.attempt(query, limit, end - began)
            if not isinstance(outcome, Failure) or member.is_to_be_left(outcome):
                return outcome
            now, soonest_s = self._now(), member.pace.wait_s
            left_s, took_s = end - now, now - began
            step = next_step(outcome, attempt, left_s, self._backoff, self._jitter, soonest_s=soonest_s, took_s=took_s)
            if isinstance(step, GiveUp):
                return outcome
            await self._sleep(step.after_s)
            await member.pace.moment()
            if not member.is_open():
                return outcome
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

    def __init__(self, link: Link, limits: Limits, now: Callable[[], float], sleep: Sleep) -> None:
        self.name = link.engine.name
        self.title = link.title
        self.breaker = Breaker(limits.patience_s, limits.unproven_s)
        self.pace = Pace(link.every_s, link.at_once, now, sleep)
        self._engine = link.engine
        self._party = Party(link.title)
        self._now = now
        self._under_way = 0

    async def attempt(self, query: Query, limit: int, seconds: float) -> Sequence[Hit] | Failure:
        try:
            async with asyncio.timeout(seconds):
                return await self._asked(query, limit)
        except TimeoutError:
            return self._party.no_answer(FailureKind.TIMEOUT).failure
        except SearchFailed as error:
            return failure_of(error)

    async def _asked(self, query: Query, limit: int) -> Sequence[Hit]:
        self._under_way += 1
        try:
            return await self._engine.search(query, limit)
        finally:
            self._under_way -= 1

    def is_open(self) -> bool:
        """True when it may be asked."""
        return self.breaker.lets_through(self._now())

    @property
    def is_silent(self) -> bool:
        """True when it has been asked and nothing has come of it yet, neither an answer nor a failure."""
        return self._under_way > 0 and not (self.breaker.answers or self.breaker.failures)

    def is_to_be_left(self, failure: Failure) -> bool:
        """Who failed on the query before gets one try only, until it answers: unless it just asks to wait."""
        return self.breaker.is_doubtful and failure.kind is not FailureKind.RATE_LIMIT

    def standing(self) -> Standing:
        last = self.breaker.last
        because = last.sentence if last else None
        return Standing(self.name, self.title, self.breaker.answers, self.breaker.failures, self.is_open(), because)

    def unasked(self) -> Failure:
        """Why it was not asked: it was given up while others waited for it, or too many did."""
        if self.breaker.last and not self.is_open():
            return self.breaker.last
        return Failure(FailureKind.RATE_LIMIT, f"{self.title} was asked too much at once.")

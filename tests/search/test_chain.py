"""Several engines as one: patience, the next in line, and none that has failed too often."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deepwell.budget.clock import SystemClock
from deepwell.errors import SearchFailed
from deepwell.search.breaker import Breaker
from deepwell.search.chain import LIMITED, Chain, Limits, Link
from deepwell.search.events import EngineFailed, FellBack, SearchDegraded, SearchEvent
from deepwell.search.failures import Failure, FailureKind, NoAnswer
from deepwell.search.retrying import DEFAULT_BACKOFF, Again, GiveUp, next_step
from deepwell.testing import ManualClock
from deepwell.vocabulary.plan import Query
from deepwell.vocabulary.source import Hit

RATE_LIMIT, AUTH, OVERLOAD = FailureKind.RATE_LIMIT, FailureKind.AUTH, FailureKind.OVERLOAD
OK = "ok"
Outcome = FailureKind | Failure | str
"""What an engine does when it is asked: a failure, `ok`, or `empty`."""


@dataclass(slots=True)
class ScriptedEngine:
    """Does what the script says, attempt by attempt; at its end, the last of it again."""

    name: str
    script: Sequence[Outcome] = (OK,)
    asked: list[Query] = field(default_factory=list)
    before: Callable[[], None] = lambda: None

    async def search(self, query: Query, limit: int) -> Sequence[Hit]:
        # Others get their chance to ask, too.
        await asyncio.sleep(0)
        self.before()
        self.asked.append(query)
        outcome = self.script[min(len(self.asked), len(self.script)) - 1]
        if outcome == "hang":
            await asyncio.Event().wait()
        if isinstance(outcome, FailureKind):
            outcome = Failure(outcome, f"{self.name} failed.")
        if isinstance(outcome, Failure):
            raise NoAnswer(outcome)
        if outcome == "plain":
            raise SearchFailed("The index is broken.")
        return [Hit("https://a.example/", "A", "", 1.0, self.name, query)] if outcome == OK else []


@dataclass(slots=True)
class Setup:
    """A chain over scripted engines, in a time of its own."""

    engines: list[ScriptedEngine]
    clock: Any = field(default_factory=ManualClock)
    events: list[SearchEvent] = field(default_factory=list)
    slept: list[float] = field(default_factory=list)
    every_s: float = 0.0
    at_once: int = 8
    limits: Limits = field(default_factory=Limits)

    def chain(self) -> Chain:
        links = [Link(engine, engine.name.title(), self.every_s, self.at_once) for engine in self.engines]
        return Chain(links, self.clock, on_event=self.heard, sleep=self.sleep, jitter=lambda: 0.0, limits=self.limits)

    async def heard(self, event: SearchEvent) -> None:
        self.events.append(event)

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        await asyncio.sleep(0)
        self.clock.move(seconds)

    def of(self, kind: type) -> list[Any]:
        return [event for event in self.events if isinstance(event, kind)]


def setup(*scripts: Sequence[Outcome], **options: Any) -> Setup:
    names = ("first", "second", "third", "fourth", "fifth")
    return Setup([ScriptedEngine(name, script) for name, script in zip(names, scripts, strict=False)], **options)


async def ask(chain: Chain, text: str = "gears") -> str:
    """Which engine answered; "-" when it found nothing, "!" when none did."""
    try:
        hits = await chain.search(Query(text), 5)
    except SearchFailed:
        return "!"
    return hits[0].engine if hits else "-"


async def test_the_first_engine_answers_and_the_others_are_not_asked() -> None:
    ours = setup([OK], [OK])
    assert await ask(ours.chain()) == "first"
    assert ours.engines[1].asked == []
    assert ours.events == []


async def test_little_or_nothing_found_is_no_failure() -> None:
    ours = setup(["empty"], [OK])
    chain = ours.chain()
    assert [await ask(chain) for _ in range(5)] == ["-"] * 5
    assert ours.engines[1].asked == []
    assert chain.degraded == ()


async def test_a_passing_failure_is_tried_again_with_growing_waits() -> None:
    ours = setup([OVERLOAD, OVERLOAD, OK])
    assert await ask(ours.chain()) == "first"
    assert ours.slept == [0.25, 0.5]
    assert ours.events == []


async def test_three_attempts_and_then_the_next_engine() -> None:
    ours = setup([OVERLOAD], [OK])
    assert await ask(ours.chain()) == "second"
    assert len(ours.engines[0].asked) == 3
    assert ours.events == [EngineFailed("first", "overload", "first failed."), FellBack("first", "second")]


async def test_who_failed_on_the_query_before_gets_one_try_until_it_answers() -> None:
    ours = setup([OVERLOAD] * 4 + [OK, OVERLOAD, OK], [OK])
    chain = ours.chain()
    assert [await ask(chain) for _ in range(2)] == ["second", "second"]
    assert len(ours.engines[0].asked) == 4
    assert [await ask(chain) for _ in range(2)] == ["first", "first"]
    assert len(ours.engines[0].asked) == 7


@pytest.mark.parametrize("kind", [kind for kind in FailureKind if not kind.retryable])
async def test_what_does_not_pass_is_not_tried_again(kind: FailureKind) -> None:
    ours = setup([kind], [OK])
    assert await ask(ours.chain()) == "second"
    assert len(ours.engines[0].asked) == 1
    assert ours.slept == []


async def test_an_engine_is_waited_for_as_long_as_it_asks_but_not_for_ever() -> None:
    ours = setup([Failure(RATE_LIMIT, "Slow down.", 1.5), OK])
    assert await ask(ours.chain()) == "first"
    assert ours.slept == [1.5]
    ours = setup([Failure(RATE_LIMIT, "Slow down.", 60.0), OK], [OK])
    assert await ask(ours.chain()) == "second"
    assert ours.slept == []


async def test_all_engines_failing_is_a_failure_that_says_how_each_did() -> None:
    ours = setup([FailureKind.BAD_REQUEST], ["plain"])
    with pytest.raises(
        SearchFailed, match=r"No search engine answered\. first failed\. The index is broken\."
    ) as caught:
        await ours.chain().search(Query("gears"), 5)
    assert isinstance(caught.value, NoAnswer)


async def test_a_chain_of_none_is_a_failure() -> None:
    with pytest.raises(SearchFailed, match="No search engine answered"):
        await setup().chain().search(Query("gears"), 5)


async def test_after_three_failures_in_a_row_an_engine_is_not_asked_any_more() -> None:
    ours = setup([FailureKind.MALFORMED], [OK])
    chain = ours.chain()
    assert [await ask(chain) for _ in range(5)] == ["second"] * 5
    assert len(ours.engines[0].asked) == 3
    assert ours.of(SearchDegraded) == [SearchDegraded("first", chain.degraded[1])]
    assert chain.degraded == (LIMITED, "first failed. First was not asked any further.")
    assert [standing.asked_on for standing in chain.standing()] == [False, True]


async def test_after_half_of_at_least_four_an_engine_is_not_asked_any_more() -> None:
    bad = FailureKind.MALFORMED
    ours = setup([OK, bad, OK, bad, OK], [OK])
    chain = ours.chain()
    assert [await ask(chain) for _ in range(6)] == ["first", "second", "first", "second", "second", "second"]
    assert len(ours.engines[0].asked) == 4


@pytest.mark.parametrize("kind", [AUTH, FailureKind.QUOTA])
async def test_a_refused_key_ends_it_at_once(kind: FailureKind) -> None:
    ours = setup([kind], [OK])
    chain = ours.chain()
    assert [await ask(chain) for _ in range(3)] == ["second"] * 3
    assert len(ours.engines[0].asked) == 1
    assert chain.degraded


async def test_what_passes_by_itself_is_tried_again_after_a_while() -> None:
    ours = setup([RATE_LIMIT] * 9 + [OK], [OK])
    chain = ours.chain()
    assert [await ask(chain) for _ in range(4)] == ["second"] * 4
    ours.clock.move(31.0)
    assert await ask(chain) == "first"
    assert len(ours.of(SearchDegraded)) == 1


async def test_all_engines_given_up_is_a_failure_without_asking() -> None:
    ours = setup([AUTH], [AUTH])
    chain = ours.chain()
    assert [await ask(chain) for _ in range(3)] == ["!"] * 3
    assert [len(engine.asked) for engine in ours.engines] == [1, 1]
    with pytest.raises(SearchFailed, match=r"first failed\. second failed\."):
        await chain.search(Query("gears"), 5)


async def test_an_engine_that_hangs_is_left_and_not_asked_again() -> None:
    short = Limits(search_s=2.0, engine_s=0.02, unproven_s=0.02, patience_s=0.5)
    ours = setup(["hang"], [OK], clock=SystemClock(), limits=short)
    chain = ours.chain()
    assert [await ask(chain) for _ in range(3)] == ["second"] * 3
    assert len(ours.engines[0].asked) == 1
    assert [failed.failure for failed in ours.of(EngineFailed)] == ["timeout"]


async def test_searches_that_wait_for_a_turn_do_not_ask_an_engine_that_was_given_up_meanwhile() -> None:
    engine, spare = ScriptedEngine("first", [AUTH]), ScriptedEngine("second")
    chain = Chain([Link(engine, "First", at_once=1), Link(spare, "Second")], ManualClock())
    answers = await asyncio.gather(*(ask(chain, f"gears {number}") for number in range(5)))
    assert answers == ["second"] * 5
    assert len(engine.asked) == 1


async def test_requests_keep_their_distance() -> None:
    ours = setup([OK], every_s=3.0)
    chain = ours.chain()
    await asyncio.gather(*(ask(chain, f"gears {number}") for number in range(3)))
    assert ours.slept == [3.0, 3.0]


async def test_who_gives_up_in_the_line_takes_no_turn_from_the_others() -> None:
    ours = setup([OK], every_s=3.0, at_once=1)
    chain = ours.chain()
    assert await ask(chain) == "first"
    asleep, never = asyncio.Event(), asyncio.Event()

    async def sleeps_for_ever(seconds: float) -> None:
        asleep.set()
        await never.wait()

    pace = chain._members[0].pace
    pace._sleep = sleeps_for_ever
    search = asyncio.create_task(ask(chain))
    await asleep.wait()
    search.cancel()
    await asyncio.gather(search, return_exceptions=True)
    pace._sleep = ours.sleep
    assert await ask(chain) == "first"
    assert ours.slept == [3.0]


async def test_a_line_that_is_too_long_is_not_joined() -> None:
    ours = setup([OK], [OK], every_s=3.0, at_once=1)
    chain = ours.chain()
    answers = await asyncio.gather(*(ask(chain, f"gears {number}") for number in range(3)))
    assert answers == ["first", "first", "second"]
    assert ours.slept == [3.0]
    assert ours.of(EngineFailed) == []


async def test_the_only_engine_left_is_waited_for_longer() -> None:
    ours = setup([AUTH], [OK], every_s=3.0, at_once=1)
    chain = ours.chain()
    assert await ask(chain) == "second"
    ours.clock.move(60.0)
    answers = await asyncio.gather(*(ask(chain, f"gears {number}") for number in range(5)))
    assert answers == ["second"] * 4 + ["!"]
    with pytest.raises(SearchFailed, match=r"asked too much at once"):
        await asyncio.gather(*(chain.search(Query(f"dials {number}"), 5) for number in range(5)))
    assert [standing.failures for standing in chain.standing()] == [1, 0]


async def test_the_time_to_answer_begins_with_the_turn() -> None:
    ours = setup([OK], [OK], at_once=1)
    ours.engines[0].before = lambda: ours.clock.move(2.2)
    chain = ours.chain()
    answers = await asyncio.gather(*(ask(chain, f"gears {number}") for number in range(8)))
    assert answers == ["first"] * 3 + ["second"] * 5
    assert ours.of(EngineFailed) == []
    assert chain.degraded == ()


async def test_no_engine_is_asked_without_a_fair_time_to_answer() -> None:
    ours = setup([FailureKind.MALFORMED], [OK])
    ours.engines[0].before = lambda: ours.clock.move(10.0)
    assert await ask(ours.chain()) == "!"
    assert ours.engines[1].asked == []
    assert ours.of(FellBack) == []
    ours.engines[0].before = lambda: ours.clock.move(9.0)
    assert await ask(ours.chain()) == "second"


@pytest.mark.parametrize("kind", [FailureKind.UNREACHABLE, OVERLOAD])
async def test_a_failure_is_told_though_it_is_too_late_to_try_again(kind: FailureKind) -> None:
    ours = setup([kind], [kind], every_s=3.0, at_once=1)
    chain = ours.chain()
    await asyncio.gather(*(ask(chain, f"gears {number}") for number in range(5)))
    assert {event.engine for event in ours.of(EngineFailed)} == {"first", "second"}
    assert {event.failure for event in ours.of(EngineFailed)} == {kind.value}
    assert all(standing.because for standing in chain.standing())
    assert ours.clock.elapsed < 12.0


async def test_an_engine_that_was_never_there_is_not_looked_for_again() -> None:
    ours = setup([FailureKind.UNREACHABLE], [OK])
    chain = ours.chain()
    assert [await ask(chain) for _ in range(3)] == ["second"] * 3
    assert len(ours.engines[0].asked) == 3
    assert chain.degraded == (LIMITED, "first failed. First was not asked any further.")
    ours = setup([OK, FailureKind.UNREACHABLE], [OK])
    chain = ours.chain()
    assert [await ask(chain) for _ in range(3)] == ["first", "second", "second"]
    assert chain.standing()[0].asked_on


async def test_engines_none_of_which_answers_cost_a_run_only_so_much_together() -> None:
    bad = [FailureKind.MALFORMED]
    ours = setup(bad, bad, bad, bad, [OK])
    for engine in ours.engines[:4]:
        engine.before = lambda: ours.clock.move(2.5)
    chain = ours.chain()
    assert [await ask(chain) for _ in range(3)] == ["!"] * 3
    assert ours.clock.elapsed == 12.5
    ours = setup([OK, *bad], bad, bad, [OK])
    for engine in ours.engines[1:3]:
        engine.before = lambda: ours.clock.move(4.0)
    chain = ours.chain()
    assert [await ask(chain) for _ in range(3)] == ["first", "fourth", "fourth"]


async def test_a_cancelled_search_is_no_failure_of_the_engine() -> None:
    ours = setup(["hang", OK])
    chain = ours.chain()
    under_way = asyncio.Event()
    ours.engines[0].before = under_way.set
    search = asyncio.create_task(ask(chain))
    await under_way.wait()
    search.cancel()
    with pytest.raises(asyncio.CancelledError):
        await search
    assert await ask(chain) == "first"
    assert ours.events == []


OUTCOMES = st.sampled_from([OK, OK, "empty", "plain", *FailureKind, Failure(RATE_LIMIT, "Slow down.", 1.0)])
SCRIPT = st.lists(OUTCOMES, min_size=1, max_size=12)


@given(scripts=st.lists(SCRIPT, min_size=1, max_size=4), pauses=st.lists(st.floats(0, 60), max_size=12))
@settings(max_examples=150, deadline=None)
def test_an_engine_that_was_given_up_is_never_asked_and_none_more_than_three_times(
    scripts: list[list[Outcome]], pauses: list[float]
) -> None:
    ours = setup(*scripts)
    chain = ours.chain()

    def watch(place: int) -> Callable[[], None]:
        def is_open() -> None:
            assert chain.standing()[place].asked_on

        return is_open

    for place, engine in enumerate(ours.engines):
        engine.before = watch(place)

    async def run() -> None:
        for number, pause in enumerate(pauses):
            answered = await ask(chain, f"query {number}")
            failed = {event.engine for event in ours.of(EngineFailed)}
            assert answered != "!" or failed
            ours.clock.move(pause)

    asyncio.run(run())
    for engine in ours.engines:
        for query in engine.asked:
            assert engine.asked.count(query) <= 3


@given(
    kind=st.sampled_from(FailureKind),
    attempt=st.integers(1, 5),
    left=st.floats(0, 100),
    told=st.none() | st.floats(0, 1000),
    jitter=st.floats(0, 1),
)
def test_another_attempt_fits_into_the_time_that_is_left(
    kind: FailureKind, attempt: int, left: float, told: float | None, jitter: float
) -> None:
    step = next_step(Failure(kind, "It failed.", told), attempt, left, DEFAULT_BACKOFF, lambda: jitter)
    if isinstance(step, Again):
        assert kind.retryable
        assert attempt < 3
        assert step.after_s < left
        assert told is None or step.after_s == told
    else:
        assert step == GiveUp()


@given(left=st.floats(0, 100), soonest=st.floats(0, 10), took=st.floats(0, 10))
def test_another_attempt_waits_for_its_turn_and_has_as_long_as_the_last(
    left: float, soonest: float, took: float
) -> None:
    failure = Failure(OVERLOAD, "It failed.")
    step = next_step(failure, 1, left, DEFAULT_BACKOFF, lambda: 0.0, soonest_s=soonest, took_s=took)
    if isinstance(step, Again):
        assert step.after_s >= soonest
        assert step.after_s + took < left
    else:
        assert max(0.25, soonest) + max(0.25, soonest, took) >= left


def test_an_engine_is_not_asked_with_too_little_patience_left() -> None:
    breaker = Breaker(patience_s=7.75, fair_s=2.5)
    breaker.answered()
    assert not breaker.failed(Failure(FailureKind.TIMEOUT, "Late."), 0.0, 5.0)
    assert breaker.failed(Failure(FailureKind.TIMEOUT, "Late."), 5.0, 5.5)


def test_an_engine_may_keep_a_run_waiting_only_so_long_however_the_searches_overlap() -> None:
    late = Failure(FailureKind.TIMEOUT, "Late.")
    breaker = Breaker(patience_s=7.5)
    breaker.answered()
    assert not breaker.failed(late, 0.0, 5.0)
    assert not breaker.failed(late, 1.0, 5.0)
    assert breaker.patience_left_s == 2.5
    breaker.answered()
    assert breaker.patience_left_s == 7.5
    assert breaker.failed(late, 10.0, 17.5)
    assert not breaker.lets_through(1e9)


def test_an_answer_that_was_still_under_way_closes_the_breaker() -> None:
    breaker = Breaker(patience_s=7.5)
    assert breaker.failed(Failure(FailureKind.TIMEOUT, "Late."), 0.0, 4.0)
    breaker.answered()
    assert breaker.lets_through(4.0)

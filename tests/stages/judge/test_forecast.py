from hypothesis import given
from hypothesis import strategies as st

from deepwell.configuration import Configuration
from deepwell.stages.judge.forecast import (
    UNTOLD,
    RoundsAhead,
    Work,
    between_rounds,
    forecast,
    rounds_ahead,
    usual,
    writing_s,
)
from deepwell.vocabulary.evidence import Standing
from deepwell.vocabulary.progress import Forecast

LIMITS = Configuration(max_researcher_iterations=3, max_research_units=10)
DONE = Standing("sq-1", "who?", evidence=2)
OPEN = Standing("sq-1", "who?", evidence=1, gaps=("when?",))

seconds = st.floats(0, 1e6, allow_nan=False)
known = st.none() | seconds
works = st.builds(Work, st.lists(seconds, max_size=5).map(tuple), st.integers(0, 20), st.integers(1, 6), usual_s=known)
rounds = st.builds(RoundsAhead, st.integers(0, 3), st.integers(0, 20), known)


@given(works, rounds, known, known, known)
def test_the_end_is_never_past_the_deadline_nor_in_the_past(
    work: Work, ahead: RoundsAhead, after: float | None, research_left: float | None, left: float | None
) -> None:
    told = forecast(work, ahead, after, research_left_s=research_left, left_s=left)
    for end in (told.likely_s, told.high_s):
        assert end is None or end >= 0
        assert end is None or left is None or end <= left
    if told.likely_s is not None and told.high_s is not None:
        assert told.likely_s <= told.high_s


@given(works, rounds, known, seconds)
def test_with_a_deadline_there_is_always_a_bound(
    work: Work, ahead: RoundsAhead, after: float | None, left: float
) -> None:
    assert forecast(work, ahead, after, left_s=left).high_s is not None


@given(works, rounds, known, seconds, seconds)
def test_more_time_never_brings_the_end_nearer(
    work: Work, ahead: RoundsAhead, after: float | None, less: float, more: float
) -> None:
    less, more = sorted((less, more))
    before, later = (forecast(work, ahead, after, left_s=left) for left in (less, more))
    assert before.likely_s is None or later.likely_s is None or before.likely_s <= later.likely_s


def test_nothing_measured_leaves_only_the_deadline() -> None:
    assert forecast(UNTOLD, left_s=90.0) == Forecast(None, 90.0)
    assert forecast(UNTOLD) == Forecast(None, None)


def test_units_under_way_are_measured_by_those_that_ended() -> None:
    assert Work((1.0, 4.0), usual_s=10.0, at_once=4).rest_s == 9.0


def test_a_unit_that_takes_longer_than_usual_is_expected_to_go_on_for_a_while() -> None:
    assert Work((40.0,), usual_s=10.0).rest_s == 10.0


def test_units_that_wait_begin_when_a_place_is_free() -> None:
    assert Work((0.0, 5.0), waiting=3, at_once=2, usual_s=10.0).rest_s == 25.0
    assert Work(waiting=4, at_once=4, usual_s=10.0).rest_s == 10.0
    assert Work(waiting=4, at_once=1, usual_s=10.0).rest_s == 40.0


def test_no_work_left_takes_no_time() -> None:
    assert Work().rest_s == 0.0


def test_further_rounds_and_the_writing_come_on_top() -> None:
    work, ahead = Work((5.0,), usual_s=10.0), RoundsAhead(likely=1, allowed=3, round_s=20.0)
    assert forecast(work, ahead, 8.0) == Forecast(33.0, 73.0)


def test_research_ends_when_the_reserve_for_writing_begins() -> None:
    work, ahead = Work((5.0,), usual_s=10.0), RoundsAhead(allowed=3, round_s=20.0)
    assert forecast(work, ahead, 8.0, research_left_s=30.0, left_s=120.0) == Forecast(13.0, 38.0)


def test_an_open_gap_makes_another_round_likely() -> None:
    told = {"iteration": 1, "units": 2, "limits": LIMITS, "round_s": 9.0}
    assert rounds_ahead({"sq-1": OPEN}, set(), **told) == RoundsAhead(1, 2, 9.0)
    assert rounds_ahead({"sq-1": DONE}, set(), **told) == RoundsAhead(0, 0, 9.0)
    exhausted = Standing("sq-1", "who?", exhausted=True)
    assert rounds_ahead({"sq-1": exhausted}, set(), **told) == RoundsAhead(0, 0, 9.0)


def test_what_is_still_being_looked_for_is_no_gap_yet_but_may_become_one() -> None:
    told = {"iteration": 1, "units": 2, "limits": LIMITS, "round_s": 9.0}
    assert rounds_ahead({"sq-1": OPEN}, {"sq-1"}, **told) == RoundsAhead(0, 2, 9.0)


def test_the_caps_end_the_rounds() -> None:
    last = rounds_ahead({"sq-1": OPEN}, set(), iteration=3, units=2, limits=LIMITS, round_s=9.0)
    full = rounds_ahead({"sq-1": OPEN}, set(), iteration=1, units=10, limits=LIMITS, round_s=9.0)
    assert last == full == RoundsAhead(0, 0, 9.0)


def test_between_rounds_the_next_one_has_begun() -> None:
    work, ahead = between_rounds(1, (10.0, 20.0, 60.0), LIMITS, 5.0)
    assert (work.rest_s, ahead) == (15.0, RoundsAhead(0, 1, 20.0))
    assert between_rounds(1, (10.0,), LIMITS, 5.0, ended=True) == (Work(), RoundsAhead())


def test_writing_takes_an_outline_and_sections_side_by_side_or_in_a_row() -> None:
    assert writing_s(3.0, 4, Configuration(section_mode="parallel")) == 6.0
    assert writing_s(3.0, 4, Configuration(section_mode="sequential")) == 15.0
    assert writing_s(None, 4, LIMITS) is None


def test_the_guess_counts_until_something_was_measured() -> None:
    assert usual((), 4.0) == 4.0
    assert usual((1.0, 2.0, 30.0), 4.0) == 2.0
    assert usual(()) is None

"""When will the run end? Told from what was measured in this very run, and never later than its deadline."""

import heapq
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from statistics import median

from deepwell.configuration import Configuration
from deepwell.stages.judge.standing import open_gaps
from deepwell.vocabulary.evidence import Standing
from deepwell.vocabulary.progress import Forecast

OVERDUE_SHARE = 0.25
"""Work that takes longer than is usual is expected to go on for this share of the time it took already."""


@dataclass(frozen=True, slots=True)
class Work:
    """Pieces of one kind, some of them side by side: the units of a round, or the sections of a report."""

    at_work_s: tuple[float, ...] = ()
    """How long each piece under way has taken so far."""
    waiting: int = 0
    """Pieces that have not begun."""
    at_once: int = 1
    usual_s: float | None = None
    """What a piece usually takes; None: nothing is known to tell it from."""

    @property
    def rest_s(self) -> float | None:
        """Until the last piece is done; None when that cannot be told."""
        if not self.at_work_s and not self.waiting:
            return 0.0
        if self.usual_s is None:
            return None
        places = [_rest(spent, self.usual_s) for spent in self.at_work_s]
        places += [0.0] * (self.at_once - len(places))
        heapq.heapify(places)
        for _ in range(self.waiting):
            heapq.heapreplace(places, places[0] + self.usual_s)
        return max(places)


@dataclass(frozen=True, slots=True)
class RoundsAhead:
    """How many rounds may follow the one that runs, and how long one takes."""

    likely: int = 0
    """As things stand: one while a gap is open, else none."""
    allowed: int = 0
    """As many as the caps still let through."""
    round_s: float | None = None
    """What a round usually takes; None: nothing is known to tell it from."""


NO_MORE_ROUNDS = RoundsAhead()
UNTOLD = Work(waiting=1)
"""Work of which nothing was measured yet."""


def rounds_ahead(
    standings: Mapping[str, Standing],
    in_flight: Collection[str],
    *,
    iteration: int,
    units: int,
    limits: Configuration,
    round_s: float | None,
) -> RoundsAhead:
    """What may follow round `iteration`, by the standings of the sub-questions whose units are back.

    `in_flight` are the sub-questions that still have units at work, `units` those dispatched in the whole run.
    """
    gaps = [gap for gap in open_gaps(standings) if gap.subquestion not in in_flight and not gap.exhausted]
    allowed = max(0, limits.max_researcher_iterations - iteration)
    if units >= limits.max_research_units or not (gaps or in_flight):
        allowed = 0
    return RoundsAhead(min(allowed, 1 if gaps else 0), allowed, round_s)


def between_rounds(
    iteration: int, rounds_s: tuple[float, ...], limits: Configuration, since_s: float, *, ended: bool = False
) -> tuple[Work, RoundsAhead]:
    """What is to come when `iteration` rounds are over: nothing more, or a round that began `since_s` ago."""
    if ended:
        return Work(), RoundsAhead()
    round_s = usual(rounds_s)
    more = max(0, limits.max_researcher_iterations - iteration - 1)
    return Work((since_s,), usual_s=round_s), RoundsAhead(0, more, round_s)


def writing_s(judgement_s: float | None, parts: int, limits: Configuration) -> float | None:
    """What outline and sections will take, by how long the one judgement took that was measured by itself."""
    if judgement_s is None:
        return None
    return judgement_s * (1 + sections_in_a_row(parts, limits))


def sections_in_a_row(parts: int, limits: Configuration) -> int:
    """Sections that are written one after the other: all of them, or as good as one when they go side by side."""
    return parts if limits.section_mode == "sequential" else 1


def usual(measured: Sequence[float], guess: float | None = None) -> float | None:
    """The median of what was measured; before there is anything, the guess."""
    return float(median(measured)) if measured else guess


def forecast(
    now: Work,
    ahead: RoundsAhead = NO_MORE_ROUNDS,
    after_s: float | None = 0.0,
    *,
    research_left_s: float | None = None,
    left_s: float | None = None,
) -> Forecast:
    """The end of the run: the work under way, then further rounds while research has time, then what comes after.

    `research_left_s` and `left_s` are the seconds until research must end and until the deadline; None: no limit.
    """

    def end(rounds: int) -> float | None:
        further = 0.0 if rounds == 0 else ahead.round_s
        if now.rest_s is None or further is None or after_s is None:
            return None
        research = _within(now.rest_s + rounds * further, research_left_s)
        return _within(research + after_s, left_s)

    return Forecast(end(ahead.likely), _latest(end(max(ahead.likely, ahead.allowed)), left_s))


def _rest(spent_s: float, usual_s: float) -> float:
    return max(usual_s - spent_s, OVERDUE_SHARE * spent_s)


def _within(seconds: float, limit: float | None) -> float:
    return max(0.0, seconds if limit is None else min(seconds, limit))


def _latest(end_s: float | None, left_s: float | None) -> float | None:
    """Where nothing can be told, the deadline is still a bound."""
    return end_s if end_s is not None or left_s is None else max(0.0, left_s)

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deepwell.configuration import Configuration
from deepwell.stages.judge.decide import Situation, decide
from deepwell.testing import START
from deepwell.vocabulary.budget import Budget, Spend
from deepwell.vocabulary.decision import GATE_NOT_ASKED, GateResult, Stop, StopReason
from deepwell.vocabulary.evidence import Gap

OPEN = Situation(
    iteration=1,
    gaps=(Gap("sq-1", "who?"),),
    units=2,
    novelty=0.9,
    gate=GATE_NOT_ASKED,
    remaining_minutes=4.0,
    summary="Round 1",
)
BUDGET = Budget(5.0, START, 0.0, tokens=1000, cost_usd=1.0)


def test_goes_on_while_there_is_a_gap_time_and_a_round_left() -> None:
    decision = decide(OPEN, BUDGET, Configuration())
    assert decision.should_continue
    assert decision.next_search_topic == "who?"


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"interrupted": True}, StopReason.INTERRUPTED),
        ({"remaining_minutes": 1.49}, StopReason.TIME),
        ({"spend": Spend(tokens=1000)}, StopReason.TOKENS),
        ({"spend": Spend(cost_usd=1.0)}, StopReason.MONEY),
        ({"gate": GateResult("pass")}, StopReason.RESEARCH_COMPLETE),
        ({"gaps": ()}, StopReason.GAPS_EMPTY),
        ({"gaps": (Gap("sq-1", "who?", exhausted=True),)}, StopReason.GAPS_EXHAUSTED),
        ({"novelty": 0.10}, StopReason.NOVELTY),
        ({"iteration": 3}, StopReason.ITERATION_CAP),
        ({"units": 60}, StopReason.UNIT_CAP),
    ],
)
def test_every_reason_to_stop(change: dict[str, object], reason: StopReason) -> None:
    decision = decide(replace(OPEN, **change), BUDGET, Configuration())
    assert decision.course == Stop(reason)
    assert decision.record()["shouldContinue"] is False
    assert reason.sentence


def test_a_rejected_completion_does_not_stop() -> None:
    assert decide(replace(OPEN, gate=GateResult("retry", "too little")), BUDGET, Configuration()).should_continue


def test_exactly_the_reserve_left_is_enough_for_a_round() -> None:
    assert decide(replace(OPEN, remaining_minutes=1.5), BUDGET, Configuration()).should_continue


def test_early_termination_can_be_switched_off() -> None:
    configuration = Configuration(enable_early_termination=False)
    assert decide(replace(OPEN, novelty=0.0), BUDGET, configuration).should_continue


def test_the_record_has_exactly_its_keys() -> None:
    assert list(decide(OPEN, BUDGET, Configuration()).record()) == [
        "iteration",
        "summary",
        "gaps",
        "shouldContinue",
        "nextSearchTopic",
        "urlToSearch",
        "timeRemainingMinutes",
    ]


situations = st.builds(
    Situation,
    iteration=st.integers(1, 25),
    gaps=st.lists(st.builds(Gap, st.just("sq-1"), st.text(max_size=5), st.booleans()), max_size=3).map(tuple),
    units=st.integers(0, 80),
    novelty=st.none() | st.floats(0, 1),
    gate=st.sampled_from([GATE_NOT_ASKED, GateResult("pass"), GateResult("retry", "x")]),
    remaining_minutes=st.none() | st.floats(0, 10),
    interrupted=st.booleans(),
)


@given(situations, st.sampled_from(["simple", "standard", "deep", "exhaustive"]))
def test_going_on_means_that_no_reason_to_stop_holds(situation: Situation, tier: str) -> None:
    configuration = Configuration(tier=tier)
    budget = Budget(configuration.total_minutes, START, 0.0)
    decision = decide(situation, budget, configuration)
    assert decision.should_continue == (
        not situation.interrupted
        and bool(situation.gaps)
        and not all(gap.exhausted for gap in situation.gaps)
        and situation.iteration < configuration.max_researcher_iterations
        and situation.units < configuration.max_research_units
        and (situation.remaining_minutes is None or situation.remaining_minutes >= budget.synthesis_reserve_minutes)
        and situation.gate.status != "pass"
        and (situation.novelty is None or situation.novelty >= configuration.min_novelty_threshold)
    )
    assert decision.should_continue == (decision.record()["nextSearchTopic"] is not None)

from hypothesis import given
from hypothesis import strategies as st

from deepwell.stages.judge.standing import first_standings, open_gaps, retry_tracking, updated
from deepwell.testing import source
from deepwell.vocabulary.evidence import Evidence, UnitOutcome, UnitStatus
from deepwell.vocabulary.plan import Lead, Plan, SubQuestion, Topic

PLAN = Plan((SubQuestion("sq-1", "who?"), SubQuestion("sq-2", "when?")))
CLAIM = Evidence("it was", (source("it was").cut(0, 6),), ("a.md",))


def outcome(key: str, *, found: bool, status: UnitStatus = "complete", gaps: tuple[str, ...] = ()) -> UnitOutcome:
    return UnitOutcome(Topic(key, key), status, 0.1, evidence=(CLAIM,) if found else (), gaps=gaps)


def test_a_subquestion_without_evidence_is_a_gap() -> None:
    gaps = open_gaps(first_standings(PLAN))
    assert [gap.text for gap in gaps] == ["Nothing was found on: who?", "Nothing was found on: when?"]


def test_three_failures_exhaust_a_subquestion() -> None:
    standings = first_standings(PLAN)
    for _ in range(3):
        standings = updated(standings, [outcome("sq-1", found=False)], 3)
    assert standings["sq-1"].status == "exhausted"
    assert standings["sq-2"].status == "pending"
    assert retry_tracking(standings) == {
        "subquestions": {
            "sq-1": {"attempts": 3, "status": "exhausted"},
            "sq-2": {"attempts": 0, "status": "pending"},
        },
        "total_exhausted": 1,
    }


def test_a_unit_that_was_cut_off_did_not_fail() -> None:
    standings = updated(first_standings(PLAN), [outcome("sq-1", found=False, status="cancelled")], 1)
    assert standings["sq-1"].failures == 0


def test_one_unit_that_settles_the_matter_closes_the_gap() -> None:
    standings = updated(first_standings(PLAN), [outcome("sq-1", found=True, gaps=("still open",))], 3)
    assert [g.text for g in open_gaps(standings)] == ["still open", "Nothing was found on: when?"]
    standings = updated(standings, [outcome("sq-1", found=True), outcome("sq-1", found=True, gaps=("x",))], 3)
    assert [g.text for g in open_gaps(standings)] == ["Nothing was found on: when?"]


def test_the_best_score_of_a_lead_is_kept() -> None:
    leads = (Lead("Price", 1.0), Lead("price", 3.0), Lead("Yale", 2.0))
    standings = updated({}, [UnitOutcome(Topic("t", "sq-1"), "complete", 0.1, leads=leads)], 3)
    assert [lead.text for lead in standings["sq-1"].leads] == ["price", "Yale"]


@given(st.lists(st.lists(st.tuples(st.sampled_from(["sq-1", "sq-2"]), st.booleans()), max_size=4), max_size=6))
def test_counts_only_grow_and_agree(rounds: list[list[tuple[str, bool]]]) -> None:
    standings = first_standings(PLAN)
    for units in rounds:
        before = standings
        standings = updated(standings, [outcome(key, found=found) for key, found in units], 3)
        for key, standing in standings.items():
            assert standing.attempts >= before[key].attempts
            assert standing.evidence >= before[key].evidence
            assert standing.evidence or standing.failures == standing.attempts
            assert standing.exhausted == (standing.failures >= 3)

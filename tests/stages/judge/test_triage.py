from hypothesis import given
from hypothesis import strategies as st

from deepwell.configuration import Configuration
from deepwell.stages.judge.triage import rationed, triage
from deepwell.vocabulary.evidence import Standing
from deepwell.vocabulary.plan import Query, Topic


def topic(text: str, subquestion: str = "sq-1", queries: int = 0) -> Topic:
    return Topic(text, subquestion, tuple(Query(f"{text} {i}") for i in range(queries)))


def test_a_duplicate_is_skipped_with_the_earlier_topic_and_the_score() -> None:
    wave = triage([topic("Cost of solar power")], ["solar power cost"], {}, Configuration())
    assert wave.accepted == ()
    assert wave.skipped[0].reason == ("it repeats the topic already dispatched: “solar power cost” (similarity 1.00)")


def test_duplicates_within_one_batch_are_skipped_too() -> None:
    wave = triage([topic("solar power cost"), topic("the cost of solar power", "sq-2")], [], {}, Configuration())
    assert [t.text for t in wave.accepted] == ["solar power cost"]


def test_filtering_comes_before_the_ceiling_on_units() -> None:
    configuration = Configuration(max_research_units=2)
    proposed = [topic("alpha"), topic("alpha", "sq-2"), topic("beta", "sq-2"), topic("gamma", "sq-3")]
    wave = triage(proposed, [], {}, configuration)
    assert [t.text for t in wave.accepted] == ["alpha", "beta"]
    assert "more than 2 research units" in wave.skipped[-1].reason


def test_an_exhausted_subquestion_is_never_tried_again() -> None:
    standings = {"sq-1": Standing("sq-1", "x", attempts=3, failures=3, exhausted=True)}
    wave = triage([topic("something quite new")], [], standings, Configuration())
    assert wave.accepted == ()
    assert "#RETRY_EXHAUSTED" in wave.skipped[0].reason


def test_one_batch_cannot_pass_the_limit_of_tries() -> None:
    standings = {"sq-1": Standing("sq-1", "x", attempts=1, failures=1)}
    wave = triage([topic("alpha"), topic("beta"), topic("gamma")], [], standings, Configuration())
    assert [t.text for t in wave.accepted] == ["alpha", "beta"]
    assert [t.attempt_number for t in wave.accepted] == [2, 3]


def test_a_round_has_so_many_searches_and_each_unit_keeps_one() -> None:
    kept = rationed([topic("a", queries=4), topic("b", queries=4), topic("c", queries=1)], 5)
    assert [len(t.queries) for t in kept] == [2, 2, 1]
    assert [len(t.queries) for t in rationed([topic("a", queries=4), topic("b", queries=4)], 1)] == [1, 1]


names = st.lists(st.text(alphabet="abcdef ", min_size=1, max_size=12), max_size=12)


@given(names, names, st.integers(1, 8))
def test_nothing_is_lost_and_the_limits_hold(proposed: list[str], earlier: list[str], most: int) -> None:
    configuration = Configuration(max_research_units=most)
    wave = triage([topic(p, f"sq-{i}", 3) for i, p in enumerate(proposed)], earlier, {}, configuration)
    assert len(wave.accepted) + len(wave.skipped) == len(proposed)
    assert len(wave.accepted) + len(earlier) <= max(most, len(earlier))
    assert sum(len(t.queries) for t in wave.accepted) <= max(configuration.max_queries, len(wave.accepted))
    assert all(t.queries for t in wave.accepted)

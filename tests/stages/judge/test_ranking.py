from hypothesis import given
from hypothesis import strategies as st

from deepwell.stages.judge.ranking import kept_passages
from deepwell.vocabulary.record import Lane


def lane(handles: str, origin: str = "", iteration: int = 1, origin_score: float = 0.0) -> Lane:
    scores = tuple(float(10 - i) for i in range(len(handles)))
    return Lane(iteration, "t", tuple(handles), scores, origin, origin_score)


def test_parts_take_turns() -> None:
    assert kept_passages([lane("abc"), lane("xby"), lane("m")]) == tuple("axmbcy")


def test_a_chain_shows_where_it_came_from_and_where_it_led() -> None:
    kept = kept_passages([lane("abc"), lane("pq", "c", 2, 5.0), lane("r", "a", 2, 9.0)])
    assert kept[:5] == ("a", "r", "c", "p", "q")


def test_parts_come_before_what_they_led_to() -> None:
    kept = kept_passages([lane("a"), lane("b"), lane("c"), lane("z", "a", 2, 50.0)])
    assert kept == ("a", "b", "c", "z")


def test_a_later_round_does_not_push_aside_an_earlier_one() -> None:
    kept = kept_passages([lane("a"), lane("p", "a", 2, 1.0), lane("z", "p", 3, 100.0)])
    assert kept == ("a", "p", "z")


lanes = st.lists(
    st.builds(
        lane,
        st.lists(st.sampled_from("abcdefgh"), max_size=6, unique=True).map("".join),
        st.sampled_from(["", "", "a", "z"]),
        st.integers(1, 3),
        st.floats(0, 50),
    ),
    max_size=8,
)


@given(lanes)
def test_everything_is_kept_once(found: list[Lane]) -> None:
    kept = kept_passages(found)
    assert len(kept) == len(set(kept))
    assert {h for one in found for h in one.handles} <= set(kept)

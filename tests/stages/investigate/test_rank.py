from hypothesis import given
from hypothesis import strategies as st

from deepwell.stages.investigate.rank import in_turns
from deepwell.vocabulary.plan import Query
from deepwell.vocabulary.source import Hit


def hits(addresses: str, query: str = "q") -> list[Hit]:
    return [Hit(a, a, a, float(len(addresses) - i), "e", Query(query)) for i, a in enumerate(addresses)]


def test_the_first_query_gives_two_for_each_one_of_the_others() -> None:
    ranked = in_turns([hits("abcd"), hits("xy"), hits("m")])
    assert "".join(r.hit.address for r in ranked) == "abxmcdy"


def test_a_hit_that_several_queries_found_stands_once_with_its_best_score() -> None:
    ranked = in_turns([hits("ab", "one"), hits("bza", "two")])
    assert "".join(r.hit.address for r in ranked) == "abz"
    assert ranked[0].found_by == (Query("one"), Query("two"))
    assert ranked[1].score == 3.0


@given(st.lists(st.text(alphabet="abcdef", max_size=6), max_size=4))
def test_nothing_is_lost_or_doubled(lists: list[str]) -> None:
    ranked = [r.hit.address for r in in_turns([hits(one) for one in lists])]
    assert sorted(ranked) == sorted(set("".join(lists)))

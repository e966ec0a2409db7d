import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from deepwell.library.index import Entry, FileState, Index
from deepwell.library.search import Weights, search
from deepwell.reading.document import Document
from deepwell.vocabulary.plan import Query


def paths(index: Index, text: str, publisher: str | None = None, limit: int = 10) -> list[str]:
    return [found.path for found in search(index.connection, Query(text, publisher=publisher), limit)]


@pytest.mark.parametrize(
    ("text", "path"),
    [
        ("solar panel", "solar.md"),
        ("runs cost turbine", "Reports/wind.md"),
        ("cafe", "solar.md"),
        ("太陽光", "japan.md"),
        ("電", "japan.md"),
        ("力", "japan.md"),
        ("October 7, 2023", "solar.md"),
        ("2023-10-07", "solar.md"),
        ("Denmark", "Reports/wind.md"),
        ("Writer", "solar.md"),
    ],
)
def test_finds_by_stem_accent_pair_date_title_and_author(filled: Index, text: str, path: str) -> None:
    assert paths(filled, text)[0] == path


def test_a_hit_tells_where_it_is(filled: Index) -> None:
    (found,) = search(filled.connection, Query("cold panels"), 1)
    assert (found.title, found.publisher, found.published) == ("Solar power in Norway", "The Daily", "2023-10-07")
    assert 0 <= found.start < found.end
    assert found.score > 0


def test_all_words_come_before_some_and_scores_never_rise(index: Index) -> None:
    bodies = ["apple banana filler " + "word " * 200, "banana " * 30, "cherry only", "apple here", "apple there"]
    state = FileState(1, 1, "x")
    index.put(Entry(f"{n}.txt", state, Document("t", body, "text")) for n, body in enumerate(bodies))
    found = search(index.connection, Query("apple banana"), 10)
    assert found[0].path == "0.txt"
    assert {one.path for one in found} == {"0.txt", "1.txt", "3.txt", "4.txt"}
    assert [one.score for one in found] == sorted((one.score for one in found), reverse=True)


@pytest.mark.parametrize("name", ["the daily", "THE  DAILY", "The Daily"])
def test_a_publisher_restricts_whatever_its_case(filled: Index, name: str) -> None:
    assert paths(filled, "solar wind turbines", name) == ["solar.md"]


def test_a_folder_counts_as_a_publisher(filled: Index) -> None:
    assert paths(filled, "solar wind turbines", "reports") == ["Reports/wind.md"]


def test_a_publisher_that_is_not_there_gives_nothing(filled: Index) -> None:
    assert paths(filled, "solar", "Nobody") == []


def test_weights_are_parameters(index: Index) -> None:
    state = FileState(1, 1, "x")
    documents = [Document("whales", "something else", "text"), Document("else", "whales whales swim", "text")]
    more = [Document("t", f"filler number {n}", "text") for n in range(6)]
    index.put(Entry(f"{n}.txt", state, document) for n, document in enumerate(documents + more))
    by_title = search(index.connection, Query("whales"), 2, Weights(title=10, body=0.1))
    by_body = search(index.connection, Query("whales"), 2, Weights(title=0.1, body=10))
    assert [found.path for found in by_title + by_body] == ["0.txt", "1.txt", "1.txt", "0.txt"]


def found_by(index: Index, query: Query) -> list[str]:
    return [found.path for found in search(index.connection, query, 10)]


def test_a_phrase_must_stand_word_for_word(filled: Index) -> None:
    assert found_by(filled, Query("turbines panels", phrases=("in the cold",))) == ["solar.md"]
    assert found_by(filled, Query("turbines panels", phrases=("the in cold", "costs fall"))) == ["Reports/wind.md"]
    assert found_by(filled, Query("turbines panels", phrases=("no such phrase",))) == []
    assert found_by(filled, Query("", phrases=("costs fall",))) == ["Reports/wind.md"]


def test_the_context_orders_but_never_excludes_or_adds(index: Index) -> None:
    bodies = ["whales swim", "whales sing songs", "songs alone", *(f"filler {n}" for n in range(8))]
    index.put(Entry(f"{n}.txt", FileState(1, 1, "x"), Document("t", body, "text")) for n, body in enumerate(bodies))
    assert found_by(index, Query("whales", context="songs")) == ["1.txt", "0.txt"]
    assert found_by(index, Query("whales", context="swim")) == ["0.txt", "1.txt"]
    assert found_by(index, Query("", context="songs")) == []


def test_the_day_asked_for_comes_first_and_excludes_nothing(filled: Index) -> None:
    assert found_by(filled, Query("turbines solar", published="2023-10-07")) == ["solar.md", "Reports/wind.md"]
    assert found_by(filled, Query("turbines", published="1999-01-01")) == ["Reports/wind.md"]


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.text(st.characters(), max_size=60) | st.text(st.sampled_from("\"'*^:()+-{} ANDORNTabc東²\0"), max_size=40))
def test_no_text_can_break_a_query(filled: Index, text: str) -> None:
    queries = [Query(text), Query(text, text, (text, "x"), text, text), Query("solar", phrases=(text,))]
    for query in queries:
        assert len(search(filled.connection, query, 5)) <= 5


@pytest.mark.parametrize("text", ["", "   ", "?!", '"', "NEAR(", "* OR *", "x" * 10_000, "word " * 5_000])
def test_odd_queries_are_answered(filled: Index, text: str) -> None:
    search(filled.connection, Query(text), 5)


def test_a_limit_of_none_gives_none(filled: Index) -> None:
    assert search(filled.connection, Query("solar"), 0) == []

from hypothesis import given
from hypothesis import strategies as st

from deepwell.stages.judge.duplicates import find_duplicate, similarity

topics = st.text(max_size=60)


def test_shared_words_count_and_stopwords_do_not() -> None:
    assert similarity("the training data of machine learning", "machine learning: training data") == 1.0
    assert similarity("machine learning training data", "machine learning training speed") == 3 / 5


def test_eighty_percent_overlap_is_a_duplicate_at_the_default_threshold() -> None:
    found = find_duplicate("alpha beta gamma delta epsilon", ["alpha beta gamma delta"], 0.75)
    assert found is not None
    assert found.earlier == "alpha beta gamma delta"
    assert found.score == 0.8


def test_the_most_similar_topic_is_named() -> None:
    found = find_duplicate("solar power cost", ["solar power", "solar power cost today", "wind"], 0.5)
    assert found is not None
    assert found.earlier == "solar power cost today"


def test_below_the_threshold_nothing_is_found() -> None:
    assert find_duplicate("solar power", ["wind power"], 0.75) is None
    assert find_duplicate("solar power", [], 0.0) is None


def test_topics_in_chinese_are_compared_by_bigrams() -> None:
    assert similarity("東京の人口", "東京の人口は") > 0.7
    assert similarity("東京の人口", "大阪の天気") < 0.4


@given(topics, topics)
def test_similarity_is_symmetric_and_bounded(one: str, other: str) -> None:
    assert 0.0 <= similarity(one, other) <= 1.0
    assert similarity(one, other) == similarity(other, one)


@given(topics)
def test_a_topic_is_its_own_duplicate(topic: str) -> None:
    assert find_duplicate(topic, [topic], 1.0) is not None

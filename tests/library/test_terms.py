from deepwell.library.terms import MAX_TERMS, all_of, phrase, prepared, query_terms


def test_runs_without_spaces_become_pairs_with_the_last_sign_alone() -> None:
    assert prepared("in 東京都 now").split() == ["in", "東京", "京都", "都", "now"]


def test_text_with_spaces_is_left_alone() -> None:
    assert prepared("naïve Größe") == "naïve Größe"


def test_a_query_keeps_the_words_that_matter_in_order() -> None:
    assert query_terms("What is the company's best-known product?") == ["company", "best", "known", "product"]


def test_a_query_of_stopwords_alone_keeps_them() -> None:
    assert query_terms("The Who") == ["the", "who"]


def test_a_query_has_an_end() -> None:
    assert len(query_terms(" ".join(f"word{n}" for n in range(1000)))) == MAX_TERMS


def test_operators_are_words() -> None:
    assert all_of(query_terms('solar NEAR("x") OR title:wind*')) == '"solar" AND "near" AND "x" AND "title" AND "wind"'
    assert phrase('a "b" (c)') == '"a b c"'
    assert phrase("!?") == ""

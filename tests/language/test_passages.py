import pytest
from hypothesis import given
from hypothesis import strategies as st

from deepwell.language.passages import Cut, passages

texts = st.one_of(
    st.text(max_size=500),
    st.lists(
        st.sampled_from(["Word ", "longerword ", "End. ", "# Heading\n", "\n\n", "- item\n", "x" * 70, "語。"])
    ).map("".join),
)
cuts = st.builds(
    lambda size, more, overlap: Cut(size, size + more, overlap),
    st.integers(1, 120),
    st.integers(0, 60),
    st.integers(0, 2),
)


@given(texts, cuts)
def test_passages_are_exact_ordered_bounded_and_cover_the_text(text: str, cut: Cut) -> None:
    covered = 0
    last_start = -1
    for start, end in passages(text, cut):
        assert last_start < start < end <= len(text)
        assert end - start <= cut.longest
        assert not text[covered:start].strip()
        assert text[start:end] == text[start:end].strip()
        assert end > covered
        if not cut.overlap:
            assert start >= covered
        covered, last_start = end, start
    assert not text[covered:].strip()


def cut_up(text: str, cut: Cut) -> list[str]:
    return [text[start:end] for start, end in passages(text, cut)]


def test_a_heading_stays_with_the_text_below_it() -> None:
    text = "First part is here. It has two.\n\n# Second\n\nThe second part is this one."
    assert cut_up(text, Cut(size=45, longest=60))[-1] == "# Second\n\nThe second part is this one."


def test_a_paragraph_may_end_in_the_passage_where_it_began() -> None:
    text = "One two three four. Five six seven.\n\nNext paragraph here."
    assert cut_up(text, Cut(size=25, longest=40)) == ["One two three four. Five six seven.", "Next paragraph here."]


def test_a_sentence_too_long_for_any_passage_is_cut_between_words() -> None:
    assert cut_up("word " * 20, Cut(size=22, longest=22)) == ["word word word word"] * 5


def test_text_without_gaps_is_cut_by_length() -> None:
    assert [len(part) for part in cut_up("x" * 95, Cut(size=30, longest=40))] == [40, 40, 15]


def test_sentences_are_repeated_on_request() -> None:
    text = "Aaaa bbbb. Cccc dddd. Eeee ffff. Gggg hhhh."
    assert cut_up(text, Cut(size=22, longest=30, overlap=1))[:2] == ["Aaaa bbbb. Cccc dddd.", "Cccc dddd. Eeee ffff."]


@pytest.mark.parametrize("text", ["", " \n \n"])
def test_nothing_gives_nothing(text: str) -> None:
    assert cut_up(text, Cut()) == []

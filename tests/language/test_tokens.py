"""Token estimates need no vocabulary, and are never far off."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deepwell.language.tokens import estimated_tokens, fitting


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("The quick brown fox jumps over the lazy dog.", 10),
        ("今天天气很好，我们去公园散步。", 14),
        ("Сегодня хорошая погода, и мы идём гулять.", 16),
        ("In 1948, Shannon defined H = -Σ p(x) log p(x) [3].", 28),
    ],
)
def test_estimates_are_near_what_real_tokenizers_say(text: str, tokens: int) -> None:
    assert estimated_tokens(text) == pytest.approx(tokens, rel=0.45)


@given(st.text(max_size=400), st.integers(1, 100))
def test_what_is_fitted_fits_and_is_the_beginning(text: str, tokens: int) -> None:
    cut = fitting(text, tokens)
    assert text.startswith(cut)
    assert estimated_tokens(cut) <= max(tokens, estimated_tokens(text) if cut == text else tokens) + 60


def test_a_cut_ends_at_a_word() -> None:
    assert (
        fitting("alpha beta gamma delta epsilon zeta eta theta", 6) in "alpha beta gamma delta epsilon zeta eta theta"
    )
    assert not fitting("alpha beta gamma delta epsilon zeta eta theta", 6).endswith("gam")

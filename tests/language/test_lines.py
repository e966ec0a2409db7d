"""Text from outside on one line."""

import pytest

from deepwell.language.lines import one_line
from deepwell.search.plain import plain


@pytest.mark.parametrize("turning", "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
def test_nothing_turns_a_line_round(turning: str) -> None:
    assert one_line(f"safe{turning}fdp.exe", 99) == "safefdp.exe"
    assert plain(f"<b>safe</b>{turning}fdp.exe", 99) == "safefdp.exe"
    assert plain(f"safe&#{ord(turning)};fdp.exe", 99) == "safefdp.exe"


def test_marks_of_direction_that_a_language_needs_are_kept() -> None:
    assert one_line("שלום\u200f!\n(سلام\u061c)", 99) == "שלום\u200f! (سلام\u061c)"


@pytest.mark.parametrize(("most", "line"), [(99, "one two three"), (9, "one two …"), (7, "one …"), (2, "on …")])
def test_a_line_is_cut_at_a_word(most: int, line: str) -> None:
    assert one_line("one  two\tthree\x00\n", most) == line

from hypothesis import given
from hypothesis import strategies as st

from deepwell.language.markers import cited
from deepwell.stages.verify.existence import check_existence
from deepwell.testing import source
from deepwell.vocabulary.evidence import Evidence
from deepwell.vocabulary.report import WrittenSection
from deepwell.vocabulary.source import SourceCard

KEPT = source("It has thirty gears. It is green.", "a.md")
CATALOGUE = [SourceCard.of(KEPT, 1), SourceCard.of(source("Other.", "b.md"), 2)]
LEDGER = [Evidence("It has thirty gears.", (KEPT.cut(0, 20),), ("a.md",))]


def test_known_citations_stay_and_find_their_passages() -> None:
    checked = check_existence(
        [WrittenSection("Answer", "- “It has thirty gears.” [1]\n- It is old [2].")], CATALOGUE, LEDGER
    )
    assert checked.removed == ()
    assert [(c.source_ids, [p.text for p in c.passages]) for c in checked.citations] == [
        ((1,), ["It has thirty gears."]),
        ((2,), []),
    ]


def test_unknown_citations_are_removed_and_counted() -> None:
    checked = check_existence([WrittenSection("Answer", "Gold [99], and gears [1, 7].")], CATALOGUE, LEDGER)
    assert checked.sections[0].text == "Gold, and gears [1]."
    assert checked.removed == (99, 7)


@given(st.lists(st.tuples(st.text(alphabet="abc .\n", max_size=20), st.integers(0, 9)), max_size=8))
def test_what_is_left_resolves_and_checking_again_changes_nothing(pieces: list[tuple[str, int]]) -> None:
    text = " ".join(f"{words} [{number}]" for words, number in pieces)
    checked = check_existence([WrittenSection("A", text)], CATALOGUE, LEDGER)
    assert all(set(cited(section.text)) <= {1, 2} for section in checked.sections)
    again = check_existence(checked.sections, CATALOGUE, LEDGER)
    assert again.sections == checked.sections
    assert again.removed == ()

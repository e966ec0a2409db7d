from deepwell.stages.judge.merge import merged
from deepwell.testing import source
from deepwell.vocabulary.evidence import Evidence, ReadPassage, UnitOutcome
from deepwell.vocabulary.plan import Topic
from deepwell.vocabulary.source import Source


def outcome(*sources: Source) -> UnitOutcome:
    passages = tuple(ReadPassage(s.cut(0, len(s.text)), s) for s in sources)
    evidence = tuple(Evidence(s.text, (s.cut(0, len(s.text)),), (s.address,)) for s in sources)
    answer = " ".join(f"{s.text} [{i}]" for i, s in enumerate(sources, start=1))
    return UnitOutcome(Topic("t", "sq-1"), "complete", 0.1, answer=answer, passages=passages, evidence=evidence)


ONE, TWO, THREE = source("One.", "1.md"), source("Two.", "2.md"), source("Three.", "3.md")


def test_sources_are_numbered_in_the_order_of_dispatch_and_notes_cite_by_these_numbers() -> None:
    gathered = merged([outcome(TWO, ONE), outcome(ONE, THREE)], [], [], 10)
    assert [(card.id, card.address) for card in gathered.cards] == [(1, "2.md"), (2, "1.md"), (3, "3.md")]
    assert gathered.notes == ("Two. [1] One. [2]", "One. [2] Three. [3]")
    assert [e.claim for e in gathered.evidence] == ["Two.", "One.", "Three."]


def test_what_is_known_keeps_its_number_and_is_not_added_again() -> None:
    before = merged([outcome(ONE)], [], [], 10)
    after = merged([outcome(TWO, ONE)], before.cards, before.evidence, 10)
    assert [(card.id, card.address) for card in after.cards] == [(2, "2.md")]
    assert [e.claim for e in after.evidence] == ["Two."]


def test_no_more_sources_than_allowed() -> None:
    gathered = merged([outcome(ONE, TWO, THREE)], [], [], 2)
    assert [card.id for card in gathered.cards] == [1, 2]
    assert gathered.notes == ("One. [1] Two. [2] Three.",)
    assert [e.claim for e in gathered.evidence] == ["One.", "Two."]

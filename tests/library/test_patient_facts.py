"""Facts are there at once or not at all."""

import threading
from collections.abc import Sequence

from deepwell.analyst.extractive.facts import NoFacts
from deepwell.library.patient_facts import PatientFacts


class Counting(NoFacts):
    """Knows how often it was asked."""

    passage_count = 7

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.goes_on = threading.Event()
        self.goes_on.set()

    def frequency(self, term: str) -> int:
        self.asked.append(term)
        self.goes_on.wait()
        return 3

    def together(self, words: Sequence[str]) -> int:
        self.asked.append(" ".join(words))
        return 2


def test_each_thing_is_asked_once() -> None:
    facts = Counting()
    patient = PatientFacts(facts)
    assert [patient.frequency("gear"), patient.frequency("gear")] == [3, 3]
    assert patient.together(["gear", "wheel"]) == 2
    assert patient.passage_count == 7
    assert facts.asked == ["gear", "gear wheel"]


def test_after_one_that_hangs_no_other_is_asked() -> None:
    facts = Counting()
    patient = PatientFacts(facts, seconds=0.01)
    facts.goes_on.clear()
    assert patient.frequency("gear") == NoFacts().frequency("gear")
    assert patient.together(["gear", "wheel"]) == NoFacts().together(["gear", "wheel"])
    assert patient.passage_count == 0
    assert facts.asked == ["gear"]
    facts.goes_on.set()

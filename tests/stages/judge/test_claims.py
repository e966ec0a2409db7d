from hypothesis import given
from hypothesis import strategies as st

from deepwell.configuration import Configuration
from deepwell.stages.judge.claims import extract_evidence, uncertainty
from deepwell.testing import source
from deepwell.vocabulary.evidence import ReadPassage
from deepwell.vocabulary.plan import Topic

TOPIC = Topic("gears", "sq-1")
TEXT = "Intro here. The device has thirty\n gears in all. It may have had more. Outro."


def read(text: str, address: str = "a.md") -> ReadPassage:
    kept = source(text, address)
    return ReadPassage(kept.cut(0, len(text)), kept)


def test_a_quotation_is_tied_to_its_exact_span() -> None:
    found = extract_evidence("“The device has thirty gears in all.” [1]", [read(TEXT)], TOPIC, Configuration())
    assert [e.claim for e in found] == ["The device has thirty gears in all."]
    assert found[0].passages[0].text == "The device has thirty\n gears in all."
    assert found[0].source_urls == ("a.md",)
    assert found[0].confidence == 0.5


def test_a_paraphrase_is_tied_to_the_nearest_sentence() -> None:
    found = extract_evidence("Thirty gears are in the device [1].", [read(TEXT)], TOPIC, Configuration())
    assert found[0].passages[0].text == "The device has thirty\n gears in all."


def test_sentences_without_a_known_marker_are_no_evidence() -> None:
    assert extract_evidence("It is old. It is green [7].", [read(TEXT)], TOPIC, Configuration()) == ()


def test_one_claim_may_rest_on_several_sources() -> None:
    passages = [read("It sank.", "a.md"), read("Yes: It sank.", "b.md")]
    found = extract_evidence("It sank. [1][2]", passages, TOPIC, Configuration())
    assert found[0].source_urls == ("a.md", "b.md")
    assert len(found[0].passages) == 2


def test_the_same_claim_twice_is_one_claim_with_both_sources() -> None:
    passages = [read("It sank.", "a.md"), read("Yes: It sank.", "b.md")]
    found = extract_evidence("It sank. [1] - “It sank.” [2]", passages, TOPIC, Configuration())
    assert len(found) == 1
    assert found[0].source_urls == ("a.md", "b.md")


def test_both_caps_hold() -> None:
    passages = [read(f"Fact number {n} stands.", f"{n}.md") for n in range(1, 6)]
    answer = " ".join(f"Fact number {n} stands. [{n}]" for n in range(1, 6)) + " All agree on facts. [1,2,3,4,5]"
    configuration = Configuration(max_evidence_claims_per_research_unit=2)
    assert len(extract_evidence(answer, passages, TOPIC, configuration)) == 2
    narrow = Configuration(max_source_urls_per_claim=3)
    assert len(extract_evidence(answer, passages, TOPIC, narrow)[-1].source_urls) == 3


def test_uncertain_words_are_named() -> None:
    assert uncertainty("It may have had more; the count is disputed.") == "may, disputed"
    assert uncertainty("It has thirty gears.") is None


@given(st.text(max_size=200), st.text(min_size=1, max_size=120).filter(str.strip))
def test_every_span_slices_exactly(answer: str, text: str) -> None:
    passages = [read(text)]
    for item in extract_evidence(f"{answer} [1]", passages, TOPIC, Configuration()):
        for span in item.passages:
            assert passages[0].source.text[span.start : span.end] == span.text
            assert span.text

import asyncio
from collections.abc import Sequence
from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deepwell.analyst.extractive import ExtractiveAnalyst
from deepwell.analyst.extractive.answerable import cited_sources, missing_for
from deepwell.analyst.extractive.differences import comparisons, figures
from deepwell.analyst.extractive.facts import NoFacts
from deepwell.analyst.extractive.question import take_apart
from deepwell.analyst.extractive.quotes import best_quotes
from deepwell.configuration import Configuration
from deepwell.language.markers import cited
from deepwell.language.words import words
from deepwell.stages.judge.claims import extract_evidence
from deepwell.stages.verify.existence import check_existence
from deepwell.testing import source
from deepwell.vocabulary.evidence import Evidence, ReadPassage
from deepwell.vocabulary.plan import Topic
from deepwell.vocabulary.question import Brief, Intake, Turn
from deepwell.vocabulary.report import NumberedEvidence, Outline, Section, Unanswerable, WrittenSection
from deepwell.vocabulary.source import SourceCard


class Facts(NoFacts):
    """A library of six passages, in which every word is known but those named."""

    passage_count = 6
    sourced = 1.0

    def __init__(self, publishers: Sequence[str] = (), titles: Sequence[str] = (), unknown: Sequence[str] = ()) -> None:
        self._publishers, self._titles, self._unknown = publishers, titles, set(unknown)

    def publishers(self) -> Sequence[str]:
        return self._publishers

    def titles(self) -> Sequence[str]:
        return self._titles

    def frequency(self, term: str) -> int:
        return 0 if term.lower() in self._unknown else 2

    def together(self, words: Sequence[str]) -> int:
        return min(self.frequency(word) for word in words)


def read(text: str, address: str = "a.md", title: str = "A") -> ReadPassage:
    kept = source(text, address, title)
    return ReadPassage(kept.cut(0, len(text)), kept, score=1.0)


async def plan(question: str, facts: Facts | None = None) -> Intake:
    return await ExtractiveAnalyst(facts or Facts()).take_in((Turn("user", question),), date(2026, 1, 2))


async def texts(question: str, facts: Facts | None = None) -> list[str]:
    return [part.text for part in (await plan(question, facts)).plan.subquestions]


async def test_a_plain_question_is_its_own_subquestion_with_differing_searches() -> None:
    intake = await plan("When was the mechanism made?")
    (part,) = intake.plan.subquestions
    assert part.text == "When was the mechanism made?"
    assert 3 <= len(set(part.queries)) <= 4
    assert intake.brief.as_of == "2026-01-02"


async def test_a_question_in_parts_is_split() -> None:
    found = await texts("Who found the wreck off the island, who first saw the gears, and why did the first dive stop?")
    assert found == [
        "Who found the wreck off the island",
        "who first saw the gears",
        "why did the first dive stop",
    ]


async def test_a_part_that_says_nothing_by_itself_stays_with_the_part_before() -> None:
    assert await texts("How heavy was the scanner, and what was it built for?") == [
        "How heavy was the scanner, and what was it built for?"
    ]


async def test_what_is_compared_is_looked_into_one_by_one() -> None:
    intake = await plan("Compare the reconstructions of Price, Wright and Freeth.")
    assert intake.brief.kind == "comparison"
    names = [part.text.split(":")[0] for part in intake.plan.subquestions]
    assert names[:3] == ["Price", "Wright", "Freeth"]
    assert all(3 <= len(part.queries) <= 4 for part in intake.plan.subquestions)


async def test_a_publisher_the_library_holds_restricts_its_part() -> None:
    question = (
        "Does the Daily Planet article praise the bridge while The Wire - Sports report of 7 October 2023 mocks it?"
    )
    intake = await plan(question, Facts(publishers=["Daily Planet", "The Wire - Sports"]))
    first, second = (part.queries[0] for part in intake.plan.subquestions[:2])
    assert first.publisher == "Daily Planet"
    assert (second.publisher, second.published) == ("The Wire - Sports", "2023-10-07")


async def test_a_digest_quotes_exactly_and_says_where() -> None:
    passages = [
        read("Nothing here at all. The device has thirty gears of bronze. Ask the curator?"),
        read("Gears: see above."),
    ]
    topic = Topic("How many gears does the device have?", "sq-1")
    findings = await ExtractiveAnalyst(Facts()).digest(Brief(topic.text), topic, passages)
    assert "“The device has thirty gears of bronze.” [1]" in findings.answer
    assert set(cited(findings.answer)) <= {1, 2}
    assert findings.gaps == ()


async def test_names_that_the_question_does_not_hold_become_leads() -> None:
    passages = [read("The thermostat of the kettle comes from Brightline Ltd in Bremen.", title="Kettle")]
    topic = Topic("Who founded the supplier of the kettle?", "sq-1")
    findings = await ExtractiveAnalyst(Facts()).digest(Brief(topic.text), topic, passages)
    assert findings.gaps
    assert "Brightline Ltd" in findings.leads[0].queries[0].phrases
    assert "founded" in findings.leads[0].queries[0].text
    assert findings.leads[0].origin == passages[0].passage.handle


def test_the_same_thing_is_not_quoted_twice_but_another_number_is() -> None:
    passages = [
        read("The firm employs eighty people in its works.", "a.md"),
        read("The firm employs eighty people in its works today.", "b.md"),
        read("The firm employs 120 people in its works.", "c.md"),
    ]
    terms = {"firm": 1.0, "employ": 1.0, "peopl": 1.0}
    quotes = best_quotes("How many people does the firm employ?", terms, passages, 8)
    assert sorted(quote.passage for quote in quotes) in ([1, 3], [2, 3])


def evidence(claim: str, number: int) -> NumberedEvidence:
    kept = source(claim, f"{number}.md")
    return NumberedEvidence(Evidence(claim, (kept.cut(0, len(claim)),), (kept.address,), subquestion="sq-1"), (number,))


def test_numbers_with_what_they_count() -> None:
    found = figures("Thirty gears survive; 82 fragments, 12 % of them large, were raised in 1901, made about 150 BC.")
    assert [(f.thing, f.value) for f in found] == [
        ("fragment", 82.0),
        ("percent", 12.0),
        ("year", 1901.0),
        ("year BC", 150.0),
        ("gear", 30.0),
    ]


def test_sources_that_differ_and_agree() -> None:
    found = comparisons(
        [
            evidence("The machine had 37 gears in all.", 1),
            evidence("The machine had thirty gears in all.", 2),
            evidence("Divers found the wreck in 1900.", 3),
            evidence("The wreck was found in 1900 by divers.", 4),
        ]
    )
    assert [(c.thing, c.agrees) for c in found] == [("gears", False), ("year", True)]


@pytest.mark.parametrize(
    ("question", "sources"),
    [
        ("According to a Bloomberg article, who won?", ["Bloomberg"]),
        ("What is said in a report by Reuters and in the 'Fortune' piece?", ["Reuters", "Fortune"]),
        ("Which articles of the treaty apply in Spain?", []),
    ],
)
def test_publications_that_a_question_cites(question: str, sources: list[str]) -> None:
    assert [span.text for span in cited_sources(question)] == sources


def missing(question: str, facts: Facts, *claims: str) -> tuple[str, ...]:
    return missing_for(take_apart(question, facts.publishers(), facts.titles()), facts, claims)


@given(
    st.lists(
        st.sampled_from(["Gears turn in the old device.", "Wheels[2] of gears turn.", "See [1]; gears [3] too.[2]"])
    )
)
def test_a_claim_rests_on_the_passage_it_was_quoted_from(parts: list[str]) -> None:
    passages = [read(" ".join(parts) or "Gears turn here today.", "a.md"), read("Other gears rest.", "b.md")]
    topic = Topic("Which gears turn?", "sq-1")
    findings = asyncio.run(ExtractiveAnalyst(Facts()).digest(Brief(topic.text), topic, passages))
    for item in extract_evidence(findings.answer, passages, topic, Configuration()):
        for span in item.passages:
            kept = {p.source.hash: p.source.text for p in passages}[span.source]
            assert kept[span.start : span.end] == span.text
            assert set(words(item.claim)) <= set(words(span.text))


def test_an_unknown_name_or_source_is_said_to_be_missing() -> None:
    facts = Facts(publishers=["Wire"], unknown=["nasa", "jupiter", "bloomberg"])
    assert missing("What did NASA say about Jupiter?", facts, "x") == (
        "No passage mentions NASA.",
        "No passage mentions Jupiter.",
    )
    assert missing("Who won, according to a Bloomberg article?", facts, "x") == (
        "Nothing published by Bloomberg is among them.",
    )
    assert missing("Who won, according to the Wire?", facts, "x") == ()


def test_a_measure_that_is_only_given_for_something_else_is_missing() -> None:
    question = "What did the Antikythera mechanism weigh?"
    assert missing(question, Facts(), "BladeRunner weighed about eight tonnes.")
    assert not missing(question, Facts(), "The Antikythera mechanism weighed a few kilograms.")
    assert not missing(
        "What did the company of the Antikythera scanner weigh?", Facts(), "BladeRunner weighed eight tonnes."
    )


def test_one_part_that_is_unsaid_does_not_refuse_the_others() -> None:
    question = "What did the Antikythera mechanism weigh, and when did the divers find the wreck of the ship?"
    assert not missing(question, Facts(), "BladeRunner weighed eight tonnes.", "The divers found the wreck in 1900.")
    merged = "What did the Antikythera mechanism weigh when it was new, and who made it?"
    assert missing(merged, Facts(), "BladeRunner weighed about eight tonnes.", "It was made on Rhodes.")


async def test_an_outline_answers_first_and_names_what_is_missing() -> None:
    analyst = ExtractiveAnalyst(Facts())
    intake = await plan("Who found the wreck off the island, and why did the first dive stop early?")
    found = [evidence("Sponge divers found the wreck off the island.", 1)]
    outline = await analyst.outline(intake.brief, intake.plan, found, ())
    assert isinstance(outline, Outline)
    assert [section.heading for section in outline.sections] == ["Answer", "What was not found"]
    text = await analyst.write_section(intake.brief, outline, outline.sections[0], ())
    assert text == "- “Sponge divers found the wreck off the island.” [1]"
    assert "Nothing was found on: why did the first dive stop early" in outline.sections[1].notes


async def test_footnote_marks_of_a_page_are_quoted_and_cite_nothing() -> None:
    passages = [read("Divers found the wreck [2] off the island (see [3])."), read("Nothing of it.", "b.md")]
    topic = Topic("Who found the wreck?", "sq-1")
    analyst = ExtractiveAnalyst(NoFacts())
    findings = await analyst.digest(Brief(topic.text), topic, passages)
    (item,) = extract_evidence(findings.answer, passages, topic, Configuration())
    section = Section("Answer", "", (NumberedEvidence(item, (1,)),))
    text = await analyst.write_section(Brief(topic.text), Outline("?", (section,)), section, ())
    assert text == r"- “Divers found the wreck [2\] off the island (see [3\]).” [1]"
    catalogue = [SourceCard.of(one.source, number) for number, one in enumerate(passages, start=1)]
    checked = check_existence([WrittenSection("Answer", text)], catalogue, [item])
    assert checked.sections[0].text == text
    assert [(c.source_ids, c.passages) for c in checked.citations] == [((1,), item.passages)]


async def test_evidence_without_the_names_asked_for_is_refused() -> None:
    analyst = ExtractiveAnalyst(Facts(unknown=["nasa"]))
    intake = await plan("What did NASA say?")
    assert isinstance(await analyst.outline(intake.brief, intake.plan, [evidence("It rained.", 1)], ()), Unanswerable)


async def test_a_chinese_text_can_be_quoted() -> None:
    topic = Topic("東京の人口は何人ですか", "sq-1")
    passages = [read("東京は日本の首都です。東京の人口は約千四百万人です。")]
    findings = await ExtractiveAnalyst(NoFacts()).digest(Brief(topic.text), topic, passages)
    assert "“東京の人口は約千四百万人です。” [1]" in findings.answer


async def test_a_section_without_evidence_is_its_notes() -> None:
    section = Section("What was not found", "", notes=("Nothing on: x",))
    assert (
        await ExtractiveAnalyst().write_section(Brief("?"), Outline("?", (section,)), section, ()) == "- Nothing on: x"
    )

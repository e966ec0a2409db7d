"""Whatever a model sends is read in about linear time: one of these that is not would hang, so nothing is timed."""

from collections.abc import Callable

import pytest

from deepwell.analyst.extractive.answerable import cited_sources, is_proper
from deepwell.analyst.extractive.differences import comparisons, figures
from deepwell.analyst.extractive.quotes import best_quotes, sentence_score
from deepwell.analyst.extractive.writing import section_text
from deepwell.analyst.model.blocks import claim_blocks, harmless
from deepwell.configuration import Configuration
from deepwell.language.figures import days, numbers
from deepwell.language.markdown import as_it_stands, leading_nowhere, on_one_line
from deepwell.language.markers import cited, cited_sentences, renumbered, without_markers
from deepwell.language.names import names, quoted
from deepwell.language.relevance import take_apart
from deepwell.language.sentences import sentences, whole_sentences
from deepwell.language.stems import stems
from deepwell.language.tokens import estimated_tokens, fitting
from deepwell.language.words import content_words, words
from deepwell.stages.judge.claims import extract_evidence, span_in, uncertainty
from deepwell.stages.judge.compact import summary
from deepwell.stages.judge.duplicates import find_duplicate
from deepwell.stages.judge.novelty import novelty
from deepwell.stages.verify.existence import check_existence
from deepwell.testing import source
from deepwell.vocabulary.evidence import Evidence, ReadPassage
from deepwell.vocabulary.plan import Topic
from deepwell.vocabulary.report import NumberedEvidence, Section, WrittenSection
from deepwell.vocabulary.source import SourceCard

SIZE = 20_000
ATOMS = (
    " ",
    "\n",
    "[",
    "\\[",
    "[1](",
    "[](()",
    "![",
    "[a][",
    "[1,",
    "A [1]. ",
    "[1]. ",
    "<a",
    "<!--",
    "<http:",
    "http://",
    "www.",
    "\\",
    "`",
    "a@",
    "-",
    "1,",
    "1a,",
    "The ",
    "A.",
    "1 gear ",
    "in 1990 (1%) ",
    "“",
    "一",
)


def hostile(atom: str) -> str:
    """Begun and ended so that nothing matches as a whole."""
    return f"A{(atom * SIZE)[:SIZE]}A x"


def read(text: str) -> ReadPassage:
    kept = source(text)
    return ReadPassage(kept.cut(0, len(text)), kept)


def numbered(text: str) -> tuple[NumberedEvidence, ...]:
    spans = (source(text).cut(0, len(text)),)
    half = len(text) // 2
    told = (Evidence(claim, spans, ("a.md",), None, "sq-1", "gears") for claim in (text[:half], text[half:]))
    return tuple(NumberedEvidence(evidence, (n,)) for n, evidence in enumerate(told, start=1))


def checked(text: str) -> object:
    return check_existence([WrittenSection("", text)], [SourceCard.of(source("It rose."), 2)], [])


READERS: dict[str, Callable[[str], object]] = {
    "cited": cited,
    "without_markers": without_markers,
    "cited_sentences": lambda text: list(cited_sentences(text)),
    "renumbered": lambda text: renumbered(text, {2: 1}),
    "leading_nowhere": leading_nowhere,
    "on_one_line": on_one_line,
    "as_it_stands": as_it_stands,
    "sentences": lambda text: list(sentences(text)),
    "whole_sentences": whole_sentences,
    "words": words,
    "content_words": content_words,
    "stems": stems,
    "names": names,
    "quoted": quoted,
    "numbers": numbers,
    "days": days,
    "holds": lambda text: take_apart("", text).holds((*stems(text[: SIZE // 2]), "no")),
    "estimated_tokens": estimated_tokens,
    "fitting": lambda text: fitting(text, 100),
    "extract_evidence": lambda text: extract_evidence(
        text, [read("It rose.")], Topic("gears", "sq-1"), Configuration()
    ),
    "span_in": lambda text: span_in(read(text), f"{text[: SIZE // 2]} no"),
    "uncertainty": uncertainty,
    "summary": summary,
    "novelty": lambda text: novelty([text], ["It rose."]),
    "find_duplicate": lambda text: find_duplicate(text, ["It rose."], 0.5),
    "check_existence": checked,
    "sentence_score": lambda text: sentence_score("How much?", {"gear": 1.0}, text),
    "best_quotes": lambda text: best_quotes("Who?", {"a": 1.0}, [read(text)], 3),
    "figures": figures,
    "comparisons": lambda text: comparisons(numbered(text)),
    "section_text": lambda text: section_text(Section("Gears", "", numbered(text))),
    "cited_sources": cited_sources,
    "is_proper": is_proper,
    "harmless": harmless,
    "claim_blocks": lambda text: claim_blocks(numbered(text), 100),
}


@pytest.mark.parametrize("reader", READERS)
def test_it_comes_to_an_end(reader: str) -> None:
    for atom in ATOMS:
        READERS[reader](hostile(atom))


def test_a_claim_that_could_be_read_in_many_ways_is_looked_for_once() -> None:
    page = "It rose. " + "[2] " * 60 + "y"
    assert span_in(read(page), "[2] " * 30 + "z").text


def test_a_claim_told_a_thousand_times_is_one_claim() -> None:
    answer = "It rose [1]. " * 1000
    assert len(extract_evidence(answer, [read("It rose.")], Topic("gears", "sq-1"), Configuration())) == 1


def test_a_word_of_accents_alone_is_a_word() -> None:
    assert all(stems("\uff9e 5 apples \uff9e's"))
    assert figures("\uff9e 5 apples \uff9e's")


def test_a_text_of_blanks_fits_anywhere() -> None:
    assert fitting(" " * 1000, 10) == ""


@pytest.mark.parametrize(
    ("text", "clean"),
    [
        ("See [a\\]b](http://x) now.", "See a\\]b now."),
        ("See [a [b] c](http://x) now.", "See a [b] c now."),
        ("See [a [b](http://y) c](http://x) now.", "See a b c now."),
        ("It rose [[1]](http://x).", "It rose [1]."),
        ("It rose [1](http://x)(by far).", "It rose [1] (by far)."),
        ("[a\\]b]: http://x\nIt rose.", "\nIt rose."),
        ("See [[[[a](b)](c)](d)](e) now.", "See [[a] (d)] (e) now."),
        ("See [a]<b>(http://x).", "See [a] (`http://x`)."),
        ("One<br>two<BR/>three", "One two three"),
    ],
)
def test_a_link_goes_and_its_text_stays(text: str, clean: str) -> None:
    assert leading_nowhere(text) == clean

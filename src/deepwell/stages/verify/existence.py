"""A citation exists only if its number is a source of this run: an unknown one never survives."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from deepwell.language.markers import cited, cited_sentences, renumbered, without_markers, without_quoted_markers
from deepwell.language.words import content_words
from deepwell.vocabulary.evidence import Evidence
from deepwell.vocabulary.report import Citation, WrittenSection
from deepwell.vocabulary.source import Passage, SourceCard


@dataclass(frozen=True, slots=True)
class Checked:
    """The text without unknown citations, every citation left in it, and the numbers that were removed."""

    sections: tuple[WrittenSection, ...]
    citations: tuple[Citation, ...]
    removed: tuple[int, ...]


def check_existence(
    sections: Sequence[WrittenSection], catalogue: Sequence[SourceCard], ledger: Sequence[Evidence]
) -> Checked:
    """Take out what names no source, then tie every cited sentence to the passages behind it."""
    known = {card.id for card in catalogue}
    removed = tuple(number for section in sections for number in cited(section.text) if number not in known)
    clean = tuple(replace(section, text=_cleaned(section.text, known)) for section in sections)
    kept = tuple(section for section in clean if section.text.strip())
    behind = _passages_by_claim(ledger)
    numbers = {card.hash: card.id for card in catalogue}
    citations = tuple(
        _citation(sentence, behind, numbers) for section in kept for sentence in cited_sentences(section.text)
    )
    return Checked(kept, citations, removed)


def _cleaned(text: str, known: Collection[int]) -> str:
    if all(number in known for number in cited(text)):
        return text
    return renumbered(text, {number: number for number in known})


def _citation(
    sentence: str, behind: Mapping[frozenset[str], tuple[Passage, ...]], numbers: Mapping[str, int]
) -> Citation:
    ids = cited(sentence)
    plain = without_markers(sentence)
    spans = behind.get(content_words(without_quoted_markers(plain)), ())
    return Citation(plain, ids, tuple(span for span in spans if numbers.get(span.source) in ids))


def _passages_by_claim(ledger: Sequence[Evidence]) -> dict[frozenset[str], tuple[Passage, ...]]:
    """Claims are found again by their words: quotation marks and bullets around them do not matter."""
    return {content_words(item.claim): item.passages for item in ledger}

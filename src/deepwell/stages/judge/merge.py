"""What a round brought back becomes part of the run: numbered sources, notes, evidence. Only ever appended."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from deepwell.language.markers import renumbered
from deepwell.vocabulary.evidence import Evidence, UnitOutcome
from deepwell.vocabulary.source import Source, SourceCard


@dataclass(frozen=True, slots=True)
class Gathered:
    """What a round adds to the run."""

    cards: tuple[SourceCard, ...]
    """Sources that were new, with their numbers."""
    notes: tuple[str, ...]
    evidence: tuple[Evidence, ...]
    handles: tuple[str, ...]
    """The kept passages, in their order."""


def merged(
    outcomes: Sequence[UnitOutcome],
    catalogue: Sequence[SourceCard],
    ledger: Sequence[Evidence],
    max_sources: int,
) -> Gathered:
    """Number the new sources in the order of dispatch, so that the same run always gives the same numbers."""
    numbers = {card.hash: card.id for card in catalogue}
    known = {item.claim for item in ledger}
    cards: list[SourceCard] = []
    evidence: list[Evidence] = []
    for outcome in outcomes:
        sources = {item.source.hash: item.source for item in outcome.passages}
        for item in outcome.evidence:
            cards.extend(_new_cards(item, sources, numbers, max_sources))
            admitted = _admitted(item, numbers)
            if admitted and admitted.claim not in known:
                known.add(admitted.claim)
                evidence.append(admitted)
    notes = [_note(outcome, numbers) for outcome in outcomes]
    handles = [item.passage.handle for outcome in outcomes for item in outcome.passages]
    return Gathered(tuple(cards), tuple(note for note in notes if note), tuple(evidence), tuple(dict.fromkeys(handles)))


def _new_cards(
    item: Evidence, sources: dict[str, Source], numbers: dict[str, int], max_sources: int
) -> list[SourceCard]:
    """Numbers for the sources behind a claim that have none yet, while the run may keep more."""
    cards = []
    for span in item.passages:
        if span.source not in numbers and len(numbers) < max_sources:
            numbers[span.source] = len(numbers) + 1
            cards.append(SourceCard.of(sources[span.source], numbers[span.source]))
    return cards


def _admitted(item: Evidence, numbers: dict[str, int]) -> Evidence | None:
    """The claim with those of its passages whose sources the run keeps; None when there are none."""
    spans = tuple(span for span in item.passages if span.source in numbers)
    if not spans:
        return None
    return item if spans == item.passages else replace(item, passages=spans)


def _note(outcome: UnitOutcome, numbers: dict[str, int]) -> str:
    """The unit's answer, citing by the run's own numbers."""
    mapping = {
        i: numbers[item.source.hash] for i, item in enumerate(outcome.passages, start=1) if item.source.hash in numbers
    }
    return renumbered(outcome.answer, mapping)

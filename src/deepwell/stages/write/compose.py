"""Have the report written: the outline first, then its sections, side by side or one after the other."""

import asyncio
from collections.abc import Sequence

from deepwell.analyst.protocol import Analyst
from deepwell.configuration import Configuration
from deepwell.vocabulary.evidence import Evidence
from deepwell.vocabulary.question import Brief
from deepwell.vocabulary.report import NumberedEvidence, Outline, WrittenSection
from deepwell.vocabulary.source import SourceCard, described


def numbered(ledger: Sequence[Evidence], catalogue: Sequence[SourceCard]) -> tuple[NumberedEvidence, ...]:
    """The evidence with the numbers of its sources; what has no numbered source is left out."""
    cards = {card.hash: card for card in catalogue}
    found = []
    for item in ledger:
        behind = dict.fromkeys(cards[span.source] for span in item.passages if span.source in cards)
        if behind:
            found.append(NumberedEvidence(item, tuple(c.id for c in behind), tuple(described(c) for c in behind)))
    return tuple(found)


async def written_sections(
    brief: Brief, outline: Outline, analyst: Analyst, configuration: Configuration
) -> tuple[WrittenSection, ...]:
    """Every section of the outline as text, in order; a section that came back empty is left out."""
    if configuration.section_mode == "sequential":
        sections = await _one_after_the_other(brief, outline, analyst)
    else:
        texts = await asyncio.gather(*(analyst.write_section(brief, outline, part, ()) for part in outline.sections))
        sections = [WrittenSection(s.heading, text) for s, text in zip(outline.sections, texts, strict=True)]
    return tuple(section for section in sections if section.text.strip())


async def _one_after_the_other(brief: Brief, outline: Outline, analyst: Analyst) -> list[WrittenSection]:
    written: list[WrittenSection] = []
    for section in outline.sections:
        text = await analyst.write_section(brief, outline, section, tuple(written))
        written.append(WrittenSection(section.heading, text))
    return written

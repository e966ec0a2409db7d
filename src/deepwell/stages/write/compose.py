"""Have the report written: the outline first, then its sections, side by side or one after the other."""

import asyncio
from collections.abc import Callable, Sequence

from deepwell.analyst.protocol import Analyst
from deepwell.configuration import Configuration
from deepwell.vocabulary.evidence import Evidence
from deepwell.vocabulary.progress import SectionStatus
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
    brief: Brief,
    outline: Outline,
    analyst: Analyst,
    configuration: Configuration,
    on_change: Callable[[int, SectionStatus], None] = lambda index, status: None,
) -> tuple[WrittenSection, ...]:
    """Every section of the outline as text, in order; a section that came back empty is left out.

    `on_change` is told the place of a section in the outline when it is begun and when it is written.
    """

    async def write(index: int, so_far: Sequence[WrittenSection]) -> WrittenSection:
        section = outline.sections[index]
        on_change(index, "writing")
        text = await analyst.write_section(brief, outline, section, tuple(so_far))
        on_change(index, "written")
        return WrittenSection(section.heading, text)

    if configuration.section_mode == "sequential":
        sections: list[WrittenSection] = []
        for index in range(len(outline.sections)):
            sections.append(await write(index, sections))
    else:
        sections = await asyncio.gather(*(write(index, ()) for index in range(len(outline.sections))))
    return tuple(section for section in sections if section.text.strip())

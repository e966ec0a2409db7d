"""The report as one Markdown document."""

from collections.abc import Iterator, Sequence

from deepwell.language.markdown import as_code, as_it_stands, bulleted
from deepwell.vocabulary.decision import StopReason
from deepwell.vocabulary.record import ResearchRecord
from deepwell.vocabulary.report import Citation, Methodology, NotFound, Report, WrittenSection
from deepwell.vocabulary.source import SourceCard

NOT_FOUND = "Not found"
CUT_SHORT = "**The research was stopped before anything was found.** That says nothing about the sources."
UNANSWERED = "**No search was answered, so nothing was searched.** That says nothing about the sources."
UNREAD = "**Pages were found, and none of them could be read.** That says nothing about what stands in them."


def report(
    title: str,
    sections: Sequence[WrittenSection],
    citations: Sequence[Citation],
    catalogue: Sequence[SourceCard],
    methodology: Methodology,
) -> Report:
    """Put the parts together; Sources lists what was cited and nothing else."""
    used = {number for citation in citations for number in citation.source_ids}
    sources = tuple(card for card in catalogue if card.id in used)
    parts = [f"# {as_it_stands(title)}", *(_section(section) for section in sections)]
    parts.extend(_methodology(methodology))
    parts.append("## Sources\n\n" + "\n\n".join(source_line(card) for card in sources))
    return Report(title, tuple(sections), tuple(citations), sources, methodology, "\n\n".join(parts) + "\n")


def not_found(
    question: str,
    searched: Sequence[str],
    missing: Sequence[str],
    methodology: Methodology,
    verdict: str,
) -> NotFound:
    """The honest alternative: what was looked for, and what was missing."""
    parts = [f"# {as_it_stands(question)}", verdict]
    if missing:
        parts.append("## What is missing\n\n" + bulleted(missing))
    if searched:
        parts.append("## What was searched\n\n" + bulleted(searched))
    parts.extend(_methodology(methodology))
    return NotFound(question, tuple(searched), tuple(missing), methodology, "\n\n".join(parts) + "\n")


def verdict(record: ResearchRecord, stop: StopReason, *, own_documents: bool) -> str:
    """What it means that there is no report: only sources that were read can be said not to answer."""
    if record.unanswered and not record.searched:
        return UNANSWERED
    if record.unread and not any(lane.handles for lane in record.lanes):
        return UNREAD
    if stop in (StopReason.TIME, StopReason.INTERRUPTED):
        return CUT_SHORT
    where = "in these documents" if own_documents else "in what was searched"
    return f"**{NOT_FOUND} {where}.** Nothing there answers the question."


def source_line(card: SourceCard) -> str:
    """One line of the list of sources, beginning with `[n]`. What a page says of itself is shown, never obeyed."""
    by = ", ".join(as_it_stands(part) for part in (card.author, card.publisher, card.published) if part)
    details = f" — {by}" if by else ""
    told = f"[{card.id}] {as_it_stands(card.title)}{details}"
    return f"{told}. {as_code(card.address)} (read {card.retrieved_at:%Y-%m-%d})"


def _section(section: WrittenSection) -> str:
    heading = f"## {as_it_stands(section.heading)}\n\n" if section.heading else ""
    return f"{heading}{section.text.strip()}"


def _methodology(methodology: Methodology) -> Iterator[str]:
    ended = f"Research ended because {methodology.stop.sentence}."
    if not methodology.lines and not methodology.spend:
        yield f"*{ended}*"
        return
    # A limit that ended the research is told by a line of its own.
    first = () if methodology.lines and methodology.stop.is_limit else (ended,)
    yield "## Methodology\n\n" + bulleted((*first, *methodology.lines, *methodology.spend))

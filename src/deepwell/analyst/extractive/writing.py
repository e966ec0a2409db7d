"""The report without a model: an answer first, then each part of the question, then differences and gaps."""

from collections.abc import Iterator, Sequence
from functools import lru_cache

from deepwell.analyst.extractive.differences import Comparison, comparisons
from deepwell.analyst.extractive.question import content, says, spelled
from deepwell.language.languages import language_of
from deepwell.language.markdown import as_it_stands, bulleted
from deepwell.language.markers import as_written
from deepwell.language.stems import stems
from deepwell.vocabulary.plan import Plan
from deepwell.vocabulary.question import Brief
from deepwell.vocabulary.report import NumberedEvidence, Outline, Section

_ASKED_FOR = frozenset(("year", "date", "day", "time", "number", "place", "reason", "way", "many", "much"))
"""Words that name the kind of answer: an answer need not repeat them."""
ANSWER = "Answer"
DIFFERENCES = "Where the sources agree and differ"
NOT_FOUND = "What was not found"
MOST_IN_ANSWER = 4
MOST_IN_SECTION = 8


def outline(brief: Brief, plan: Plan, best_first: Sequence[NumberedEvidence], unsaid: Sequence[str] = ()) -> Outline:
    """The sections and the evidence of each; `best_first` is ordered by how well it speaks to the question."""
    answer = _answer(plan, best_first)
    sections = [Section(ANSWER, "the short answer", answer)]
    sections += _parts(plan, best_first, answer)
    compared = _in_dispute(best_first)
    if compared:
        sections.append(Section(DIFFERENCES, "numbers set side by side", compared))
    missing = (*unsaid, *_missing(brief, plan, best_first))
    if missing:
        sections.append(Section(NOT_FOUND, "what stays open", notes=missing))
    return Outline(brief.question, tuple(sections))


def section_text(section: Section) -> str:
    """The section in Markdown."""
    if section.heading == DIFFERENCES:
        return "\n".join(_comparison(found) for found in comparisons(section.evidence))
    if section.notes:
        return bulleted(section.notes)
    return "\n".join(f"- {_quotation(item)}" for item in section.evidence)


def _answer(plan: Plan, best_first: Sequence[NumberedEvidence]) -> tuple[NumberedEvidence, ...]:
    """The best sentence for each part of the question, then the best of the rest."""
    firsts = [
        next((item for item in best_first if item.evidence.subquestion == part.id), None) for part in plan.subquestions
    ]
    order = dict.fromkeys([*(item for item in firsts if item), *best_first])
    return tuple(order)[: max(MOST_IN_ANSWER, len([item for item in firsts if item]))]


def _parts(plan: Plan, best_first: Sequence[NumberedEvidence], answer: Sequence[NumberedEvidence]) -> list[Section]:
    """A section for each part that has more to say than the answer already does."""
    found = []
    for part in plan.subquestions:
        own = tuple(item for item in best_first if item.evidence.subquestion == part.id and item not in answer)
        heading = _heading(part.text) if len(plan.subquestions) > 1 else "Further evidence"
        if own:
            found.append(Section(heading, part.text, own[:MOST_IN_SECTION], part.id))
    return found


def _missing(brief: Brief, plan: Plan, evidence: Sequence[NumberedEvidence]) -> Iterator[str]:
    """Parts of the question without evidence, and words of the others that nothing quoted says."""
    language = language_of(brief.question)
    said = frozenset(s for item in evidence for s in stems(item.evidence.claim))
    for part in plan.subquestions:
        if not any(item.evidence.subquestion == part.id for item in evidence):
            yield f"Nothing was found on: {part.text}"
            continue
        publishers = {word for query in part.queries for word in content(query.publisher or "", language)}
        asked = [word for word in content(part.text, language) if word not in _ASKED_FOR and word not in publishers]
        heard = spelled((word for word in asked if says(said, word, language)), part.text, language)
        unsaid = [word for word in spelled(asked, part.text, language) if word not in heard]
        if unsaid:
            yield f"{part.text}: nothing that is quoted here speaks of {', '.join(f'“{word}”' for word in unsaid)}."


def _heading(text: str) -> str:
    short = text if len(text) <= 90 else text[:87].rsplit(" ", 1)[0] + " …"
    return short[:1].upper() + short[1:]


def _in_dispute(evidence: Sequence[NumberedEvidence]) -> tuple[NumberedEvidence, ...]:
    found = [item for c in comparisons(evidence) for _, items in c.values for item in items]
    return tuple(dict.fromkeys(found))


def _comparison(found: Comparison) -> str:
    if found.agrees:
        value, items = found.values[0]
        return f"- They agree on **{as_it_stands(value)}**: {' '.join(_quotation(item) for item in items)}"
    lines = [f"- They differ on **{as_it_stands(found.thing)}**:"]
    lines += [
        f"  - {as_it_stands(value)}: {' '.join(_quotation(item) for item in items)}" for value, items in found.values
    ]
    return "\n".join(lines)


@lru_cache(maxsize=4096)
def _quotation(item: NumberedEvidence) -> str:
    """In quotation marks only what stands so in the source: a claim may have been put in other words."""
    claim = item.evidence.claim
    pieces = (as_written(claim, span.text) for span in item.evidence.passages)
    written = next((piece for piece in pieces if piece), None)
    return f"“{as_it_stands(written)}” {item.marker}" if written else f"{as_it_stands(claim)} {item.marker}"

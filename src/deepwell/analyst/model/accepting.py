"""From a filled-in form to vocabulary: what cannot be used is left out, and what is of no use at all is said so."""

import re
from collections.abc import Iterator, Sequence
from datetime import date
from typing import Any, get_args

from deepwell.analyst.model.forms import (
    ConductResearchForm,
    FetchForm,
    FindingsForm,
    IntakeForm,
    OutlineForm,
    PreferencesForm,
    ResearchCompleteForm,
    SearchForm,
    SectionForm,
    SubQuestionForm,
    ThinkForm,
)
from deepwell.analyst.protocol import Board, Notebook
from deepwell.language.markdown import leading_nowhere, on_one_line
from deepwell.language.markers import cited, renumbered
from deepwell.language.section_text import within_a_section
from deepwell.language.words import content_words
from deepwell.models.replies import MalformedReply
from deepwell.models.thinking import without_stray_thinking
from deepwell.vocabulary.evidence import Findings
from deepwell.vocabulary.moves import (
    ConductResearch,
    Done,
    FetchUrl,
    ResearchComplete,
    ResearcherMove,
    SearchWeb,
    SupervisorMove,
    Think,
)
from deepwell.vocabulary.plan import Plan, Query, SubQuestion
from deepwell.vocabulary.question import Brief, Clarification, Intake, Length, Preferences, QuestionKind
from deepwell.vocabulary.report import NumberedEvidence, Outline, Section, Unanswerable
from deepwell.vocabulary.tier import TIERS, Tier

MOST_CLAIMS_IN_A_SHORT_ANSWER = 12
MOST_SECTIONS = 8
MOST_LINES = 50
"""Of any list that a model writes."""
MOST_IN_LINE = 300
MOST_IN_HEADING = 120
MOST_THOUGHT = 2000
MOST_ANSWER = 20_000
"""Characters."""
OPEN_POINTS = "What was not found"
_HEADING = re.compile(r"^#{1,6}\s+")


def intake(form: Any, question: str, today: date, language: str = "") -> Clarification | Intake:
    """Brief, plan, preferences and tier; or the question back."""
    told: IntakeForm = form
    parts = list(_subquestions(told.subquestions, question))
    back = _line(told.clarification)
    if not parts and back.endswith(("?", "？")):
        return Clarification(back)
    if not parts:
        raise MalformedReply("The list `subquestions` needs at least one full question.")
    brief = Brief(
        question,
        _one_of(told.kind, get_args(QuestionKind), "survey"),
        _lines(told.must_cover),
        _lines(told.assumptions),
        today.isoformat(),
        _preferences(told.preferences, language),
    )
    tier: Tier | None = _one_of(told.tier, tuple(TIERS), None)
    return Intake(brief, Plan(tuple(parts)), tier)


def supervisor_moves(calls: Sequence[Any], board: Board) -> list[SupervisorMove]:
    """The proposed moves; a turn that only thinks proposes nothing."""
    moves = [move for call in calls if (move := _supervisor_move(call, board))]
    if not any(isinstance(move, ConductResearch | ResearchComplete) for move in moves):
        raise MalformedReply("Call ConductResearch for what is missing, or ResearchComplete.")
    return moves


def researcher_moves(calls: Sequence[Any], notebook: Notebook, shown: Sequence[int]) -> list[ResearcherMove]:
    """Findings end the unit; else the searches and reads that its allowance permits."""
    for call in calls:
        if isinstance(call, FindingsForm):
            return [Done(findings=findings(call, shown))]
    moves = [move for call in calls if (move := _researcher_move(call, notebook))]
    outside = [move for move in moves if isinstance(move, SearchWeb | FetchUrl)]
    if not outside:
        raise MalformedReply("Call report_findings with what the passages say, or search_web with new words.")
    return [*(move for move in moves if isinstance(move, Think)), *outside[: notebook.tool_calls_left]]


def findings(form: Any, shown: Sequence[int]) -> Findings:
    """The answer with those of its citations that name a passage it was shown."""
    told: FindingsForm = form
    said = leading_nowhere(without_stray_thinking(told.answer[:MOST_ANSWER])).strip()
    answer = renumbered(said, {number: number for number in shown})
    gaps = _lines(told.gaps)
    if not cited(answer):
        if gaps and not (shown and said):
            return Findings("", gaps, read=tuple(shown))
        raise MalformedReply("Each sentence of the answer must end with the number of its passage, such as [2].")
    return Findings(answer, gaps, read=tuple(shown))


def short_answer(brief: Brief, evidence: Sequence[NumberedEvidence], gaps: Sequence[str]) -> Outline:
    """One part without a heading: a single fact gets a short answer, not an essay."""
    answer = Section("", "the answer itself", tuple(evidence)[:MOST_CLAIMS_IN_A_SHORT_ANSWER])
    return Outline(brief.question, (answer, *_open_points(gaps, OPEN_POINTS)))


def outline(
    form: Any, brief: Brief, evidence: Sequence[NumberedEvidence], gaps: Sequence[str]
) -> Outline | Unanswerable:
    """The parts that have claims; what stayed open is added as a part of its own."""
    told: OutlineForm = form
    missing = _lines(told.missing)
    if not told.answerable and missing:
        return Unanswerable(missing)
    usable = [part for one in told.sections[:MOST_LINES] if (part := _section(one, evidence))]
    sections = _each_once(usable)[:MOST_SECTIONS]
    if not sections:
        raise MalformedReply("Every section needs a heading and the numbers of the claims that it rests on.")
    title = _line(told.title) or brief.question
    return Outline(title, (*sections, *_open_points(gaps, _open_heading(told.open_heading, sections))))


def section_text(text: str, section: Section) -> str:
    """The text with its own citations alone, without a heading, links or pictures."""
    allowed = {number: number for item in section.evidence for number in item.source_ids}
    plain = within_a_section(leading_nowhere(_without_heading(text[:MOST_ANSWER], section.heading)))
    clean = renumbered(plain, allowed).strip()
    if not cited(clean):
        raise MalformedReply("Every sentence that states a fact must end with the citation of its claim, such as [2].")
    return clean


def _subquestions(forms: Sequence[SubQuestionForm], question: str) -> Iterator[SubQuestion]:
    asked = {_line(form.question): form for form in forms[:MOST_LINES] if content_words(_line(form.question))}
    for i, (text, form) in enumerate(asked.items(), start=1):
        queries = [Query(search, question) for search in (*_lines(form.searches), text)]
        yield SubQuestion(f"sq-{i}", text, tuple(dict.fromkeys(queries)), form.settled_by.strip())


def _supervisor_move(call: Any, board: Board) -> SupervisorMove | None:
    match call:
        case ConductResearchForm() if content_words(call.research_topic):
            topic = _line(call.research_topic)
            queries = tuple(Query(search, board.brief.question) for search in (*_lines(call.searches), topic))
            return ConductResearch(topic, _served(call, board), _line(call.gap), queries)
        case ResearchCompleteForm():
            return ResearchComplete(min(1.0, max(0.0, call.confidence)), _lines(call.gaps))
        case ThinkForm() if call.reflection.strip():
            return Think(call.reflection.strip()[:MOST_THOUGHT])
    return None


def _served(call: ConductResearchForm, board: Board) -> str:
    """The sub-question that a topic serves: as told, or the one that it shares most words with."""
    named = call.subquestion.strip().lower()
    if any(part.id == named for part in board.plan.subquestions):
        return named
    words = content_words(f"{call.research_topic} {call.gap} {call.subquestion}")
    return max(board.plan.subquestions, key=lambda part: len(words & content_words(part.text))).id


def _researcher_move(call: Any, notebook: Notebook) -> ResearcherMove | None:
    match call:
        case SearchForm() if notebook.searches_left and content_words(call.query):
            query = Query(_line(call.query), notebook.brief.question)
            return None if query in notebook.queries else SearchWeb(query)
        case FetchForm() if call.address.strip():
            return FetchUrl(call.address.strip())
        case ThinkForm() if call.reflection.strip():
            return Think(call.reflection.strip()[:MOST_THOUGHT])
    return None


def _section(form: SectionForm, evidence: Sequence[NumberedEvidence]) -> Section | None:
    heading = _line(form.heading, MOST_IN_HEADING)
    chosen = [evidence[n - 1] for n in dict.fromkeys(form.claims) if 1 <= n <= len(evidence)]
    if not (heading and chosen):
        return None
    return Section(heading, form.purpose.strip(), tuple(chosen), chosen[0].evidence.subquestion)


def _each_once(sections: Sequence[Section]) -> list[Section]:
    first: dict[str, Section] = {}
    for section in sections:
        first.setdefault(section.heading.casefold(), section)
    return list(first.values())


def _open_points(gaps: Sequence[str], heading: str) -> Iterator[Section]:
    if gaps:
        yield Section(heading, "what stays open", notes=tuple(gaps))


def _open_heading(told: str, sections: Sequence[Section]) -> str:
    heading = _line(told, MOST_IN_HEADING)
    return heading if heading and heading not in [part.heading for part in sections] else OPEN_POINTS


def _preferences(form: PreferencesForm, language: str) -> Preferences:
    return Preferences(
        length=_one_of(form.length, get_args(Length), "standard"),
        audience=form.audience.strip(),
        format=form.format.strip(),
        tables=form.tables,
        language=language or form.language.strip(),
    )


def _one_of(text: str, allowed: Sequence[Any], otherwise: Any) -> Any:
    """The allowed word that was meant, however it was spelt."""
    key = re.sub(r"[\s_]+", "-", text.strip().lower())
    return key if key in allowed else otherwise


def _lines(texts: Sequence[str]) -> tuple[str, ...]:
    tidy = (_line(text) for text in texts[:MOST_LINES])
    return tuple(dict.fromkeys(line for line in tidy if content_words(line)))


def _line(text: str, most: int = MOST_IN_LINE) -> str:
    """One line of a length that a person would write."""
    line = on_one_line(text[: 4 * most])
    return line if len(line) <= most else f"{line[:most].rsplit(' ', 1)[0]} …"


def _without_heading(text: str, heading: str) -> str:
    first, _, rest = text.strip().partition("\n")
    said = _HEADING.sub("", first).strip(" *:#")
    return rest.strip() if said and (said.lower() == heading.lower() or _HEADING.match(first)) else text.strip()

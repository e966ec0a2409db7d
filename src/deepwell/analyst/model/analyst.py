"""The analyst that asks a chat model: it lays out the case, and takes from the reply only what can be used."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any, TypeVar

from deepwell.analyst.model import accepting, blocks
from deepwell.analyst.model.blocks import Shown
from deepwell.analyst.model.forms import (
    DIGEST,
    INVESTIGATE,
    INVESTIGATE_WITHOUT_SEARCH,
    OUTLINE,
    SUPERVISE,
    TAKE_IN,
    WRITE_SECTION,
)
from deepwell.analyst.model.prompts import rendered, standing
from deepwell.analyst.protocol import Board, Notebook
from deepwell.language.markdown import bulleted
from deepwell.language.tokens import estimated_tokens
from deepwell.models.judgement import Ask, Asked
from deepwell.models.shapes import Shape
from deepwell.vocabulary.budget import Phase
from deepwell.vocabulary.evidence import Findings, ReadPassage
from deepwell.vocabulary.moves import ResearcherMove, SupervisorMove
from deepwell.vocabulary.plan import Plan, Topic
from deepwell.vocabulary.question import Brief, Clarification, Conversation, Intake
from deepwell.vocabulary.report import NumberedEvidence, Outline, Section, Unanswerable, WrittenSection

R = TypeVar("R")
NOTES_SHARE = 0.3
"""Share of the room that notes of earlier units may take beside the passages."""
LENGTHS = {"short": "Two to four sentences.", "standard": "About 100 to 250 words.", "long": "About 300 to 600 words."}


@dataclass(frozen=True, slots=True)
class Judgement:
    """How a judgement is asked for, whatever the case."""

    phase: Phase
    shape: Shape
    reply_tokens: int
    share: float
    """Of the phase's remaining time."""


JUDGEMENTS = {
    "take_in": Judgement("planning", TAKE_IN, 3000, 0.4),
    "supervise": Judgement("research", SUPERVISE, 2000, 0.4),
    "investigate": Judgement("research", INVESTIGATE, 3000, 0.7),
    "investigate_without_search": Judgement("research", INVESTIGATE_WITHOUT_SEARCH, 3000, 0.7),
    "digest": Judgement("research", DIGEST, 3000, 0.8),
    "outline": Judgement("writing", OUTLINE, 2500, 0.4),
    "write_section": Judgement("writing", WRITE_SECTION, 3000, 0.85),
}


class ModelAnalyst:
    """One model leads and writes, another one (or the same) does the research."""

    def __init__(self, lead: Asked, researcher: Asked, sources: str, language: str = "") -> None:
        self.name = lead.name
        self._lead, self._researcher = lead, researcher
        self._sources, self._language = sources, language

    async def take_in(self, conversation: Conversation, today: date) -> Clarification | Intake:
        """One call for everything that has to be known before the first search."""
        question = next(turn.text for turn in reversed(conversation) if turn.speaker == "user")

        def prompt(room: int) -> str:
            return rendered(
                "take_in",
                today=today.isoformat(),
                sources=blocks.harmless(self._sources),
                conversation=blocks.earlier_turns(conversation),
                question=blocks.harmless(question),
            )

        def accept(form: object, room: int) -> Clarification | Intake:
            return accepting.intake(form, question, today, self._language)

        return await self._lead.ask(_asked("take_in", prompt, accept))

    async def supervise(self, board: Board) -> Sequence[SupervisorMove]:
        """What to look into next, seeing the whole board."""
        brief = board.brief

        def case(notes: str) -> str:
            return rendered(
                "supervise",
                today=brief.as_of,
                question=blocks.harmless(brief.question),
                assumptions=blocks.assumptions(brief),
                plan=blocks.plan_blocks(board.plan, board.standings),
                dispatched=blocks.bullets(board.dispatched_topics),
                notes=notes or "none",
                check=f"The desk's own check says: {board.gate_reason}.\n" if board.gate_reason else "",
                round=board.iteration,
                queries=board.queries_left,
            )

        def prompt(room: int) -> str:
            texts = blocks.shared_out(board.notes, room - estimated_tokens(case("")))
            return case(blocks.notes(texts))

        def accept(calls: Sequence[object], room: int) -> Sequence[SupervisorMove]:
            return accepting.supervisor_moves(calls, board)

        return await self._lead.ask(_asked("supervise", prompt, accept))

    async def investigate(self, notebook: Notebook) -> Sequence[ResearcherMove]:
        """Report what the first searches brought, or search once more."""
        brief, topic = notebook.brief, notebook.topic
        left = min(notebook.tool_calls_left, notebook.searches_left)
        name = "investigate" if left else "investigate_without_search"
        allowance: dict[str, object] = {"left": left} if left else {}

        def case(known: str, passages: str) -> str:
            return rendered(
                name,
                today=brief.as_of,
                question=blocks.harmless(brief.question),
                assumptions=blocks.assumptions(brief),
                topic=blocks.harmless(topic.text),
                reason=_reason(topic),
                searches=blocks.searches(notebook.queries, notebook.thin_queries),
                known=known,
                passages=passages,
                **allowance,
            )

        def laid_out(room: int) -> tuple[str, Shown]:
            known = _known(notebook.notes, room) + blocks.addresses(notebook.unread)
            return known, blocks.passage_blocks(
                notebook.passages, notebook.seen, room - estimated_tokens(case(known, ""))
            )

        def prompt(room: int) -> str:
            known, shown = laid_out(room)
            return case(known, shown.text)

        def accept(calls: Sequence[object], room: int) -> Sequence[ResearcherMove]:
            return accepting.researcher_moves(calls, notebook, laid_out(room)[1].numbers)

        return await self._researcher.ask(_asked(name, prompt, accept))

    async def digest(self, brief: Brief, topic: Topic, passages: Sequence[ReadPassage]) -> Findings:
        """What the passages say to the topic."""

        def case(shown: str) -> str:
            return rendered(
                "digest",
                today=brief.as_of,
                question=blocks.harmless(brief.question),
                topic=blocks.harmless(topic.text),
                reason=_reason(topic),
                passages=shown,
            )

        def laid_out(room: int) -> Shown:
            return blocks.passage_blocks(passages, frozenset(), room - estimated_tokens(case("")))

        def prompt(room: int) -> str:
            return case(laid_out(room).text)

        def accept(form: object, room: int) -> Findings:
            return accepting.findings(form, laid_out(room).numbers)

        return await self._researcher.ask(_asked("digest", prompt, accept))

    async def outline(
        self, brief: Brief, plan: Plan, evidence: Sequence[NumberedEvidence], gaps: Sequence[str]
    ) -> Outline | Unanswerable:
        """The parts of the report; a single fact needs no plan of parts, and no call."""
        if brief.kind == "fact" and brief.preferences.length != "long":
            return accepting.short_answer(brief, evidence, gaps)

        def case(claims: str) -> str:
            return rendered(
                "outline",
                today=brief.as_of,
                question=blocks.harmless(brief.question),
                assumptions=blocks.assumptions(brief),
                wishes=blocks.wishes(brief),
                plan=blocks.plan_blocks(plan),
                claims=claims,
                gaps=f"What stayed open:\n{blocks.bullets(gaps)}\n" if gaps else "",
            )

        def prompt(room: int) -> str:
            return case(blocks.claim_blocks(evidence, room - estimated_tokens(case(""))))

        def accept(form: object, room: int) -> Outline | Unanswerable:
            return accepting.outline(form, brief, evidence, gaps)

        return await self._lead.ask(_asked("outline", prompt, accept))

    async def write_section(
        self, brief: Brief, outline: Outline, section: Section, so_far: Sequence[WrittenSection]
    ) -> str:
        """The section in prose; one that only says what was not found needs no model."""
        if not section.evidence:
            return bulleted(section.notes)

        def case(claims: str, earlier: str) -> str:
            return rendered(
                "write_section",
                today=brief.as_of,
                question=blocks.harmless(brief.question),
                assumptions=blocks.assumptions(brief),
                wishes=blocks.wishes(brief),
                title=blocks.harmless(outline.title),
                outline=blocks.outline_lines(outline),
                claims=claims,
                earlier=earlier,
                heading=blocks.harmless(section.heading or "Answer").replace('"', "'"),
                purpose=blocks.harmless(section.purpose),
                length="Two to four sentences." if brief.kind == "fact" else LENGTHS[brief.preferences.length],
            )

        def prompt(room: int) -> str:
            earlier = blocks.earlier_sections(so_far, int(room * NOTES_SHARE))
            return case(blocks.claim_blocks(section.evidence, room - estimated_tokens(case("", earlier))), earlier)

        def accept(text: str, room: int) -> str:
            return accepting.section_text(text, section)

        return await self._lead.ask(_asked("write_section", prompt, accept))


def _asked(name: str, case: Callable[[int], str], accept: Callable[[Any, int], R]) -> Ask[R]:
    how = JUDGEMENTS[name]
    return Ask(name, how.phase, how.shape, standing(name), case, accept, how.reply_tokens, how.share)


def _reason(topic: Topic) -> str:
    return f"What was missing so far: {blocks.harmless(topic.because)}" if topic.because else ""


def _known(notes: Sequence[str], room: int) -> str:
    """What earlier units on the same sub-question found: it need not be read again."""
    if not notes:
        return ""
    texts = blocks.shared_out(notes, int(room * NOTES_SHARE))
    return f"Already known, from earlier research:\n{blocks.notes(texts)}\n\n"

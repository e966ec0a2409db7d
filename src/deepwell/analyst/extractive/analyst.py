"""The analyst without a model: it takes apart, picks, orders and quotes."""

import math
from collections.abc import Sequence
from datetime import date
from functools import cached_property

from deepwell.analyst.extractive.answerable import missing_for, unsaid
from deepwell.analyst.extractive.facts import LibraryFacts, NoFacts, rarity, weights_with_forms
from deepwell.analyst.extractive.leads import leads_of
from deepwell.analyst.extractive.planning import kind_of, plan_of, tier_of
from deepwell.analyst.extractive.question import TakenApart, content, says, take_apart, title_keys
from deepwell.analyst.extractive.quotes import Quote, best_quotes, sentence_score
from deepwell.analyst.extractive.supervising import next_moves
from deepwell.analyst.extractive.writing import outline, section_text
from deepwell.analyst.protocol import Board, Notebook
from deepwell.budget.threads import in_thread
from deepwell.language.languages import language_of
from deepwell.language.relevance import CONTEXT_SHARE
from deepwell.language.stems import stems
from deepwell.vocabulary.evidence import Findings, ReadPassage
from deepwell.vocabulary.moves import Done, ResearcherMove, SearchWeb, SupervisorMove
from deepwell.vocabulary.plan import Plan, Query, Topic
from deepwell.vocabulary.question import Brief, Conversation, Intake
from deepwell.vocabulary.report import NumberedEvidence, Outline, Section, Unanswerable, WrittenSection

QUOTES_PER_TOPIC = 8
WORTH_SAYING = 0.3
"""Share of the best sentence's merit that another one on the same part must have to stand in the report."""
SETTLED = 0.75
"""Share of a topic's weight that one sentence must hold for the topic to count as settled."""


class ExtractiveAnalyst:
    """Needs nothing but the passages it is shown, and a few facts about the library they come from.

    What takes computing or looks at the library is done in threads: the event loop has to keep the time.
    """

    name = "extractive"

    def __init__(self, facts: LibraryFacts | None = None) -> None:
        self._facts: LibraryFacts = facts or NoFacts()

    async def take_in(self, conversation: Conversation, today: date) -> Intake:
        """Take the question apart along its grammar and the names in it."""
        return await in_thread("judging", self._taken_in, conversation, today)

    def _taken_in(self, conversation: Conversation, today: date) -> Intake:
        question = next(turn.text for turn in reversed(conversation) if turn.speaker == "user")
        taken = self._apart(question)
        brief = Brief(question, kind_of(taken), taken.names or taken.words[:6], as_of=today.isoformat())
        return Intake(brief, plan_of(taken, self._facts), tier_of(taken))

    async def supervise(self, board: Board) -> Sequence[SupervisorMove]:
        """Follow the best leads, and try again in other words what brought nothing."""
        return next_moves(board, library=self._facts.passage_count > 0)

    async def investigate(self, notebook: Notebook) -> Sequence[ResearcherMove]:
        """Ask once more in fewer words where a search brought too little."""
        return await in_thread("judging", self._next_moves, notebook)

    def _next_moves(self, notebook: Notebook) -> Sequence[ResearcherMove]:
        # Of the web nothing is known that would tell a rare word: one of a question's words alone leads anywhere.
        if len(notebook.passages) >= 3 or not notebook.thin_queries or not self._facts.passage_count:
            return [Done()]
        rarest = sorted(self._asked(notebook.brief, notebook.topic), key=self._facts.frequency)
        broader = (Query(word, notebook.topic.text) for word in rarest if self._facts.frequency(word))
        moves: list[ResearcherMove] = [SearchWeb(query) for query in broader if query not in notebook.queries]
        return moves[: min(notebook.tool_calls_left, notebook.searches_left)] or [Done()]

    async def digest(self, brief: Brief, topic: Topic, passages: Sequence[ReadPassage]) -> Findings:
        """Quote the sentences that speak to the topic."""
        return await in_thread("judging", self._digested, brief, topic, passages)

    def _digested(self, brief: Brief, topic: Topic, passages: Sequence[ReadPassage]) -> Findings:
        terms = self._terms(brief, topic.text)
        quotes = best_quotes(topic.text, terms, passages, QUOTES_PER_TOPIC)
        answer = "\n".join(f"- “{quote.text}” [{quote.passage}]" for quote in quotes)
        leads = leads_of(self._apart(brief.question), topic, passages, self._facts, self._titles)
        return Findings(answer, self._gaps(brief, topic, quotes, passages), leads)

    async def outline(
        self, brief: Brief, plan: Plan, evidence: Sequence[NumberedEvidence], gaps: Sequence[str]
    ) -> Outline | Unanswerable:
        """An answer first, then the parts of the question."""
        return await in_thread("judging", self._outlined, brief, plan, evidence)

    def _outlined(self, brief: Brief, plan: Plan, evidence: Sequence[NumberedEvidence]) -> Outline | Unanswerable:
        taken = self._apart(brief.question)
        # What a claim says in other words than its passage does counts in either wording.
        claims = [" ".join({item.evidence.claim, *(p.text for p in item.evidence.passages)}) for item in evidence]
        missing = missing_for(taken, self._facts, claims)
        if missing:
            return Unanswerable(missing)
        asked = {part.id: (part.text, self._terms(brief, part.text)) for part in plan.subquestions}
        whole = (brief.question, self._terms(brief, brief.question))

        def merit(item: NumberedEvidence) -> float:
            return sentence_score(*asked.get(item.evidence.subquestion, whole), item.evidence.claim)

        merits = {item: merit(item) for item in evidence}
        best: dict[str, float] = {}
        for item, value in merits.items():
            best[item.evidence.subquestion] = max(value, best.get(item.evidence.subquestion, 0.0))
        worth_it = [item for item, value in merits.items() if value >= WORTH_SAYING * best[item.evidence.subquestion]]
        return outline(brief, plan, sorted(worth_it, key=lambda item: -merits[item]), unsaid(taken, claims))

    async def write_section(
        self, brief: Brief, outline: Outline, section: Section, so_far: Sequence[WrittenSection]
    ) -> str:
        """The quotations of the section."""
        return await in_thread("judging", section_text, section)

    @cached_property
    def _titles(self) -> dict[tuple[str, ...], str]:
        return title_keys(list(self._facts.titles()))

    def _asked(self, brief: Brief, topic: Topic) -> tuple[str, ...]:
        """The words that an answer to the topic has to speak of: those still open where a lead is followed."""
        return content(topic.lead.queries[0].text if topic.lead else topic.text, language_of(brief.question))

    def _apart(self, question: str) -> TakenApart:
        return take_apart(question, self._facts.publishers(), list(self._facts.titles()))

    def _terms(self, brief: Brief, text: str) -> dict[str, float]:
        language = language_of(brief.question)
        whole = weights_with_forms(self._facts, content(brief.question, language), CONTEXT_SHARE)
        return whole | weights_with_forms(self._facts, content(text, language))

    def _gaps(
        self, brief: Brief, topic: Topic, quotes: Sequence[Quote], passages: Sequence[ReadPassage]
    ) -> tuple[str, ...]:
        """A topic is settled when one sentence, with the title above it, holds most of what it is about."""
        words, language = self._asked(brief, topic), language_of(brief.question)
        # A word that stands nowhere in the library weighs as much as the rarest there could be.
        most = math.log(1 + 2 * (self._facts.passage_count + 1))
        worth = {word: rarity(self._facts, word) or most for word in words}
        held = [quote.stems | set(stems(passages[quote.passage - 1].source.title)) for quote in quotes]
        best = max((sum(w for word, w in worth.items() if says(one, word, language)) for one in held), default=0.0)
        if best >= SETTLED * sum(worth.values()):
            return ()
        return (topic.because or f"Not settled by one passage: {topic.text}",)

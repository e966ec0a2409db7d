"""What to look into next: leads first, then in other words what brought nothing."""

from collections.abc import Iterator

from deepwell.analyst.extractive.planning import FEWEST_WORDS
from deepwell.analyst.extractive.question import content, in_words_of_engines, spelled
from deepwell.analyst.protocol import Board
from deepwell.language.languages import language_of
from deepwell.vocabulary.evidence import Standing
from deepwell.vocabulary.moves import ConductResearch, ResearchComplete, SupervisorMove, Think
from deepwell.vocabulary.plan import Query
from deepwell.vocabulary.question import Brief

MOST_LEADS = 8


def next_moves(board: Board, *, library: bool = True) -> list[SupervisorMove]:
    """At most a handful of topics, none of one word for the web alone; when there is nothing left to try, say so."""
    followed = list(_followed(board))[:MOST_LEADS]
    retried = [move for standing in board.standings for move in _retried(standing, board.brief, library=library)]
    moves: list[SupervisorMove] = [*retried, *followed]
    if not moves:
        return [Think("No lead is left and no gap can be tried in other words."), ResearchComplete()]
    return moves


def _followed(board: Board) -> Iterator[ConductResearch]:
    """The best leads of sub-questions that are not settled."""
    open_ones = [s for s in board.standings if s.evidence and s.gaps and not s.exhausted]
    ranked = sorted(((lead, s) for s in open_ones for lead in s.leads), key=lambda pair: -pair[0].score)
    for lead, standing in ranked:
        if lead.text not in board.dispatched_topics:
            yield ConductResearch(lead.text, standing.id, standing.gaps[0], lead.queries, lead)


def _retried(standing: Standing, brief: Brief, *, library: bool) -> Iterator[ConductResearch]:
    """Fewer words each time: what fails as a whole may be found by its parts."""
    if standing.evidence or standing.exhausted:
        return
    language = language_of(brief.question)
    words = content(standing.text, language)
    keep = max(1 if library else FEWEST_WORDS, len(words) // (standing.failures + 1))
    longest = sorted(words, key=lambda word: -len(word))[:keep]
    kept = [word for word in words if word in longest]
    topic = " ".join(spelled(kept, standing.text, language))
    if topic and topic != standing.text:
        query = in_words_of_engines(Query(" ".join(kept)), brief.question, library=library)
        yield ConductResearch(topic, standing.id, f"Nothing was found on: {standing.text}", (query,))

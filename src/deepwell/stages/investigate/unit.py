"""A research unit's desk, and what each of the analyst's moves does to it."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from deepwell.analyst.protocol import Notebook
from deepwell.configuration import Configuration
from deepwell.ports import Workbench
from deepwell.stages.investigate.gather import read_best, search_all
from deepwell.stages.investigate.rank import RankedHit
from deepwell.stages.investigate.shortlist import shortlist
from deepwell.vocabulary.evidence import Evidence, Findings, ReadPassage
from deepwell.vocabulary.moves import Done, FetchUrl, ResearcherMove, SearchWeb
from deepwell.vocabulary.plan import Query, Topic
from deepwell.vocabulary.question import Brief
from deepwell.vocabulary.record import Lane
from deepwell.vocabulary.source import THIN, Hit


@dataclass(frozen=True, slots=True)
class Desk:
    """What lies before one unit."""

    given_up: frozenset[str] = frozenset()
    """Addresses that could not be read, and that this unit does not try again."""
    queries: tuple[Query, ...] = ()
    unanswered: tuple[Query, ...] = ()
    """Those of them that no engine answered."""
    rankings: tuple[tuple[Hit, ...], ...] = ()
    """The hits of each query, in the order of `queries`."""
    passages: tuple[ReadPassage, ...] = ()
    """The best passages over all rankings, best first."""
    turns: int = 0
    tool_calls: int = 0
    """Searches and reads the analyst asked for; the first turn's searches are not counted."""

    @property
    def thin_queries(self) -> tuple[Query, ...]:
        """Queries that brought too little."""
        return tuple(q for q, hits in zip(self.queries, self.rankings, strict=False) if len(hits) < THIN)


@dataclass(frozen=True, slots=True)
class Known:
    """What earlier units found out about the same sub-question."""

    seen: frozenset[str] = frozenset()
    """Handles of the passages they summed up."""
    notes: tuple[str, ...] = ()
    """Their claims."""


NOTHING_KNOWN = Known()
MOST_UNREAD = 5
"""Unread hits that an analyst is told of."""


def first_moves(topic: Topic) -> list[ResearcherMove]:
    """The suggested searches run as they are; nobody is asked anything before."""
    return [SearchWeb(query) for query in topic.queries or (Query(topic.text),)]


def notebook(
    brief: Brief, topic: Topic, desk: Desk, configuration: Configuration, known: Known = NOTHING_KNOWN
) -> Notebook:
    """What the analyst is shown between turns."""
    return Notebook(
        brief=brief,
        topic=topic,
        passages=desk.passages,
        queries=desk.queries,
        thin_queries=desk.thin_queries,
        tool_calls_left=max(0, configuration.max_react_tool_calls - desk.tool_calls),
        searches_left=_searches_left(desk, configuration),
        seen=known.seen,
        notes=known.notes,
        unread=_unread(desk, configuration.max_passages_per_unit),
    )


def known_of(topic: Topic, lanes: Sequence[Lane], evidence: Sequence[Evidence]) -> Known:
    """What the run knows of the topic's sub-question already."""
    own = [lane for lane in lanes if lane.subquestion == topic.subquestion]
    claims = tuple(item.claim for item in evidence if item.subquestion == topic.subquestion)
    return Known(frozenset(handle for lane in own for handle in lane.read), claims) if own else NOTHING_KNOWN


def findings_of(moves: Sequence[ResearcherMove]) -> Findings | None:
    """What the analyst summed up on its own, if it did."""
    return next((move.findings for move in moves if isinstance(move, Done) and move.findings), None)


def is_done(moves: Sequence[ResearcherMove]) -> bool:
    """True when the analyst asks for nothing more outside."""
    return any(isinstance(move, Done) for move in moves) or not any(
        isinstance(move, SearchWeb | FetchUrl) for move in moves
    )


async def carry_out(
    moves: Sequence[ResearcherMove], desk: Desk, bench: Workbench, configuration: Configuration
) -> Desk:
    """Search and read as proposed, as far as the unit's allowance goes, and rank everything anew."""
    allowed = _allowed(moves, desk, configuration)
    asked = dict.fromkeys(m.query for m in allowed if isinstance(m, SearchWeb) and m.query not in desk.queries)
    queries = tuple(asked)[: _searches_left(desk, configuration)]
    found = await search_all(queries, bench, configuration)
    rankings = (*desk.rankings, *(tuple(hits or ()) for hits in found))
    unanswered = (query for query, hits in zip(queries, found, strict=True) if hits is None)
    listed = shortlist(rankings, configuration.max_passages_per_unit)
    await bench.journal.record(listed.metrics)
    reading = await read_best(_asked_for_first(listed.ranked, allowed), bench, configuration, desk.given_up)
    return replace(
        desk,
        queries=(*desk.queries, *queries),
        unanswered=(*desk.unanswered, *unanswered),
        rankings=rankings,
        passages=reading.passages,
        given_up=desk.given_up | frozenset(reading.unread),
        turns=desk.turns + 1,
        tool_calls=desk.tool_calls + (len(allowed) if desk.turns else 0),
    )


def _searches_left(desk: Desk, configuration: Configuration) -> int:
    return max(0, configuration.researcher_search_budget - len(desk.queries))


def _allowed(moves: Sequence[ResearcherMove], desk: Desk, configuration: Configuration) -> list[SearchWeb | FetchUrl]:
    outside = [move for move in moves if isinstance(move, SearchWeb | FetchUrl)]
    return outside if desk.turns == 0 else outside[: configuration.max_react_tool_calls - desk.tool_calls]


def _unread(desk: Desk, most: int) -> tuple[Hit, ...]:
    read = {item.source.address for item in desk.passages} | desk.given_up
    listed = shortlist(desk.rankings, most).ranked
    return tuple(item.hit for item in listed if item.hit.address not in read)[:MOST_UNREAD]


def _asked_for_first(ranked: Sequence[RankedHit], moves: Sequence[SearchWeb | FetchUrl]) -> list[RankedHit]:
    """What the analyst wants to read stands first. It can only choose from what a search brought up: text cannot send
    the unit anywhere."""
    wanted = {move.address for move in moves if isinstance(move, FetchUrl)}
    return sorted(ranked, key=lambda item: item.hit.address not in wanted)

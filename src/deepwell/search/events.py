"""What happened while the web was searched, as values for whoever listens: the journal, the report, a view."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from deepwell.vocabulary.events import Event


@dataclass(frozen=True, slots=True)
class EngineFailed(Event):
    """An engine did not answer a query, retries included."""

    engine: str
    failure: str
    """Its kind, in a word."""
    sentence: str


@dataclass(frozen=True, slots=True)
class FellBack(Event):
    """The next engine was asked the query that one had failed on."""

    from_engine: str
    to_engine: str


@dataclass(frozen=True, slots=True)
class SearchDegraded(Event):
    """An engine is not asked any more; the report has to say so."""

    engine: str
    reason: str
    """Full sentences."""


@dataclass(frozen=True, slots=True)
class QueryReworded(Event):
    """A query that brought too little was asked in other words."""

    query: str
    into: str
    hits: int


@dataclass(frozen=True, slots=True)
class SearchNarrowed(Event):
    """Words of the user's documents were kept out of a search of the web."""

    query: str
    sent: bool
    """False when too little of it was left."""


SearchEvent = EngineFailed | FellBack | SearchDegraded | QueryReworded | SearchNarrowed
Listener = Callable[[SearchEvent], Awaitable[None]]


async def unheard(event: SearchEvent) -> None:
    """Where nobody listens."""

"""What an analyst may propose. The runtime decides what becomes of it."""

from dataclasses import dataclass

from deepwell.vocabulary.evidence import Findings
from deepwell.vocabulary.plan import Lead, Query


@dataclass(frozen=True, slots=True)
class ConductResearch:
    """Send a unit to find this out."""

    topic: str
    subquestion: str
    gap: str = ""
    """The gap this is meant to close."""
    queries: tuple[Query, ...] = ()
    """Searches to run as they are; empty: the runtime makes some from the topic."""
    lead: Lead | None = None
    """What it follows up."""


@dataclass(frozen=True, slots=True)
class ResearchComplete:
    """Enough is known, in the analyst's view."""

    confidence: float = 0.5
    gaps: tuple[str, ...] = ()
    """What stays open all the same."""


@dataclass(frozen=True, slots=True)
class Think:
    """A reflection, kept in the trace."""

    reflection: str


@dataclass(frozen=True, slots=True)
class SearchWeb:
    """Ask the search engines, the library among them."""

    query: Query


@dataclass(frozen=True, slots=True)
class FetchUrl:
    """Read one address that a search brought up."""

    address: str


@dataclass(frozen=True, slots=True)
class Done:
    """The topic is answered as far as this unit can."""

    reason: str = ""
    findings: Findings | None = None
    """What was found, when the analyst has summed it up already; None: it is still to be digested."""


SupervisorMove = ConductResearch | ResearchComplete | Think
ResearcherMove = SearchWeb | FetchUrl | Think | Done

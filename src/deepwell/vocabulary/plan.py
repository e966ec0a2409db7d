"""Ordered questions, and what a research unit is sent to find out."""

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Query:
    """What is sent to a search engine. An engine that cannot use a part of it passes over that part."""

    text: str
    """The words to search for."""
    context: str = ""
    """Words that tell a good hit from a better one, and need not be there."""
    phrases: tuple[str, ...] = ()
    """At least one of these must stand in a hit, word for word. Empty: none has to."""
    publisher: str | None = None
    """Only what this publisher, site or folder brought out. None: anything."""
    published: str | None = None
    """Preferably from this day, ISO."""
    sentence: str = field(default="", compare=False)
    """The same as a person would ask it, for engines that read sentences. Empty: the text itself."""


@dataclass(frozen=True, slots=True)
class SubQuestion:
    """One part of the question, with what would settle it."""

    id: str
    """`sq-1`, `sq-2`, … by importance."""
    text: str
    queries: tuple[Query, ...] = ()
    """Searches that are run as they are, before anyone is asked anything."""
    settled_by: str = ""


@dataclass(frozen=True, slots=True)
class Plan:
    """The sub-questions by importance; they are the first wave."""

    subquestions: tuple[SubQuestion, ...]


@dataclass(frozen=True, slots=True)
class Lead:
    """A name or term met on the way that may carry the search further."""

    text: str
    score: float
    queries: tuple[Query, ...] = ()
    origin: str = ""
    """The handle of the passage it was met in."""


@dataclass(frozen=True, slots=True)
class Topic:
    """What one research unit is sent to find out."""

    text: str
    subquestion: str
    """The id of the sub-question this serves."""
    queries: tuple[Query, ...] = ()
    because: str = ""
    """The gap this is meant to close; empty for the plan's own."""
    lead: Lead | None = None
    """What it follows up; None for the plan's own."""
    attempt_number: int = 1
    """Which try at its sub-question this is, from 1."""

"""What was asked, and what counts as an answer."""

from dataclasses import dataclass
from typing import Literal

from deepwell.vocabulary.plan import Plan
from deepwell.vocabulary.tier import Tier

QuestionKind = Literal["fact", "survey", "comparison", "multi-part", "chain", "timeline", "how-to"]
Length = Literal["short", "standard", "long"]


@dataclass(frozen=True, slots=True)
class Turn:
    """One thing said in the conversation, verbatim."""

    speaker: Literal["user", "assistant"]
    text: str


Conversation = tuple[Turn, ...]


@dataclass(frozen=True, slots=True)
class Preferences:
    """How the user wants the report to be, as far as the request says so."""

    length: Length = "standard"
    audience: str = ""
    """For whom it is written; empty: an informed reader."""
    format: str = ""
    """The form asked for, such as a list or a letter; empty: what fits the question."""
    tables: bool | None = None
    """None: where they help."""
    language: str = ""
    """The language to write in; empty: that of the question."""


@dataclass(frozen=True, slots=True)
class Brief:
    """What counts as an answer to the question."""

    question: str
    """The user's words, verbatim."""
    kind: QuestionKind = "survey"
    must_cover: tuple[str, ...] = ()
    """The names and terms that an answer has to speak of."""
    assumptions: tuple[str, ...] = ()
    """How the question was read where it could be read in several ways."""
    as_of: str = ""
    """The date on which the question was taken in, ISO."""
    preferences: Preferences = Preferences()


@dataclass(frozen=True, slots=True)
class Clarification:
    """The question cannot be researched before the user answers this."""

    question: str


@dataclass(frozen=True, slots=True)
class Intake:
    """The question is understood: what counts as an answer, and how it will be looked for."""

    brief: Brief
    plan: Plan
    tier: Tier | None = None
    """How much work the question seems to be; None when that cannot be told."""

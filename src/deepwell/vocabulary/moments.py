"""What a run's decisions rested on besides answers from outside; a replay takes it from here, not from its clock."""

from collections.abc import Mapping
from dataclasses import dataclass

from deepwell.vocabulary.budget import Spend, SpendLine
from deepwell.vocabulary.events import Degraded


@dataclass(frozen=True, slots=True)
class RoundMoment:
    """How things stood when a round was over."""

    used_s: float
    """Seconds of the run's time that were used up."""
    interrupted: bool
    """True when the user had said stop."""
    spend: Spend
    runs_low: bool
    """True when so little of the token budget was left that the state was shortened."""
    search_limited: bool
    """True when an engine had been given up."""
    failed_reads: Mapping[str, int]
    """How often reading an address had failed, in the order of the first failures."""
    unread_because: Mapping[str, str]
    """Why it had failed the last time, in safe sentences."""


@dataclass(frozen=True, slots=True)
class ReportMoment:
    """What the report had to tell of how it was made."""

    limits: tuple[str, ...]
    """What limited the sources and the searching; full sentences."""
    degradations: tuple[Degraded, ...]
    spend: tuple[SpendLine, ...]

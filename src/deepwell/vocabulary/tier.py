"""How much work a question is worth."""

from dataclasses import dataclass
from typing import Literal

Tier = Literal["simple", "standard", "deep", "exhaustive"]


@dataclass(frozen=True, slots=True)
class TierLimits:
    """What a tier sets unless a value is given explicitly."""

    max_researcher_iterations: int
    max_react_tool_calls: int
    max_subquestions: int
    max_queries: int
    max_sources: int
    max_execution_time_s: float | None


TIERS: dict[Tier, TierLimits] = {
    "simple": TierLimits(2, 2, 3, 3, 5, 120.0),
    "standard": TierLimits(3, 5, 6, 10, 15, 300.0),
    "deep": TierLimits(7, 15, 10, 15, 30, 300.0),
    "exhaustive": TierLimits(20, 40, 10, 40, 60, None),
}

"""The record of a run's control flow under the keys that other programs read."""

from collections.abc import Mapping
from typing import Any

from deepwell.stages.judge.standing import retry_tracking
from deepwell.vocabulary.budget import Budget
from deepwell.vocabulary.decision import LoopDecision
from deepwell.vocabulary.evidence import Standing


def phase_state(
    budget: Budget,
    iteration: int,
    max_iterations: int,
    standings: Mapping[str, Standing],
    decision: LoopDecision | None,
) -> dict[str, Any]:
    """`research` with its time budget, iteration, retry tracking and the last loop decision."""
    return {
        "research": {
            "time_budget": {
                "total_minutes": budget.total_minutes,
                "synthesis_reserve_minutes": budget.synthesis_reserve_minutes,
                "started_at": budget.started_at.isoformat(),
            },
            "iteration": {"current": iteration, "max": max_iterations},
            "retry_tracking": retry_tracking(standings),
            "gap_analysis": {"loop_decision": decision.record() if decision else None},
        }
    }

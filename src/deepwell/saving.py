"""What a run leaves behind, saved within its time: the report comes first."""

import asyncio

from deepwell.errors import StoreFailed
from deepwell.ports import Clock
from deepwell.store.runs import RunStore
from deepwell.vocabulary.budget import Budget
from deepwell.vocabulary.run import FinishedRun

MOST_TO_SAVE_S = 10.0
LEAST_TO_SAVE_S = 1.5
"""Seconds for saving what a run leaves behind, when its time is up."""


def seconds_to_save(budget: Budget, clock: Clock) -> float:
    """Saving may take a little longer than the run itself, but not for ever."""
    left = budget.remaining_minutes(clock.monotonic())
    return MOST_TO_SAVE_S if left is None else min(MOST_TO_SAVE_S, left * 60 + LEAST_TO_SAVE_S)


async def save(store: RunStore, run: str, finished: FinishedRun, seconds: float) -> str | None:
    """Save what the run leaves behind; why not, when it cannot be done in so many seconds: the report comes first."""
    try:
        async with asyncio.timeout(seconds):
            await store.finish(run, finished)
    except TimeoutError:
        return "The disk is too slow: the run is not saved as finished."
    except StoreFailed as error:
        return str(error)
    return None

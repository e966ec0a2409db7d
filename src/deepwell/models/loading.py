"""Loads what asks the chosen models, beside the event loop: on a busy machine it takes long."""

from contextlib import suppress
from importlib import import_module

from deepwell.budget.threads import in_thread
from deepwell.budget.waiting import SecondsLeft, within
from deepwell.errors import AnalystFailed
from deepwell.models.choosing import Chosen
from deepwell.models.names import PROVIDERS

SHARE = 0.5
"""Of the time for planning and research, what loading may take at most: without a model there is still much to do."""
_OURS = ("deepwell.models.working", "deepwell.analyst.model")


async def load(models: Chosen, left: SecondsLeft) -> None:
    """Load what is needed to ask these models. Raises AnalystFailed when there is no time for it."""
    kept = (1 - SHARE) * (left() or 0.0)

    def own_left() -> float | None:
        seconds = left()
        return None if seconds is None else seconds - kept

    try:
        await within(own_left, in_thread("other", _load, models))
    except TimeoutError:
        raise AnalystFailed("What is needed to ask the model could not be loaded in time.") from None


def _load(models: Chosen) -> None:
    providers = (PROVIDERS[one.name.provider].import_path.partition(":")[0] for one in models.each)
    for module in (*_OURS, *providers):
        # A package that is not there is complained about where the model is built.
        with suppress(ImportError):
            import_module(module)

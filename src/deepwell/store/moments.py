"""The moments of a run, kept beside its calls."""

from collections.abc import Sequence
from typing import Any, TypeVar

from deepwell.ports import Calls
from deepwell.vocabulary.calls import Answered, Call, fingerprint

R = TypeVar("R")


class KeptMoments:
    """Fulfils the port Moments, for a run: it rests on what is now, and puts that down. Nobody waits for the disk."""

    def __init__(self, calls: Calls) -> None:
        self._calls = calls

    async def taken(self, name: Sequence[object], reading: R) -> R:
        """The reading as it is."""
        await self._calls.keep(_call(name), Answered(reading), wait=False)
        return reading

    async def recalled(self, name: Sequence[object]) -> Any | None:
        """Nothing: a run that goes on decides anew what had not come to its end."""
        return None


class RecalledMoments:
    """Fulfils the port Moments, for a replay: it rests on what was then, as far as that is known."""

    def __init__(self, calls: Calls) -> None:
        self._calls = calls

    async def taken(self, name: Sequence[object], reading: R) -> R:
        """The reading that was put down; this one where there is none."""
        known = self._calls.outcome(_call(name))
        return known.value if isinstance(known, Answered) else reading

    async def recalled(self, name: Sequence[object]) -> Any | None:
        """What was put down."""
        return await self.taken(name, None)


def _call(name: Sequence[object]) -> Call:
    """A moment comes once; one that comes again, in a run that goes on, takes the place of the first."""
    return Call("moment", fingerprint(*name), 0)

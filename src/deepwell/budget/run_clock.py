"""A run's own clock: it starts at nothing when the run does, stands still while nobody works on it, and goes on."""

from datetime import datetime

from deepwell.ports import Clock


class RunClock:
    """Fulfils the port Clock. Its readings mean the same in every process that works on the run."""

    def __init__(self, clock: Clock, used_s: float = 0.0) -> None:
        """`used_s`: seconds that the run has used already, in processes that are gone."""
        self._clock = clock
        self._began = clock.monotonic() - used_s

    def monotonic(self) -> float:
        """Seconds that the run has used."""
        return self._clock.monotonic() - self._began

    def now(self) -> datetime:
        """The time of day, with its zone."""
        return self._clock.now()

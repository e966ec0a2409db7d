"""A run's own clock: it starts at nothing when the run does, stands still while nobody works on it, and goes on."""

from datetime import datetime

from deepwell.ports import Clock


class RunClock:
    """Fulfils the port Clock. Its readings mean the same in every process that works on the run.

    The machine's time of day may be set back; in the record of a run time never runs backwards.
    """

    def __init__(self, clock: Clock, used_s: float = 0.0, last: datetime | None = None) -> None:
        """`used_s`: seconds that the run has used already, in processes that are gone; `last`: their last reading."""
        self._clock = clock
        self._began = clock.monotonic() - used_s
        self._latest_s = used_s
        self._latest = last or clock.now()

    def monotonic(self) -> float:
        """Seconds that the run has used."""
        self._latest_s = max(self._latest_s, self._clock.monotonic() - self._began)
        return self._latest_s

    def now(self) -> datetime:
        """The time of day, with its zone."""
        self._latest = max(self._latest, self._clock.now())
        return self._latest

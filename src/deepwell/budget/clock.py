"""The machine's own clock."""

import time
from datetime import UTC, datetime

# Sleep counts: a run whose machine slept past the deadline is late. Linux has a clock of its own for that.
_ALSO_ASLEEP = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)


class SystemClock:
    """Real time; a run is handed one, tests hand in their own."""

    def monotonic(self) -> float:
        """Seconds that never run backwards and go on while the machine sleeps."""
        return time.clock_gettime(_ALSO_ASLEEP)

    def now(self) -> datetime:
        """The time of day in UTC."""
        return datetime.now(UTC)

"""The machine's own clock."""

import time
from datetime import UTC, datetime


class SystemClock:
    """Real time; a run is handed one, tests hand in their own."""

    def monotonic(self) -> float:
        """Seconds that never run backwards."""
        return time.monotonic()

    def now(self) -> datetime:
        """The time of day in UTC."""
        return datetime.now(UTC)

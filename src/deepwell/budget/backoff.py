"""How long to wait before a failed request is made again."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Backoff:
    """Seconds after the first failure, and at most."""

    first_s: float
    most_s: float

    def wait(self, attempt: int, jitter: float) -> float:
        """After the given attempt: twice as long each time, less a random part so that units do not march in step."""
        return float(min(self.most_s, self.first_s * 2 ** (attempt - 1)) * (1 - jitter / 2))

"""A name that leads somewhere else when it is looked up again."""

from collections.abc import Sequence


class RebindingResolver:
    """Fulfils `reading.dialing.Resolver`: the first answers are given once each, the last one from then on."""

    def __init__(self, *answers: Sequence[str]) -> None:
        """Each answer is a list of IP addresses, such as `["93.184.215.14"], ["127.0.0.1"]`."""
        if not answers:
            raise ValueError("A resolver needs at least one answer.")
        self._answers = answers
        self.asked: list[tuple[str, int]] = []
        """The hosts and ports that were looked up, in order."""

    async def __call__(self, host: str, port: int) -> Sequence[str]:
        """The next answer, whatever the host."""
        place = min(len(self.asked), len(self._answers) - 1)
        self.asked.append((host, port))
        return self._answers[place]

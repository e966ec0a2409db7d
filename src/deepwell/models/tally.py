"""What one judgement costs, request by request."""

from dataclasses import dataclass, field

from deepwell.vocabulary.budget import Usage


@dataclass(slots=True)
class Tally:
    """What one judgement has cost so far."""

    started: float
    requests: int = 0
    prompt: int = 0
    cached: int = 0
    reply: int = 0
    cost_usd: float | None = None
    counted: bool = True
    failure: str | None = None
    replies: list[str] = field(default_factory=list)
    """Keys of the replies that came."""

    def book(self, usage: Usage, cost: float | None) -> None:
        """One more request."""
        self.requests += 1
        self.prompt += usage.prompt
        self.cached += usage.cached
        self.reply += usage.reply
        self.counted = self.counted and usage.counted
        if cost is not None:
            self.cost_usd = (self.cost_usd or 0.0) + cost

"""One request over the wire. A reply that came before a crash is not asked for again after it."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from langchain_core.messages import BaseMessage
from langchain_core.runnables import Runnable

from deepwell.models.names import ModelName
from deepwell.models.replies import Told, told
from deepwell.models.steering import Strategy
from deepwell.ports import Calls
from deepwell.vocabulary.calls import Answered, Call


class Wire:
    """To one model, on behalf of one run."""

    def __init__(self, name: ModelName, calls: Calls) -> None:
        self._name, self._calls = str(name), calls

    def call(self, purpose: str, strategy: Strategy, messages: Sequence[BaseMessage]) -> Call:
        """The request by what it says; how long the reply may be is no part of it."""
        texts = [(message.type, str(message.text)) for message in messages]
        return self._calls.call("request", self._name, purpose, strategy, texts)

    def paid(self, call: Call) -> Told | None:
        """The reply, when it came before a crash and is in the account already; None: it is still to be booked."""
        known = self._calls.outcome(call)
        return Told.of(known.value) if isinstance(known, Answered) and self._calls.is_billed(call) else None

    async def reply(
        self, call: Call, purpose: str, runnable: Runnable[Any, Any], messages: Sequence[BaseMessage]
    ) -> Told:
        """What was replied; kept before it is used, because it was paid for. Raises whatever the provider does."""
        known = self._calls.outcome(call)
        if isinstance(known, Answered):
            return Told.of(known.value)
        said = told(await runnable.ainvoke(list(messages), {"run_name": purpose}))
        await self._calls.keep(call, Answered(asdict(said)))
        return said

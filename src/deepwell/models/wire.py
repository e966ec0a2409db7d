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
from deepwell.vocabulary.calls import Answered


class Wire:
    """To one model, on behalf of one run."""

    def __init__(self, name: ModelName, calls: Calls) -> None:
        self._name, self._calls = str(name), calls

    async def reply(
        self, purpose: str, strategy: Strategy, runnable: Runnable[Any, Any], messages: Sequence[BaseMessage]
    ) -> Told:
        """What was replied; kept before it is used, because it was paid for. Raises whatever the provider does."""
        texts = [(message.type, str(message.text)) for message in messages]
        call = self._calls.call("request", self._name, purpose, strategy, texts)
        known = self._calls.outcome(call)
        if isinstance(known, Answered):
            return Told.of(known.value)
        said = told(await runnable.ainvoke(list(messages), {"run_name": purpose}))
        await self._calls.keep(call, Answered(asdict(said)))
        return said

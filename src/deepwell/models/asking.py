"""One model at work in one run: every request is reserved for, limited in time, read with suspicion and settled."""

import asyncio
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Generic, TypeVar

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage

from deepwell.budget.backoff import Backoff
from deepwell.budget.ledger import Ledger, Reservation
from deepwell.errors import BudgetSpent
from deepwell.language.sentences import whole_sentences
from deepwell.language.tokens import estimated_tokens
from deepwell.models.breaker import Breaker, Retries
from deepwell.models.capabilities import Capabilities
from deepwell.models.failures import Failure, FailureKind, ModelFailed, failure_of
from deepwell.models.judgement import Ask
from deepwell.models.names import PROVIDERS, ModelName
from deepwell.models.replies import MalformedReply, Told, calls_of, form_of, prose_of
from deepwell.models.retrying import DEFAULT_BACKOFF, MOST_WAIT_S, Again, Change, next_step
from deepwell.models.shapes import Form, Prose, Shape, Toolbox
from deepwell.models.steering import Strategy, instructions, steered, wire_schema
from deepwell.models.tally import Tally
from deepwell.models.wire import Wire
from deepwell.ports import Clock, Journal
from deepwell.vocabulary.budget import Usage
from deepwell.vocabulary.events import ModelAsked

R = TypeVar("R")
LEAST_ROOM = 256
"""Tokens below which a prompt is not shortened any further."""
LEAST_REPLY = 400
"""Tokens below which a reply is not worth asking for."""
MOST_CONTINUATIONS = 2
MARGIN = 1.1
"""Prompts are reserved for a little above their estimate."""
MOST_DENSE = 1.3
"""How much denser than estimated a model's tokens are taken to be when prompts are planned."""
MOST_LEARNED = 3.0
"""A provider that counts more than so many times the estimate is not believed for the next request."""
GO_ON = "You were cut off. Go on exactly where you stopped, without repeating anything and without any remark."
_UNBILLED = frozenset(FailureKind) - {FailureKind.TIMEOUT, FailureKind.MALFORMED, FailureKind.REFUSAL}
"""Requests that were turned away cost nothing; one that was left without an answer may have cost its prompt."""


@dataclass(frozen=True, slots=True)
class Manners:
    """How a model is treated."""

    max_prompt_tokens: int
    timeout_s: float
    backoff: Backoff = DEFAULT_BACKOFF
    jitter: Callable[[], float] = random.random


@dataclass(frozen=True, slots=True)
class _Turn:
    """One request, and what was learned from those before it."""

    number: int
    room: int
    reply_tokens: int
    strategy: Strategy
    context: int
    """What the model's context was taken to be when this was planned."""
    reminder: str = ""


@dataclass(frozen=True, slots=True)
class _Malformed:
    """A reply that cannot be used, what was wrong with it, and whether it was cut off."""

    complaint: str
    cut_off: bool


@dataclass(frozen=True, slots=True)
class _Usable(Generic[R]):
    """A judgement, and whether it is whole: the rest of a list may have been cut off."""

    judgement: R
    whole: bool


class Model:
    """Asks one chat model on behalf of one run."""

    def __init__(
        self,
        chat: BaseChatModel,
        name: ModelName,
        capabilities: Capabilities,
        ledger: Ledger,
        journal: Journal,
        clock: Clock,
        retries: Retries,
        manners: Manners,
        wire: Wire,
    ) -> None:
        self.name = str(name)
        self._chat, self._provider, self._capabilities = chat, name.provider, capabilities
        self._ledger, self._journal, self._clock = ledger, journal, clock
        self._breaker, self._retries, self._manners = Breaker(), retries, manners
        self._wire = wire
        self._context = capabilities.context
        self._not_before = 0.0
        self._refused: set[str] = set()
        """Shapes for which the server would not take a schema or tools."""
        self._tokens_per_estimate = 1.0

    async def ask(self, ask: Ask[R]) -> R:
        """The judgement. Raises ModelFailed or BudgetSpent."""
        self._breaker.check(ask.phase)
        tally = Tally(self._clock.monotonic())
        try:
            judgement = await self._insist(ask, tally)
        except ModelFailed as error:
            tally.failure = error.failure.kind
            self._breaker.failed(error.failure)
            raise
        except BudgetSpent:
            tally.failure = "budget"
            raise
        finally:
            await asyncio.shield(self._journal.record(self._asked(ask, tally)))
        self._breaker.answered()
        return judgement

    async def _insist(self, ask: Ask[R], tally: Tally) -> R:
        """Request until there is an answer or the rules say that there will be none."""
        deadline = self._deadline(ask)
        strategy = "plain" if ask.shape.name in self._refused else self._capabilities.strategy(ask.shape)
        turn = _Turn(1, self._room(ask, strategy), self._reply_limit(ask), strategy, self._context)
        so_far: list[R] = []
        while True:
            said = await self._reply(ask, turn, deadline, tally)
            outcome = _judged(ask, said, turn) if isinstance(said, Told) else said
            if isinstance(outcome, _Usable):
                so_far.append(outcome.judgement)
                if outcome.whole or turn.number > 1:
                    return outcome.judgement
                outcome = _Malformed("", cut_off=True)
            if isinstance(outcome, _Malformed):
                turn, outcome = _reminded(turn, outcome), _MALFORMED
            try:
                turn = await self._next(ask, outcome, turn, deadline)
            except ModelFailed:
                # Better the part of a judgement that came before the cut than none.
                if so_far:
                    return so_far[0]
                raise

    async def _next(self, ask: Ask[R], failure: Failure, turn: _Turn, deadline: float | None) -> _Turn:
        """The next request, when there is to be one. Raises ModelFailed."""
        left = None if deadline is None else deadline - self._clock.monotonic()
        step = next_step(failure, turn.number, left, self._manners.backoff, self._manners.jitter)
        # A model that has just failed altogether gets one try at a time until it answers again.
        if not isinstance(step, Again) or self._breaker.doubtful or not self._retries.take():
            raise ModelFailed(failure)
        changed = self._changed(ask, turn, step.change)
        if changed is None:
            raise ModelFailed(failure)
        if step.after_s:
            # The other units wait as well: a provider that asks for patience gets it from everyone.
            self._not_before = max(self._not_before, self._clock.monotonic() + step.after_s)
        return replace(changed, number=turn.number + 1)

    def _changed(self, ask: Ask[R], turn: _Turn, change: Change) -> _Turn | None:
        """The request as it is to be repeated; None when it could only be the same again."""
        if change == "shrink":
            # Several units may overflow at once, for the same reason: the context is halved once for all of them.
            self._context = min(self._context, max(LEAST_ROOM, turn.context // 2))
            shrunk = replace(turn, room=max(LEAST_ROOM, turn.room // 2), context=self._context)
            return None if ask.case(shrunk.room) == ask.case(turn.room) else shrunk
        if change == "plainer":
            self._refused.add(ask.shape.name)
            return None if turn.strategy == "plain" else replace(turn, strategy="plain")
        return turn

    async def _reply(self, ask: Ask[R], turn: _Turn, deadline: float | None, tally: Tally) -> Told | Failure:
        """What the model said in this turn; prose that was cut off is continued."""
        messages = self._messages(ask, turn)
        said = await self._request(ask, messages, turn, deadline, tally)
        if isinstance(said, Failure):
            return said
        if said.refused:
            return _REFUSED
        if isinstance(ask.shape, Prose):
            return await self._continued(ask, messages, said, turn, deadline, tally)
        return said

    async def _continued(
        self,
        ask: Ask[R],
        messages: Sequence[BaseMessage],
        said: Told,
        turn: _Turn,
        deadline: float | None,
        tally: Tally,
    ) -> Told:
        for _ in range(MOST_CONTINUATIONS if turn.number == 1 else 0):
            if not (said.cut_off and said.text.strip()):
                return said
            onward = [*messages, AIMessage(said.text), HumanMessage(GO_ON)]
            try:
                more = await self._request(ask, onward, turn, deadline, tally)
            except BudgetSpent:
                break
            if isinstance(more, Failure) or not more.text.strip():
                break
            said = replace(more, text=_joined(said.text, more.text))
        return replace(said, text=whole_sentences(said.text)) if said.cut_off else said

    async def _request(
        self, ask: Ask[R], messages: Sequence[BaseMessage], turn: _Turn, deadline: float | None, tally: Tally
    ) -> Told | Failure:
        """One request over the wire, reserved for and settled; nothing of that when it was paid for before a crash."""
        call = self._wire.call(ask.purpose, turn.strategy, messages)
        if paid := self._wire.paid(call):
            return paid
        if failure := await self._wait_for_turn(deadline):
            return failure
        estimate = self._estimate(ask, messages, turn.strategy)
        prompt_tokens = int(estimate * self._tokens_per_estimate * MARGIN)
        reservation = await self._reserved(ask, turn, prompt_tokens, deadline)
        usage = Usage(int(estimate * self._tokens_per_estimate), 0, counted=False)
        try:
            async with asyncio.timeout(self._limit(turn, deadline)):
                runnable = steered(self._chat, self._provider, ask.shape, turn.strategy, reservation.reply_tokens)
                said = await self._wire.reply(call, ask.purpose, runnable, messages)
            tally.replies.append(call.key)
            usage = self._used(said, usage.prompt)
            self._learn(estimate, said)
        except Exception as error:  # noqa: BLE001 - provider libraries raise anything; it becomes a value here, once
            failure = failure_of(error)
            usage = Usage(0, 0) if failure.kind in _UNBILLED else usage
            return failure
        else:
            return said
        finally:
            # A call that is cancelled from outside is settled too: it may have been paid for.
            tally.book(usage, self._ledger.settle(reservation, usage))

    async def _reserved(self, ask: Ask[R], turn: _Turn, prompt_tokens: int, deadline: float | None) -> Reservation:
        """What is set aside for a request: when means are short, a shorter reply. Raises BudgetSpent."""
        while True:
            affordable = self._ledger.affordable(ask.phase, self.name, prompt_tokens)
            reply = turn.reply_tokens if affordable is None else max(LEAST_REPLY, min(affordable, turn.reply_tokens))
            try:
                return self._ledger.reserve(ask.phase, self.name, prompt_tokens, reply)
            except BudgetSpent:
                # Others have set more aside than they will use: what they give back may be enough.
                left = None if deadline is None else max(0.0, deadline - self._clock.monotonic())
                if not await self._ledger.given_back(left):
                    raise

    async def _wait_for_turn(self, deadline: float | None) -> Failure | None:
        """Wait as long as the provider asked for; a failure when that is longer than there is time."""
        wait = self._not_before - self._clock.monotonic()
        left = MOST_WAIT_S if deadline is None else deadline - self._clock.monotonic()
        if wait > left:
            return _TOO_BUSY
        if wait > 0:
            await asyncio.sleep(wait)
        return None

    def _messages(self, ask: Ask[R], turn: _Turn) -> list[BaseMessage]:
        case = ask.case(turn.room)
        case = f"{case}\n\n{turn.reminder}" if turn.reminder else case
        return [SystemMessage(self._standing(ask, turn.strategy)), HumanMessage(case)]

    def _standing(self, ask: Ask[R], strategy: Strategy) -> str:
        if not self._needs_words(ask.shape, strategy):
            return ask.standing
        return f"{ask.standing}\n\n{instructions(ask.shape)}"

    def _needs_words(self, shape: Shape, strategy: Strategy) -> bool:
        """A grammar makes a local model write the right brackets; only words make it know what to put in them."""
        if isinstance(shape, Prose):
            return False
        return strategy == "plain" or (strategy == "schema" and not PROVIDERS[self._provider].key_needed)

    def _deadline(self, ask: Ask[R]) -> float | None:
        left = self._ledger.seconds_left(ask.phase)
        return None if left is None else self._clock.monotonic() + left * ask.share

    def _limit(self, turn: _Turn, deadline: float | None) -> float:
        """Seconds for one request: the first leaves as much again for a second try."""
        if deadline is None:
            return self._manners.timeout_s
        left = max(0.0, deadline - self._clock.monotonic())
        return min(self._manners.timeout_s, left / 2 if turn.number == 1 else left)

    def _reply_limit(self, ask: Ask[R]) -> int:
        return max(LEAST_ROOM, min(ask.reply_tokens, self._context // 4))

    def _room(self, ask: Ask[R], strategy: Strategy) -> int:
        """Tokens for the case: what the context leaves beside the reply and the standing part."""
        around = estimated_tokens(self._standing(ask, strategy)) + self._schema_tokens(ask.shape, strategy)
        free = self._context / min(MOST_DENSE, max(MARGIN, self._tokens_per_estimate)) - self._reply_limit(ask) - around
        return max(LEAST_ROOM, min(self._manners.max_prompt_tokens, int(free)))

    def _estimate(self, ask: Ask[R], messages: Sequence[BaseMessage], strategy: Strategy) -> int:
        return sum(estimated_tokens(str(message.text)) for message in messages) + self._schema_tokens(
            ask.shape, strategy
        )

    def _schema_tokens(self, shape: Shape, strategy: Strategy) -> int:
        """What a schema adds to the prompt: nothing where it stands there in words and is otherwise a grammar."""
        if strategy == "plain" or isinstance(shape, Prose) or self._needs_words(shape, strategy):
            return 0
        return estimated_tokens(str(wire_schema(shape)))

    def _used(self, said: Told, prompt: int) -> Usage:
        if said.prompt_tokens is None or said.reply_tokens is None:
            return Usage(prompt, estimated_tokens(said.text + str(said.calls)), counted=False)
        return Usage(said.prompt_tokens, said.reply_tokens, min(said.cached_tokens, said.prompt_tokens))

    def _learn(self, estimate: int, said: Told) -> None:
        """A model whose tokens are smaller than estimated is reserved for accordingly from now on."""
        if said.prompt_tokens:
            seen = min(MOST_LEARNED, said.prompt_tokens / estimate)
            self._tokens_per_estimate = max(self._tokens_per_estimate, seen)

    def _asked(self, ask: Ask[R], tally: Tally) -> ModelAsked:
        return ModelAsked(
            ask.phase,
            ask.purpose,
            self.name,
            tally.requests,
            tally.prompt,
            tally.cached,
            tally.reply,
            tally.cost_usd,
            round(self._clock.monotonic() - tally.started, 3),
            tally.counted,
            tally.failure,
            tuple(tally.replies),
        )


_MALFORMED = Failure(FailureKind.MALFORMED, "The model's reply could not be used.")
_TOO_BUSY = Failure(FailureKind.RATE_LIMIT, "The model asked for more patience than there was time.")
_REFUSED = Failure(FailureKind.REFUSAL, "The model refused to answer.")


def _judged(ask: Ask[R], said: Told, turn: _Turn) -> _Usable[R] | _Malformed:
    try:
        judgement = ask.accept(_read(said, ask.shape), turn.room)
    except MalformedReply as error:
        return _Malformed(str(error), said.cut_off)
    return _Usable(judgement, whole=not said.cut_off or isinstance(ask.shape, Prose))


def _read(said: Told, shape: Shape) -> Any:
    match shape:
        case Form():
            return form_of(said, shape)
        case Toolbox():
            return calls_of(said, shape)
        case Prose():
            return prose_of(said)


def _reminded(turn: _Turn, malformed: _Malformed) -> _Turn:
    """Say what was wrong; a reply that was cut off gets more room, for some models think at length first."""
    if malformed.cut_off:
        longer = max(turn.reply_tokens, min(turn.reply_tokens * 2, turn.context // 2))
        return replace(turn, reply_tokens=longer, reminder="Be brief: your last reply was cut off.")
    return replace(turn, reminder=f"Your last reply could not be used. {malformed.complaint} Please reply again.")


def _joined(first: str, more: str) -> str:
    """Both parts as one text, without what the second repeats of the first's end."""
    more = more.lstrip("\n") if first[-1:].isspace() else more
    for size in range(min(len(first), len(more), 200), 10, -1):
        if first.endswith(more[:size]):
            return first + more[size:]
    return first + more

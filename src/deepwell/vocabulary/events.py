"""What happened in a run, in past tense. The journal keeps these in order; nothing is ever changed in it."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Event:
    """Base of all events."""


@dataclass(frozen=True, slots=True)
class RunStarted(Event):
    """The question was accepted."""

    question: str
    version: str


@dataclass(frozen=True, slots=True)
class RunResumed(Event):
    """Another process went on with the run."""

    version: str
    used_s: float
    """Seconds of its time that were used up before."""


@dataclass(frozen=True, slots=True)
class RunReplayed(Event):
    """The run is another one once more, from its journal."""

    of: str
    """The id of that run."""
    settings: tuple[str, ...]
    """Those that were changed, as `name=value`."""


@dataclass(frozen=True, slots=True)
class WouldHaveAsked(Event):
    """A replay came to something that its journal does not tell: a run would have had to go outside for it."""

    call: str
    """judgement, search or read."""
    what: str
    """In words that follow “it would have had to”."""


@dataclass(frozen=True, slots=True)
class ScopeTaken(Event):
    """The question was understood and planned."""

    question_kind: str
    tier: str
    subquestions: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ClarificationAsked(Event):
    """The question needs an answer from the user first."""

    question: str


@dataclass(frozen=True, slots=True)
class TopicDispatched(Event):
    """A unit was sent."""

    iteration: int
    topic: str
    subquestion: str
    attempt_number: int


@dataclass(frozen=True, slots=True)
class TopicSkipped(Event):
    """A proposed topic was not dispatched."""

    iteration: int
    topic: str
    reason: str


@dataclass(frozen=True, slots=True)
class Searched(Event):
    """A query was answered by an engine, or failed."""

    query: str
    publisher: str | None
    hits: int
    failure: str | None = None


@dataclass(frozen=True, slots=True)
class SearchPreprocessed(Event):
    """The hits of a unit's queries became one short list."""

    queries: int
    hits: int
    same_address: int
    """Hits that led to a page or passage which another one had led to already."""
    same_text: int
    """Hits that were copies of another one."""
    kept: int
    """Those that are going to be read."""
    domains: int
    """The sites, or documents, that these lie on."""
    llm_calls_in_preprocess: int = 0
    """Always: no model is asked for this."""


@dataclass(frozen=True, slots=True)
class SourceRead(Event):
    """A source was read and kept."""

    address: str
    hash: str


@dataclass(frozen=True, slots=True)
class SourceNotRead(Event):
    """A source could not be read."""

    address: str
    reason: str


@dataclass(frozen=True, slots=True)
class UnitEnded(Event):
    """A unit came back."""

    iteration: int
    topic: str
    status: str
    attempt_number: int
    evidence: int
    duration_s: float
    failure_reason: str | None


@dataclass(frozen=True, slots=True)
class GateAsked(Event):
    """The quality gate judged the evidence."""

    iteration: int
    status: str
    reason: str | None


@dataclass(frozen=True, slots=True)
class Decided(Event):
    """The runtime decided whether research goes on."""

    iteration: int
    should_continue: bool
    because: str | None
    novelty: float | None


@dataclass(frozen=True, slots=True)
class CitationRemoved(Event):
    """A citation in the text named no source of this run."""

    number: int


@dataclass(frozen=True, slots=True)
class ModelAsked(Event):
    """A model was asked for a judgement, and answered or did not."""

    phase: str
    purpose: str
    model: str
    requests: int
    prompt_tokens: int
    cached_tokens: int
    reply_tokens: int
    cost_usd: float | None
    """None: the model's price is not known."""
    seconds: float
    counted: bool = True
    """False when tokens are an estimate, because the provider did not tell."""
    failure: str | None = None
    replies: tuple[str, ...] = ()
    """Keys of the kept replies that this is the bill for: after a crash they are not billed again."""


@dataclass(frozen=True, slots=True)
class Degraded(Event):
    """A judgement could not be had from the model and was made without it."""

    part: str
    reason: str


@dataclass(frozen=True, slots=True)
class Compacted(Event):
    """What the state held in words was shortened; everything is still in the store."""

    trigger: str
    tokens_before: int
    tokens_after: int


@dataclass(frozen=True, slots=True)
class ReportWritten(Event):
    """The report stands, or the statement that nothing was found."""

    found: bool
    sections: int
    citations: int
    sources: int


@dataclass(frozen=True, slots=True)
class RunEnded(Event):
    """The run is over."""

    status: str
    stop_reason: str | None

"""What limited the run, in sentences for the reader."""

from collections.abc import Iterator, Sequence

from deepwell.configuration import Configuration
from deepwell.vocabulary.budget import Budget, SpendLine, total_spend
from deepwell.vocabulary.decision import RETRY_EXHAUSTED, StopReason
from deepwell.vocabulary.events import Degraded
from deepwell.vocabulary.record import ResearchRecord
from deepwell.vocabulary.report import Methodology

MOST_PARTS = 5
"""Parts that are named one by one."""


def methodology(
    record: ResearchRecord,
    configuration: Configuration,
    limits: Sequence[str] = (),
    removed_citations: int = 0,
    *,
    degradations: Sequence[Degraded] = (),
    spend: Sequence[SpendLine] = (),
) -> Methodology:
    """The reason research ended and every limit that shaped the report; no lines when none did."""
    stop = record.stop or StopReason.INTERRUPTED
    lines = (
        *_ending(record, stop, configuration),
        *_retries(record, configuration),
        *_losses(record, removed_citations),
        *_without_model(degradations),
        *limits,
    )
    tags = (RETRY_EXHAUSTED,) if any(RETRY_EXHAUSTED in line for line in lines) else ()
    return Methodology(stop, lines, tags, tuple(spend_sentences(spend)))


def spend_sentences(lines: Sequence[SpendLine]) -> Iterator[str]:
    """What each model was used for, and what it all came to."""
    for model in dict.fromkeys(line.model for line in lines):
        own = [line for line in lines if line.model == model]
        phases = ", ".join(f"{line.phase} {_count(line.requests, 'request')}, {line.tokens:,} tokens" for line in own)
        yield f"{model}: {phases}."
    if lines:
        yield _in_all(lines)


def _in_all(lines: Sequence[SpendLine]) -> str:
    total = total_spend(lines)
    cached = sum(line.cached_tokens for line in lines)
    said = f"{total.tokens:,} tokens in all"
    said += f", {cached:,} of them from the provider's cache" if cached else ""
    said += ", partly estimated" if not all(line.counted for line in lines) else ""
    unpriced = dict.fromkeys(line.model for line in lines if line.cost_usd is None)
    if unpriced:
        return f"{said}; no price is known for {', '.join(unpriced)}, so that only tokens are counted."
    return f"{said}, {_dollars(total.cost_usd)}."


def overrun(lines: Sequence[SpendLine], budget: Budget) -> Iterator[str]:
    """A provider may count, or answer, more than was asked of it: the budget is then passed once, and that is said."""
    total = total_spend(lines)
    if budget.tokens is not None and total.tokens > budget.tokens:
        yield f"The provider counted {total.tokens - budget.tokens:,} tokens more than the budget of {budget.tokens:,}."
    if budget.cost_usd is not None and total.cost_usd > budget.cost_usd:
        yield f"The provider's count comes to {_dollars(total.cost_usd)}, more than the budget of ${budget.cost_usd:g}."


def _dollars(amount: float) -> str:
    return "free of charge" if not amount else f"${amount:.4f}" if amount < 1 else f"${amount:.2f}"


def _without_model(degradations: Sequence[Degraded]) -> Iterator[str]:
    """Which parts the model did not do, by the reason why."""
    reasons: dict[str, list[str]] = {}
    for one in degradations:
        reasons.setdefault(one.reason, []).append(one.part)
    # Units come back in any order: the same run must give the same report.
    for reason, parts in sorted(reasons.items()):
        yield f"Made without the model: {_some(sorted(set(parts)))}. {reason}"


def _some(parts: Sequence[str]) -> str:
    more = len(parts) - MOST_PARTS
    return ", ".join(parts) if more <= 0 else f"{', '.join(parts[:MOST_PARTS])} and {_count(more, 'other part')}"


def _ending(record: ResearchRecord, stop: StopReason, configuration: Configuration) -> Iterator[str]:
    if stop is StopReason.NOVELTY:
        score = record.novelty[-1] or 0.0
        yield (
            f"Research ended after round {record.iteration} because {stop.sentence}: {score:.0%} of the words in its "
            f"findings were new, below the threshold of {configuration.min_novelty_threshold:.0%}."
        )
    elif stop is StopReason.TIME:
        yield (
            f"Research ended in round {record.iteration} because {stop.sentence} "
            f"({_minutes(configuration.total_minutes)} in all, part of it kept for writing)."
        )
    elif stop is StopReason.ITERATION_CAP:
        yield (
            f"Research ended because {stop.sentence} "
            f"({record.iteration} of {configuration.max_researcher_iterations}); "
            f"{_count(len(record.decisions[-1].gaps), 'gap')} stayed open."
        )
    elif stop.is_limit:
        yield f"Research ended after round {record.iteration} because {stop.sentence}."


def _retries(record: ResearchRecord, configuration: Configuration) -> Iterator[str]:
    for standing in record.standings:
        if standing.status == "exhausted":
            tries = standing.failures
            yield f"{RETRY_EXHAUSTED}: “{standing.text}” was given up after {tries} tries without evidence."
    for address, tries in record.unread.items():
        given_up = f" {RETRY_EXHAUSTED}" if tries >= configuration.max_retry_attempts else ""
        because = f": {why}" if (why := record.unread_because.get(address)) else "."
        yield f"{address} could not be read ({_count(tries, 'try', 'tries')}){because}{given_up}"


def _losses(record: ResearchRecord, removed_citations: int) -> Iterator[str]:
    if record.cut_off_units:
        yield f"{_count(record.cut_off_units, 'research unit')} cut off before the end; what was gathered is used."
    if record.failed_units:
        yield f"{_count(record.failed_units, 'research unit')} failed."
    if record.gate.status == "retry":
        yield f"The evidence is below the quality gate: {record.gate.reason}."
    if removed_citations:
        yield f"{_count(removed_citations, 'citation')} to unknown sources removed from the text."


def _count(number: int, one: str, many: str | None = None) -> str:
    return f"{number} {one if number == 1 else many or one + 's'}"


def _minutes(total: float | None) -> str:
    return "no limit" if total is None else f"{total:g} minutes"

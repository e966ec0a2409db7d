"""What limited the run, in sentences for the reader."""

from collections.abc import Iterator, Sequence

from deepwell.configuration import Configuration
from deepwell.vocabulary.decision import RETRY_EXHAUSTED, StopReason
from deepwell.vocabulary.record import ResearchRecord
from deepwell.vocabulary.report import Methodology


def methodology(
    record: ResearchRecord, configuration: Configuration, limits: Sequence[str] = (), removed_citations: int = 0
) -> Methodology:
    """The reason research ended and every limit that shaped the report; no lines when none did."""
    stop = record.stop or StopReason.INTERRUPTED
    lines = (
        *_ending(record, stop, configuration),
        *_retries(record, configuration),
        *_losses(record, removed_citations),
        *limits,
    )
    tags = (RETRY_EXHAUSTED,) if any(RETRY_EXHAUSTED in line for line in lines) else ()
    return Methodology(stop, lines, tags)


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
        yield f"{address} could not be read ({_count(tries, 'try', 'tries')}).{given_up}"


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

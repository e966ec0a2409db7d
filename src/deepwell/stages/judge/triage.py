"""Which of the proposed topics are dispatched? Duplicates first, then the limits."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from deepwell.configuration import Configuration
from deepwell.stages.judge.duplicates import find_duplicate
from deepwell.vocabulary.decision import RETRY_EXHAUSTED, Skip, Triage
from deepwell.vocabulary.evidence import Standing
from deepwell.vocabulary.plan import Query, Topic

MOST_UNITS_A_ROUND = 10
"""As many as a plan may have parts at most: whoever proposes more is not thinking."""


def triage(
    proposed: Sequence[Topic],
    dispatched: Sequence[str],
    standings: Mapping[str, Standing],
    configuration: Configuration,
) -> Triage:
    """Drop near-duplicates (of this batch too), then what is exhausted, then what passes the ceiling on units."""
    accepted: list[Topic] = []
    fates: list[Topic | Skip] = []
    for topic in proposed:
        earlier = [*dispatched, *(other.text for other in accepted)]
        reason = (
            _duplicate(topic, earlier, configuration)
            or _exhausted(topic, accepted, standings, configuration)
            or _over_ceiling(len(accepted), len(earlier), configuration)
        )
        if reason:
            fates.append(Skip(topic, reason))
        else:
            accepted.append(_numbered(topic, accepted, standings))
            fates.append(accepted[-1])
    within = iter(rationed(accepted, configuration.max_queries))
    return Triage(tuple(next(within) if isinstance(fate, Topic) else fate for fate in fates))


def rationed(topics: Sequence[Topic], most: int) -> tuple[Topic, ...]:
    """The topics with their searches cut to `most` in all, in turns, so that each keeps at least its first."""
    depth = max((len(topic.queries) for topic in topics), default=0)
    in_turns = [
        (i, topic.queries[turn]) for turn in range(depth) for i, topic in enumerate(topics) if turn < len(topic.queries)
    ]
    allowed = in_turns[: max(most, len(topics))]
    kept: list[list[Query]] = [[] for _ in topics]
    for i, query in allowed:
        kept[i].append(query)
    return tuple(replace(topic, queries=tuple(kept[i])) for i, topic in enumerate(topics))


def _duplicate(topic: Topic, earlier: Sequence[str], configuration: Configuration) -> str | None:
    found = find_duplicate(topic.text, earlier, configuration.duplicate_topic_similarity_threshold)
    if found is None:
        return None
    return f"it repeats the topic already dispatched: “{found.earlier}” (similarity {found.score:.2f})"


def _exhausted(
    topic: Topic, accepted: Sequence[Topic], standings: Mapping[str, Standing], configuration: Configuration
) -> str | None:
    standing = standings.get(topic.subquestion)
    if standing is None or standing.evidence:
        pending = 0
    else:
        # Tries of this batch may all fail: together with the failures so far they must not pass the limit.
        pending = sum(1 for other in accepted if other.subquestion == topic.subquestion)
    failures = standing.failures if standing else 0
    if (standing and standing.exhausted) or failures + pending >= configuration.max_retry_attempts:
        return f"its sub-question was tried {failures + pending} times without success ({RETRY_EXHAUSTED})"
    return None


def _over_ceiling(of_round: int, units: int, configuration: Configuration) -> str | None:
    if of_round >= MOST_UNITS_A_ROUND:
        return f"a round may not send more than {MOST_UNITS_A_ROUND} research units"
    if units < configuration.max_research_units:
        return None
    return f"the run may not send more than {configuration.max_research_units} research units"


def _numbered(topic: Topic, accepted: Sequence[Topic], standings: Mapping[str, Standing]) -> Topic:
    standing = standings.get(topic.subquestion)
    if standing and standing.evidence:
        return topic
    earlier = standing.attempts if standing else 0
    earlier += sum(1 for other in accepted if other.subquestion == topic.subquestion)
    return replace(topic, attempt_number=earlier + 1)

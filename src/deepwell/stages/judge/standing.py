"""How far has each sub-question come, and what is still open?"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from deepwell.vocabulary.evidence import Gap, Standing, UnitOutcome
from deepwell.vocabulary.plan import Lead, Plan


def first_standings(plan: Plan) -> dict[str, Standing]:
    """Nothing tried yet."""
    return {part.id: Standing(part.id, part.text) for part in plan.subquestions}


def updated(
    standings: Mapping[str, Standing], outcomes: Sequence[UnitOutcome], max_attempts: int
) -> dict[str, Standing]:
    """The standings after a round's units came back."""
    after = dict(standings)
    for key in dict.fromkeys(outcome.topic.subquestion for outcome in outcomes):
        before = standings.get(key) or Standing(key, key)
        after[key] = _after(before, [o for o in outcomes if o.topic.subquestion == key], max_attempts)
    return after


def open_gaps(standings: Mapping[str, Standing]) -> tuple[Gap, ...]:
    """What stays open, in the order of the plan; a sub-question without evidence is one gap."""
    found: list[Gap] = []
    for standing in standings.values():
        texts = standing.gaps if standing.evidence else (f"Nothing was found on: {standing.text}",)
        found.extend(Gap(standing.id, text, standing.exhausted) for text in texts)
    return tuple(found)


def retry_tracking(standings: Mapping[str, Standing]) -> dict[str, object]:
    """The record of tries, as readers of the phase state know it."""
    return {
        "subquestions": {key: {"attempts": s.attempts, "status": s.status} for key, s in standings.items()},
        "total_exhausted": sum(1 for s in standings.values() if s.status == "exhausted"),
    }


def _after(before: Standing, outcomes: Sequence[UnitOutcome], max_attempts: int) -> Standing:
    # A unit that was cut off by the clock or the user did not fail: it was not given its chance.
    failed = sum(1 for o in outcomes if not o.succeeded and o.status != "cancelled")
    failures = before.failures + failed
    return replace(
        before,
        attempts=before.attempts + (failed if before.evidence else len(outcomes)),
        failures=failures,
        evidence=before.evidence + sum(len(o.evidence) for o in outcomes),
        gaps=_gaps_after(before.gaps, [o for o in outcomes if o.succeeded]),
        leads=_leads_after(before.leads, outcomes),
        exhausted=failures >= max_attempts,
    )


def _gaps_after(before: tuple[str, ...], succeeded: Sequence[UnitOutcome]) -> tuple[str, ...]:
    """One unit that settles the matter closes it; else what the units still miss; without news, as before."""
    if not succeeded:
        return before
    if any(not outcome.gaps for outcome in succeeded):
        return ()
    return tuple(dict.fromkeys(gap for outcome in succeeded for gap in outcome.gaps))


def _leads_after(before: Iterable[Lead], outcomes: Sequence[UnitOutcome]) -> tuple[Lead, ...]:
    best: dict[str, Lead] = {}
    for lead in (*before, *(lead for outcome in outcomes for lead in outcome.leads)):
        known = best.get(lead.text.lower())
        if known is None or lead.score > known.score:
            best[lead.text.lower()] = lead
    return tuple(sorted(best.values(), key=lambda lead: -lead.score))

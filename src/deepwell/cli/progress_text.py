"""`runtime_progress` in words: what a log says line by line, and what a picture is put together from."""

import math
from collections.abc import Mapping
from typing import Any

STEP_S = 5
"""An estimate is told in steps of so many seconds: more would claim too much."""

Payload = Mapping[str, Any]


def progress_lines(payload: Payload) -> list[str]:
    """What a log says of the payload, each line once."""
    if payload["phase"] == "research":
        return _round_lines(payload)
    if payload["phase"] == "writing" and payload["sections_total"]:
        done = f"{payload['sections_written']} of {payload['sections_total']} sections written"
        return [done] if payload["sections_written"] else []
    return []


def heartbeat(payload: Payload, since: float = 0.0) -> str:
    """One line that shows life while nothing else is to be said."""
    parts = [*clocks(payload, since), *evidence(payload), *spend(payload), *limits(payload)]
    return "still at work: " + ", ".join(parts)


def clocks(payload: Payload, since: float) -> list[str]:
    """Elapsed, the estimate and the deadline, `since` seconds after the payload was made."""
    parts = [f"{clock(payload['elapsed_minutes'] * 60 + since)} elapsed"]
    estimate = _estimate(payload, since)
    if estimate:
        parts.append(estimate)
    if payload["remaining_minutes"] is not None:
        parts.append(f"deadline in {clock(payload['remaining_minutes'] * 60 - since)}")
    return parts


def evidence(payload: Payload) -> list[str]:
    """What was found so far, and what the gate says to it."""
    if "evidence_record_count" not in payload:
        return []
    sources = counted(payload["source_domain_count"], "source")
    found = f"{counted(payload['evidence_record_count'], 'claim')} from {sources}"
    if payload["phase"] != "research":
        return [found]
    if payload["quality_gate_status"] != "none":
        return [found, f"quality gate: {payload['quality_gate_status']}"]
    return [found, f"the gate wants {payload['min_evidence_records']} from {payload['min_source_domains']}"]


def spend(payload: Payload) -> list[str]:
    """Tokens and money, with their budgets where there are some."""
    parts = []
    if payload["tokens_spent"]:
        budget = "" if payload["token_budget"] is None else f" of {payload['token_budget']:,}"
        parts.append(f"{payload['tokens_spent']:,}{budget} tokens")
    if payload["cost_usd"]:
        budget = "" if payload["cost_budget_usd"] is None else f" of ${payload['cost_budget_usd']:.2f}"
        parts.append(f"${payload['cost_usd']:.3f}{budget}")
    return parts


def limits(payload: Payload) -> list[str]:
    """What hinders the run."""
    return ["searching is limited"] if payload["degraded_mode"] else []


def result(unit: Payload, since: float = 0.0) -> str:
    """What a unit brought and how long it took, or how long it has been at work."""
    parts = [f"try {unit['attempt_number']}"] if unit["attempt_number"] > 1 else []
    if unit["duration_s"] is not None:
        parts += [counted(unit["evidence"], "claim"), f"{unit['duration_s']:.1f} s"]
    elif unit["running_s"] is not None:
        parts.append(clock(unit["running_s"] + since))
    return ", ".join(parts)


def clock(seconds: float) -> str:
    """As 1:05, or 1:01:05 from an hour on; never below 0:00."""
    minutes, second = divmod(max(0, int(seconds)), 60)
    hour, minute = divmod(minutes, 60)
    return f"{hour}:{minute:02d}:{second:02d}" if hour else f"{minute}:{second:02d}"


def counted(number: int, noun: str) -> str:
    """1 claim, 2 claims."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def _round_lines(payload: Payload) -> list[str]:
    round_ = f"round {payload['supervisor_iteration']}"
    sent = counted(payload["dispatched_research_units"], "unit")
    lines = [f"{round_}: {sent} dispatched, {payload['skipped_research_units']} skipped"]
    lines += [f"{round_}: {_unit_line(unit)}" for unit in payload["research_units"] if unit["duration_s"] is not None]
    if payload["novelty"] is not None:
        found, gaps = evidence(payload)[0], len(payload["gaps"])
        lines.append(f"{round_}: {found}, {payload['novelty']:.0%} new, {counted(gaps, 'gap')}")
    if payload["quality_gate_status"] != "none":
        reason = f": {payload['quality_gate_reason']}" if payload["quality_gate_reason"] else ""
        lines.append(f"{round_}: quality gate {payload['quality_gate_status']}{reason}")
    if payload["stop_reason"]:
        lines.append(f"{round_}: research ended ({payload['stop_reason'].replace('_', ' ')})")
    return lines


def _unit_line(unit: Payload) -> str:
    reason = f", {unit['failure_reason']}" if unit["failure_reason"] else ""
    return f"{unit['status']}: {unit['topic']} ({result(unit)}{reason})"


def _estimate(payload: Payload, since: float) -> str:
    """The two ends of the estimate; one when they are the same, none when nothing could be told."""
    likely, high = payload["estimated_remaining_minutes"], payload["estimated_remaining_minutes_high"]
    if likely is None:
        return ""
    remaining = payload["remaining_minutes"]
    latest = math.inf if remaining is None else remaining * 60 - since
    soon, late = (clock(min(_stepped(minutes * 60 - since), latest)) for minutes in (likely, high))
    return f"done in about {soon}" if soon == late else f"done in about {soon} to {late}"


def _stepped(seconds: float) -> float:
    return max(1, math.ceil(seconds / STEP_S)) * STEP_S

import io
from typing import Any

import pytest
from rich.console import Console, RenderableType

from deepwell.cli.picture import picture, title
from deepwell.cli.progress_text import clock, clocks, heartbeat, progress_lines, spend
from deepwell.cli.view import HEARTBEAT_S, LiveView, PlainView, SilentView, choose_view
from deepwell.testing import ManualClock

MEANS: dict[str, Any] = {
    "elapsed_minutes": 0.5,
    "remaining_minutes": 4.5,
    "deadline": "2026-01-02T03:09:05+00:00",
    "estimated_remaining_minutes": 0.6,
    "estimated_remaining_minutes_high": 2.0,
    "tokens_spent": 12345,
    "token_budget": 200000,
    "cost_usd": 0.02,
    "cost_budget_usd": 0.5,
    "planning_seconds": 2.0,
    "degraded_mode": False,
}
UNITS = [
    {"topic": "gears", "status": "complete", "duration_s": 1.25, "running_s": None, "failure_reason": None}
    | {"attempt_number": 1, "evidence": 2},
    {"topic": "wreck", "status": "failed", "duration_s": 0.5, "running_s": None}
    | {"failure_reason": "research unit timed out", "attempt_number": 2, "evidence": 0},
    {"topic": "divers", "status": "running", "duration_s": None, "running_s": 3.0, "failure_reason": None}
    | {"attempt_number": 1, "evidence": 0},
]
PAYLOAD: dict[str, Any] = {
    **MEANS,
    "phase": "research",
    "supervisor_iteration": 2,
    "max_iterations": 3,
    "dispatched_research_units": 3,
    "skipped_research_units": 1,
    "quality_gate_status": "retry",
    "quality_gate_reason": "only 2 of at least 5 evidence records",
    "min_evidence_records": 5,
    "min_source_domains": 3,
    "evidence_record_count": 2,
    "source_domain_count": 1,
    "source_domains": ["a.md"],
    "research_units": UNITS,
    "novelty": 0.4,
    "gaps": ["one"],
    "stop_reason": "novelty",
    "research_remaining_minutes": 3.0,
    "round_seconds": [12.0],
    "unit_seconds": [1.25],
}
PLANNING = {**MEANS, "phase": "planning", "estimated_remaining_minutes": None, "estimated_remaining_minutes_high": 4.5}
WRITING = {
    **MEANS,
    "phase": "writing",
    "sections_written": 1,
    "sections_total": 2,
    "sections": [
        {"heading": "Answer", "status": "written", "running_s": None},
        {"heading": "Gears", "status": "writing", "running_s": 4.0},
    ],
    "evidence_record_count": 12,
    "source_domain_count": 4,
    "stop_reason": "gaps_empty",
}


def recording() -> Console:
    return Console(record=True, width=120, file=io.StringIO(), force_terminal=False)


def drawn(renderable: RenderableType, width: int = 120) -> list[str]:
    console = Console(file=io.StringIO(), width=width, record=True)
    console.print(renderable)
    return [line.rstrip() for line in console.export_text().splitlines()]


def test_plain_lines_come_from_the_payload_and_are_said_once() -> None:
    console = recording()
    view = PlainView(console)
    view.progress(PAYLOAD)
    view.progress(PAYLOAD)
    assert console.export_text().splitlines() == [
        "round 2: 3 units dispatched, 1 skipped",
        "round 2: complete: gears (2 claims, 1.2 s)",
        "round 2: failed: wreck (try 2, 0 claims, 0.5 s, research unit timed out)",
        "round 2: 2 claims from 1 source, 40% new, 1 gap",
        "round 2: quality gate retry: only 2 of at least 5 evidence records",
        "round 2: research ended (novelty)",
    ]


def test_plain_lines_count_the_sections() -> None:
    assert progress_lines(WRITING) == ["1 of 2 sections written"]
    assert progress_lines({**WRITING, "sections_written": 0, "sections_total": None}) == []
    assert progress_lines(PLANNING) == []


@pytest.mark.parametrize("view", [PlainView, LiveView])
def test_without_a_payload_nothing_is_said(view: type[SilentView]) -> None:
    console = recording()
    shown = view(console)
    shown.progress(None)
    shown.progress({})
    if isinstance(shown, LiveView):
        console.print(shown.picture())
    assert console.export_text().strip() == ""


def test_a_log_hears_of_a_silent_run_only_after_a_while() -> None:
    console, clock = recording(), ManualClock()
    view = PlainView(console, clock.monotonic)
    view.progress(PLANNING)
    clock.move(HEARTBEAT_S - 1)
    view.progress(PLANNING)
    assert console.export_text(clear=False) == ""
    clock.move(1)
    view.progress(PLANNING)
    view.progress(PLANNING)
    assert console.export_text(clear=False).splitlines() == [heartbeat(PLANNING)]
    clock.move(HEARTBEAT_S)
    view.phase("research")
    view.progress(PLANNING)
    assert console.export_text().splitlines() == [heartbeat(PLANNING), "researching"]


def test_a_log_hears_of_a_long_indexing() -> None:
    console, clock = recording(), ManualClock()
    view = PlainView(console, clock.monotonic)
    view.indexing(1, 3)
    clock.move(HEARTBEAT_S)
    view.indexing(2, 3)
    view.indexing(3, 3)
    assert console.export_text().splitlines() == ["indexing: 2 of 3 documents", "indexed 3 documents"]


def test_the_heartbeat_tells_time_estimate_evidence_and_spend() -> None:
    assert heartbeat({**WRITING, "degraded_mode": True}) == (
        "still at work: 0:30 elapsed, done in about 0:40 to 2:00, deadline in 4:30, 12 claims from 4 sources, "
        "12,345 of 200,000 tokens, $0.020 of $0.50, searching is limited"
    )


def test_quiet_shows_nothing_but_what_must_not_be_lost() -> None:
    console = recording()
    view = choose_view(console, quiet=True)
    with view:
        view.phase("research")
        view.progress(PAYLOAD)
        view.indexing(1, 1)
        view.say("Stopping.")
    assert console.export_text() == "Stopping.\n"


def test_the_picture_shows_clocks_evidence_gate_spend_and_units() -> None:
    lines = drawn(picture(PAYLOAD, since=10.0), 100)
    assert [" ".join(line.split()) for line in lines] == [
        "0:40 elapsed · done in about 0:30 to 1:50 · deadline in 4:20",
        "2 claims from 1 source · quality gate: retry · 1 topic skipped · 12,345 of 200,000 tokens",
        "$0.020 of $0.50",
        "✓ gears 2 claims, 1.2 s",
        "✗ wreck try 2, 0 claims, 0.5 s",
        "research unit timed out",
        "▸ divers 0:13",
    ]


def test_before_the_gate_is_asked_the_picture_says_what_it_wants() -> None:
    lines = drawn(picture({**PAYLOAD, "quality_gate_status": "none"}, since=0.0), 60)
    assert lines[1] == "2 claims from 1 source · the gate wants 5 from 3"


def test_the_picture_of_the_writing_shows_its_sections() -> None:
    assert title("writing", WRITING).plain == "Writing the report · 1 of 2 sections"
    assert title("writing", {**WRITING, "sections_total": None}).plain == "Writing the report · outline"
    lines = drawn(picture(WRITING, since=0.0), 60)
    assert [line.split() for line in lines[-2:]] == [["✓", "Answer"], ["▸", "Gears", "0:04"]]


@pytest.mark.parametrize("width", [12, 20, 40, 60, 80, 120])
@pytest.mark.parametrize("payload", [PLANNING, PAYLOAD, WRITING])
def test_no_line_is_wider_than_the_terminal(width: int, payload: dict[str, Any]) -> None:
    long = [{**unit, "topic": "why " * 100, "failure_reason": "because " * 50} for unit in UNITS]
    payload = {**payload, "degraded_mode": True} | ({"research_units": long} if "research_units" in payload else {})
    lines = drawn(picture(payload, since=0.0), width)
    assert all(len(line) <= width for line in lines)
    assert len(lines) < 30


def test_between_payloads_only_the_clocks_go_on() -> None:
    clock = ManualClock()
    view = LiveView(Console(file=io.StringIO(), force_terminal=True), clock.monotonic)
    view.phase("research")
    view.progress(PAYLOAD)
    before = drawn(view.picture())
    clock.move(7)
    after = drawn(view.picture())
    changed = [(old, new) for old, new in zip(before, after, strict=True) if old[2:] != new[2:]]
    assert [(old.split()[0], new.split()[0]) for old, new in changed] == [("0:30", "0:37"), ("▸", "▸")]


def test_a_new_phase_forgets_the_payload_of_the_one_before() -> None:
    view = LiveView(Console(file=io.StringIO(), force_terminal=True))
    view.phase("research")
    view.progress(PAYLOAD)
    view.phase("writing")
    assert [line[2:] for line in drawn(view.picture())] == ["Writing the report"]


@pytest.mark.parametrize(
    ("likely", "high", "remaining", "words"),
    [
        (None, 4.5, 4.5, ["0:30 elapsed", "deadline in 4:30"]),
        (None, None, None, ["0:30 elapsed"]),
        (0.5, 0.5, 4.5, ["0:30 elapsed", "done in about 0:30", "deadline in 4:30"]),
        (0.51, 3.0, None, ["0:30 elapsed", "done in about 0:35 to 3:00"]),
        (0.0, 0.0, None, ["0:30 elapsed", "done in about 0:05"]),
        (0.05, 0.05, 0.05, ["0:30 elapsed", "done in about 0:03", "deadline in 0:03"]),
    ],
)
def test_an_estimate_is_told_as_roughly_as_it_is_known(
    likely: float | None, high: float | None, remaining: float | None, words: list[str]
) -> None:
    told = {"estimated_remaining_minutes": likely, "estimated_remaining_minutes_high": high}
    assert clocks({**PLANNING, **told, "remaining_minutes": remaining}, since=0.0) == words


def test_spend_without_a_budget_or_without_a_model() -> None:
    assert spend({**MEANS, "token_budget": None, "cost_budget_usd": None}) == ["12,345 tokens", "$0.020"]
    assert spend({**MEANS, "tokens_spent": 0, "cost_usd": 0.0}) == []


def test_clocks_never_run_below_zero() -> None:
    assert [clock(-3), clock(65), clock(3661)] == ["0:00", "1:05", "1:01:01"]


def test_a_terminal_gets_the_picture_and_a_pipe_gets_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm")
    assert isinstance(choose_view(Console(force_terminal=True), quiet=False), LiveView)
    assert isinstance(choose_view(Console(force_terminal=False), quiet=False), PlainView)
    assert not isinstance(choose_view(Console(force_terminal=True), quiet=True), LiveView | PlainView)


def test_a_terminal_that_cannot_draw_gets_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm")
    ascii_only = Console(file=io.TextIOWrapper(io.BytesIO(), encoding="ascii"), force_terminal=True)
    assert isinstance(choose_view(ascii_only, quiet=False), PlainView)
    monkeypatch.setenv("TERM", "dumb")
    assert isinstance(choose_view(Console(force_terminal=True), quiet=False), PlainView)

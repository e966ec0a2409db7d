from rich.console import Console

from deepwell.cli.view import LiveView, PlainView, choose_view, round_picture

PAYLOAD = {
    "phase": "research",
    "supervisor_iteration": 2,
    "max_iterations": 3,
    "dispatched_research_units": 2,
    "skipped_research_units": 1,
    "quality_gate_status": "retry",
    "quality_gate_reason": "only 2 of at least 5 evidence records",
    "min_evidence_records": 5,
    "min_source_domains": 3,
    "evidence_record_count": 2,
    "source_domain_count": 1,
    "source_domains": ["a.md"],
    "research_units": [
        {"topic": "gears", "status": "complete", "duration_s": 1.25, "failure_reason": None}
        | {"attempt_number": 1, "evidence": 2},
        {"topic": "wreck", "status": "failed", "duration_s": 0.5, "failure_reason": "research unit timed out"}
        | {"attempt_number": 2, "evidence": 0},
    ],
    "novelty": 0.4,
    "gaps": ["one"],
    "stop_reason": "novelty",
    "elapsed_minutes": 0.5,
    "remaining_minutes": 4.5,
    "tokens_spent": 12345,
    "cost_usd": 0.02,
    "research_remaining_minutes": 3.0,
}


def recording() -> Console:
    return Console(record=True, width=120, file=None, quiet=False, stderr=True, force_terminal=False)


def test_plain_lines_come_from_the_payload_and_are_said_once() -> None:
    console = recording()
    view = PlainView(console)
    view.progress(PAYLOAD)
    view.progress(PAYLOAD)
    assert console.export_text().splitlines() == [
        "round 2: 2 units dispatched, 1 skipped",
        "round 2: complete: gears (2 claims, 1.2 s)",
        "round 2: failed: wreck (try 2, 0 claims, 0.5 s, research unit timed out)",
        "round 2: 2 claims from 1 sources, 40% new, 1 gaps",
        "round 2: quality gate retry: only 2 of at least 5 evidence records",
        "round 2: research ended (novelty)",
    ]


def test_without_a_payload_nothing_is_said_about_the_round() -> None:
    console = recording()
    view = PlainView(console)
    view.progress(None)
    view.progress({})
    assert console.export_text() == ""


def test_the_picture_shows_units_clocks_evidence_and_gate() -> None:
    console = recording()
    console.print(round_picture(PAYLOAD, since=10.0))
    text = console.export_text()
    assert "round 2 of at most 3 · 0:40 · 2:50 left for research" in text
    assert "✓ gears" in text
    assert "✗ wreck" in text
    assert "2 claims (gate: 5) · 1 sources (gate: 3) · quality gate: retry · 1 topics skipped" in text


def test_a_terminal_gets_the_picture_and_a_pipe_gets_lines() -> None:
    assert isinstance(choose_view(Console(force_terminal=True), quiet=False), LiveView)
    assert isinstance(choose_view(Console(force_terminal=False), quiet=False), PlainView)
    assert not isinstance(choose_view(Console(force_terminal=True), quiet=True), LiveView | PlainView)

from deepwell.configuration import Configuration
from deepwell.stages.write import document
from deepwell.stages.write.methodology import methodology
from deepwell.testing import source
from deepwell.vocabulary.decision import Continue, GateResult, LoopDecision, Stop, StopReason
from deepwell.vocabulary.evidence import Standing
from deepwell.vocabulary.record import ResearchRecord
from deepwell.vocabulary.report import Citation, WrittenSection
from deepwell.vocabulary.source import SourceCard


def ended(because: StopReason, **more: object) -> ResearchRecord:
    decision = LoopDecision(3, "Round 3", ("open",), Stop(because))
    return ResearchRecord(iteration=3, decisions=(decision,), novelty=(1.0, 0.5, 0.1), **more)


def test_nothing_to_say_when_nothing_limited_the_run() -> None:
    method = methodology(ended(StopReason.GAPS_EMPTY, gate=GateResult("pass")), Configuration())
    assert method.lines == ()
    assert method.tags == ()


def test_every_limit_has_its_sentence() -> None:
    for reason in StopReason:
        lines = methodology(ended(reason), Configuration()).lines
        assert bool(lines) == reason.is_limit, reason
        assert all(reason.sentence in line for line in lines)


def test_every_report_says_why_research_ended() -> None:
    cards = [SourceCard.of(source("One.", "1.md"), 1)]
    for reason in StopReason:
        for gate in (GateResult("pass"), GateResult("retry", "only 1 of at least 5 evidence records")):
            method = methodology(ended(reason, gate=gate), Configuration())
            report = document.report("T", [WrittenSection("A", "One. [1]")], [Citation("One.", (1,))], cards, method)
            assert reason.sentence in report.markdown, reason


def test_a_thing_given_up_is_tagged() -> None:
    gone = Standing("sq-2", "when?", attempts=3, failures=3, exhausted=True)
    record = ended(StopReason.GAPS_EMPTY, standings=(gone,), unread={"a.pdf": 3, "b.pdf": 1})
    method = methodology(record, Configuration())
    assert method.lines == (
        "#RETRY_EXHAUSTED: “when?” was given up after 3 tries without evidence.",
        "a.pdf could not be read (3 tries). #RETRY_EXHAUSTED",
        "b.pdf could not be read (1 try).",
    )
    assert method.tags == ("#RETRY_EXHAUSTED",)


def test_a_decision_to_go_on_is_no_reason() -> None:
    assert ResearchRecord(decisions=(LoopDecision(1, "", (), Continue()),)).stop is None


def test_the_document_lists_what_was_cited_and_nothing_else() -> None:
    cards = [SourceCard.of(source("One.", "1.md", "First", publisher="Wire", published="2024-05-06"), 1)]
    cards.append(SourceCard.of(source("Two.", "2.md", "Second"), 2))
    method = methodology(ended(StopReason.GAPS_EMPTY), Configuration())
    report = document.report("T", [WrittenSection("Answer", "One. [1]")], [Citation("One.", (1,))], cards, method)
    assert report.markdown == (
        "# T\n\n## Answer\n\nOne. [1]\n\n*Research ended because no gap was left that seemed worth another round.*\n\n"
        "## Sources\n\n[1] First — Wire, 2024-05-06. `1.md` (read 2026-01-02)\n"
    )

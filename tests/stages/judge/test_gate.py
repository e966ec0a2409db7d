from hypothesis import given
from hypothesis import strategies as st

from deepwell.configuration import Configuration
from deepwell.stages.judge.gate import domain, quality_gate, source_domains
from deepwell.testing import source
from deepwell.vocabulary.evidence import Evidence


def evidence(*urls: str) -> Evidence:
    return Evidence("a claim", (source("a claim").cut(0, 7),), urls)


def test_passes_with_five_cited_records_from_three_documents() -> None:
    ledger = [evidence(f"{name}.md") for name in "aabbc"]
    assert quality_gate(ledger, Configuration()).status == "pass"


def test_says_what_is_missing() -> None:
    result = quality_gate([evidence("a.md"), evidence()], Configuration())
    assert result.status == "retry"
    assert result.reason == (
        "only 2 of at least 5 evidence records, 1 of at least 5 cited evidence records, "
        "1 of at least 3 distinct sites or documents"
    )


def test_a_domain_is_a_host_or_a_document() -> None:
    assert domain("https://www.example.org/a?b=c") == "example.org"
    assert domain("papers/a.pdf") == "papers/a.pdf"
    assert source_domains([evidence("https://example.org/1", "https://example.org/2"), evidence("a.md")]) == (
        "example.org",
        "a.md",
    )


@given(st.lists(st.lists(st.sampled_from(["a.md", "b.md", "c.md", "d.md"]), max_size=3), max_size=9))
def test_more_evidence_never_turns_a_pass_into_a_retry(urls: list[list[str]]) -> None:
    ledger = [evidence(*item) for item in urls]
    results = [quality_gate(ledger[:n], Configuration()).status for n in range(len(ledger) + 1)]
    assert results == sorted(results, key=lambda status: status == "pass")

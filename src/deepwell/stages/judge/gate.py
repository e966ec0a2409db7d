"""The quality gate: may research be called complete?"""

from collections.abc import Sequence

from deepwell.configuration import Configuration
from deepwell.language.addresses import domain
from deepwell.vocabulary.decision import GateResult
from deepwell.vocabulary.evidence import Evidence


def quality_gate(ledger: Sequence[Evidence], configuration: Configuration) -> GateResult:
    """Pass when there is enough evidence, enough of it cited, from enough places; else say what is missing."""
    cited = sum(1 for item in ledger if item.source_urls)
    checks = (
        (len(ledger), configuration.min_evidence_records, "evidence records"),
        (cited, configuration.min_cited_records, "cited evidence records"),
        (len(source_domains(ledger)), configuration.min_source_domains, "distinct sites or documents"),
    )
    missing = [f"{have} of at least {need} {what}" for have, need, what in checks if have < need]
    return GateResult("retry", "only " + ", ".join(missing)) if missing else GateResult("pass")


def source_domains(ledger: Sequence[Evidence]) -> tuple[str, ...]:
    """Where the evidence comes from, each place once: the host of a web address, or the document itself."""
    return tuple(dict.fromkeys(domain(url) for item in ledger for url in item.source_urls))

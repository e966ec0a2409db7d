"""Claims are taken from cited text by code: every sentence with a marker, tied to the exact span it rests on."""

import re
from collections.abc import Iterator, Sequence

from deepwell.configuration import Configuration
from deepwell.language.markers import cited, cited_sentences, without_markers
from deepwell.language.sentences import sentences
from deepwell.language.words import content_words
from deepwell.vocabulary.evidence import Evidence, ReadPassage
from deepwell.vocabulary.plan import Topic
from deepwell.vocabulary.source import Passage

_UNCERTAIN = re.compile(
    r"\b(?:may|might|could|possibly|perhaps|probably|likely|unlikely|apparently|reportedly|allegedly|supposedly|"
    r"presumably|suggests?|suggested|estimated?|estimates|approximately|roughly|unclear|uncertain|unknown|unconfirmed|"
    r"unproven|disputed?|disputes|contested|controversial|debated?|contradicts?|contradicted|conflicting|disagrees?|"
    r"inconclusive|tentative|preliminary|speculat\w+|hypothes\w+)\b",
    re.IGNORECASE,
)
_BULLET = re.compile(r"^\s*(?:[-*+•]|\d{1,2}[.)])\s+|^#{1,6}\s+")
_BLANKS = re.compile(r"\s+")
_BLANKS_AND_MARKERS = re.compile(r"(?:\s|\[\d{1,4}(?:\s*[,;]\s*\d{1,4})*\](?![(:]))+")
_QUOTES = "\"“”„«»'‘’ "


def extract_evidence(
    answer: str, passages: Sequence[ReadPassage], topic: Topic, configuration: Configuration
) -> tuple[Evidence, ...]:
    """The claims of a cited answer whose `[n]` count `passages` from 1; a marker beyond them counts for nothing."""
    found: dict[frozenset[str], tuple[str, tuple[ReadPassage, ...]]] = {}
    for claim, behind in _cited_claims(answer, passages):
        key = content_words(claim)
        if key in found:
            claim, before = found[key]
            behind = (*_read_again(before, passages), *behind)
        if key in found or len(found) < configuration.max_evidence_claims_per_research_unit:
            found[key] = claim, behind[: configuration.max_source_urls_per_claim]
    # Only now, once for each claim: an answer may say the same a thousand times.
    return tuple(_evidence(claim, behind, topic) for claim, behind in found.values())


def uncertainty(claim: str) -> str | None:
    """The words that make a claim uncertain or disputed; None when it is stated flatly."""
    found = tuple(dict.fromkeys(match.lower() for match in _UNCERTAIN.findall(claim)))
    return ", ".join(found) or None


def span_in(passage: ReadPassage, claim: str) -> Passage:
    """The exact span of the passage that the claim rests on: the quotation itself, else the nearest sentence."""
    start, end = _quoted(passage.passage.text, claim) or _nearest(passage.passage.text, claim)
    offset = passage.passage.start
    return passage.source.cut(offset + start, offset + end)


def _cited_claims(answer: str, passages: Sequence[ReadPassage]) -> Iterator[tuple[str, tuple[ReadPassage, ...]]]:
    for line in cited_sentences(answer):
        behind = tuple(passages[n - 1] for n in cited(line) if 1 <= n <= len(passages))
        claim = _BULLET.sub("", without_markers(line)).strip(_QUOTES)
        if behind and content_words(claim):
            yield claim, behind


def _evidence(claim: str, behind: Sequence[ReadPassage], topic: Topic) -> Evidence:
    spans = tuple(dict.fromkeys(span_in(passage, claim) for passage in behind))
    return Evidence(
        claim=claim,
        passages=spans,
        source_urls=tuple(dict.fromkeys(passage.source.address for passage in behind)),
        contradiction_or_uncertainty=uncertainty(claim),
        subquestion=topic.subquestion,
        topic=topic.text,
    )


def _read_again(before: Sequence[ReadPassage], passages: Sequence[ReadPassage]) -> tuple[ReadPassage, ...]:
    sources = {passage.source.hash for passage in before}
    return tuple({p.source.hash: p for p in passages if p.source.hash in sources}.values())


def _quoted(text: str, claim: str) -> tuple[int, int] | None:
    # A quotation may have been re-wrapped, and footnote markers of the document's own are left out of it.
    return _found(text, claim, _BLANKS) or _found(text, claim, _BLANKS_AND_MARKERS)


def _found(text: str, claim: str, gaps: re.Pattern[str]) -> tuple[int, int] | None:
    """Compared with one space in every gap: a pattern made of the claim's words could take for ever to fail."""
    wanted = gaps.sub(" ", claim).strip()
    start = gaps.sub(" ", text).find(wanted)
    if not wanted or start < 0:
        return None
    return _place(text, start, gaps), _place(text, start + len(wanted) - 1, gaps) + 1


def _place(text: str, place: int, gaps: re.Pattern[str]) -> int:
    """Where the character stands in the text that stands at `place` when every gap is one space."""
    for gap in gaps.finditer(text):
        if gap.start() >= place:
            break
        place += len(gap.group()) - 1
    return place


def _nearest(text: str, claim: str) -> tuple[int, int]:
    wanted = content_words(claim)
    spans = list(sentences(text)) or [(0, len(text))]
    return max(spans, key=lambda span: len(wanted & content_words(text[slice(*span)])))

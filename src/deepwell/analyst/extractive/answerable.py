"""Can the library answer this at all? Refuses only for what can be shown to be missing."""

import difflib
import re
from collections.abc import Sequence

from deepwell.analyst.extractive.facts import LibraryFacts
from deepwell.analyst.extractive.question import Clause, TakenApart, content
from deepwell.language.figures import MONTHS
from deepwell.language.names import Span, names
from deepwell.language.stems import stem, stems
from deepwell.language.synonyms import expanded

KNOWN_SHARE = 0.8
"""Share of the cited sources and names of a question that the library must know."""
LEAST_COVER = 0.2
"""Share of the question's words that the evidence must hold where the question names nothing."""
FEW_WORDS = 3
"""A shorter question is not judged by its words: synonyms decide too much."""
SOURCED_SHARE = 0.5
"""A publisher can be missed only where most documents name theirs."""
SPELLED, ALIKE = 7, 0.82
"""A long unknown word may be a slip of the pen; short ones differ from too many others by one letter."""

AROUND = 120
"""Characters on each side of a name that tell whether it is cited."""

_PIECE = r"(?:articles?|reports?|pieces?|reviews?|story|stories|coverage|post|interview|editorial|column|paper)"
_BY = re.compile(
    rf"\b(?:{_PIECE}|another|analysis)\s+(?:by|from|in)\s+(?:both\s+)?$"
    r"|\b(?:reported|published|covered)\s+(?:by|in)\s+(?:both\s+)?$",
    re.IGNORECASE,
)
_THE = re.compile(r"\b(?:an?|the)\s+$|['‘\"“]$", re.IGNORECASE)
_ITS_PIECE = re.compile(rf"^['’\"”]?\s+{_PIECE}\b", re.IGNORECASE)
_ARTICLE = re.compile(r"(?:\bthe\s+)?['‘\"“]?(?:the\s+)?$", re.IGNORECASE)
_CHAINED = re.compile(r"\b(?:of|by|in|at|from|with|for)\s+(?:the\s+)?$", re.IGNORECASE)
_RELATIVE = re.compile(r"(?<!\band)(?<!,)\s(?:where|which|who|whom|whose|that)\b", re.IGNORECASE)
_MEASURES = frozenset(
    "cost price worth weigh weight heavy height tall length width depth speed temperature salary revenue".split()
)
"""What has few other words: if the library never uses one of these, it does not say how much."""


def missing_for(taken: TakenApart, facts: LibraryFacts, claims: Sequence[str]) -> tuple[str, ...]:
    """What the question needs and the library lacks, in sentences; empty when the question is taken on."""
    cited = list(dict.fromkeys(span.text for span in cited_sources(taken.question)))
    called = [name for name in taken.names if name not in cited and is_proper(name) and not _only_begins(taken, name)]
    lacking = [s for s in cited if not is_known_source(s, facts)] if facts.sourced >= SOURCED_SHARE else []
    unknown = [name for name in called if not is_known_name(name, facts)]
    needs = len(cited) + len(called)
    if needs and 1 - (len(lacking) + len(unknown)) / needs < KNOWN_SHARE:
        return (
            *(f"Nothing published by {source} is among them." for source in lacking),
            *(f"No passage mentions {name}." for name in unknown),
        )
    if not needs and _word_cover(taken, claims) < LEAST_COVER:
        return ("No passage comes close to the words of this question.",)
    unanswered = unsaid(taken, claims)
    return unanswered if len(unanswered) == len(taken.clauses) else ()


def _only_begins(taken: TakenApart, name: str) -> bool:
    """Whether a single word has its capital only because the question begins with it."""
    return " " not in name and taken.question.startswith(name) and taken.question.count(name) == 1


def cited_sources(question: str) -> list[Span]:
    """Names the question cites as a publication: `a Bloomberg article`, `a report by Reuters`."""
    found = []
    for span in names(question):
        head, tail = question[max(0, span.start - AROUND) : span.start], question[span.end : span.end + AROUND]
        cited = _BY.search(_ARTICLE.sub("", head)) or (_ITS_PIECE.match(tail) and _THE.search(head))
        if cited and not span.text.startswith(MONTHS):
            found.append(span)
    return found


def is_known_source(name: str, facts: LibraryFacts) -> bool:
    """Whether a publisher's name or a title holds these words in order, or it is an author."""
    key = f" {' '.join(stems(name))} "
    held = (*facts.publishers(), *facts.titles())
    return name in facts.authors() or any(key in f" {' '.join(stems(other))} " for other in held)


def is_proper(name: str) -> bool:
    """Each word that carries meaning begins with a capital or figure: a name, not a quoted remark."""
    kept = set(content(name))
    return all(not word[0].islower() for word in re.findall(r"[^\W_]+", name) if word.lower() in kept)


def is_known_name(name: str, facts: LibraryFacts) -> bool:
    """Whether some passage holds all the words of a name, a slip of the pen forgiven; initials are not asked for."""
    kept = [word for word in content(name) if len(word) > 1]
    if not kept or facts.together(kept):
        return True
    meant = [word if facts.frequency(word) else _near_word(word, facts) for word in kept]
    return all(meant) and meant != kept and facts.together(meant) > 0


def _near_word(word: str, facts: LibraryFacts) -> str:
    if len(word) < SPELLED:
        return ""
    return next(iter(difflib.get_close_matches(stem(word), facts.words_from(word[:3]), 1, ALIKE)), "")


def _word_cover(taken: TakenApart, claims: Sequence[str]) -> float:
    if len(taken.words) < FEW_WORDS:
        return 1.0
    held = frozenset(s for claim in claims for s in stems(claim))
    return sum(stem(word) in held for word in taken.words) / len(taken.words)


def unsaid(taken: TakenApart, claims: Sequence[str]) -> tuple[str, ...]:
    """For each clause that plainly asks a measure of a name: that it is not said, or only of something else."""
    return tuple(sentence for clause in taken.clauses if (sentence := _unsaid(clause, taken.names, claims)))


def _unsaid(clause: Clause, called: Sequence[str], claims: Sequence[str]) -> str | None:
    about = [name for name in called if name in clause.text]
    if not about or not _is_plain(clause.text, about):
        return None
    named = {s for name in about for s in stems(name)}
    for word in (word for word in clause.words if word in _MEASURES):
        forms = {stem(form) for form in expanded([word])}
        saying = [claim for claim in claims if forms & set(stems(claim))]
        if not saying or all(_is_of_another(claim, named) for claim in saying):
            return f"No passage says anything on “{word}” about {', '.join(about)}."
    return None


def _is_plain(clause: str, about: Sequence[str]) -> bool:
    """Whether something is asked of the name itself, not of something that the name leads to."""
    heads = (clause[: clause.find(name)] for name in about)
    return not _RELATIVE.search(clause) and not any(_CHAINED.search(head) for head in heads)


def _is_of_another(claim: str, named: set[str]) -> bool:
    """Whether the sentence begins with another name and does not hold the one that was asked about."""
    first = next(iter(names(claim)), None)
    return bool(first and first.start == 0) and not named & set(stems(claim))

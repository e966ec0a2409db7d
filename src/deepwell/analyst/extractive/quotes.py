"""Picks the sentences that speak to a topic: relevant, standing on their own, and not the same thing twice."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from deepwell.analyst.extractive.differences import NUMBER_WORDS, figures
from deepwell.language.markers import without_markers
from deepwell.language.names import names
from deepwell.language.sentences import sentences
from deepwell.language.stems import fold, stem, stems
from deepwell.language.words import CJK, STOPWORDS
from deepwell.vocabulary.evidence import ReadPassage

TITLE_SHARE = 0.3
"""A term that stands only in the source's title still places the sentence."""
SAME_THING = 0.6
"""Share of stems in common from which two sentences say the same."""
WORTH_QUOTING = 0.35
"""A sentence must reach this share of the best one's score."""
PER_SOURCE = 3
"""Sentences of one source on one topic: others should have their say."""
LONG = 45
"""Words beyond which a sentence is worth less: a reader wants the point."""

_FURNITURE = re.compile(r"^\s*(?:#{1,6}\s|[-=*_]{3,}|!\[)|\bPage \d++\b|·.*·|(?<!-)-{3,}+\s*+\|")
_ADDRESS = re.compile(r"https?://\S")
_IS_CJK = re.compile(rf"[{CJK}]")
_BULLET = re.compile(r"^\s*(?:[-*+•]|\d{1,2}[.)])\s+")
_OPENS_WITH_PRONOUN = re.compile(r"^(?:it|he|she|they|this|that|these|those|such|but|and|so)\b", re.IGNORECASE)
_ASKS_COUNT = re.compile(r"\bhow many (?P<thing>[^\W\d_]+)", re.IGNORECASE)
_ASKS_NUMBER = re.compile(r"\bhow (?:much|heavy|long|old|large|big|tall|deep|far|fast|often)\b", re.IGNORECASE)
_ASKS_TIME = re.compile(r"\b(?:when|what year|which year|what date|how old|since when)\b", re.IGNORECASE)
_ASKS_PERSON = re.compile(r"\b(?:who|whom|whose)\b", re.IGNORECASE)
_TIME = re.compile(r"\b(?:1\d{3}|20\d{2}|\d{1,3}\s?(?:BC|BCE|AD|CE)|century)\b")


@dataclass(frozen=True, slots=True)
class Quote:
    """A sentence as it stands in a passage."""

    text: str
    """With white space folded; otherwise letter by letter."""
    passage: int
    """Which of the passages shown, from 1."""
    score: float
    stems: frozenset[str]


def best_quotes(question: str, terms: Mapping[str, float], passages: Sequence[ReadPassage], most: int) -> list[Quote]:
    """At most so many sentences, best first, none repeating another."""
    candidates = sorted(_candidates(question, terms, passages), key=lambda quote: -quote.score)
    picked: list[Quote] = []
    for quote in candidates:
        if len(picked) == most or quote.score < WORTH_QUOTING * candidates[0].score:
            break
        source = passages[quote.passage - 1].source.hash
        of_source = sum(1 for other in picked if passages[other.passage - 1].source.hash == source)
        if of_source < PER_SOURCE and not any(_alike(quote.stems, other.stems) for other in picked):
            picked.append(quote)
    return picked


def sentence_score(question: str, terms: Mapping[str, float], sentence: str) -> float:
    """How well a sentence by itself speaks to the question."""
    own = _weight(frozenset(stems(sentence)), terms)
    own /= 1 + max(0, len(sentence.split()) - LONG) / LONG
    own *= 0.85 if _OPENS_WITH_PRONOUN.match(sentence) else 1.0
    return own * _kind_factor(question, sentence)


def _kind_factor(question: str, sentence: str) -> float:
    """More for a sentence that holds the kind of thing asked for: a count of that very thing, a time, a person."""
    counted = _ASKS_COUNT.search(question)
    if counted:
        thing = stem(fold(counted["thing"]))
        return 2.0 if any(figure.thing == thing for figure in figures(sentence)) else 0.7
    if _ASKS_NUMBER.search(question):
        return 1.3 if figures(sentence) else 0.8
    if _ASKS_TIME.search(question):
        return 1.3 if _TIME.search(sentence) else 0.8
    if _ASKS_PERSON.search(question):
        return 1.2 if names(sentence) else 0.8
    return 1.0


def _candidates(question: str, terms: Mapping[str, float], passages: Sequence[ReadPassage]) -> list[Quote]:
    found = []
    for number, item in enumerate(passages, start=1):
        # What ranked high for the topic as a whole gets the benefit of the doubt.
        prior = 1 + 0.3 / number
        titled = TITLE_SHARE * _weight(frozenset(stems(item.source.title)), terms)
        for start, end in sentences(item.passage.text):
            text = _quotable(item.passage.text[start:end])
            own = sentence_score(question, terms, text) if _is_sentence(text) else 0.0
            if own:
                found.append(Quote(text, number, (own + titled) * prior, frozenset(stems(text))))
    return found


def _quotable(sentence: str) -> str:
    """On one line, without bullets and without footnote markers of its own: ours must be the only ones."""
    return _BULLET.sub("", " ".join(without_markers(sentence).split())).strip("| ")


def _is_sentence(text: str) -> bool:
    """A statement with an end, or a row of a table; questions, captions, headings and page furniture are none."""
    if len(text) < 12 or _FURNITURE.search(text) or _ADDRESS.search(text.rsplit(" ", 1)[-1]):
        return False
    if "|" in text:
        # A row of a table, its outer bars gone: several cells that say something.
        return sum(any(c.isalnum() for c in cell) for cell in text.split("|")) > 1
    bare = text.rstrip("\"”’')»]」』")
    words, ended = len(text.split()), bare.endswith((".", "!", "…", "。", "！", ":"))
    if _IS_CJK.search(text):
        return ended
    return words >= 4 and not bare.endswith("?") and (ended or words >= 12)


def _weight(held: frozenset[str], terms: Mapping[str, float]) -> float:
    return sum(weight for term, weight in terms.items() if term in held)


def _alike(one: frozenset[str], other: frozenset[str]) -> bool:
    """Whether two sentences say the same: not if they give different numbers, for that is where sources differ."""
    if _numbers(one) != _numbers(other):
        return False
    mine, theirs = one - STOPWORDS, other - STOPWORDS
    return len(mine & theirs) >= SAME_THING * min(len(mine), len(theirs))


def _numbers(held: frozenset[str]) -> frozenset[str]:
    return frozenset(word for word in held if word[0].isdigit() or word in NUMBER_WORDS)

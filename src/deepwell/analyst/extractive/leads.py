"""Names met on the way that the question did not hold: where a next round can go that the last could not."""

import re
from collections.abc import Mapping, Sequence

from deepwell.analyst.extractive.facts import LibraryFacts, rarity, weights
from deepwell.analyst.extractive.question import TakenApart, in_words_of_engines, names_in, spelled, title_mentions
from deepwell.language.figures import MONTHS
from deepwell.language.relevance import RARITY_CAP, Key, Reading, base_title, relevance, take_apart
from deepwell.language.stems import folded_words, stem, stems
from deepwell.language.synonyms import expanded
from deepwell.vocabulary.evidence import ReadPassage
from deepwell.vocabulary.plan import Lead, Query, Topic

MOST_NAMES = 16
"""Names of one passage that are followed together, the rarest."""
SEEDS, LATER_SEEDS = 8, 3
"""Passages that leads are taken from, in the first round and after it."""
ANCHOR_TITLE, ANCHOR_NAME = 2.0, 0.5
"""A passage about a name of the question, or one that holds it, starts a chain well."""

_DATED = re.compile(rf"\d.*\b(?:{'|'.join(MONTHS)})\b|\b(?:{'|'.join(MONTHS)})\b.*\d")
Titles = Mapping[Key, str]


def leads_of(
    taken: TakenApart, topic: Topic, passages: Sequence[ReadPassage], facts: LibraryFacts, titles: Titles
) -> tuple[Lead, ...]:
    """One lead for each of the best passages: the names in it, searched with the words that are still open."""
    if any(query.publisher for query in topic.queries):
        # What one publisher says is a part that is looked up, not a chain that leads on.
        return ()
    seeds = passages[: LATER_SEEDS if topic.lead else SEEDS]
    found = (_lead(taken, topic, item, facts, titles) for item in seeds)
    return tuple(lead for lead in found if lead)


def _lead(taken: TakenApart, topic: Topic, item: ReadPassage, facts: LibraryFacts, titles: Titles) -> Lead | None:
    reading = take_apart(item.source.title, item.passage.text)
    still_open = folded_words(topic.lead.queries[0].text) if topic.lead else taken.words
    asked = [word for word in taken.words if word in still_open]
    missing = [word for word in asked if stem(word) not in reading.known]
    called = _new_names(taken, item, facts, titles)
    if not called or not missing:
        return None
    bare = Query(" ".join(expanded(missing)), phrases=tuple(called))
    query = in_words_of_engines(bare, taken.question, library=facts.passage_count > 0)
    score = topic.lead.score + item.score if topic.lead else _seed_score(taken, reading, facts)
    # Names of several words are surely names; a single word may only have begun a sentence.
    shown = sorted(called, key=lambda name: len(name.split()) == 1)[:3]
    asked_for = spelled(missing, taken.question, taken.language)
    return Lead(f"{', '.join(shown)}: {', '.join(asked_for)}", score, (query,), item.passage.handle)


def _seed_score(taken: TakenApart, reading: Reading, facts: LibraryFacts) -> float:
    """How well the passage speaks to the whole question, and how firmly it holds one of its names."""
    score = relevance(reading, weights(facts, taken.words))
    for name in taken.names:
        key = tuple(stems(name))
        if reading.title == key:
            score += ANCHOR_TITLE * rarity(facts, name)
        elif reading.holds(key):
            score += ANCHOR_NAME * rarity(facts, name)
    return score


def _new_names(taken: TakenApart, item: ReadPassage, facts: LibraryFacts, titles: Titles) -> list[str]:
    """Names and titles of other documents, the rarest first; those of the question left out."""
    asked = set(stems(taken.question))
    text = f"{base_title(item.source.title)}. {item.passage.text}"
    found: dict[Key, str] = {}
    for span in (*title_mentions(text, titles), *names_in(text, taken.language)):
        key = tuple(stems(span.text))
        if _leads_on(key, asked) and not _DATED.search(span.text):
            found.setdefault(key, span.text)
    weighed = sorted(found.values(), key=lambda name: -min(rarity(facts, name), RARITY_CAP))
    return weighed[:MOST_NAMES]


def _leads_on(key: Key, asked: set[str]) -> bool:
    if not key or len(key) > 8 or set(key) <= asked:
        return False
    return len(key) > 1 or (len(key[0]) > 2 and not key[0].isdigit())

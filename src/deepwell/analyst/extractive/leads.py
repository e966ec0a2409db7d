"""Names met on the way that the question did not hold: where a second round can go that the first could not."""

from collections.abc import Mapping, Sequence

from deepwell.analyst.extractive.facts import LibraryFacts, rarity
from deepwell.analyst.extractive.question import title_mentions
from deepwell.language.names import names
from deepwell.language.relevance import base_title
from deepwell.language.stems import stem, stems
from deepwell.vocabulary.evidence import Lead, ReadPassage
from deepwell.vocabulary.plan import Query

MOST_NAMES = 24
"""Names of one passage that are followed together."""
RARITY_CAP = 6.0
"""A name that stands once in a large library is not worth more than one that stands a few times."""
STARTS = 4
"""Passages of a unit that leads are taken from."""


def leads_of(
    question: str,
    words: Sequence[str],
    passages: Sequence[ReadPassage],
    facts: LibraryFacts,
    titles: Mapping[tuple[str, ...], str],
) -> tuple[Lead, ...]:
    """One lead for each of the best passages: the names in it, searched with the words of the question it lacks."""
    found = []
    for item in passages[:STARTS]:
        open_words = _open_words(words, item)
        called = _new_names(question, item, facts, titles)
        if called and open_words:
            query = Query(" ".join(open_words), phrases=tuple(called))
            found.append(Lead(f"{', '.join(called[:3])}: {' '.join(open_words)}", item.score, (query,)))
    return tuple(found)


def _open_words(words: Sequence[str], item: ReadPassage) -> list[str]:
    known = set(stems(item.passage.text)) | set(stems(item.source.title))
    return [word for word in words if stem(word) not in known]


def _new_names(
    question: str, item: ReadPassage, facts: LibraryFacts, titles: Mapping[tuple[str, ...], str]
) -> list[str]:
    """The rarest first; a title of another document is a name as well."""
    asked = set(stems(question))
    text = f"{base_title(item.source.title)}. {item.passage.text}"
    found: dict[tuple[str, ...], str] = {}
    for span in (*title_mentions(text, dict(titles)), *names(text)):
        key = tuple(stems(span.text))
        if _leads_on(key, asked):
            found.setdefault(key, span.text)
    weighed = sorted(found.values(), key=lambda name: -min(rarity(facts, name), RARITY_CAP))
    return weighed[:MOST_NAMES]


def _leads_on(key: tuple[str, ...], asked: set[str]) -> bool:
    if not key or len(key) > 8 or set(key) <= asked:
        return False
    return len(key) > 1 or (len(key[0]) > 2 and not key[0].isdigit())

"""From a question taken apart to sub-questions, each with searches that differ."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from deepwell.analyst.extractive.facts import LibraryFacts, rarity
from deepwell.analyst.extractive.question import (
    CLAUSE_WORDS,
    Clause,
    TakenApart,
    asked_parts,
    content,
    in_words_of_engines,
)
from deepwell.language.languages import ENGLISH
from deepwell.language.stems import folded_words
from deepwell.language.synonyms import expanded
from deepwell.vocabulary.plan import Plan, Query, SubQuestion
from deepwell.vocabulary.question import QuestionKind
from deepwell.vocabulary.tier import Tier

MOST_PARTS = 10
MOST_QUERIES = 4
MOST_NAMES = 3
"""Names of the question that are looked up by themselves, the rarest first: a chain starts at its innermost name."""
FEWEST_QUERIES = 3
LONGEST_SENTENCE = 30
"""Words beyond which engines do better with the bare words."""
FEWEST_WORDS = 2
"""Of a search on the web: one word alone finds everything and nothing."""
FEW_WORDS = 4
"""A question of so few content words asks for one fact."""


def kind_of(taken: TakenApart) -> QuestionKind:
    """What sort of question it is, by its build."""
    if taken.compares:
        return "comparison"
    if len(_parts(taken)) > 1:
        return "multi-part"
    return "fact" if len(taken.words) <= FEW_WORDS else "survey"


def tier_of(taken: TakenApart) -> Tier:
    """How much work it seems to be."""
    parts = len(_parts(taken))
    if parts > 4:
        return "deep"
    return "simple" if parts <= 1 and len(taken.words) <= FEW_WORDS else "standard"


def plan_of(taken: TakenApart, facts: LibraryFacts) -> Plan:
    """The parts of the question by importance; a question of one part is its own and only sub-question."""
    compared = list(_compared(taken)) if taken.compares else []
    parts = [_subquestion(part, taken, facts) for part in _parts(taken)]
    found = [*compared, *parts] or [_whole(taken, facts)]
    sent = (replace(part, queries=tuple(_as_sent(part.queries, taken, facts))) for part in found)
    distinct = list({part.queries: part for part in sent if part.queries}.values())
    return Plan(tuple(replace(part, id=f"sq-{i}") for i, part in enumerate(distinct[:MOST_PARTS], start=1)))


def _parts(taken: TakenApart) -> list[Clause]:
    """What a publisher is said to say, then what else is asked or told, then publishers that are only named."""
    if len(taken.clauses) <= 1 and not any(clause.publishers for clause in taken.clauses):
        return []
    single = [replace(c, publishers=(p,)) for c in taken.clauses for p in c.publishers]
    told = [clause for clause in single if len(clause.words) > 1 or clause.days]
    heard = {publisher for clause in told for publisher in clause.publishers}
    bare = [clause for clause in single if clause not in told and not set(clause.publishers) & heard]
    # How a clause begins that asks is known of English alone.
    foreign = taken.language != ENGLISH
    others = [
        c for c in taken.clauses if not c.publishers and len(c.words) >= (2 if c.asks or foreign else CLAUSE_WORDS)
    ]
    return [*told, *others, *bare]


def _subquestion(part: Clause, taken: TakenApart, facts: LibraryFacts) -> SubQuestion:
    queries = _of_publisher(part, taken) if part.publishers else _open(part, taken, facts)
    return SubQuestion("", part.text, tuple(dict.fromkeys(queries))[:MOST_QUERIES], _settled_by(part.words))


def _as_sent(queries: Sequence[Query], taken: TakenApart, facts: LibraryFacts) -> Iterator[Query]:
    """As engines understand them; none of one word alone for the web, but the first, which is what was asked."""
    library = facts.passage_count > 0
    for query in queries:
        if library or query == queries[0] or len(folded_words(query.text)) >= FEWEST_WORDS:
            yield in_words_of_engines(query, taken.question, library=library)


def _of_publisher(part: Clause, taken: TakenApart) -> Iterator[Query]:
    """What the clause and its neighbours say, among what the publisher brought out; then everything asked."""
    publisher, day = part.publishers[0], next(iter(part.days), None)
    text = " ".join(part.words if len(part.words) > 1 else taken.words)
    near = " ".join(dict.fromkeys((*text.split(), *_neighbours(part, taken.clauses))))
    yield Query(near, taken.question, publisher=publisher, published=day)
    yield Query(text, taken.question, publisher=publisher, published=day)
    yield Query(" ".join(taken.words), publisher=publisher)


def _neighbours(part: Clause, clauses: Sequence[Clause]) -> list[str]:
    """The words of the clauses on both sides that name no publisher: they often continue what is said."""
    at = next(i for i, clause in enumerate(clauses) if clause.text == part.text)
    return [word for c in clauses[max(0, at - 1) : at + 2] if not c.publishers for word in c.words]


def _open(part: Clause, taken: TakenApart, facts: LibraryFacts) -> Iterator[Query]:
    """The clause in its words, and with what an answer would say; the names in it; its rarest words alone."""
    yield Query(_keywords(part.words, facts), taken.question, sentence=_sentence(part.text, taken))
    yield from _by_name(part.text, taken, facts)
    yield from _by_rarity(part.words, taken, facts)


def _whole(taken: TakenApart, facts: LibraryFacts) -> SubQuestion:
    everything = Query(_keywords(taken.words, facts) or taken.question, sentence=_sentence(taken.question, taken))
    named = list(_by_name(taken.question, taken, facts))
    if not facts.passage_count:
        queries = (everything, *named[:1], *_by_part(taken), Query(" ".join(taken.words), taken.question))
        return SubQuestion("", taken.question, tuple(dict.fromkeys(queries))[:MOST_QUERIES], _settled_by(taken.words))
    # Names lead further than rare words do; these are for questions with few names.
    others = list(_by_rarity(taken.words, taken, facts))[: max(0, FEWEST_QUERIES - 1 - len(named))]
    return SubQuestion("", taken.question, (everything, *named, *others), _settled_by(taken.words))


def _by_name(text: str, taken: TakenApart, facts: LibraryFacts) -> Iterator[Query]:
    """What the library says of each name that stands in the text, the rarest first."""
    known = [name for name in taken.names if name in text and facts.frequency(name)]
    for name in sorted(known, key=facts.frequency)[:MOST_NAMES]:
        yield Query(name, taken.question, phrases=(name,))


def _by_part(taken: TakenApart) -> Iterator[Query]:
    """Of the web nothing is known that would tell a rare word: each thing that is asked is a search of its own."""
    parts = asked_parts(taken.question)
    for part in parts if len(parts) > 1 else ():
        yield Query(" ".join(content(part)), taken.question, sentence=_sentence(part, taken))


def _by_rarity(words: Sequence[str], taken: TakenApart, facts: LibraryFacts) -> Iterator[Query]:
    """The rarest words alone, then the words as they were asked, then the rarest one of all."""
    rarest = sorted(words, key=lambda word: -rarity(facts, word))
    yield Query(" ".join(rarest[:CLAUSE_WORDS]), taken.question)
    yield Query(" ".join(words))
    yield Query(" ".join(rarest[:1]), taken.question)


def _compared(taken: TakenApart) -> Iterator[SubQuestion]:
    """Each thing that is compared is looked into by itself."""
    if len(taken.names) < 2 or any(clause.publishers for clause in taken.clauses):
        return
    named = {word for name in taken.names for word in name.lower().split()}
    aspects = " ".join(word for word in taken.words if word not in named)
    for name in taken.names:
        queries = (Query(aspects, phrases=(name,)), Query(f"{name} {aspects}"), Query(name, aspects, (name,)))
        yield SubQuestion("", f"{name}: {aspects}", queries, f"A passage on {name}")


def _keywords(words: Sequence[str], facts: LibraryFacts) -> str:
    """With what an answer would say instead, where a library is searched by words; engines of the web want fewer."""
    return " ".join(expanded(words) if facts.passage_count else words)


def _sentence(text: str, taken: TakenApart) -> str:
    """What is asked, as it was asked; a part that only says `it` gets the names it may mean. Empty if too long."""
    named = () if any(name in text for name in taken.names) else taken.names[:MOST_NAMES]
    said = " ".join((*named, *text.split()))
    return said if len(said.split()) <= LONGEST_SENTENCE else ""


def _settled_by(words: Sequence[str]) -> str:
    return f"A passage that speaks of {', '.join(words[:6])} together"

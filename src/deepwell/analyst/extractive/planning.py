"""From a question taken apart to sub-questions, each with searches that differ."""

from collections.abc import Iterator
from dataclasses import replace

from deepwell.analyst.extractive.facts import LibraryFacts, rarity
from deepwell.analyst.extractive.question import CLAUSE_WORDS, Clause, TakenApart
from deepwell.vocabulary.plan import Plan, Query, SubQuestion
from deepwell.vocabulary.question import QuestionKind, Tier

MOST_PARTS = 10


def kind_of(taken: TakenApart) -> QuestionKind:
    """What sort of question it is, by its build."""
    if taken.compares:
        return "comparison"
    if len(_parts(taken)) > 1:
        return "multi-part"
    return "fact" if len(taken.words) <= 4 else "survey"


def tier_of(taken: TakenApart) -> Tier:
    """How much work it seems to be."""
    parts = len(_parts(taken))
    if parts > 4:
        return "deep"
    return "simple" if parts == 1 and len(taken.words) <= 4 else "standard"


def plan_of(taken: TakenApart, facts: LibraryFacts) -> Plan:
    """The parts of the question by importance; a question of one part is its own and only sub-question."""
    parts = _parts(taken) or [Clause(taken.question, taken.words)]
    found = [_subquestion(part, taken, facts) for part in parts]
    if taken.compares:
        found = [*_compared(taken, facts), *found]
    distinct = list({part.queries: part for part in found if part.queries}.values())
    numbered = (replace(part, id=f"sq-{i}") for i, part in enumerate(distinct[:MOST_PARTS], start=1))
    return Plan(tuple(numbered))


def _parts(taken: TakenApart) -> list[Clause]:
    """The clauses that can be looked into by themselves: they name a publisher, ask something, or say enough."""
    if len(taken.clauses) <= 1:
        return []
    return [c for c in taken.clauses if c.words and (c.publishers or c.asks or len(c.words) >= CLAUSE_WORDS)]


def _subquestion(part: Clause, taken: TakenApart, facts: LibraryFacts) -> SubQuestion:
    queries = _restricted(part, taken) if part.publishers else _open(part, taken, facts)
    return SubQuestion("", part.text, tuple(dict.fromkeys(queries)), _settled_by(part))


def _restricted(part: Clause, taken: TakenApart) -> Iterator[Query]:
    """One search for each publisher and day the clause names, then without the day."""
    text, day = " ".join(part.words), next(iter(part.days), None)
    for publisher in part.publishers:
        if day:
            yield Query(text, taken.question, publisher=publisher, published=day)
        yield Query(text, taken.question, publisher=publisher)
    yield Query(text, taken.question)


def _open(part: Clause, taken: TakenApart, facts: LibraryFacts) -> Iterator[Query]:
    """The clause in its words; what is said of each name in it, the rarest first; its rarest words alone."""
    yield Query(part.text, taken.question)
    known = [name for name in taken.names if facts.frequency(name)]
    for name in sorted(known, key=facts.frequency)[:2]:
        yield Query(" ".join(part.words), taken.question, phrases=(name,))
    rare = sorted(part.words, key=lambda word: -rarity(facts, word))[:4]
    if len(rare) < len(part.words):
        yield Query(" ".join(rare))


def _compared(taken: TakenApart, facts: LibraryFacts) -> Iterator[SubQuestion]:
    """Each thing that is compared is looked into by itself."""
    if len(taken.names) < 2:
        return
    for name in taken.names:
        others = {word for other in taken.names if other != name for word in other.lower().split()}
        aspects = " ".join(word for word in taken.words if word not in others)
        queries = (Query(aspects, phrases=(name,)), Query(f"{name} {aspects}"), Query(name, aspects))
        yield SubQuestion("", f"{name}: {aspects}", queries, f"A passage on {name}")


def _settled_by(part: Clause) -> str:
    return f"A passage that speaks of {', '.join(part.words[:6])} together"

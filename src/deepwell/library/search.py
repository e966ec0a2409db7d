"""Finds passages by their words: BM25 over title, body and what is known about the document."""

import sqlite3
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from deepwell.library.index import label_of
from deepwell.library.terms import all_of, any_of, any_phrase, query_terms
from deepwell.vocabulary.plan import Query


@dataclass(frozen=True, slots=True)
class Weights:
    """How much a word counts by where it stands."""

    title: float = 2.0
    """A title says what every passage below it is about."""
    body: float = 1.0
    about: float = 0.5
    """Publisher, author and date: of use only when the question names them."""


@dataclass(frozen=True, slots=True)
class Found:
    """A passage that answers a query."""

    passage: int
    document: int
    path: str
    title: str
    hash: str
    publisher: str | None
    published: str | None
    start: int
    end: int
    score: float
    """Higher is better; never rises from one result to the next."""


def search(
    connection: sqlite3.Connection,
    query: Query,
    limit: int,
    weights: Weights = Weights(),  # noqa: B008 - frozen
) -> list[Found]:
    """The best passages first: those of the day asked for, those with every word, those with some.

    No text makes this fail; a query without a word finds nothing.
    """
    found: list[Found] = []
    for expression, day in _stages(query):
        if len(found) < limit:
            more = _matching(connection, expression, _restriction(query.publisher, day), limit, weights)
            found = _continued(found, more)[:limit]
    return found


def _stages(query: Query) -> Iterator[tuple[str, str | None]]:
    """FTS5 expressions with the day they are restricted to, the narrowest first."""
    wanted = _wanted(query)
    for day in dict.fromkeys((query.published, None)):
        for expression in wanted:
            yield expression, day


def _wanted(query: Query) -> list[str]:
    terms, phrases = query_terms(query.text), any_phrase(query.phrases)
    context = [word for word in query_terms(query.context) if word not in terms] if query.context else []
    matched = dict.fromkeys((all_of(terms), any_of(terms))) if terms else [""]
    ranked = any_of([*terms, *context]) if context else ""
    # Asked for twice, the words of the query count double, and those of the context once, where they stand.
    expressions = (_both(_both(words, phrases), ranked) for words in matched)
    return [expression for expression in expressions if terms or phrases]


def _both(first: str, second: str) -> str:
    return f"({first}) AND ({second})" if first and second else first or second


def _continued(first: list[Found], rest: list[Found]) -> list[Found]:
    """`rest` after `first`. A lone rare word can outscore all words together: its score is held below."""
    seen = {one.passage for one in first}
    ceiling = first[-1].score if first else float("inf")
    return first + [replace(one, score=min(one.score, ceiling)) for one in rest if one.passage not in seen]


@dataclass(frozen=True, slots=True)
class Restriction:
    """Conditions on the document of a passage `p`, as SQL with its values."""

    sql: str
    values: tuple[str, ...]


def restriction_to(publisher: str | None) -> Restriction:
    """Documents of a publisher or below a folder of that name; all when None."""
    return _restriction(publisher, None)


def _restriction(publisher: str | None, day: str | None) -> Restriction:
    parts: list[tuple[str, str]] = []
    if publisher is not None:
        parts.append(("p.document IN (SELECT document FROM labels WHERE label = ?)", label_of(publisher)))
    if day is not None:
        parts.append(("p.document IN (SELECT id FROM documents WHERE published = ?)", day))
    # A lone surrogate, which no document holds, cannot even be asked for.
    values = tuple(value.encode("utf-8", "replace").decode() for _, value in parts)
    return Restriction(" AND ".join(["TRUE", *(sql for sql, _ in parts)]), values)


def _matching(
    connection: sqlite3.Connection, expression: str, only: Restriction, limit: int, weights: Weights
) -> list[Found]:
    ranked = f"""
        SELECT p.id, p.document, p.start, p."end", -bm25(passage_terms, ?, ?, ?) AS score
        FROM passage_terms JOIN passages AS p ON p.id = passage_terms.rowid
        WHERE passage_terms MATCH ? AND {only.sql}
        ORDER BY score DESC, p.id LIMIT ?
    """  # noqa: S608 - made of constants above
    values = (weights.title, weights.body, weights.about, expression, *only.values, limit)
    return described(connection, connection.execute(ranked, values).fetchall())


def described(connection: sqlite3.Connection, rows: Sequence[tuple[int, int, int, int, float]]) -> list[Found]:
    """Ranked passages with what is known about their documents."""
    return [_found(connection, *row) for row in rows]


def _found(connection: sqlite3.Connection, passage: int, document: int, start: int, end: int, score: float) -> Found:
    sql = "SELECT path, title, hash, publisher, published FROM documents WHERE id = ?"
    path, title, content_hash, publisher, published = connection.execute(sql, (document,)).fetchone()
    return Found(passage, document, path, title, content_hash, publisher, published, start, end, score)

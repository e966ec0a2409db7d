"""A library's answer to a query: candidates from the index, put in order by a closer look."""

import sqlite3
import threading
from dataclasses import replace

from deepwell.language.relevance import Reading, rarity, take_apart
from deepwell.library.scoring import score, wanted
from deepwell.library.search import Found, search
from deepwell.library.terms import phrase, query_terms
from deepwell.vocabulary.plan import Query

CANDIDATES = 40
QUERY_TERMS = 20
"""The rarest words of a long query find the candidates; the commonest add time and noise."""
_READINGS = 4096


class Ranker:
    """Looks closer; remembers how rare words are and what passages are made of. Safe to use from several threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._frequencies: dict[str, int] = {}
        self._readings: dict[int, Reading] = {}

    def search(self, connection: sqlite3.Connection, query: Query, limit: int) -> list[Found]:
        """The best passages first."""
        words = dict.fromkeys((*query_terms(query.text), *query_terms(query.context)))
        rarities = self._rarities(connection, (*words, *query.phrases))
        rarest = sorted((word for word in words if rarities[word]), key=lambda word: -rarities[word])[:QUERY_TERMS]
        text = " ".join(word for word in words if word in rarest)
        asked = wanted(query, rarities)
        found = search(connection, replace(query, text=text, context=""), max(limit, CANDIDATES))
        if query.phrases and not found:
            # In a small folder the next passage may share no word with the question, only the name.
            found = search(connection, replace(query, text="", context=""), CANDIDATES)
        scored = [replace(one, score=score(self._read(connection, one), asked, one.published)) for one in found]
        return sorted(scored, key=lambda one: (-one.score, one.passage))[:limit]

    def _rarities(self, connection: sqlite3.Connection, terms: tuple[str, ...]) -> dict[str, float]:
        total = self._frequency(connection, "", "SELECT count(*) FROM passages")
        return {term: rarity(self._matches(connection, term), total) for term in terms}

    def _matches(self, connection: sqlite3.Connection, term: str) -> int:
        expression = phrase(term)
        if not expression:
            return 0
        return self._frequency(
            connection, term, "SELECT count(*) FROM passage_terms WHERE passage_terms MATCH ?", expression
        )

    def _frequency(self, connection: sqlite3.Connection, key: str, sql: str, *values: str) -> int:
        with self._lock:
            if key in self._frequencies:
                return self._frequencies[key]
        found = int(connection.execute(sql, values).fetchone()[0])
        with self._lock:
            self._frequencies[key] = found
        return found

    def _read(self, connection: sqlite3.Connection, found: Found) -> Reading:
        with self._lock:
            known = self._readings.get(found.passage)
        if known:
            return known
        row = connection.execute("SELECT title, body FROM passage_terms WHERE rowid = ?", (found.passage,)).fetchone()
        reading = take_apart(*row)
        with self._lock:
            self._readings[found.passage] = reading
            if len(self._readings) > _READINGS:
                del self._readings[next(iter(self._readings))]
        return reading

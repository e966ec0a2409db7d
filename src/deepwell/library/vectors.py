"""Finding by meaning, as an extra: static word vectors beside BM25, kept in the index and fused by rank.

Needs `pip install 'deepwell[dense]'`. The weights lie inside the wordllama package; nothing is ever downloaded.
"""

import sqlite3
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Protocol

from deepwell.errors import BadConfiguration
from deepwell.library.index import Index, unpacked
from deepwell.library.search import Found, described, restriction_to
from deepwell.store.sqlite import transaction, translated
from deepwell.vocabulary.plan import Query

Matrix = Any
"""A numpy array; the type is not named because numpy is part of the extra."""

RANK_CONSTANT = 60
"""Of reciprocal rank fusion: how slowly a rank loses weight."""

MEANING_SHARE = 0.3

_BATCH = 512
_MISSING = "Dense search needs an extra that is not installed: pip install 'deepwell[dense]'."


class Embedder(Protocol):
    """Turns texts into vectors of length one."""

    name: str
    """Kept in the index: vectors of another embedder are not comparable and are made anew."""

    def embed(self, texts: Sequence[str]) -> Matrix:
        """One row of float32 a text."""
        ...


class WordLlama:
    """The mean of the static vectors of a text's tokens."""

    name = "wordllama l2_supercat 256"

    def __init__(self) -> None:
        # Its own loader looks for the tokenizer in a folder that the wheel does not have, then goes to a hub, and
        # importing it reconfigures logging. The two files are all that is needed.
        folder = _package_folder("wordllama")
        self._numpy = _module("numpy")
        tensors = _module("safetensors.numpy").load_file(folder / "weights" / "l2_supercat_256.safetensors")
        self._table = tensors["embedding.weight"].astype(self._numpy.float32)
        tokenizer = str(folder / "tokenizers" / "l2_supercat_tokenizer_config.json")
        self._tokenizer = _module("tokenizers").Tokenizer.from_file(tokenizer)
        self._tokenizer.no_padding()
        self._tokenizer.no_truncation()

    def embed(self, texts: Sequence[str]) -> Matrix:
        """One row of float32 a text; zeros for a text without tokens."""
        encoded = self._tokenizer.encode_batch(list(texts), add_special_tokens=False)
        rows = self._numpy.zeros((len(encoded), self._table.shape[1]), dtype=self._numpy.float32)
        for row, encoding in enumerate(encoded):
            if encoding.ids:
                rows[row] = self._table[encoding.ids].mean(axis=0)
        return rows / self._numpy.maximum(self._numpy.linalg.norm(rows, axis=1, keepdims=True), 1e-9)


@cache
def default_embedder() -> Embedder:
    """The embedder of the extra. Raises BadConfiguration when it is not installed."""
    return WordLlama()


def embed_missing(index: Index, embedder: Embedder) -> int:
    """Give every passage its vector; how many were missing."""
    with translated(index.path):
        _forget_other_embedders(index.connection, embedder.name)
        made = 0
        for passages, texts in _without_vectors(index.connection):
            vectors = embedder.embed(texts).astype("float16")
            with transaction(index.connection) as connection:
                # Another process may have put them in, or have removed the passage, while we computed.
                connection.executemany(
                    "INSERT OR IGNORE INTO vectors SELECT id, ? FROM passages WHERE id = ?",
                    [(vector.tobytes(), passage) for passage, vector in zip(passages, vectors, strict=True)],
                )
            made += len(passages)
        return made


def fused(by_words: Sequence[Found], by_meaning: Sequence[Found], limit: int) -> list[Found]:
    """Both fused by rank. Words count more: on questions that name things, meaning alone is the weaker guide."""
    scores: dict[int, float] = {}
    found: dict[int, Found] = {}
    for ranked, weight in ((by_words, 1.0), (by_meaning, MEANING_SHARE)):
        for rank, one in enumerate(ranked, start=1):
            scores[one.passage] = scores.get(one.passage, 0.0) + weight / (RANK_CONSTANT + rank)
            found.setdefault(one.passage, one)
    best = sorted(scores, key=lambda passage: (-scores[passage], passage))[:limit]
    return [replace(found[passage], score=scores[passage]) for passage in best]


def nearest(connection: sqlite3.Connection, query: Query, limit: int, embedder: Embedder) -> list[Found]:
    """The passages nearest in meaning, best first."""
    rows = _candidates(connection, query.publisher)
    if not rows:
        return []
    numpy = _module("numpy")
    matrix = numpy.frombuffer(b"".join(row[4] for row in rows), dtype="float16").reshape(len(rows), -1)
    scores = matrix.astype("float32") @ embedder.embed([query.text])[0]
    best = numpy.argsort(-scores, kind="stable")[:limit]
    return described(connection, [(*rows[at][:4], float(scores[at])) for at in best])


def _candidates(connection: sqlite3.Connection, publisher: str | None) -> list[tuple[int, int, int, int, bytes]]:
    only = restriction_to(publisher)
    sql = f"""
        SELECT p.id, p.document, p.start, p."end", v.vector
        FROM vectors AS v JOIN passages AS p ON p.id = v.passage WHERE {only.sql} ORDER BY p.id
    """  # noqa: S608 - made of constants
    return connection.execute(sql, only.values).fetchall()


def _forget_other_embedders(connection: sqlite3.Connection, name: str) -> None:
    with transaction(connection):
        if connection.execute("SELECT value FROM meta WHERE key = 'embedder'").fetchone() != (name,):
            connection.execute("DELETE FROM vectors")
            connection.execute("INSERT OR REPLACE INTO meta VALUES ('embedder', ?)", (name,))


def _without_vectors(connection: sqlite3.Connection) -> Iterator[tuple[list[int], list[str]]]:
    """Passages that have no vector yet, with title and text, in batches."""
    sql = """
        SELECT p.id, p.start, p."end", d.title, d.text FROM passages AS p JOIN documents AS d ON d.id = p.document
        WHERE p.id > ? AND p.id NOT IN (SELECT passage FROM vectors) ORDER BY p.id LIMIT ?
    """
    last = 0
    while rows := connection.execute(sql, (last, _BATCH)).fetchall():
        last = rows[-1][0]
        yield [row[0] for row in rows], [_titled(*row[1:]) for row in rows]


def _titled(start: int, end: int, title: str, text: bytes) -> str:
    return f"{title}\n{unpacked(text)[start:end]}"


def _module(name: str) -> Any:
    try:
        return import_module(name)
    except ImportError as error:
        raise BadConfiguration(_MISSING) from error


def _package_folder(name: str) -> Path:
    spec = find_spec(name)
    if spec is None or not spec.submodule_search_locations:
        raise BadConfiguration(_MISSING)
    return Path(spec.submodule_search_locations[0])

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from deepwell import api
from deepwell.configuration import Configuration
from deepwell.errors import BadConfiguration
from deepwell.library.index import Index
from deepwell.library.search import search
from deepwell.library.vectors import WordLlama, default_embedder, embed_missing, fused, nearest
from deepwell.vocabulary.plan import Query

numpy = pytest.importorskip("numpy", reason="the extra 'dense' is not installed")


class Letters:
    """Vectors that count letters: a tiny embedder whose every number can be foreseen."""

    name = "letters"

    def embed(self, texts: Sequence[str]) -> Any:
        rows = numpy.array([[text.lower().count(letter) + 0.01 for letter in "abcdefghij"] for text in texts])
        return (rows / numpy.linalg.norm(rows, axis=1, keepdims=True)).astype("float32")


def count(index: Index) -> int:
    return int(index.connection.execute("SELECT count(*) FROM vectors").fetchone()[0])


def test_every_passage_gets_its_vector_once(filled: Index) -> None:
    assert embed_missing(filled, Letters()) == count(filled) == 3
    assert embed_missing(filled, Letters()) == 0


def test_vectors_go_with_their_documents(filled: Index) -> None:
    embed_missing(filled, Letters())
    filled.forget(["solar.md"])
    assert count(filled) == 2


def test_another_embedder_begins_anew(filled: Index) -> None:
    embed_missing(filled, Letters())
    other = Letters()
    other.name = "other letters"
    assert embed_missing(filled, other) == 3


def test_dense_search_finds_without_a_common_word(filled: Index) -> None:
    embed_missing(filled, Letters())
    query = Query("zzz abcdefghij")
    assert search(filled.connection, query, 3) == []
    assert len(nearest(filled.connection, query, 3, Letters())) == 3


def test_dense_search_keeps_to_the_publisher_and_the_limit(filled: Index) -> None:
    embed_missing(filled, Letters())
    found = nearest(filled.connection, Query("anything", publisher="wire"), 5, Letters())
    assert [one.path for one in found] == ["Reports/wind.md"]
    assert len(nearest(filled.connection, Query("solar wind"), 1, Letters())) == 1


def test_what_both_find_comes_first_and_words_count_more(filled: Index) -> None:
    embed_missing(filled, Letters())
    by_words = search(filled.connection, Query("solar panels"), 3)
    by_meaning = nearest(filled.connection, Query("solar panels"), 3, Letters())
    both = fused(by_words, by_meaning, 3)
    assert both[0].passage == by_words[0].passage
    assert {one.passage for one in both} == {one.passage for one in (*by_words, *by_meaning)}


def test_search_without_vectors_is_the_same_to_the_byte(filled: Index) -> None:
    queries = [Query(text) for text in ("solar panels", "turbines", "発電", "cold wind")]
    before = [repr(search(filled.connection, query, 10)).encode() for query in queries]
    embed_missing(filled, Letters())
    assert [repr(search(filled.connection, query, 10)).encode() for query in queries] == before


@pytest.fixture(scope="module")
def wordllama() -> WordLlama:
    try:
        return WordLlama()
    except BadConfiguration as missing:
        pytest.skip(str(missing))


def test_the_real_embedder_knows_what_is_alike(wordllama: WordLlama) -> None:
    cat, kitten, bank = wordllama.embed(["a cat sat", "the kitten was sitting", "interest rates of the central bank"])
    assert cat @ kitten > cat @ bank
    assert abs(float(cat @ cat) - 1) < 1e-5
    assert not wordllama.embed([""]).any()


def test_the_real_embedder_loads_without_a_network_and_without_touching_logging(wordllama: WordLlama) -> None:
    program = (
        "import logging, socket, sys\n"
        "def refuse(*_): raise SystemExit('network!')\n"
        "socket.socket.connect = socket.getaddrinfo = refuse\n"
        "from deepwell.library.vectors import WordLlama\n"
        "WordLlama().embed(['x'])\n"
        "assert not logging.getLogger().handlers\n"
        "assert not {'wordllama', 'requests', 'huggingface_hub'} & set(sys.modules), sorted(sys.modules)\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True, timeout=60)


def test_a_missing_extra_is_said_in_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "tokenizers", None)
    monkeypatch.setitem(sys.modules, "numpy", None)
    default_embedder.cache_clear()
    with pytest.raises(BadConfiguration, match=r"pip install 'deepwell\[dense\]'"):
        default_embedder()


async def test_a_run_with_dense_search(wordllama: WordLlama, notes: Path) -> None:
    configuration = Configuration.build({}, dense=True)
    run = await api.research(api.request("How many holiday days are there?", [notes], configuration))
    assert "27 days" in run.markdown

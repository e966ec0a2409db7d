import asyncio
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from deepwell.errors import SearchFailed, Unreadable
from deepwell.library import Index, Library, LibraryEngine, LibraryFacts, refresh
from deepwell.ports import Reader, SearchEngine
from deepwell.vocabulary.plan import Query
from deepwell.vocabulary.source import content_hash

NOON = datetime(2026, 1, 2, 12, tzinfo=UTC)


def now() -> datetime:
    return NOON


@pytest.fixture
def engine(filled: Index) -> Iterator[LibraryEngine]:
    made = LibraryEngine([Library("./docs/", filled.path)], now)
    yield made
    made.close()


async def test_a_hit_can_be_read_and_its_span_slices_the_source(engine: LibraryEngine) -> None:
    ports: tuple[SearchEngine, Reader] = (engine, engine)
    (hit,) = await ports[0].search(Query("panels cold"), 1)
    source = await ports[1].read(hit.address)
    assert hit.address == "./docs/solar.md"
    assert hit.span is not None
    assert source.text[slice(*hit.span)] == hit.excerpt
    assert hit.source == source.hash == content_hash(source.text)
    assert (hit.publisher, hit.published, hit.engine) == ("The Daily", "2023-10-07", "library")
    assert (source.retrieved_at, source.kind, source.author) == (NOON, "markdown", "Ada Writer")


async def test_text_is_as_it_was_indexed_even_when_the_file_is_gone(engine: LibraryEngine, docs: Path) -> None:
    (docs / "solar.md").unlink()
    assert "Solar panels work" in (await engine.read("./docs/solar.md")).text


@pytest.mark.parametrize("address", ["docs/none.md", "./docs/none.md", "", "/etc/passwd", "./docs/../docs/solar.md"])
async def test_what_is_not_in_the_library_is_unreadable(engine: LibraryEngine, address: str) -> None:
    with pytest.raises(Unreadable, match="is not in the library"):
        await engine.read(address)


async def test_several_libraries_answer_together(tmp_path: Path, docs: Path, filled: Index) -> None:
    single = tmp_path / "notes.txt"
    single.write_text("Solar panels on my roof.")
    with Index(tmp_path / "single.db") as index:
        refresh(single, index)
        engine = LibraryEngine([Library("docs", filled.path), Library("~/notes.txt", index.path)], now)
        hits = await engine.search(Query("solar panels"), 5)
        assert {"docs/solar.md", "~/notes.txt"} <= {hit.address for hit in hits}
        assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)
        assert (await engine.read("~/notes.txt")).text == "Solar panels on my roof."
        assert len(await engine.search(Query("solar panels"), 1)) == 1
        engine.close()


async def test_many_searches_at_once_while_the_index_changes(engine: LibraryEngine, filled: Index, docs: Path) -> None:
    async def rewrite() -> None:
        for number in range(10):
            (docs / "solar.md").write_text(f"Solar text number {number}. " * 100)
            await asyncio.to_thread(refresh, docs, filled)

    searches = (engine.search(Query("solar text panels"), 5) for _ in range(40))
    _, *answers = await asyncio.gather(rewrite(), *searches)
    assert all(hit.span and len(hit.excerpt) == hit.span[1] - hit.span[0] for hits in answers for hit in hits)


async def test_a_damaged_index_is_a_failed_search(tmp_path: Path) -> None:
    path = tmp_path / "broken.db"
    path.write_bytes(b"no database " * 500)
    engine = LibraryEngine([Library("docs", path)], now)
    with pytest.raises(SearchFailed, match="damaged"):
        await engine.search(Query("x"), 1)
    with pytest.raises(Unreadable, match="damaged"):
        await engine.read("docs/a.md")
    engine.close()


def test_facts_about_the_library(filled: Index) -> None:
    facts = LibraryFacts([Library("docs", filled.path)])
    assert facts.publishers() == {"The Daily", "Wire"}
    assert "Wind in Denmark" in facts.titles()
    assert (facts.document_count, facts.passage_count) == (3, 3)
    assert facts.frequency("turbine") == facts.frequency("TURBINES") == 1
    assert facts.frequency("solar power") == 1
    assert facts.frequency("太陽光") == 1
    assert [facts.frequency(term) for term in ("zebra", "", '"')] == [0, 0, 0]
    facts.close()

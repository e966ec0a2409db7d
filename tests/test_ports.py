"""What every search engine, reader and shelf must keep to, the shipped fakes included."""

from collections.abc import AsyncIterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from deepwell.errors import Unreadable
from deepwell.library.engine import LibraryEngine
from deepwell.library.refreshing import refresh_libraries
from deepwell.ports import Shelf
from deepwell.store.runs import RunStore
from deepwell.testing import DictShelf, TextEngine, source
from deepwell.vocabulary.plan import Query
from deepwell.vocabulary.source import content_hash

TEXTS = {"gears.md": "The device has thirty gears.", "wreck.md": "The wreck sank.", "both.md": "Gears of the wreck."}


@pytest.fixture(params=["library", "texts"])
async def engine(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[LibraryEngine | TextEngine]:
    if request.param == "texts":
        yield TextEngine(TEXTS)
        return
    folder = tmp_path / "docs"
    folder.mkdir()
    for name, text in TEXTS.items():
        (folder / name).write_text(text)
    libraries = refresh_libraries([folder], tmp_path / "home")
    opened = LibraryEngine(libraries.libraries, lambda: datetime.now(UTC))
    yield opened
    opened.close()


@pytest.fixture(params=["store", "dict"])
async def shelf(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Shelf]:
    if request.param == "dict":
        yield DictShelf()
        return
    async with RunStore.open(tmp_path / "deepwell.db") as store:
        yield store


async def test_hits_come_best_first_and_no_more_than_asked_for(engine: LibraryEngine | TextEngine) -> None:
    hits = await engine.search(Query("gears wreck"), 2)
    assert len(hits) == 2
    assert hits[0].title in ("both", "both.md")
    assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)
    assert await engine.search(Query("zebra"), 5) == []


async def test_what_a_hit_points_to_can_be_read_and_slices_exactly(engine: LibraryEngine | TextEngine) -> None:
    for hit in await engine.search(Query("gears"), 5):
        read = await engine.read(hit.address)
        assert read.hash == hit.source == content_hash(read.text)
        assert hit.span
        assert read.cut(*hit.span).text == hit.excerpt
        assert hit.query == Query("gears")


async def test_an_address_that_is_not_there(engine: LibraryEngine | TextEngine) -> None:
    with pytest.raises(Unreadable):
        await engine.read("nowhere.md")


async def test_a_shelf_gives_back_what_it_kept(shelf: Shelf) -> None:
    kept = source("Some text — 東京.", "a.md", author="A")
    await shelf.keep(kept)
    await shelf.keep(kept)
    assert await shelf.fetch(kept.hash) == kept
    with pytest.raises(KeyError):
        await shelf.fetch("unknown")

from collections.abc import AsyncIterator
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from deepwell.errors import StoreFailed, StoreFull, Unreadable
from deepwell.reading.cached import CachedReader
from deepwell.store.runs import RunStore
from deepwell.testing import ManualClock, source
from deepwell.vocabulary.source import Source

PAGE = "https://example.org/page"
DAY = timedelta(hours=24)


@dataclass
class Site:
    """A reader that counts: each read gives a new text."""

    clock: ManualClock
    read_addresses: list[str] = field(default_factory=list)
    failing: bool = False

    async def read(self, address: str) -> Source:
        self.read_addresses.append(address)
        if self.failing:
            raise Unreadable("The site does not answer.")
        text = f"Read number {len(self.read_addresses)}."
        return replace(source(text, f"{address}/moved", "A page", author="Ada"), retrieved_at=self.clock.now())


class BrokenCache:
    """A store in trouble."""

    async def page(self, address: str, not_before: datetime) -> Source | None:
        raise StoreFailed("It cannot be used.")

    async def keep_page(self, asked: str, source: Source) -> None:
        raise StoreFull("There is no space left.")


@pytest.fixture
def site() -> Site:
    return Site(ManualClock())


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[RunStore]:
    async with RunStore.open(tmp_path / "deepwell.db") as opened:
        yield opened


def reader(site: Site, store: RunStore | BrokenCache, life: timedelta = DAY, door: str = "") -> CachedReader:
    return CachedReader(site, store, life, site.clock.now, door)


async def test_a_page_is_read_once_while_it_lives_and_keeps_the_time_it_was_read(site: Site, store: RunStore) -> None:
    first = await reader(site, store).read(PAGE)
    site.clock.move(DAY.total_seconds() - 1)
    assert await reader(site, store).read(PAGE) == first
    assert site.read_addresses == [PAGE]
    site.clock.move(2)
    again = await reader(site, store).read(PAGE)
    assert (again.text, again.retrieved_at) == ("Read number 2.", site.clock.now())
    assert await reader(site, store).read(PAGE) == again


async def test_no_life_means_always_fresh(site: Site, store: RunStore) -> None:
    always = reader(site, store, timedelta(0))
    assert (await always.read(PAGE)).text != (await always.read(PAGE)).text
    assert (await reader(site, store).read(PAGE)).text == "Read number 2.", "what was read is there for others"


@pytest.mark.parametrize("other", [f"{PAGE}#part-2", f"{PAGE}?utm_source=mail", "HTTPS://Example.org:443/page"])
async def test_other_names_of_a_page_are_the_page(site: Site, store: RunStore, other: str) -> None:
    first = await reader(site, store).read(PAGE)
    assert await reader(site, store).read(other) == first


@pytest.mark.parametrize("other", [f"{PAGE}?page=2", f"{PAGE}/2", "http://example.org/page"])
async def test_other_pages_are_not(site: Site, store: RunStore, other: str) -> None:
    await reader(site, store).read(PAGE)
    assert (await reader(site, store).read(other)).text == "Read number 2."


async def test_what_a_wider_door_let_in_is_not_handed_out_by_a_narrower_one(site: Site, store: RunStore) -> None:
    await reader(site, store, door="intranet").read(PAGE)
    site.failing = True
    with pytest.raises(Unreadable):
        await reader(site, store).read(PAGE)
    assert (await reader(site, store, door="intranet").read(PAGE)).text == "Read number 1."


async def test_a_failure_is_not_kept(site: Site, store: RunStore) -> None:
    site.failing = True
    with pytest.raises(Unreadable):
        await reader(site, store).read(PAGE)
    site.failing = False
    assert (await reader(site, store).read(PAGE)).text == "Read number 2."


async def test_a_page_from_the_future_is_read_anew(site: Site, store: RunStore) -> None:
    await store.keep_page(PAGE, replace(source("Wrong clock."), retrieved_at=site.clock.now() + timedelta(days=900)))
    assert (await reader(site, store).read(PAGE)).text == "Read number 1."


async def test_a_store_in_trouble_does_not_fail_the_read(site: Site) -> None:
    assert (await reader(site, BrokenCache()).read(PAGE)).text == "Read number 1."


async def test_a_damaged_page_is_read_anew(site: Site, store: RunStore) -> None:
    await reader(site, store).read(PAGE)
    await store._all("UPDATE sources SET text = ?", *(b"damaged",))
    assert (await reader(site, store).read(PAGE)).text == "Read number 2."

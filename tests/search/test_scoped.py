import pytest

from deepwell.errors import Unreadable
from deepwell.reading.scoped import ScopedReader
from deepwell.search.scoped import DatedEngine
from deepwell.testing import source
from deepwell.vocabulary.plan import Query
from deepwell.vocabulary.scope import Scope
from deepwell.vocabulary.source import Hit, Source

SINCE_2020 = Scope.written(since="2020")


class Library:
    name = "library"

    async def search(self, query: Query, limit: int) -> list[Hit]:
        dates = ("2019-05-01", "2020", None, "2021-01-01", "1999", "2022-02")
        return [Hit(f"{date}.md", "", "", 1.0, self.name, query, published=date) for date in dates][:limit]


class Pages:
    def __init__(self, address: str, published: str | None) -> None:
        self._source = source("text", address, published=published)

    async def read(self, address: str) -> Source:
        return self._source


async def test_documents_outside_the_dates_are_left_out() -> None:
    hits = await DatedEngine(Library(), SINCE_2020).search(Query("q"), 2)
    assert [hit.published for hit in hits] == ["2020", None]


@pytest.mark.parametrize(
    ("scope", "address", "published"),
    [
        (SINCE_2020, "https://a.example/", "2019-12-31"),
        (Scope.written(sites="b.example"), "https://a.example/", None),
        (Scope.written(not_sites="a.example"), "https://www.a.example/", "2021"),
    ],
)
async def test_a_page_that_turns_out_to_lie_outside_is_not_used(scope: Scope, address: str, published: str) -> None:
    with pytest.raises(Unreadable):
        await ScopedReader(Pages(address, published), scope).read("https://b.example/")


async def test_a_page_inside_is_read() -> None:
    read = await ScopedReader(Pages("https://a.example/", "2020-06"), SINCE_2020).read("https://a.example/")
    assert read.text == "text"

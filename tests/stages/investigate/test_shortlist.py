from deepwell.stages.investigate.shortlist import shortlist
from deepwell.vocabulary.events import SearchPreprocessed
from deepwell.vocabulary.plan import Query
from deepwell.vocabulary.source import Hit

LONG = "The company said on Monday that it would buy two electric ships for the northern route, each for 400 people."


def hit(address: str, excerpt: str = "", query: str = "q", **more: object) -> Hit:
    return Hit(address, more.pop("title", ""), excerpt or address, 1.0, "e", Query(query), **more)  # type: ignore[arg-type]


def addresses(*rankings: list[Hit], most: int = 10) -> list[str]:
    return [item.hit.address for item in shortlist(rankings, most).ranked]


def test_one_page_under_several_addresses_is_listed_once_with_all_its_queries() -> None:
    listed = shortlist(
        [[hit("https://a.example/x")], [hit("http://www.a.example/x?utm_source=feed", query="other")]], 10
    )
    assert [item.hit.address for item in listed.ranked] == ["https://a.example/x"]
    assert listed.ranked[0].found_by == (Query("q"), Query("other"))


def test_a_copy_on_another_site_is_dropped() -> None:
    assert addresses([hit("https://a.example/x", LONG), hit("https://b.example/y", f"{LONG} Agency.")]) == [
        "https://a.example/x"
    ]


def test_pages_of_which_little_is_shown_are_not_taken_for_copies() -> None:
    bare = [Hit(f"https://a.example/{n}", "Annual report", "", 1.0, "e", Query("q")) for n in range(2)]
    little = [Hit(f"https://b.example/{n}", "Annual report", "Read more", 1.0, "e", Query("q")) for n in range(2)]
    assert len(addresses(bare + little)) == 4


def test_documents_of_ones_own_are_never_copies() -> None:
    assert addresses([hit("a.md", LONG), hit("b.md", LONG)]) == ["a.md", "b.md"]


def test_sites_take_turns() -> None:
    one = [hit(f"https://big.example/{n}") for n in range(5)]
    other = [hit(f"https://small.example/{n}") for n in range(2)]
    listed = addresses(one + other)
    assert listed[:4] == [h.address for h in (*one[:2], *other)]
    assert len(listed) == 7


def test_passages_of_one_document_need_no_turns() -> None:
    spans = [hit("long.md", f"part {n}", span=(n, n + 1), source="hash") for n in range(5)]
    assert [item.hit.span for item in shortlist([spans], 10).ranked] == [(n, n + 1) for n in range(5)]


def test_what_was_done_is_counted() -> None:
    rankings = [
        [hit("https://a.example/1", LONG), hit("https://a.example/2"), hit("https://b.example/3")],
        [hit("https://a.example/2#top"), hit("https://c.example/4", LONG)],
    ]
    assert shortlist(rankings, 2).metrics == SearchPreprocessed(
        queries=2, hits=5, same_address=1, same_text=1, kept=2, domains=1, llm_calls_in_preprocess=0
    )

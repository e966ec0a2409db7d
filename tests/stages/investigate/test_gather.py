from unittest.mock import patch

from deepwell.configuration import Configuration
from deepwell.errors import Unreadable
from deepwell.stages.investigate.gather import read_best
from deepwell.stages.investigate.rank import RankedHit, in_turns
from deepwell.stages.investigate.unit import Desk, carry_out
from deepwell.testing import ScriptedAnalyst, TextEngine, bench
from deepwell.vocabulary.moves import SearchWeb
from deepwell.vocabulary.plan import Query
from deepwell.vocabulary.source import Hit

LONG = "The company said on Monday that it would buy two electric ships for the northern route, each for 400 people."


def ranked(*addresses: str) -> list[RankedHit]:
    return in_turns([[Hit(address, address, "ships", 1.0, "e", Query("ships")) for address in addresses]])


def web(unreadable: frozenset[str] = frozenset(), **texts: str) -> TextEngine:
    pages = {f"https://{name}.example/": text for name, text in texts.items()}
    return TextEngine(pages, unreadable=frozenset(f"https://{name}.example/" for name in unreadable))


async def test_the_next_in_line_takes_the_place_of_what_cannot_be_read() -> None:
    engine = web(frozenset("b"), a="ships one", b="ships two", c="ships three", d="ships four")
    settings = Configuration.build(max_passages_per_unit=2)
    reading = await read_best(ranked(*engine.texts), bench(ScriptedAnalyst(), engine), settings, ())
    assert [item.source.address for item in reading.passages] == ["https://a.example/", "https://c.example/"]
    assert reading.unread == ("https://b.example/",)


async def test_a_page_that_repeats_another_word_for_word_brings_no_passage() -> None:
    engine = web(a=LONG, b=f"{LONG} Agency.", c=LONG.replace("400", "250"))
    reading = await read_best(ranked(*engine.texts), bench(ScriptedAnalyst(), engine), Configuration.build(), ())
    assert [item.source.address for item in reading.passages] == ["https://a.example/", "https://c.example/"]


async def test_a_unit_searches_no_more_than_it_may() -> None:
    engine = web(a="ships one")
    settings = Configuration.build(researcher_search_budget=2)
    moves = [SearchWeb(Query(f"ships {n}")) for n in range(5)]
    desk = await carry_out(moves, Desk(), bench(ScriptedAnalyst(), engine), settings)
    assert len(engine.asked) == len(desk.queries) == 2
    again = await carry_out([SearchWeb(Query("more"))], desk, bench(ScriptedAnalyst(), engine), settings)
    assert len(engine.asked) == 2
    assert again.turns == 2


async def test_what_is_closed_for_good_is_not_tried_again() -> None:
    engine = web(frozenset("b"), b="ships two")
    tools = bench(ScriptedAnalyst(), engine)
    for final, tries in ((False, 2), (True, 3), (True, 3)):
        with patch.object(Unreadable, "final", final):
            await read_best(ranked(*engine.texts), tools, Configuration.build(max_retry_attempts=9), ())
        if not final:
            await read_best(ranked(*engine.texts), tools, Configuration.build(max_retry_attempts=9), ())
        assert tools.failed_reads == {"https://b.example/": tries}

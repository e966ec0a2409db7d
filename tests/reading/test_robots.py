import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deepwell.errors import Unreadable
from deepwell.reading.addresses import WebAddress
from deepwell.reading.robots import MAX_RULES_BYTES, Forbidden, Permitted, Robots, RulesUnknown, parse_rules
from deepwell.testing import ManualClock

File = str | Exception | None


class Rules:
    """Robots.txt files by the address they are had from; None: there is none; an error: it cannot be known."""

    def __init__(self, files: dict[str, File] | None = None) -> None:
        self.files = files or {}
        self.asked: list[str] = []

    async def __call__(self, url: str) -> bytes | None:
        self.asked.append(url)
        await asyncio.sleep(0)
        found = self.files.get(url)
        if isinstance(found, Exception):
            raise found
        return None if found is None else found.encode()


def robots(text: File, clock: ManualClock | None = None) -> Robots:
    return Robots(Rules({"https://example.org/robots.txt": text}), "Deepwell", (clock or ManualClock()).monotonic)


def page(path: str = "/a", origin: str = "https://example.org") -> WebAddress:
    return WebAddress.parse(origin + path)


async def permitted(text: File, path: str) -> bool:
    return isinstance(await robots(text).ruling(page(path)), Permitted)


async def test_a_site_without_rules_may_be_read() -> None:
    assert await permitted(None, "/a")
    assert await permitted("", "/a")


async def test_a_site_whose_rules_cannot_be_known_is_not_read() -> None:
    ruling = await robots(RulesUnknown("no")).ruling(page())
    assert ruling == Forbidden("example.org does not tell its rules for automated readers (robots.txt).")


async def test_a_site_that_cannot_be_reached_is_asked_again_next_time() -> None:
    rules = Rules({"https://example.org/robots.txt": Unreadable("example.org could not be reached.")})
    shared = Robots(rules, "Deepwell")
    for _ in range(2):
        with pytest.raises(Unreadable, match="could not be reached"):
            await shared.ruling(page())
    rules.files.clear()
    assert await shared.ruling(page()) == Permitted()
    assert len(rules.asked) == 3


async def test_rules_for_everybody_hold() -> None:
    text = "User-agent: *\nDisallow: /private\nAllow: /private/open\n"
    assert await permitted(text, "/public")
    assert not await permitted(text, "/private/x")
    assert await permitted(text, "/private/open")


async def test_a_forbidden_page_is_one_safe_sentence() -> None:
    ruling = await robots("User-agent: *\nDisallow: /").ruling(page())
    assert ruling == Forbidden("example.org asks automated readers not to read this page (robots.txt).")


@pytest.mark.parametrize("agent", ["Deepwell", "deepwell", "DEEPWELL/1.0", "Deepwell*"])
async def test_rules_for_this_reader_go_before_those_for_everybody(agent: str) -> None:
    text = f"User-agent: *\nDisallow: /\n\nUser-agent: {agent}\nDisallow: /b\n"
    assert await permitted(text, "/a")
    assert not await permitted(text, "/b")


@pytest.mark.parametrize("agent", ["Deep", "well", "Deepwellbot", "Googlebot", "Google*"])
async def test_rules_for_other_readers_do_not_concern_this_one(agent: str) -> None:
    assert await permitted(f"User-agent: {agent}\nDisallow: /\n", "/a")


async def test_a_long_list_of_readers_is_read_to_its_end() -> None:
    others = "".join(f"User-agent: Bot{number}\n" for number in range(500))
    assert not await permitted(f"{others}User-agent: Deepwell\nDisallow: /\n", "/a")
    assert await permitted(f"{others}Disallow: /\n", "/a")


@pytest.mark.parametrize(
    "line", ["User-agent *", "useragent: *", "USER AGENT : *", "User-Agent: * # all", "\ufeffUser-agent: *"]
)
async def test_carelessly_written_rules_are_understood(line: str) -> None:
    assert not await permitted(f"{line}\nDisallow: /\n", "/a")


async def test_a_page_of_html_instead_of_rules_forbids_nothing() -> None:
    assert await permitted("<!doctype html><title>Not found</title><p>User-agent: none</p>", "/a")


async def test_wildcards_and_ends_are_understood() -> None:
    text = "User-agent: *\nDisallow: /*.pdf$\nDisallow: /*/print/*\n"
    assert not await permitted(text, "/x/y.pdf")
    assert await permitted(text, "/x/y.pdf.html")
    assert not await permitted(text, "/x/print/1")


async def test_each_site_is_asked_once_however_many_ask() -> None:
    rules = Rules()
    shared = Robots(rules, "Deepwell")
    await asyncio.gather(*(shared.ruling(page(f"/{number}")) for number in range(10)))
    await shared.ruling(page("/again"))
    await shared.ruling(page("/a", "http://example.org"))
    await shared.ruling(page("/a", "https://example.com"))
    assert rules.asked == [
        "https://example.org/robots.txt",
        "http://example.org/robots.txt",
        "https://example.com/robots.txt",
    ]


async def test_who_is_cut_off_does_not_take_the_answer_from_others() -> None:
    arrived, go = asyncio.Event(), asyncio.Event()

    async def load(url: str) -> bytes | None:
        arrived.set()
        await go.wait()
        return b"User-agent: *\nDisallow: /"

    shared = Robots(load, "Deepwell")
    first, second = (asyncio.create_task(shared.ruling(page())) for _ in range(2))
    await arrived.wait()
    first.cancel()
    go.set()
    assert isinstance(await second, Forbidden)
    assert first.cancelled()


async def test_closing_ends_what_is_being_loaded() -> None:
    arrived = asyncio.Event()

    async def load(url: str) -> bytes | None:
        arrived.set()
        await asyncio.Event().wait()
        return None

    shared = Robots(load, "Deepwell")
    asking = asyncio.create_task(shared.ruling(page()))
    await arrived.wait()
    await shared.close()
    with pytest.raises(asyncio.CancelledError):
        await asking


async def test_a_crawl_delay_spaces_the_pages_of_a_site() -> None:
    clock = ManualClock()
    paced = robots("User-agent: *\nCrawl-delay: 2\n", clock)
    assert [await paced.ruling(page()) for _ in range(3)] == [Permitted(0.0), Permitted(2.0), Permitted(4.0)]
    clock.move(100)
    assert await paced.ruling(page()) == Permitted(0.0)


async def test_a_long_crawl_delay_is_capped_and_a_long_queue_turned_away() -> None:
    paced = robots("User-agent: *\nCrawl-delay: 86400\n")
    assert [await paced.ruling(page()) for _ in range(3)] == [Permitted(0.0), Permitted(5.0), Permitted(10.0)]
    late = await paced.ruling(page())
    assert late == Forbidden("example.org asks automated readers for longer pauses than there is time for.")


@pytest.mark.parametrize("delay", ["-1", "nan", "inf", "soon"])
async def test_a_senseless_crawl_delay_is_ignored(delay: str) -> None:
    paced = robots(f"User-agent: *\nCrawl-delay: {delay}\n")
    assert [await paced.ruling(page()) for _ in range(2)] == [Permitted(), Permitted()]


def test_hostile_rules_are_parsed_at_once() -> None:
    # Agents times rules was square in the parser; this would not end in minutes.
    agents = "".join(f"User-agent: a{number}\nSitemap: x\nuser  agent b{number}\n" for number in range(8000))
    rules = "".join(f"Disallow: /{number}\n" for number in range(8000))
    assert parse_rules((agents + rules).encode(), "Deepwell").can_fetch("https://example.org/1", "deepwell")


def test_rules_beyond_the_limit_are_cut_off() -> None:
    text = "User-agent: *\nDisallow: /a\n" + "#" * MAX_RULES_BYTES + "\nDisallow: /b\n"
    rules = parse_rules(text.encode(), "Deepwell")
    assert not rules.can_fetch("https://example.org/a", "deepwell")
    assert rules.can_fetch("https://example.org/b", "deepwell")


@given(st.binary(max_size=300) | st.text("user-agentdislow:* /\n\t#$%\0é", max_size=300).map(str.encode))
def test_any_bytes_are_rules(data: bytes) -> None:
    rules = parse_rules(data, "Deepwell")
    assert rules.can_fetch("https://example.org/", "deepwell") in (True, False)
    assert (rules.crawl_delay("deepwell") or 0) >= 0

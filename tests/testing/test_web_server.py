import gzip
import http.client
import json
import socket
import sys
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote, urlsplit

import pytest

from deepwell.testing.web import (
    FACTS,
    FAULTS,
    KEY,
    METADATA,
    QUESTION,
    REBOUND,
    Fault,
    Page,
    RebindingResolver,
    Visit,
    WebServer,
    html_page,
    longest_chain,
    seconds_of,
    small_web,
)

SEARCH, PAGE, ROBOTS = frozenset({"search"}), frozenset({"page"}), frozenset({"robots"})


@dataclass(frozen=True)
class Got:
    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def urls(self) -> list[str]:
        return [result["url"] for result in json.loads(self.body)["results"]]


def get(address: str, host: str | None = None) -> Got:
    return ask("GET", address, headers={"Host": host} if host else {})


def ask(method: str, address: str, body: bytes | None = None, headers: Mapping[str, str] | None = None) -> Got:
    parts = urlsplit(address)
    connection = http.client.HTTPConnection(parts.hostname or "", parts.port, timeout=10)
    try:
        target = f"{parts.path}?{parts.query}" if parts.query else parts.path or "/"
        connection.request(method, target, body, dict(headers or {}))
        answer = connection.getresponse()
        return Got(answer.status, {name.lower(): value for name, value in answer.getheaders()}, answer.read())
    finally:
        connection.close()


def searched(web: WebServer, query: str) -> Got:
    return get(f"{web.search_address('searxng')}/search?q={quote(query)}&format=json")


def tavily(web: WebServer, key: str = KEY, **body: Any) -> Got:
    sent = json.dumps(body).encode()
    return ask("POST", f"{web.search_address('tavily')}/search", sent, {"Authorization": f"Bearer {key}"})


# Pages


def test_a_page_is_where_the_search_says_it_is() -> None:
    with WebServer() as web:
        first = searched(web, "Who made the tide clock?").urls[0]
        got = get(first)
    assert first.endswith("/clock/maker")
    assert (got.status, got.headers["content-type"]) == (200, "text/html; charset=utf-8")
    assert "Tomas Reel" in got.body.decode()


def test_pages_may_be_markup_or_bytes_or_ready() -> None:
    pages = {"/a": "<p>bread &amp; butter</p>", "/b": b"\x00\x01", "/c": Page(b"%PDF-1.4", "application/pdf")}
    with WebServer(pages) as web:
        got = [get(web.address(path)) for path in pages]
        assert [one.headers["content-type"].partition(";")[0] for one in got] == [
            "text/html",
            "application/octet-stream",
            "application/pdf",
        ]
        assert got[1].body == b"\x00\x01"
        assert searched(web, "butter").urls == [web.address("/a")]
        assert get(web.address("/d")).status == 404


def test_rules_for_programs_are_there_when_they_are_given() -> None:
    with WebServer(robots="User-agent: *\nDisallow: /private") as web:
        assert b"Disallow" in get(web.address("/robots.txt")).body
    with WebServer() as web:
        assert get(web.address("/robots.txt")).status == 404


def test_text_in_a_page_is_no_markup() -> None:
    assert b"a &lt; b &amp; c" in html_page("Title", "a < b & c").body


# Searches


def test_both_shapes_find_the_same() -> None:
    with WebServer() as web:
        by_get, by_post = searched(web, "tower metres high"), tavily(web, query="tower metres high")
    assert by_get.urls == by_post.urls
    first = json.loads(by_post.body)["results"][0]
    assert set(first) == {"url", "title", "content", "score"}
    assert "42 metres" in first["content"]


def test_a_search_gives_no_more_than_it_is_asked_for_and_nothing_for_strange_words() -> None:
    with WebServer() as web:
        assert len(tavily(web, query=QUESTION, max_results=2).urls) == 2
        assert searched(web, "zyzzyva").urls == []


def test_a_search_insists_on_its_manners() -> None:
    with WebServer() as web:
        assert get(f"{web.search_address('searxng')}/search?q=tower").status == 403
        assert tavily(web, key="wrong", query="tower").status == 401
        assert tavily(web).status == 400


def test_the_same_page_is_listed_with_the_marks_of_advertising_too() -> None:
    with WebServer() as web:
        urls = searched(web, "guide for visitors").urls
        both = [url for url in urls if urlsplit(url).path == "/guide/overview"]
        assert len(both) == 2
        assert len({get(url).body for url in both}) == 1


@pytest.mark.parametrize("name", FACTS)
def test_every_fact_of_the_small_web_is_told_where_it_is_said_to_be(name: str) -> None:
    fact, pages = FACTS[name], small_web()
    assert len(fact.paths) > 1
    assert all(fact.answer in pages[path].text for path in fact.paths)
    assert not [path for path, page in pages.items() if fact.answer in page.text and path not in fact.paths]


def test_the_small_web_is_on_hosts_that_every_machine_has() -> None:
    assert {page.host for page in small_web().values()} == {"127.0.0.1", "localhost"}


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere 127.0.0.2 has to be set up first")
def test_the_small_web_may_be_spread_over_more_hosts() -> None:
    with WebServer(small_web(["127.0.0.1", "127.0.0.2"])) as web:
        hosts = {urlsplit(url).hostname for url in searched(web, QUESTION).urls}
        assert hosts == {"127.0.0.1", "127.0.0.2"}
        assert get(f"http://127.0.0.2:{web.ports.open}/clock/maker").status == 200
        assert f"127.0.0.2:{web.ports.open}" in web.own_hosts.split(",")


# The log


def test_the_log_has_every_request_in_order() -> None:
    with WebServer() as web:
        searched(web, "tower")
        tavily(web, query="clock")
        get(web.address("/robots.txt"))
        get(web.address("/clock/maker") + "?utm_source=x")
    assert [(visit.kind, visit.what, visit.engine, visit.status) for visit in web.log] == [
        ("search", "tower", "searxng", 200),
        ("search", "clock", "tavily", 200),
        ("robots", "/robots.txt", "", 404),
        ("page", "/clock/maker?utm_source=x", "", 200),
    ]
    assert [visit.number for visit in web.log] == [1, 2, 3, 4]
    assert web.asked("page") == ["/clock/maker?utm_source=x"]
    assert all(visit.ended is not None and visit.received <= visit.ended for visit in web.log)


def test_a_request_that_hangs_is_in_the_log_at_once() -> None:
    with WebServer(faults=[Fault("hang", kinds=PAGE)]) as web:
        caller = threading.Thread(target=_ignoring, args=(web.address("/clock/maker"),))
        caller.start()
        web.wait_for_requests(1)
        assert [(visit.fault, visit.ended) for visit in web.log] == [("hang", None)]
        with pytest.raises(TimeoutError, match="1 of 2"):
            web.wait_for_requests(2, timeout_s=0.01)
    caller.join(timeout=10)
    assert not caller.is_alive(), "closing the server ends what hangs"
    assert web.log[0].ended is not None


def _ignoring(address: str) -> None:
    with pytest.raises((http.client.HTTPException, OSError)):
        get(address)


def test_latencies_are_waited_side_by_side() -> None:
    with WebServer(search_latency_s=0.05, page_latency_s=0.2) as web:
        callers = [threading.Thread(target=get, args=(web.address("/clock/maker"),)) for _ in range(5)]
        for caller in callers:
            caller.start()
        for caller in callers:
            caller.join()
        searched(web, "tower")
    assert all(seconds_of(visit) >= 0.19 for visit in web.log[:5])
    assert max(visit.received for visit in web.log[:5]) < min(visit.ended or 0 for visit in web.log[:5])
    assert longest_chain(web.log) == (max(web.log[:5], key=seconds_of), web.log[5])


def visit(kind: Any, start: float, end: float | None) -> Visit:
    return Visit(0, kind, "", "", "", start, None, end, 200)


def test_the_longest_chain_is_of_what_must_follow_what() -> None:
    first, second = visit("search", 0, 2), visit("search", 2, 4)
    rules, page, beside = visit("robots", 2, 3), visit("page", 3, 4), visit("page", 4, 6)
    again = visit("search", 6, 8)
    hanging = visit("page", 3, None)
    assert longest_chain([first, second, rules, page, beside, hanging]) == (first, rules, beside)
    assert longest_chain([first, second, page]) == (first, page)
    assert longest_chain([again, beside, first]) == (first, beside, again)
    assert longest_chain([]) == ()


# What a run is given


def test_a_run_is_pointed_at_it_by_variables_or_by_a_configuration() -> None:
    with WebServer() as web:
        variables, settings = web.environment("tavily", "searxng"), web.settings(max_sources=3)
        assert variables["SEARCH_PROVIDER"] == "tavily,searxng"
        assert variables["SEARXNG_URL"] == f"http://127.0.0.1:{web.ports.open}/searxng"
        assert variables["TAVILY_API_KEY"] == KEY
        assert (settings.search_provider, settings.max_sources) == ("searxng", 3)
        assert settings.own_hosts == variables["DEEPWELL_OWN_HOSTS"]


def test_outside_its_block_the_server_has_no_address() -> None:
    with pytest.raises(RuntimeError):
        WebServer().address("/")


# Faults


@pytest.mark.parametrize(
    ("name", "kind", "status"),
    [
        ("500", "search", 500),
        ("500", "page", 500),
        ("500", "robots", 500),
        ("429", "search", 429),
        ("429", "page", 429),
        ("empty", "search", 200),
        ("redirect_loop", "page", 302),
        ("redirect_to_private", "search", 302),
        ("wrong_content_type", "page", 200),
        ("captcha", "search", 200),
    ],
)
def test_a_fault_strikes_its_kind_and_no_other(name: str, kind: Any, status: int) -> None:
    with WebServer(faults=[Fault(name, kinds=frozenset({kind}))]) as web:
        searched(web, "tower")
        get(web.address("/clock/maker"))
        get(web.address("/robots.txt"))
    assert [visit.fault for visit in web.log if visit.kind == kind] == [name]
    assert [visit.fault for visit in web.log if visit.kind != kind] == [None, None]
    assert next(visit.status for visit in web.log if visit.kind == kind) == status


def test_faults_leave_the_rules_alone_unless_told() -> None:
    with WebServer(faults=[Fault("500")]) as web:
        assert get(web.address("/robots.txt")).status == 404
        assert searched(web, "tower").status == get(web.address("/clock/maker")).status == 500


def test_a_fault_may_strike_only_some() -> None:
    faults = [
        Fault("500", kinds=SEARCH, engine="tavily", first=2, after=1),
        Fault("429", paths=frozenset({"/clock/maker"}), kinds=PAGE, retry_after=0.5),
    ]
    with WebServer(faults=faults) as web:
        assert [tavily(web, query="tower").status for _ in range(4)] == [200, 500, 500, 200]
        assert searched(web, "tower").status == 200
        limited = get(web.address("/clock/maker"))
        assert (limited.status, limited.headers["retry-after"]) == (429, "0.5")
        assert get(web.address("/clock/repair")).status == 200


@pytest.mark.parametrize("fault", [{"name": "nothing"}, {"name": "paywall", "kinds": SEARCH}])
def test_a_fault_that_cannot_be_is_refused(fault: Any) -> None:
    with pytest.raises(ValueError, match=r"nothing|paywall"):
        Fault(**fault)


def test_every_fault_says_what_it_does() -> None:
    assert all(told.strip() for told in FAULTS.values())


def test_a_malformed_search_is_no_json_and_a_malformed_page_no_http() -> None:
    with WebServer(faults=[Fault("malformed")]) as web:
        with pytest.raises(ValueError, match="char"):
            json.loads(searched(web, "tower").body)
        with pytest.raises(http.client.HTTPException):
            get(web.address("/clock/maker"))


def test_nothing_found_is_a_good_answer() -> None:
    with WebServer(faults=[Fault("no_results")]) as web:
        assert searched(web, "tower").urls == []


def test_redirects_lead_in_a_circle_or_inside() -> None:
    with WebServer(faults=[Fault("redirect_loop", kinds=PAGE)]) as web:
        assert get(web.address("/clock/maker")).headers["location"] == "/clock/maker"
    with WebServer(faults=[Fault("redirect_to_private", kinds=PAGE)]) as web:
        led = [get(web.address("/clock/maker")).headers["location"] for _ in range(4)]
        assert METADATA in led
        assert sum(f":{web.ports.private}/" in location for location in led) == 3


def test_a_bomb_is_small_until_it_is_unpacked() -> None:
    with WebServer(faults=[Fault("gzip_bomb", kinds=PAGE)]) as web:
        got = get(web.address("/clock/maker"))
    assert got.headers["content-encoding"] == "gzip"
    assert len(got.body) < 1_000_000
    assert len(gzip.decompress(got.body)) > 95_000_000


@pytest.mark.parametrize(("name", "most"), [("slow_drip", 3), ("endless_body", 3_000_000)])
def test_some_answers_never_end(name: str, most: int) -> None:
    with WebServer(faults=[Fault(name, drip_s=0.01)]) as web:
        connection = http.client.HTTPConnection("127.0.0.1", web.ports.open, timeout=10)
        connection.request("GET", "/clock/maker")
        assert len(connection.getresponse().read(most)) == most
        connection.close()
    assert web.log[0].ended is not None


def test_a_page_in_the_wrong_charset_is_not_what_it_says() -> None:
    with WebServer(faults=[Fault("wrong_charset")]) as web:
        with pytest.raises(UnicodeDecodeError):
            get(web.address("/clock/maker")).body.decode("utf-8")
        with pytest.raises(UnicodeDecodeError):
            searched(web, "tower").body.decode("utf-8")


def test_where_nobody_listens_the_connection_is_refused() -> None:
    with WebServer(faults=[Fault("refused", kinds=SEARCH, engine="searxng")]) as web:
        with pytest.raises(ConnectionRefusedError):
            searched(web, "tower")
        assert get(tavily(web, query="tower").urls[0]).status == 200
    with WebServer(faults=[Fault("refused", paths=frozenset({"/clock/maker"}), kinds=PAGE)]) as web:
        first, *others = searched(web, "Who made the tide clock?").urls
        with pytest.raises(ConnectionRefusedError):
            get(first)
        assert get(others[0]).status == 200
        assert f"127.0.0.1:{urlsplit(first).port}" in web.own_hosts.split(",")


async def test_a_rebound_name_leads_elsewhere_the_second_time() -> None:
    resolver = RebindingResolver(["93.184.215.14"], ["127.0.0.1"])
    assert [await resolver(REBOUND, 80) for _ in range(3)] == [["93.184.215.14"], ["127.0.0.1"], ["127.0.0.1"]]
    assert resolver.asked == [(REBOUND, 80)] * 3
    with pytest.raises(ValueError, match="answer"):
        RebindingResolver()
    with WebServer(faults=[Fault("dns_rebinding")]) as web:
        assert all(url.startswith(f"http://{REBOUND}/") for url in searched(web, "tower").urls)
        got = get(web.address("/clock/maker"), host=REBOUND)
    assert got.headers["connection"] == "close", "a kept connection would never ask for the name again"


def test_who_visits_the_private_listener_is_noticed() -> None:
    with WebServer() as web:
        assert web.trespasses == ()
        with socket.create_connection(("127.0.0.1", web.ports.private)) as visitor:
            visitor.sendall(b"GET / HTTP/1.1\r\n\r\n")
            assert visitor.recv(100) == b""
    assert web.trespasses == (b"GET / HTTP/1.1\r\n\r\n",)

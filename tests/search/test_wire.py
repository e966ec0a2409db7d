"""What goes out to each engine, and what is peculiar to its answers."""

import json
from datetime import date
from typing import Any
from urllib.parse import parse_qsl

import httpx2
import pytest

from deepwell.errors import BadConfiguration
from deepwell.search.engines.json_endpoint import JsonEndpoint
from deepwell.search.failures import FailureKind, NoAnswer
from deepwell.search.fitting import Fitting
from deepwell.vocabulary.plan import Query
from deepwell.vocabulary.scope import Scope

GEARS = Query("antikythera gears", phrases=('thirty "bronze" gears', "dials"), context="never sent")
NARROW = Scope(
    since=date(2024, 1, 1),
    until=date(2024, 6, 30),
    include_sites=("example.org",),
    exclude_sites=("spam.example.com",),
    language="de",
    region="AT",
)
PHRASES = '("thirty bronze gears" OR "dials")'
SITES = "site:example.org -site:spam.example.com"


async def sent(web: Any, name: str, scope: Scope | None = None, query: Query = GEARS, limit: int = 5) -> httpx2.Request:
    web.replay(name)
    web.requests.clear()
    await web.engine(name, scope).search(query, limit)
    return web.requests[0]


@pytest.mark.parametrize(
    "name", ["tavily", "exa", "brave", "searxng", "wikipedia", "arxiv", "openalex", "pubmed", "json"]
)
async def test_every_request_says_who_asks_and_takes_nothing_of_the_context(name: str, web: Any) -> None:
    request = await sent(web, name)
    assert request.headers["user-agent"].startswith("Deepwell")
    assert "cookie" not in request.headers
    assert b"never" not in request.content
    assert "never" not in str(request.url)


async def test_tavily(web: Any, key: str) -> None:
    request = await sent(web, "tavily", NARROW)
    assert str(request.url) == "https://api.tavily.com/search"
    assert request.headers["authorization"] == f"Bearer {key}"
    assert json.loads(request.content) == {
        "query": f"antikythera gears {PHRASES}",
        "max_results": 10,
        "search_depth": "basic",
        "topic": "general",
        "include_domains": ["example.org"],
        "exclude_domains": ["spam.example.com"],
        "start_date": "2024-01-01",
        "end_date": "2024-06-30",
        "country": "austria",
    }
    assert json.loads((await sent(web, "tavily")).content)["max_results"] == 5
    assert json.loads((await sent(web, "tavily", limit=99)).content)["max_results"] == 20


async def test_tavily_says_that_the_plan_is_used_up(web: Any) -> None:
    web.answer = lambda request: httpx2.Response(
        432, json={"detail": {"error": "This request exceeds your plan's limit."}}
    )
    assert await kind(web, "tavily") is FailureKind.QUOTA


async def test_exa(web: Any, key: str) -> None:
    request = await sent(web, "exa", NARROW)
    assert str(request.url) == "https://api.exa.ai/search"
    assert request.headers["x-api-key"] == key
    assert json.loads(request.content) == {
        "query": "antikythera gears",
        "type": "auto",
        "numResults": 10,
        "contents": {"highlights": {"maxCharacters": 1200}},
        "includeDomains": ["example.org"],
        "excludeDomains": ["spam.example.com"],
        "startPublishedDate": "2024-01-01T00:00:00.000Z",
        "endPublishedDate": "2024-06-30T23:59:59.999Z",
        "userLocation": "AT",
    }


async def test_brave(web: Any, key: str) -> None:
    request = await sent(web, "brave", NARROW)
    assert request.url.copy_with(query=None) == "https://api.search.brave.com/res/v1/web/search"
    assert request.headers["x-subscription-token"] == key
    assert dict(request.url.params) == {
        "q": f"antikythera gears {PHRASES} {SITES}",
        "count": "10",
        "text_decorations": "false",
        "result_filter": "web",
        "freshness": "2024-01-01to2024-06-30",
        "country": "AT",
        "search_lang": "de",
    }


@pytest.mark.parametrize(
    ("language", "region", "sent_language", "sent_country"),
    [
        ("ja", "JP", "jp", "JP"),
        ("pt", "BR", "pt-br", "BR"),
        ("pt", "", "pt-pt", "ALL"),
        ("zh", "TW", "zh-hant", "TW"),
        ("sw", "KE", None, "ALL"),
    ],
)
async def test_brave_has_codes_of_its_own(
    language: str, region: str, sent_language: str | None, sent_country: str, web: Any
) -> None:
    request = await sent(web, "brave", Scope(language=language, region=region))
    assert request.url.params.get("search_lang") == sent_language
    assert request.url.params.get("country") == sent_country


async def test_brave_takes_one_date_up_to_today(web: Any) -> None:
    request = await sent(web, "brave", Scope(since=date(2024, 1, 1)))
    assert request.url.params["freshness"] == "2024-01-01to2026-03-10"


@pytest.mark.parametrize(
    ("status", "code", "expected"),
    [
        (422, "SUBSCRIPTION_TOKEN_INVALID", FailureKind.AUTH),
        (422, "VALIDATION", FailureKind.BAD_REQUEST),
        (429, "RATE_LIMITED", FailureKind.RATE_LIMIT),
        (429, "QUOTA_LIMITED", FailureKind.QUOTA),
    ],
)
async def test_brave_tells_in_words_what_the_status_does_not(
    status: int, code: str, expected: FailureKind, web: Any
) -> None:
    body = {
        "type": "ErrorResponse",
        "error": {"id": "x", "status": status, "code": code, "meta": {}},
        "time": 1663072993,
    }
    web.answer = lambda request: httpx2.Response(status, json=body, headers={"x-ratelimit-reset": "1, 1419704"})
    failure = await failed(web, "brave")
    assert failure.kind is expected
    assert failure.retry_after_s == 1.0


async def test_searxng(web: Any) -> None:
    request = await sent(web, "searxng", NARROW)
    assert request.url.copy_with(query=None) == "https://searx.example.org/sub/search"
    assert dict(request.url.params) == {
        "q": f"antikythera gears {PHRASES} {SITES}",
        "format": "json",
        "language": "de-AT",
    }


@pytest.mark.parametrize(
    ("since", "expected"),
    [(date(2026, 3, 10), "day"), (date(2026, 3, 4), "week"), (date(2026, 2, 20), "month"), (date(2025, 4, 1), "year")],
)
async def test_searxng_is_told_the_shortest_range_that_holds_all(since: date, expected: str, web: Any) -> None:
    assert (await sent(web, "searxng", Scope(since=since))).url.params["time_range"] == expected


async def test_searxng_without_engines_of_its_own_has_failed(web: Any) -> None:
    body = {"query": "x", "results": [], "unresponsive_engines": [["brave", "timeout"]]}
    web.answer = lambda request: httpx2.Response(200, json=body)
    assert await kind(web, "searxng") is FailureKind.OVERLOAD


async def test_wikipedia(web: Any) -> None:
    request = await sent(web, "wikipedia", Scope(language="de"))
    assert request.url.copy_with(query=None) == "https://de.wikipedia.org/w/api.php"
    assert request.url.params["srsearch"] == f"antikythera gears {PHRASES}"
    assert request.url.params["srlimit"] == "5"
    hits = await web.engine("wikipedia").search(GEARS, 5)
    assert hits[0].excerpt == "The Antikythera mechanism is an ancient orrery with thirty gears & dials"
    assert hits[0].address == "https://en.wikipedia.org/wiki/Antikythera_mechanism"
    assert hits[1].address == "https://en.wikipedia.org/wiki/C%2B%2B_(programming_%26_more)"


@pytest.mark.parametrize(
    ("code", "expected"), [("ratelimited", FailureKind.OVERLOAD), ("srsearch-error", FailureKind.BAD_REQUEST)]
)
async def test_wikipedia_answers_200_to_errors(code: str, expected: FailureKind, web: Any) -> None:
    web.answer = lambda request: httpx2.Response(200, json={"error": {"code": code, "info": "…"}})
    assert await kind(web, "wikipedia") is expected


async def test_arxiv(web: Any) -> None:
    request = await sent(web, "arxiv", NARROW)
    assert request.url.copy_with(query=None) == "https://export.arxiv.org/api/query"
    assert request.url.params["search_query"] == (
        '(all:antikythera AND all:gears) AND (all:"thirty bronze gears" OR all:"dials")'
        " AND submittedDate:[202401010000 TO 202406302359]"
    )
    assert request.url.params["max_results"] == "10"
    hit = (await web.engine("arxiv").search(GEARS, 1))[0]
    assert hit.address == "https://arxiv.org/abs/2403.00040v1"
    assert hit.title == "Calendar ring of the Antikythera mechanism"
    assert hit.excerpt == "We show that n<355 and n>353 holds for the number of holes."


async def test_arxiv_is_asked_for_any_of_many_words_and_for_none_not_at_all(web: Any) -> None:
    request = await sent(web, "arxiv", query=Query("What is the effect of bronze on the age of gears?"))
    assert request.url.params["search_query"] == "(all:effect OR all:bronze OR all:age OR all:gears)"
    web.requests.clear()
    assert list(await web.engine("arxiv").search(Query("what is it?"), 5)) == []
    assert web.requests == []


async def test_arxiv_tells_of_errors_in_the_feed(web: Any) -> None:
    error = "<entry><id>http://arxiv.org/api/errors#incorrect_id</id><title>Error</title></entry>"
    feed = f'<feed xmlns="http://www.w3.org/2005/Atom">{error}</feed>'
    web.answer = lambda request: httpx2.Response(200, text=feed)
    assert await kind(web, "arxiv") is FailureKind.BAD_REQUEST


async def test_openalex(web: Any, key: str) -> None:
    request = await sent(web, "openalex", NARROW)
    assert request.url.copy_with(query=None) == "https://api.openalex.org/works"
    assert request.url.params["filter"] == "from_publication_date:2024-01-01,to_publication_date:2024-06-30,language:de"
    assert request.url.params["per_page"] == "10"
    assert request.url.params["api_key"] == key
    hits = await web.engine("openalex").search(GEARS, 5)
    assert hits[0].excerpt == "The gears drive further gears"
    assert hits[0].publisher == "Journal of Examples"
    assert [hit.address for hit in hits] == [
        "https://journal.example.org/cosmos",
        "https://doi.org/10.1/two",
        "https://openalex.org/W3",
    ]


async def test_pubmed(web: Any, key: str) -> None:
    web.replay("pubmed")
    hits = await web.engine("pubmed", Scope(since=date(2020, 1, 1), language="en")).search(GEARS, 3)
    first, second = (dict(parse_qsl(request.content.decode())) for request in web.requests)
    assert str(web.requests[0].url) == "https://eutils.ncbi.nlm.nih.gov/entrez/eutils/esearch.fcgi"
    assert first["term"] == f"(antikythera gears {PHRASES}) AND eng[la]"
    assert (first["mindate"], first["maxdate"]) == ("2020/01/01", "3000/12/31")
    assert first["api_key"] == second["api_key"] == key
    assert second["id"] == "38000001,38000002,38000003"
    assert hits[0].title == "Gears of ancient medicine."
    assert hits[0].excerpt == "Gears of ancient medicine. Freeth T. Nature. 2024 Mar 5."
    assert hits[0].address == "https://pubmed.ncbi.nlm.nih.gov/38000001/"


async def test_the_question_tells_the_language_where_the_scope_does_not(web: Any) -> None:
    german = Query("hoch turm", sentence="Wie hoch ist der Turm?")
    lead = Query("hoch turm", "Wie hoch ist der Turm?")
    for query in (german, lead):
        assert (await sent(web, "wikipedia", query=query)).url.host == "de.wikipedia.org"
    assert (await sent(web, "wikipedia", Scope(language="fr"), query=german)).url.host == "fr.wikipedia.org"
    web.replay("duckduckgo")
    for scope in (None, Scope(region="AT"), Scope(language="en")):
        await web.engine("duckduckgo", scope).search(german, 5)
    assert [job["region"] for job in web.jobs] == ["de-de", "at-de", "us-en"]


@pytest.mark.parametrize("name", ["tavily", "exa", "brave", "searxng", "wikipedia", "arxiv", "pubmed", "json"])
async def test_no_address_holds_a_key(name: str, web: Any, key: str) -> None:
    await sent(web, name)
    assert not any(key in str(request.url) for request in web.requests)


async def test_pubmed_answers_200_to_too_many_requests(web: Any) -> None:
    web.answer = lambda request: httpx2.Response(200, json={"error": "API rate limit exceeded", "count": "4"})
    assert await kind(web, "pubmed") is FailureKind.RATE_LIMIT


async def test_json_endpoint(web: Any, key: str) -> None:
    request = await sent(web, "json", NARROW, Query("gears & more=1#x"))
    assert str(request.url) == "https://own.example.org/find?q=gears%20%26%20more%3D1%23x&n=10&from=2024-01-01&lang=de"
    assert request.headers["authorization"] == f"Bearer {key}"
    hits = await web.engine("json").search(GEARS, 5)
    assert hits[0].excerpt == "Thirty gears. … Of bronze."
    assert [hit.score for hit in hits] == [9, 5, 1]


@pytest.mark.parametrize(
    "template",
    [
        "",
        "ftp://own.example.org/?q={query}",
        "https://own.example.org/",
        "https://{query}.example.org/",
        "https://own.example.org/?q={query}&k={key}",
        "https://user:word@own.example.org/?q={query}",
        "https://[broken/?q={query}",
    ],
)
def test_a_json_endpoint_with_an_address_that_cannot_be_used(template: str, web: Any) -> None:
    with pytest.raises(BadConfiguration):
        JsonEndpoint(Fitting(web.http(), date.today, address=template))


def test_a_json_endpoint_with_an_unknown_field(web: Any) -> None:
    with pytest.raises(BadConfiguration, match="excerpt"):
        JsonEndpoint(Fitting(web.http(), date.today, address="https://a.example/?q={query}", options={"body": "x"}))


async def test_duckduckgo(web: Any) -> None:
    web.replay("duckduckgo")
    await web.engine("duckduckgo", NARROW).search(GEARS, 5)
    await web.engine("duckduckgo", Scope(region="GB")).search(GEARS, 5)
    assert web.jobs[0] == {
        "query": f"antikythera gears {PHRASES} {SITES}",
        "limit": 10,
        "region": "at-de",
        "seconds": 4,
        "dates": "2024-01-01..2024-06-30",
    }
    assert web.jobs[1]["region"] == "uk-en"
    assert "dates" not in web.jobs[1]


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        (b'{"failed": "rate_limit"}', FailureKind.RATE_LIMIT),
        (b'{"failed": "timeout"}', FailureKind.TIMEOUT),
        (b'{"failed": "unreachable"}', FailureKind.UNREACHABLE),
        (b'{"failed": "?"}', FailureKind.MALFORMED),
        (b"", FailureKind.MALFORMED),
        (b"[]", FailureKind.MALFORMED),
    ],
)
async def test_how_duckduckgo_fails(said: bytes, expected: FailureKind, web: Any) -> None:
    web.ddgs = said
    assert await kind(web, "duckduckgo") is expected


async def test_a_long_query_is_cut_at_a_word_and_keeps_its_operators(web: Any) -> None:
    long = Query("gear " * 500, phrases=("thirty gears",))
    wanted = (await sent(web, "brave", Scope(include_sites=("example.org",)), long)).url.params["q"]
    assert len(wanted) <= 400
    assert len(wanted.split()) <= 50
    assert wanted.endswith('gear "thirty gears" site:example.org')


async def test_text_that_no_address_can_hold(web: Any) -> None:
    request = await sent(web, "brave", query=Query("gears \ud800\x00 of\nbronze"))
    assert request.url.params["q"] == "gears of bronze"


async def failed(web: Any, name: str) -> Any:
    with pytest.raises(NoAnswer) as caught:
        await web.engine(name).search(GEARS, 5)
    return caught.value.failure


async def kind(web: Any, name: str) -> FailureKind:
    return (await failed(web, name)).kind

"""The child process that searches with ddgs: a package of that name made here stands in for the real one."""

import asyncio
import sys
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from deepwell.search.child import run_child
from deepwell.search.engines.duckduckgo import DuckDuckGo
from deepwell.search.failures import FailureKind, NoAnswer
from deepwell.search.fitting import Fitting
from deepwell.vocabulary.plan import Query

GEARS = Query("gears")


@pytest.fixture
def ddgs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Makes the child find a package `ddgs` whose search does what the given lines say."""

    def make(*lines: str) -> None:
        package = tmp_path / "ddgs"
        package.mkdir()
        (package / "exceptions.py").write_text(
            "class DDGSException(Exception): ...\nclass TimeoutException(DDGSException): ...\n"
        )
        (package / "http_client.py").write_text(
            "class Response:\n    def __init__(self, status): self.status_code = status\n"
            "class HttpClient:\n    def request(self, status): return Response(status)\n"
        )
        body = "\n".join(f"        {line}" for line in lines)
        (package / "__init__.py").write_text(
            "import os, time\nfrom ddgs.exceptions import *\nfrom ddgs.http_client import HttpClient\n"
            "class DDGS:\n    def __init__(self, timeout): ...\n"
            f"    def text(self, query, region, max_results, backend, timelimit):\n{body}\n"
        )
        monkeypatch.syspath_prepend(str(tmp_path))
        # The real one may be loaded already; the child starts anew and is not concerned.
        monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])

    return make


def engine(web: Any, seconds: float = 20.0) -> DuckDuckGo:
    return DuckDuckGo(Fitting(web.http(), date.today), seconds=seconds)


async def kind(web: Any, seconds: float = 20.0) -> FailureKind:
    with pytest.raises(NoAnswer) as caught:
        await engine(web, seconds).search(GEARS, 3)
    return caught.value.failure.kind


async def test_results_come_back(ddgs: Any, web: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TAVILY_API_KEY", "sk-secret")
    monkeypatch.setenv("HTTPS_PROXY", "http://127.0.0.1:9")
    ddgs(
        "told = [name for name in ('TAVILY_API_KEY', 'HTTPS_PROXY') if name in os.environ]",
        "return [{'href': 'https://a.example/', 'title': query, 'body': f'{region} {max_results} {told}'}]",
    )
    hits = await engine(web).search(GEARS, 3)
    assert [(hit.address, hit.title, hit.excerpt) for hit in hits] == [("https://a.example/", "gears", "us-en 3 []")]


async def test_the_second_engines_are_asked_when_the_first_bring_nothing(ddgs: Any, web: Any) -> None:
    ddgs(
        "HttpClient().request(200)",
        "if 'duckduckgo' in backend: raise DDGSException('No results found.')",
        "return [{'href': 'https://a.example/', 'title': backend, 'body': ''}]",
    )
    assert [hit.title for hit in await engine(web).search(GEARS, 3)] == ["mojeek,startpage"]


async def test_nothing_found_is_told_from_being_turned_away(ddgs: Any, web: Any) -> None:
    ddgs("HttpClient().request(200)", "raise DDGSException('No results found.')")
    assert await engine(web).search(GEARS, 3) == []


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        (("HttpClient().request(202)", "raise DDGSException('No results found.')"), FailureKind.RATE_LIMIT),
        (("raise DDGSException('DNSError: …')",), FailureKind.UNREACHABLE),
        (("raise TimeoutException('timed out')",), FailureKind.TIMEOUT),
        (("raise ValueError('a bug of theirs')",), FailureKind.MALFORMED),
        (("os._exit(3)",), FailureKind.MALFORMED),
    ],
)
async def test_how_it_fails(lines: tuple[str, ...], expected: FailureKind, ddgs: Any, web: Any) -> None:
    ddgs(*lines)
    assert await kind(web) is expected


async def test_a_package_that_hangs_is_killed(ddgs: Any, web: Any, tmp_path: Path) -> None:
    ddgs(*HANG)
    assert await kind(web, seconds=0.3) is FailureKind.TIMEOUT


HANG = (
    "from concurrent.futures import ThreadPoolExecutor",
    "with ThreadPoolExecutor(1) as pool: pool.submit(time.sleep, 600)",
)


async def test_a_search_that_nobody_waits_for_is_killed(ddgs: Any, web: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    ddgs(*HANG)
    started: asyncio.Queue[Any] = asyncio.Queue()
    create = asyncio.create_subprocess_exec

    async def watched(*command: Any, **options: Any) -> Any:
        process = await create(*command, **options)
        started.put_nowait(process)
        return process

    monkeypatch.setattr(asyncio, "create_subprocess_exec", watched)
    search = asyncio.create_task(engine(web).search(GEARS, 3))
    process = await started.get()
    search.cancel()
    with pytest.raises(asyncio.CancelledError):
        await search
    assert process.returncode is not None


async def test_a_module_that_is_not_there_brings_nothing() -> None:
    assert await run_child("deepwell.search.nowhere", b"{}", 20.0) == b""

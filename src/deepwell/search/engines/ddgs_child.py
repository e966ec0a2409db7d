"""The process in which `ddgs` searches: one job on standard input, one answer on standard output, both JSON.

Started as `python -m deepwell.search.engines.ddgs_child SECONDS`; ends by itself after that time.
"""

import json
import os
import resource
import sys
import threading
import time
from contextlib import suppress
from importlib import import_module
from typing import Any

_ROUNDS = ("duckduckgo,brave", "mojeek,startpage")
"""Asked two at a time; the second two only when the first bring nothing."""
_DATED = ("duckduckgo",)
"""The only one that takes dates from and to."""
_MEMORY = 1_500_000_000
"""Of what is really written to: the package reserves far more address space on a machine with many cores."""
_MOST_CHARACTERS = 2000


def main(seconds: float) -> None:
    """Answer the one job there is."""
    for kind, value in ((resource.RLIMIT_DATA, _MEMORY), (resource.RLIMIT_FSIZE, 0), (resource.RLIMIT_CORE, 0)):
        # Not every system lets it be lowered; the limit on time still holds there.
        with suppress(ValueError, OSError):
            resource.setrlimit(kind, (value, value))
    # If our parent is gone, nobody else will end us.
    end = threading.Timer(seconds, os._exit, [1])
    end.daemon = True
    end.start()
    answer = json.dumps(_answer(json.loads(sys.stdin.buffer.read())))
    sys.stdout.write(answer)
    sys.stdout.flush()
    # Threads of the package may still hang on a connection; no one waits for them.
    os._exit(0)


def _answer(job: dict[str, Any]) -> dict[str, Any]:
    statuses = _watched()
    started = time.monotonic()
    failed = ""
    for backend in _DATED if job.get("dates") else _ROUNDS:
        results, failed = _round(job, backend, statuses)
        if results or time.monotonic() - started > job["seconds"] / 2:
            return {"results": results} if results or not failed else {"failed": failed}
    return {"failed": failed} if failed else {"results": []}


def _round(job: dict[str, Any], backend: str, statuses: list[int]) -> tuple[list[dict[str, str]], str]:
    """The results, or why there are none: "" when there is just nothing to be found."""
    package: Any = import_module("ddgs")
    errors: Any = import_module("ddgs.exceptions")
    statuses.clear()
    asked = {"region": job["region"], "max_results": job["limit"], "backend": backend, "timelimit": job.get("dates")}
    try:
        found = package.DDGS(timeout=job["seconds"]).text(job["query"], **asked)
    except errors.TimeoutException:
        return [], "timeout"
    except errors.DDGSException as error:
        return [], _reason(statuses, str(error))
    return [_short(one) for one in found], ""


def _reason(statuses: list[int], said: str) -> str:
    """The package says "No results found." also when it was turned away: only the statuses tell."""
    if any(status != 200 for status in statuses):
        return "rate_limit"
    return "" if statuses and "No results" in said else "unreachable"


def _watched() -> list[int]:
    """The statuses of the answers that come in, as they come in."""
    http_client: Any = import_module("ddgs.http_client")
    statuses: list[int] = []
    request = http_client.HttpClient.request

    def watched(self: Any, *args: Any, **kwargs: Any) -> Any:
        response = request(self, *args, **kwargs)
        statuses.append(response.status_code)
        return response

    http_client.HttpClient.request = watched
    return statuses


def _short(one: dict[str, Any]) -> dict[str, str]:
    return {name: str(one.get(name, ""))[:_MOST_CHARACTERS] for name in ("href", "title", "body")}


if __name__ == "__main__":
    main(float(sys.argv[1]))

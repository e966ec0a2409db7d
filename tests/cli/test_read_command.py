"""`deepwell read`: the guarded door from the command line."""

import json
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

RUN = [sys.executable, "-c", "from deepwell.cli import main; main()"]
PAGE = """<!doctype html><html lang="en"><head><title>The bridge at Ulm</title><meta name="author" content="Ada Stone">
<meta property="article:published_time" content="2024-05-06T10:00:00Z"></head><body><nav>Home · News · About</nav>
<article><h1>The bridge at Ulm</h1><p>The bridge at Ulm was opened in 1890 after four years of work by three hundred
people, most of whom lived in the town and went home every night.</p><p>It carried carts at first, then trams, and has
been closed to everything but walkers and bicycles since the spring of 1987.</p></article></body></html>"""


class Site(BaseHTTPRequestHandler):
    """One page, one secret that robots.txt asks to leave alone, and redirects."""

    def do_GET(self) -> None:
        if self.path == "/robots.txt":
            self._answer(200, "text/plain", b"User-agent: *\nDisallow: /private\n")
        elif self.path == "/inside":
            self.send_response(302)
            self.send_header("Location", "http://169.254.169.254/latest/meta-data/")
            self.send_header("Content-Length", "0")
            self.end_headers()
        elif self.path in ("/page", "/private"):
            self._answer(200, "text/html; charset=utf-8", PAGE.encode())
        else:
            self._answer(404, "text/plain", b"gone")

    def _answer(self, status: int, kind: str, body: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Silent."""


@pytest.fixture
def site() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Site)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()
    server.server_close()


def read(target: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([*RUN, "read", target, *arguments], capture_output=True, text=True, check=False, timeout=60)


def test_a_page_is_printed_with_what_it_says_of_itself(site: str) -> None:
    ended = read(f"http://{site}/page", "--set", f"own_hosts={site}")
    assert ended.returncode == 0, ended.stderr
    assert ended.stdout.startswith("title: The bridge at Ulm\nauthor: Ada Stone\n")
    assert "date: 2024-05-06" in ended.stdout
    assert "opened in 1890" in ended.stdout
    assert "Home · News" not in ended.stdout
    told = json.loads(read(f"http://{site}/page", "--json", "--set", f"own_hosts={site}").stdout)
    assert told["published"] == "2024-05-06"
    assert len(told["hash"]) == 64


@pytest.mark.parametrize("path", ["/page", "/inside", "/private", "/nothing"])
def test_what_may_not_or_cannot_be_read_is_one_sentence(site: str, path: str) -> None:
    allowed = () if path == "/page" else ("--set", f"own_hosts={site}")
    ended = read(f"http://{site}{path}", *allowed)
    assert ended.returncode == 4, ended.stdout
    assert ended.stderr.count("\n") == 1
    assert "169.254" not in ended.stderr
    assert not ended.stdout


@pytest.mark.parametrize(
    "target", ["ftp://example.org/x", "http://user:hunter2@example.org/", "http://0x7f.1/", "file:///etc/passwd"]
)
def test_other_schemes_and_odd_addresses_are_refused(target: str) -> None:
    ended = read(target)
    assert ended.returncode == 4
    assert ended.stderr.count("\n") == 1
    assert "hunter2" not in ended.stderr


@pytest.mark.parametrize(
    ("target", "sentence"),
    [
        ("/", "/ is a folder, not a file."),
        ("www.example.org", "www.example.org does not exist. To read it from the web, write https://www.example.org."),
        ("example.org/page", "page does not exist. To read it from the web, write https://example.org/page."),
        ("mailto:me@example.org", "Of addresses, those with http:// or https:// in front are read."),
        ("javascript:alert(1)", "Of addresses, those with http:// or https:// in front are read."),
        ("nowhere.md", "deepwell: nowhere.md does not exist.\n"),
        ("drafts/nowhere.md", "deepwell: nowhere.md does not exist.\n"),
    ],
)
def test_what_is_no_file_is_said_with_what_to_write_instead(target: str, sentence: str) -> None:
    ended = read(target)
    assert ended.returncode == 4
    assert sentence in ended.stderr
    assert ended.stderr.count("\n") == 1


def test_nothing_at_all_is_a_request_to_be_made_otherwise() -> None:
    ended = read("")
    assert (ended.returncode, ended.stdout) == (2, "")
    assert ended.stderr == "deepwell: There is nothing to read; name a web address or a file.\n"


def test_a_file_is_read_as_a_run_would(notes: Path) -> None:
    ended = read(str(notes / "policy.html"))
    assert ended.returncode == 0
    assert "27 days" in ended.stdout
    assert read(str(notes / "nowhere.md")).returncode == 4
    assert read(str(notes)).returncode == 4

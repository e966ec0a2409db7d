from collections.abc import Callable
from contextlib import suppress
from importlib.util import find_spec

import pytest

from deepwell.errors import Unreadable
from deepwell.reading import trafilatura_text
from deepwell.reading.blocked import Blocked, Obstacle
from deepwell.reading.document import Document
from deepwell.reading.html import read_web
from deepwell.reading.web_page import document_from, shown
from deepwell.reading.workshop import Workshop

needs_extra = pytest.mark.skipif(find_spec("trafilatura") is None, reason="the extra for web pages is not installed")
ADDRESS = "https://example.org/news/story.html?id=7#top"
PROSE = "Here is a sentence of prose that goes on for long enough to be taken for a part of the story. "
PAGE = f"""<!DOCTYPE html><html lang="en"><head><title>A river returns - The Daily</title>
<meta property="og:site_name" content="The Daily">
<meta property="article:published_time" content="2023-10-07T10:00:00Z"><script>var tracking = 1;</script></head>
<body><header>Site</header><nav><a href="/">Home</a><a href="/a">About</a></nav>
<article><h1>A river returns</h1><a rel="author" href="/ada">By Ada Writer</a>
<p>{PROSE}The flow is 10<sup>3</sup> times what it was.<sup><a href="#n1">[1]</a></sup></p>
<h2>What changed</h2><p>{PROSE}Call <code>flow()</code> and see.</p>
<p><a href="/other">RELATED STORY WITH A LONG TITLE</a></p>
<ul><li>First the dam</li><li>Then the fish</li></ul>
<figure class="wp-block-table"><table><tr><th>City</th><th>People</th></tr>
<tr><td><a href="/o">Oslo</a></td><td>700</td></tr><tr><td><a href="/r">Rome</a></td><td>2800</td></tr></table></figure>
<p>{PROSE}</p><p>{PROSE}</p><p>Sign up for our newsletter</p><h3>Most popular</h3></article>
<footer>Copyright</footer></body></html>"""


async def read(
    workshop: Workshop, body: bytes, content_type: str | None = "text/html", charset: str | None = None
) -> Document:
    return await document_from(body, content_type, charset, ADDRESS, workshop)


async def test_a_page_becomes_text_with_headings_lists_and_tables(workshop: Workshop) -> None:
    text = (await read(workshop, PAGE.encode())).text
    assert "## What changed\n\nHere is" in text
    assert "- First the dam\n- Then the fish" in text
    assert "| City | People |\n| --- | --- |\n| Oslo | 700 |\n| Rome | 2800 |" in text
    assert "10³ times what it was." in text
    assert "Call flow() and see." in text


@needs_extra
async def test_what_stands_around_the_text_is_left_out(workshop: Workshop) -> None:
    text = (await read(workshop, PAGE.encode())).text
    for left_out in (
        "Home",
        "RELATED",
        "newsletter",
        "Most popular",
        "Copyright",
        "tracking",
        "A river returns",
        "[1]",
    ):
        assert left_out not in text


async def test_a_page_says_who_wrote_it_when_and_where(workshop: Workshop) -> None:
    document = await read(workshop, PAGE.encode())
    assert (document.title, document.author) == ("A river returns", "Ada Writer")
    assert (document.publisher, document.published) == ("The Daily", "2023-10-07")
    assert document.kind == "html"


def test_without_the_extra_the_page_is_read_all_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trafilatura_text, "is_installed", lambda: False)
    document = read_web(PAGE.encode(), "example.org/story")
    assert document.text.count(PROSE.strip()) == 4
    assert "| Rome | 2800 |" in document.text


def test_when_the_extra_fails_the_page_is_read_all_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("trafilatura")

    def fail(*_: object, **__: object) -> None:
        raise AttributeError

    monkeypatch.setattr("trafilatura.bare_extraction", fail)
    assert PROSE.strip() in read_web(PAGE.encode(), "example.org/story").text


@needs_extra
def test_half_an_article_is_not_taken_for_the_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    parts = [f"<p>Part {n}: {' '.join(f'word{n}x{m}' for m in range(40))}.</p>" for n in range(10)]
    page = f"<html><body><article>{''.join(parts)}</article></body></html>"
    extracted = trafilatura_text.main_part

    def first_third(root: trafilatura_text.HtmlElement, title: str | None) -> trafilatura_text.HtmlElement | None:
        found = extracted(root, title)
        assert found is not None
        for paragraph in list(found)[3:]:
            found.remove(paragraph)
        return found

    monkeypatch.setattr("deepwell.reading.html.main_part", first_third)
    assert "Part 9" in read_web(page.encode(), "example.org/story").text


@pytest.mark.parametrize(
    ("encoding", "content_type", "charset"),
    [
        ("cp1251", "text/html; charset=windows-1251", None),
        ("cp1251", "text/html", "windows-1251"),
        ("utf-8", "text/html; charset=iso-8859-1", None),
        ("cp1251", "text/html; charset=utf-8", "utf-8"),
    ],
)
async def test_a_wrong_or_missing_charset_is_no_matter(
    workshop: Workshop, encoding: str, content_type: str, charset: str | None
) -> None:
    page = '<html lang="ru"><meta charset="koi8-r"><title>Река</title><p>Вода вернулась в реку этой весной.</p></html>'
    page = page.replace("koi8-r", "windows-1251")
    document = await read(workshop, page.encode(encoding), content_type, charset)
    assert document.text == "Вода вернулась в реку этой весной."
    assert document.title == "Река"


async def test_a_page_in_the_way_is_refused_as_what_it_is(workshop: Workshop) -> None:
    page = b"<html><title>Just a moment...</title><body><script>window._cf_chl_opt={}</script></body></html>"
    with pytest.raises(Blocked) as caught:
        await read(workshop, page)
    assert caught.value.obstacle is Obstacle.ROBOT_CHECK
    assert str(caught.value) == "example.org/news/story.html asks its visitors to prove that they are human."


async def test_pdf_and_word_are_read_whatever_the_server_calls_them(
    workshop: Workshop, make_pdf: Callable[..., bytes], make_docx: Callable[..., bytes]
) -> None:
    pdf = await read(workshop, make_pdf(["A line of the file."]), "text/html")
    assert (pdf.kind, pdf.text.strip()) == ("pdf", "A line of the file.")
    word = await read(workshop, make_docx("<w:p><w:r><w:t>Words of it.</w:t></w:r></w:p>"), "application/zip")
    assert (word.kind, word.text) == ("docx", "Words of it.")


async def test_text_json_and_markdown_are_read_in_their_encoding(workshop: Workshop) -> None:
    plain = await read(workshop, "Größe".encode("cp1252"), "text/plain; charset=latin1")
    assert (plain.kind, plain.text) == ("text", "Größe")
    assert (await read(workshop, b'{"a": 1}', "application/json")).text == '{"a": 1}'
    markdown = await document_from(b"# Title\n\nText.", "text/plain", None, "http://example.org/README.md", workshop)
    assert (markdown.kind, markdown.title) == ("markdown", "Title")


@pytest.mark.parametrize(
    ("body", "content_type"),
    [
        (b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x00", "text/html"),
        (b"", "text/html"),
        (b"  \n", "text/plain"),
        (b"<html></html>", "text/html"),
        (b"%PDF-1.4 and nothing", None),
        (b"PK\x03\x04 word/document.xml", None),
    ],
)
async def test_what_cannot_be_read_is_one_sentence(workshop: Workshop, body: bytes, content_type: str | None) -> None:
    with pytest.raises(Unreadable, match=r"^example\.org/news/story\.html [^\n]{5,150}\.$"):
        await read(workshop, body, content_type)


@pytest.mark.parametrize(
    ("address", "name"),
    [
        ("https://user:secret@example.org:8080/a/b/?token=x#y", "example.org/a/b"),
        ("http://example.org", "example.org"),
        ("http://example.org/a\nb", "example.org/ab"),
        ("http://[::1", "The page"),
        ("http://10.0.0.7:8080/wiki/Tides/", "The page /wiki/Tides"),
        ("http://[fd00::7]/", "The page"),
        ("", "The page"),
        (f"http://example.org/{'x' * 500}", f"example.org/{'x' * 88}"),
    ],
)
def test_a_sentence_names_an_address_without_its_secrets(address: str, name: str) -> None:
    assert shown(address) == name


@pytest.mark.parametrize("page", [b"<div>x" * 50_000, b"<table><tr><td>x" * 3_000, b"<html><p>" + b"<a>x" * 20_000])
async def test_a_hostile_page_is_text_or_one_sentence(workshop: Workshop, page: bytes) -> None:
    with suppress(Unreadable):
        assert (await read(workshop, page)).text
    assert (await read(workshop, b"<html><p>The next page.</p></html>")).text == "The next page."

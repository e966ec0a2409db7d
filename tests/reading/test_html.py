import pytest

from deepwell.errors import Unreadable
from deepwell.reading.html import read

PAGE = """<!DOCTYPE html><html><head><title>Fallback</title>
<meta property="og:title" content="The real title"><meta property="og:site_name" content="The Daily">
<meta name="author" content="Ada Writer"><meta property="article:published_time" content="2023-10-07T10:00:00Z">
<script>var tracking = 1;</script><style>p { color: red }</style></head>
<body><header>Site name</header><nav><a href="/">Home</a></nav>
<main><article><header><h1>Big   news</h1></header>
<p>First <b>para</b>graph,
wrapped.<br>After a break.</p>
<ul><li>one</li><li>two<ul><li>inner</li></ul></li></ul>
<table><tr><th>City</th><th>People</th></tr><tr><td>Oslo</td><td>7 | 8</td></tr></table>
<p hidden>secret</p><p style="display: none">secret</p><div aria-hidden="true">secret</div>
<form>Subscribe<input></form><aside>secret</aside><noscript>secret</noscript>
<pre>x = 1
  y = 2</pre>
<p>%s</p></article></main><footer>secret</footer></body></html>""" % ("Filler. " * 50)


def test_writes_headings_lists_tables_and_paragraphs() -> None:
    assert read(PAGE.encode(), "a.html").text.startswith(
        "# Big news\n\nFirst paragraph, wrapped.\nAfter a break.\n\n- one\n- two\n  - inner\n\n"
        "| City | People |\n| --- | --- |\n| Oslo | 7 \\| 8 |\n\nx = 1\n  y = 2\n\nFiller."
    )


@pytest.mark.parametrize("word", ["secret", "Home", "Site name", "tracking", "color", "Subscribe"])
def test_leaves_out_what_stands_around(word: str) -> None:
    assert word not in read(PAGE.encode(), "a.html").text


def test_reads_what_the_page_says_about_itself() -> None:
    document = read(PAGE.encode(), "a.html")
    assert document.title == "The real title"
    assert (document.author, document.publisher, document.published) == ("Ada Writer", "The Daily", "2023-10-07")


def test_reads_json_ld_and_time() -> None:
    page = """<script type="application/ld+json">{"@graph": [{"@type": "NewsArticle", "headline": "From data",
    "author": [{"name": "A"}, {"name": "B"}], "publisher": {"name": "Press"}}]}</script>
    <script type="application/ld+json">not json</script><p>Text</p><time datetime="2020-02-03">"""
    document = read(page.encode(), "a.html")
    assert (document.title, document.author, document.publisher) == ("From data", "A, B", "Press")
    assert document.published == "2020-02-03"


def test_the_title_falls_back_to_title_heading_and_name() -> None:
    assert read(b"<title>T</title><p>x", "a.html").title == "T"
    assert read(b"<h1>H</h1><p>x", "a.html").title == "H"
    assert read(b"<p>x", "my-page.html").title == "my-page"


@pytest.mark.parametrize(
    "page",
    [
        "<meta charset=utf-8><p>Größe</p>".encode(),
        "<p>Größe</p>".encode(),
        "<meta charset='iso-8859-1'><p>Größe</p>".encode("latin-1"),
        "<?xml version='1.0' encoding='utf-8'?><html><p>Größe</p></html>".encode(),
        "<meta charset='no-such'><p>Größe</p>".encode(),
        "<p>Größe</p>".encode("utf-16"),
        "<p>Größe</p>".encode("cp1252"),
        "<meta charset=utf-8><p>Größe</p>".encode("cp1252"),
    ],
)
def test_finds_the_encoding_whatever_is_declared(page: bytes) -> None:
    assert read(page, "a.html").text == "Größe"


def test_a_table_for_layout_is_running_text() -> None:
    page = f"<table><tr><td>menu</td><td><p>{'Long text. ' * 30}</p></td></tr><tr><td>a</td><td>b</td></tr></table>"
    assert "|" not in read(page.encode(), "a.html").text


def test_a_page_inside_one_form_is_kept() -> None:
    assert "kept" in read(b"<form><p>This is kept.</p></form>", "a.html").text


def test_deep_nesting_is_read_as_far_as_the_parser_goes() -> None:
    def page(levels: int) -> bytes:
        return b"<p>before</p>" + b"<div>" * levels + b"deep" + b"</div>" * levels

    assert read(page(1_000), "a.html").text == "before\n\ndeep"
    assert read(page(10_000), "a.html").text.startswith("before")


@pytest.mark.parametrize("page", [b"", b"   ", b"<html></html>", b"<!-- only -->", b"<script>x</script>"])
def test_a_page_without_text_is_unreadable(page: bytes) -> None:
    with pytest.raises(Unreadable, match="holds no text"):
        read(page, "a.html")

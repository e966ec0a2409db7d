"""Markdown from outside keeps its words and leads nowhere."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from deepwell.language.markdown import as_code, as_it_stands, leading_nowhere, on_one_line


@pytest.mark.parametrize(
    ("text", "clean"),
    [
        ("See [the site](https://a.b/c(d)e) now.", "See the site now."),
        ("As told [3](https://evil.example).", "As told [3]."),
        ("As told [1][4].", "As told [1][4]."),
        ("See [the site][x] and [1][2].\n\n[x]: https://evil.example", "See the site and [1][2].\n\n"),
        ("A ![chart](http://e/p.png?q=secret) here", "A  here"),
        ("[![i](http://e)](http://f) x", " x"),
        ("<img src='http://e'>Text<br>more <b>bold</b>", "Text more bold"),
        ("<script>alert(1)</script>", "alert(1)"),
        ("<scr<b>ipt>alert(1)", "‹script>alert(1)"),
        ("Go to <https://e.example/x>.", "Go to `https://e.example/x`."),
        ("Go to https://e.example/x today", "Go to `https://e.example/x` today"),
        ("The code `https://e.example` stays", "The code `https://e.example` stays"),
        ("If a < b and c > d, then a<b.", "If a < b and c > d, then a<b."),
        ("<!-- hidden --> seen", " seen"),
        ("- [1]: https://e.example\n\nAs told [1].", "- [1]\\: `https://e.example`\n\nAs told [1]."),
        ("[1]:\nhttps://e.example", "[1]\\:\n`https://e.example`"),
        ("A ` and https://e.example ` b ` c", "A ` and https\\://e.example ` b ` c"),
        ("Write to a@e.example now", "Write to `a@e.example` now"),
        ("<x-frame src=x> and List<int> in `List<int>`", "‹x-frame src=x> and List‹int> in `List<int>`"),
        ("| a | b |\n|---|---|\n| 1 [2] | x |", "| a | b |\n|---|---|\n| 1 [2] | x |"),
    ],
)
def test_links_images_and_html_are_gone(text: str, clean: str) -> None:
    assert leading_nowhere(text) == clean


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("It rose by 12 % (in 2020), [sic], and a < b.", "It rose by 12 % (in 2020), [sic], and a < b."),
        ("See [a](http://e.example/x).", "See [a\\](`http://e.example/x`)."),
        ("[1]: http://e.example", "[1\\]: `http://e.example`"),
        ("told [3](x) and a@e.example[4]", "told [3\\](x) and `a@e.example`[4\\]"),
        ("<img src=x> and `code`", "\\<img src=x> and \\`code\\`"),
        ("Already `http://e.example` code", "Already `http://e.example` code"),
        (r"\<b>", r"\\\<b>"),
        ("two\nlines", "two lines"),
        ("**bold** _it_ ~~s~~ __init__", r"\*\*bold\*\* \_it\_ \~\~s\~\~ \_\_init\_\_"),
        ("$x$ and &lt;b&gt; &#60;", r"$x\$ and \&lt;b\&gt; \&#60;"),
        ("snake_case costs $5, says AT&T & Co; a - b", "snake_case costs $5, says AT&T & Co; a - b"),
        ("# no heading", r"\# no heading"),
        ("(see [3]) [1, 2]", r"(see [3\]) [1, 2\]"),
    ],
)
def test_a_quotation_stays_to_be_read(text: str, shown: str) -> None:
    assert as_it_stands(text) == shown


@given(st.text(alphabet="ab_*~$&;#<>[]()1\\! +-=.", max_size=40))
def test_a_reader_of_markdown_shows_every_sign(text: str) -> None:
    line = " ".join(text.split())
    inline = MarkdownIt("commonmark").enable("strikethrough").parseInline(as_it_stands(text))[0]
    assert "".join(token.content for token in inline.children or ()) == line


def test_code_cannot_be_closed() -> None:
    assert as_code("a b") == "`a b`"
    assert as_code("a`b``c") == "``` a`b``c ```"


def test_a_heading_is_one_line_without_citations() -> None:
    assert on_one_line("## The [1] cost\n\n## Sources\n[2]") == "The cost ## Sources"
    assert on_one_line("> - quoted") == "quoted"


@given(st.text(alphabet="[]()!<>ahttp:/. \n12`", max_size=60))
def test_nothing_that_is_left_is_a_link(text: str) -> None:
    clean = leading_nowhere(text)
    assert not re.search(r"!\[[^\]]*\]\([^()]*\)", clean)
    assert not re.search(r"<https?:[^>\s]*>", clean)

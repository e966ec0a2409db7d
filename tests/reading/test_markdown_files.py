import string

from hypothesis import given
from hypothesis import strategies as st

from deepwell.reading.markdown import read, split

FRONT = b"""---
title: "The \\"best\\" of: 2023"
author:
  - Ada Lovelace
  - 'Grace O''Hara'
published_at: 2023-11-27T08:45:59+00:00  # as the site says
source: Mashable
tags: [a, b]
---
# Another title

Body --- here.
"""


def test_reads_the_front_matter_and_keeps_the_body_as_it_is() -> None:
    document = read(FRONT, "x.md")
    assert document.title == 'The "best" of: 2023'
    assert document.author == "Ada Lovelace, Grace O'Hara"
    assert (document.publisher, document.published, document.kind) == ("Mashable", "2023-11-27", "markdown")
    assert document.text == "# Another title\n\nBody --- here.\n"


def test_the_title_falls_back_to_the_heading_then_to_the_name() -> None:
    assert read(b"intro\n\n## The *real* [title](http://x) ##\n", "x.md").title == "The real title"
    assert read(b"```\n# a comment\n```\nText", "my-notes.md").title == "my-notes"
    assert read(b"Title\n=====\n", "x.md").title == "Title"


def test_rules_around_prose_are_no_front_matter() -> None:
    text = "---\nJust a line of prose.\n---\nMore.\n"
    assert split(text) == ({}, text)


def test_front_matter_that_never_ends_is_text() -> None:
    assert split("---\ntitle: x\n") == ({}, "---\ntitle: x\n")


def test_a_value_that_says_none_is_none() -> None:
    assert read(b"---\nauthor: None\ndate: soon\n---\nText", "x.md").author is None


def quoted(value: str) -> str:
    escaped = value.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


names = st.text(string.ascii_lowercase, min_size=1, max_size=8)
values = st.text(st.characters(exclude_categories=("Cc", "Cs", "Zl", "Zp")), max_size=40).map(str.strip)


@given(st.dictionaries(names, values, min_size=1), st.text(st.sampled_from("ab\n -:#"), max_size=50))
def test_front_matter_comes_back_as_it_was_written(fields: dict[str, str], body: str) -> None:
    written = "".join(f"{key}: {quoted(value)}\n" for key, value in fields.items())
    assert split(f"---\n{written}---\n{body}") == (fields, body)

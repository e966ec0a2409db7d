"""Some twenty pages about a tide observatory that never was: facts told several times, copies, and pages beside it."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from itertools import cycle

from deepwell.testing.web.pages import Page, html_page

QUESTION = "Who founded the Kelsmouth Tide Observatory, how high is its tower, and how many people work there?"
"""What the small web can answer: see FACTS."""
HOSTS = ("127.0.0.1", "localhost")
"""Every machine has these. On Linux, 127.0.0.2 and so on are there as well."""


@dataclass(frozen=True, slots=True)
class Fact:
    """Something that the small web knows."""

    answer: str
    """As the pages word it."""
    paths: tuple[str, ...]
    """Where it is told."""


FACTS: Mapping[str, Fact] = {
    "founder": Fact("Ida Marrow", ("/history/founding", "/people/ida-marrow", "/guide/overview", "/letters/1930")),
    "opening": Fact("1931", ("/history/founding", "/history/opening-day", "/guide/overview")),
    "tower": Fact("42 metres", ("/building/tower", "/guide/overview", "/building/survey")),
    "staff": Fact("68 people", ("/report/yearly", "/news/agency", "/news/agency-copy", "/news/evening-post")),
    "clock": Fact("Tomas Reel", ("/clock/maker", "/clock/repair", "/people/tomas-reel")),
    "cost": Fact("340,000 crowns", ("/history/money", "/letters/1930")),
}

_ALSO_AS: Mapping[str, tuple[str, ...]] = {
    "/history/founding": ("utm_source=letter&utm_medium=mail",),
    "/guide/overview": ("fbclid=IwAR0abc",),
    "/report/yearly": ("gclid=xyz-1",),
}
"""The same pages as somebody's advertising links to them."""


def small_web(hosts: Sequence[str] = HOSTS) -> dict[str, Page]:
    """The pages by their paths, one after the other on each of these hosts of this machine."""
    return {
        path: html_page(title, *paragraphs, host=host, also_as=_ALSO_AS.get(path, ()))
        for (path, title, *paragraphs), host in zip(_told(), cycle(hosts), strict=False)
    }


def _told() -> Iterator[tuple[str, ...]]:
    """Path, title and paragraphs of each page, from the file beside this one."""
    text = files("deepwell.testing.web").joinpath("small_web.md").read_text(encoding="utf-8")
    for part in text.split("# /")[1:]:
        first, *paragraphs = (" ".join(block.split()) for block in part.split("\n\n") if block.strip())
        path, _, title = first.partition(" ")
        yield f"/{path}", title, *paragraphs

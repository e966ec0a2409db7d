"""The commands about searching the web: which engines there are, which are asked, and why."""

from dataclasses import asdict

from rich.console import Console
from rich.table import Table
from rich.text import Text

from deepwell.cli.exit_codes import Exit
from deepwell.cli.printed import json_text
from deepwell.configuration import environment, secret
from deepwell.search.registry import Availability, available


def engines(console: Console, *, as_json: bool) -> Exit:
    """List the engines: those that are asked first, in their order, then the others and what they need."""
    listed = sorted(available(environment(), secret=secret), key=_place)
    if as_json:
        json_text([_plain(one) for one in listed])
        return Exit.REPORT
    table = Table(box=None, pad_edge=False)
    for column in ("", "engine", "good for", "why"):
        table.add_column(column, overflow="fold", justify="right" if not column else "left")
    for one in listed:
        place = str(one.in_chain) if one.in_chain else ""
        style = "" if one.usable else "dim"
        table.add_row(place, Text(one.spec.name, style=style), Text(one.spec.good_for, style=style), one.because)
    console.print(table)
    console.print(
        "\nNumbered engines are asked in this order when a question goes to the web; each steps in for the one before. "
        "Name others with --search, for example --search wikipedia,arxiv.",
        soft_wrap=not console.is_terminal,
        highlight=False,
    )
    return Exit.REPORT


def _place(one: Availability) -> tuple[bool, int, bool]:
    return one.in_chain is None, one.in_chain or 0, not one.usable


def _plain(one: Availability) -> dict[str, object]:
    return {"name": one.spec.name, "in_chain": one.in_chain, "usable": one.usable, "because": one.because} | {
        key: value
        for key, value in asdict(one.spec).items()
        if key in ("title", "good_for", "key_names", "address_name")
    }

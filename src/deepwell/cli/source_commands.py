"""The commands about sources: those of a run with what was quoted from them, one of them whole, or a new one."""

import re
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from typing import NoReturn

from rich.console import Console
from rich.style import Style
from rich.text import Text

from deepwell.cli import printed
from deepwell.cli.exit_codes import Exit
from deepwell.cli.guarded import guarded, output
from deepwell.configuration import Configuration, home
from deepwell.errors import BadRequest, Unreadable
from deepwell.language.addresses import is_web
from deepwell.store.runs import RunStore
from deepwell.vocabulary.run import KeptSource, RunStatus, StoredRun
from deepwell.vocabulary.source import Source

AROUND = 120
"""Characters of context shown on each side of a quoted span."""
QUOTED = "bold green"
_HOST = re.compile(r"[\w-]+(?:\.[\w-]+)*\.[^\W\d_]{2,}(?=[:/?#]|$)")
_SCHEME = re.compile(r"[a-z][a-z0-9+.-]+:", re.IGNORECASE)
_WITHOUT_SOURCES: dict[RunStatus, str] = {
    "running": "it is still running",
    "done": "its report cites none",
    "nothing_found": "it found nothing that answers the question",
    "clarify": "it asked a question back",
    "interrupted": "it was interrupted",
    "failed": "it failed",
}


@dataclass(frozen=True, slots=True)
class Quoted:
    """A span of a source, and what rests on it."""

    start: int
    end: int
    claims: tuple[str, ...]
    sentences: tuple[str, ...]
    """Of the report."""


def source(name: str, number: int, *, as_json: bool, spans: bool) -> NoReturn:
    """Print one source of a run as it was read, with what was quoted from it marked in place."""
    sys.exit(guarded(lambda: _source(output, name, number, as_json=as_json, spans=spans)))


async def sources(console: Console, store: RunStore, run: StoredRun) -> None:
    """Each source of the run with the spans that were quoted from it, in their surroundings."""
    if not run.sources:
        told = "cited no sources" if run.report else "has kept no claims so far"
        console.print(f"This run {told}.", highlight=False)
    for listed in run.sources:
        kept = await store.fetch(listed.hash)
        console.print(Text(f"[{listed.number}] {listed.title}", style="bold"), soft_wrap=True)
        console.print(_link(listed.address, "    "), soft_wrap=True)
        console.print(Text(f"    {_about(listed)}", style="dim"), soft_wrap=True)
        _print_quotes(console, kept.text, quoted(run, listed.hash))
        console.print()
    events = await store.journal(run.head.id)
    others = {event["hash"] for event in events if event["kind"] == "SourceRead"} - {one.hash for one in run.sources}
    if others:
        console.print(_others(len(others)), style="dim", highlight=False, soft_wrap=True)


async def read(console: Console, target: str, configuration: Configuration, *, as_json: bool) -> Exit:
    """Read an address or a file, and print it: about it first, then the text as it would be kept."""
    source = await _read(target, configuration)
    if as_json:
        printed.json_text(asdict(source))
        return Exit.REPORT
    _facts(console, source)
    console.print()
    sys.stdout.write(f"{source.text}\n")
    return Exit.REPORT


async def kept_sources(store: RunStore, run: StoredRun) -> dict[str, Source]:
    """Every source that anything of the run points to, with its text, by hash."""
    listed = {source.hash: source for source in run.sources}
    fetched = [await store.fetch(content_hash) for content_hash in run.kept_hashes]
    return {one.hash: _as_listed(one, listed[one.hash]) if one.hash in listed else one for one in fetched}


def quoted(run: StoredRun, content_hash: str) -> list[Quoted]:
    """The spans of this source that claims and sentences of the report rest on, in the order of the text."""
    claims: dict[tuple[int, int], list[str]] = {}
    sentences: dict[tuple[int, int], list[str]] = {}
    for claim in run.claims:
        for span in _spans_of(content_hash, claim.spans):
            claims.setdefault(span, []).append(claim.claim)
    for sentence, _, spans in run.citations:
        for span in _spans_of(content_hash, spans):
            sentences.setdefault(span, []).append(sentence)
    return [
        Quoted(*span, _each_once(claims.get(span, ())), _each_once(sentences.get(span, ())))
        for span in sorted(claims.keys() | sentences.keys())
    ]


def marked(text: str, quotes: Sequence[Quoted]) -> Text:
    """The whole text with ⟦…⟧ around what was quoted; spans that overlap are marked as one."""
    shown, done = Text(), 0
    for start, end in _merged(quotes):
        shown.append(text[done:start])
        shown.append(f"⟦{text[start:end]}⟧", style=QUOTED)
        done = end
    return shown.append(text[done:])


async def _source(console: Console, name: str, number: int, *, as_json: bool, spans: bool) -> Exit:
    from deepwell.assemble import opened_store

    async with opened_store(home()) as store:
        run = await store.load(await store.find(name))
        listed = _numbered(run, number)
        kept = _as_listed(await store.fetch(listed.hash), listed)
    quotes = quoted(run, listed.hash)
    if as_json:
        _json(run, listed, kept, quotes, with_text=not spans)
    elif spans:
        _head(console, kept)
        _print_quotes(console, kept.text, quotes)
    else:
        _whole(console, kept, quotes)
    return Exit.REPORT


async def _read(target: str, configuration: Configuration) -> Source:
    from deepwell.api import read_source

    if not target.strip():
        raise BadRequest("There is nothing to read; name a web address or a file.")
    try:
        return await read_source(target, configuration)
    except Unreadable as error:
        if not isinstance(error.__cause__, FileNotFoundError) or not (advice := _advice(target)):
            raise
        raise Unreadable(f"{error} {advice}") from error


def _advice(target: str) -> str:
    """What to write instead of an address that was taken for the name of a file; empty for what looks like one."""
    from deepwell.reading.formats import is_known

    host = _HOST.match(target)
    if host and not is_known(host[0]):
        return f"To read it from the web, write https://{target}."
    return "Of addresses, those with http:// or https:// in front are read." if _SCHEME.match(target) else ""


def _spans_of(content_hash: str, spans: Sequence[tuple[str, int, int]]) -> list[tuple[int, int]]:
    return [(start, end) for source, start, end in spans if source == content_hash]


def _each_once(texts: Sequence[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(texts))


def _merged(quotes: Sequence[Quoted]) -> list[tuple[int, int]]:
    ranges: list[tuple[int, int]] = []
    for quote in quotes:
        if ranges and quote.start < ranges[-1][1]:
            ranges[-1] = (ranges[-1][0], max(ranges[-1][1], quote.end))
        else:
            ranges.append((quote.start, quote.end))
    return ranges


def _numbered(run: StoredRun, number: int) -> KeptSource:
    """The source with this number. Raises BadRequest."""
    if not run.sources:
        raise BadRequest(f"Run {run.head.id} has no sources: {_WITHOUT_SOURCES[run.head.status]}.")
    numbers = [source.number for source in run.sources]
    if number not in numbers:
        raise BadRequest(f"Run {run.head.id} has no source {number}: it has {_in_words(numbers)}.")
    return run.sources[numbers.index(number)]


def _in_words(numbers: Sequence[int]) -> str:
    if len(numbers) > 2 and numbers[-1] - numbers[0] == len(numbers) - 1:
        return f"{numbers[0]} to {numbers[-1]}"
    *others, last = map(str, numbers)
    return f"{', '.join(others)} and {last}" if others else f"only {last}"


def _as_listed(kept: Source, listed: KeptSource) -> Source:
    """The text is kept once, whoever brought it; where and when this run had it, the run itself knows."""
    return replace(
        kept,
        address=listed.address,
        title=listed.title,
        retrieved_at=datetime.fromisoformat(listed.retrieved_at),
        kind=listed.kind,
        author=listed.author,
        publisher=listed.publisher,
        published=listed.published,
    )


def _json(run: StoredRun, listed: KeptSource, kept: Source, quotes: Sequence[Quoted], *, with_text: bool) -> None:
    facts = {"run": run.head.id, **asdict(listed)}
    spans = [{**asdict(quote), "text": kept.text[quote.start : quote.end]} for quote in quotes]
    printed.json_text({**facts, **({"text": kept.text} if with_text else {}), "spans": spans})


def _whole(console: Console, kept: Source, quotes: Sequence[Quoted]) -> None:
    """In a pager when it is more than a screen; elsewhere than on a terminal, letter by letter."""
    shown = marked(kept.text, quotes)
    if not console.is_terminal:
        _head(console, kept)
        sys.stdout.write(f"{shown.plain}\n")
    elif len(console.render_lines(shown)) + 8 > console.height:
        with printed.pager(console):
            _head(console, kept)
            console.print(shown)
    else:
        _head(console, kept)
        console.print(shown)


def _head(console: Console, kept: Source) -> None:
    _facts(console, kept)
    console.print(Text(f"read: {_when(kept.retrieved_at)}", style="dim"), soft_wrap=True)
    console.print(Text(f"sha256: {kept.hash}", style="dim"), soft_wrap=True)
    console.print()


def _facts(console: Console, kept: Source) -> None:
    about = {"title": kept.title, "author": kept.author, "publisher": kept.publisher, "date": kept.published}
    for name, value in about.items():
        if value:
            console.print(Text(f"{name}: {value}", style="bold" if name == "title" else "dim"), soft_wrap=True)
    console.print(_link(kept.address, "address: "), soft_wrap=True)


def _link(address: str, before: str) -> Text:
    """The address, to be clicked where the terminal can do that."""
    # An address with other characters could end the link half-way and go on as a command to the terminal.
    safe = is_web(address) and address.isascii() and address.isprintable()
    return Text(before, style="dim").append(address, style=Style(dim=True, link=address if safe else None))


def _about(listed: KeptSource) -> str:
    read = f"read {_when(datetime.fromisoformat(listed.retrieved_at))}"
    known = (listed.author, listed.publisher, listed.published, read, f"sha256 {listed.hash[:16]}")
    return " · ".join(part for part in known if part)


def _when(at: datetime) -> str:
    return f"{at.astimezone():%Y-%m-%d %H:%M %Z}"


def _print_quotes(console: Console, text: str, quotes: Sequence[Quoted]) -> None:
    for quote in quotes:
        console.print(_in_context(text, quote.start, quote.end), soft_wrap=True)


def _in_context(text: str, start: int, end: int) -> Text:
    before, after = text[max(0, start - AROUND) : start], text[end : end + AROUND]
    shown = Text().append(f"    {start}-{end}: ", style="dim")
    if before:
        shown.append(f"{'…' if start > AROUND else ''}{printed.one_line(before)} ")
    shown.append(f"⟦{printed.one_line(text[start:end])}⟧", style=QUOTED)
    if after:
        shown.append(f" {printed.one_line(after)}{'…' if end + AROUND < len(text) else ''}")
    return shown


def _others(count: int) -> str:
    if count == 1:
        return "and 1 more that was read and not cited: --journal lists it"
    return f"and {count} more that were read and not cited: --journal lists them"

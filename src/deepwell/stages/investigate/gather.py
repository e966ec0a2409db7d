"""Carry out a unit's searches and reads; a failure is recorded and the rest goes on."""

import asyncio
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from deepwell.configuration import Configuration
from deepwell.errors import SearchFailed, Unreadable
from deepwell.language.addresses import is_web
from deepwell.language.alike import without_copies
from deepwell.ports import Workbench
from deepwell.stages.investigate.page import best_spans
from deepwell.stages.investigate.rank import RankedHit
from deepwell.vocabulary.events import Searched, SourceNotRead, SourceRead
from deepwell.vocabulary.evidence import ReadPassage
from deepwell.vocabulary.plan import Query
from deepwell.vocabulary.source import Hit, Passage, Source

PASSAGES_OF_A_PAGE = 2


@dataclass(frozen=True, slots=True)
class Reading:
    """What could be read of the ranked hits, and what could not."""

    passages: tuple[ReadPassage, ...]
    unread: tuple[str, ...]


async def search_all(
    queries: Sequence[Query], bench: Workbench, configuration: Configuration
) -> list[list[Hit] | None]:
    """The hits of each query, in the order of the queries; None for one that nobody answered."""
    return list(await asyncio.gather(*(_search(query, bench, configuration) for query in queries)))


async def read_best(
    ranked: Sequence[RankedHit], bench: Workbench, configuration: Configuration, given_up: Collection[str]
) -> Reading:
    """Read the sources of the best hits, each once, and cut the passages from them.

    Where a source cannot be read, the next one in line takes its place, once.
    """
    candidates = [item for item in ranked if item.hit.address not in given_up]
    most = configuration.max_passages_per_unit
    sources = await _read_all(candidates[:most], bench, configuration)
    missing = sum(1 for item in candidates[:most] if sources[item.hit.address] is None)
    chosen = candidates[: most + missing]
    if missing:
        sources |= await _read_all(chosen[most:], bench, configuration)
    read = [(item, source) for item in chosen if (source := sources[item.hit.address])]
    passages = _distinct([passage for item, source in read for passage in _passages(item, source)])
    unread = tuple(address for address, source in sources.items() if source is None)
    return Reading(_within_allowance(passages, configuration.chars_per_source), unread)


async def _read_all(
    items: Sequence[RankedHit], bench: Workbench, configuration: Configuration
) -> dict[str, Source | None]:
    addresses = list(dict.fromkeys(item.hit.address for item in items))
    read = await asyncio.gather(*(_read(address, bench, configuration) for address in addresses))
    return dict(zip(addresses, read, strict=True))


def _distinct(passages: Sequence[ReadPassage]) -> list[ReadPassage]:
    """Without what another page says word for word. Documents of one's own are each worth their place."""
    pages = [item for item in passages if is_web(item.source.address)]
    copies = {id(item) for item in pages} - {id(item) for item in without_copies(pages, lambda one: one.passage.text)}
    return [item for item in passages if id(item) not in copies]


async def _search(query: Query, bench: Workbench, configuration: Configuration) -> list[Hit] | None:
    limit = configuration.max_search_results * (2 if bench.own_documents else 1)
    try:
        hits = list(await bench.engine.search(query, limit))
    except SearchFailed as error:
        await bench.journal.record(Searched(query.text, query.publisher, 0, str(error)))
        return None
    await bench.journal.record(Searched(query.text, query.publisher, len(hits)))
    return hits


async def _read(address: str, bench: Workbench, configuration: Configuration) -> Source | None:
    tries = bench.failed_reads.get(address, 0)
    if tries >= configuration.max_retry_attempts or address in bench.closed:
        return None
    try:
        source = await bench.reader.read(address)
    except Unreadable as error:
        # Units that wait for the same read share its failure: it is one try.
        bench.failed_reads[address] = max(tries + 1, bench.failed_reads.get(address, 0))
        bench.unread_because[address] = str(error)
        if error.final:
            bench.closed.add(address)
        await bench.journal.record(SourceNotRead(address, str(error)))
        return None
    await bench.shelf.keep(source)
    await bench.journal.record(SourceRead(address, source.hash))
    return source


def _passages(item: RankedHit, source: Source) -> list[ReadPassage]:
    return [ReadPassage(cut, source, item.found_by, item.score) for cut in _cuts(item, source)]


def _cuts(item: RankedHit, source: Source) -> list[Passage]:
    """The span the engine named; of a page, or where the source has changed since, what speaks best to the search."""
    hit = item.hit
    if hit.span and hit.source == source.hash:
        return [source.cut(*hit.span)]
    return [source.cut(*span) for span in best_spans(source, item.found_by, hit.excerpt, PASSAGES_OF_A_PAGE)]


def _within_allowance(passages: Sequence[ReadPassage], characters: int) -> tuple[ReadPassage, ...]:
    """At most so many characters of any one source, its best passages first."""
    used: dict[str, int] = {}
    kept = []
    for item in passages:
        passage = item.passage
        allowed = characters - used.get(passage.source, 0)
        if allowed <= 0:
            continue
        if len(passage.text) > allowed:
            item = ReadPassage(
                item.source.cut(passage.start, passage.start + allowed), item.source, item.found_by, item.score
            )
        used[passage.source] = used.get(passage.source, 0) + len(item.passage.text)
        kept.append(item)
    return tuple(kept)

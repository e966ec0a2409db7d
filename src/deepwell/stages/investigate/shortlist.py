"""From the hits of all queries and engines to one short list, before anything is read. No model has a part in it.

normalize → deduplicate → rank → truncate; what is read is laid out for an analyst by the analyst itself.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from deepwell.language.addresses import domain, is_web
from deepwell.language.alike import FEWEST_WORDS, Wording, without_copies
from deepwell.stages.investigate.rank import RankedHit, in_turns
from deepwell.vocabulary.events import SearchPreprocessed
from deepwell.vocabulary.source import Hit

FROM_ONE_SITE = 2
"""Pages of one site that are taken before every other site had its turn."""


@dataclass(frozen=True, slots=True)
class Shortlist:
    """What is worth reading, best first, and how it came about."""

    ranked: tuple[RankedHit, ...]
    """All that was not dropped: who cannot read one takes the next."""
    metrics: SearchPreprocessed


def shortlist(rankings: Sequence[Sequence[Hit]], most: int) -> Shortlist:
    """One order over all queries; `most` is how many of it are going to be read."""
    found = sum(len(hits) for hits in rankings)
    distinct = in_turns(rankings)
    originals = list(_originals(distinct))
    ranked = tuple(_by_turns_of_sites(originals))
    metrics = SearchPreprocessed(
        queries=len(rankings),
        hits=found,
        same_address=found - len(distinct),
        same_text=len(distinct) - len(originals),
        kept=min(most, len(ranked)),
        domains=len({domain(item.hit.address) for item in ranked[:most]}),
    )
    return Shortlist(ranked, metrics)


def _originals(ranked: Sequence[RankedHit]) -> Iterator[RankedHit]:
    """Copies out, by what the engine showed of them. Documents of one's own are each worth their place."""
    shown = {item: f"{item.hit.title} {item.hit.excerpt}" for item in ranked if _shows_enough(item.hit)}
    originals = set(without_copies(shown, shown.__getitem__))
    return (item for item in ranked if item not in shown or item in originals)


def _shows_enough(hit: Hit) -> bool:
    """Pages of one title and no excerpt need not have one text."""
    return is_web(hit.address) and len(Wording.of(hit.excerpt).words) >= FEWEST_WORDS


def _by_turns_of_sites(ranked: Sequence[RankedHit]) -> Iterator[RankedHit]:
    """The order as it is, but for pages of a site that has had its share: they come last."""
    taken: Counter[str] = Counter()
    later = []
    for item in ranked:
        site = domain(item.hit.address)
        taken[site] += 1
        if is_web(item.hit.address) and taken[site] > FROM_ONE_SITE:
            later.append(item)
        else:
            yield item
    yield from later

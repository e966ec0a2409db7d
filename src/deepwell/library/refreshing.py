"""Several folders at once: each has an index of its own, and one account is given of all."""

from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from deepwell.library.facts import LibraryFacts
from deepwell.library.index import Index, index_path
from deepwell.library.ingest import OnProgress, Refreshed, refresh
from deepwell.library.shelves import Library
from deepwell.library.vectors import Embedder, embed_missing
from deepwell.library.walk import Skipped
from deepwell.reading.workshop import Workshop

MOST_NAMED = 5
"""Unreadable files that a report names; the command line names them all."""


@dataclass(frozen=True, slots=True)
class Libraries:
    """The user's folders with their indexes up to date, and what that took."""

    libraries: tuple[Library, ...]
    refreshed: tuple[Refreshed, ...]
    documents: int
    passages: int
    is_partial: bool = False
    """True when looking through the folders took too long: the indexes are as they were, or as far as they came."""

    @property
    def skipped(self) -> tuple[Skipped, ...]:
        """Every file that was to be read and could not be."""
        return tuple(skipped for one in self.refreshed for skipped in one.skipped)

    @property
    def left(self) -> int:
        """Files that were not looked at because the indexing was stopped."""
        return sum(one.left for one in self.refreshed)

    @property
    def limits(self) -> tuple[str, ...]:
        """What of the folders could not be used, in sentences."""
        reasons = [f"Not read: {skipped.reason}" for skipped in self.skipped]
        if len(reasons) > MOST_NAMED:
            reasons[MOST_NAMED:] = [f"{len(reasons) - MOST_NAMED} more files could not be read."]
        if self.left:
            reasons.append(
                f"{self.left} documents were not indexed before the time was up; they are left for the next run."
            )
        if self.is_partial:
            reasons.append("Looking through the folders took too long: what is new there is left for the next run.")
        return tuple(reasons)


NONE_IN_TIME = Libraries((), (), 0, 0, is_partial=True)
"""When not even the indexes answer."""


def refresh_libraries(
    docs: Sequence[Path],
    home: Path,
    on_progress: OnProgress | None = None,
    embedder: Embedder | None = None,
) -> Libraries:
    """Bring the indexes of these folders up to date. Raises Unreadable or StoreFailed."""
    libraries = _libraries(docs, home)
    with closing(Workshop()) as workshop:
        refreshed = tuple(
            _refresh(path, library, on_progress, workshop, embedder)
            for path, library in zip(docs, libraries, strict=True)
        )
    with closing(LibraryFacts(libraries)) as facts:
        return Libraries(libraries, refreshed, facts.document_count, facts.passage_count)


def libraries_as_they_are(docs: Sequence[Path], home: Path) -> Libraries:
    """The indexes of these folders as far as they came. Raises StoreFailed."""
    libraries = _libraries(docs, home)
    with closing(LibraryFacts(libraries)) as facts:
        return Libraries(libraries, (), facts.document_count, facts.passage_count, is_partial=True)


def _libraries(docs: Sequence[Path], home: Path) -> tuple[Library, ...]:
    return tuple(Library(str(path), index_path(home, path)) for path in docs)


def _refresh(
    path: Path,
    library: Library,
    on_progress: OnProgress | None,
    workshop: Workshop,
    embedder: Embedder | None,
) -> Refreshed:
    with Index(library.index) as index:
        refreshed = refresh(path, index, on_progress=on_progress, workshop=workshop)
        if embedder:
            embed_missing(index, embedder)
        return refreshed

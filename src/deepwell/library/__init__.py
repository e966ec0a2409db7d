"""The user's own documents: read once, cut into passages, found again by their words."""

from deepwell.library.engine import LibraryEngine
from deepwell.library.facts import LibraryFacts
from deepwell.library.index import Index, index_path
from deepwell.library.ingest import Limits, Refreshed, refresh
from deepwell.library.shelves import Library
from deepwell.library.walk import Skipped

__all__ = [
    "Index",
    "Library",
    "LibraryEngine",
    "LibraryFacts",
    "Limits",
    "Refreshed",
    "Skipped",
    "index_path",
    "refresh",
]

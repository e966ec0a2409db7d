"""From an unread hit to an exact span of a kept text."""

import hashlib
from dataclasses import dataclass
from datetime import datetime

from deepwell.vocabulary.plan import Query

THIN = 3
"""A search with fewer hits than this is worth asking in other words."""


@dataclass(frozen=True, slots=True)
class Hit:
    """An unread result of a search."""

    address: str
    """A path below the library, or a URL."""
    title: str
    excerpt: str
    score: float
    """Higher is better; comparable only within one answer of one engine."""
    engine: str
    query: Query
    span: tuple[int, int] | None = None
    """Where in the source's text the engine found it, when the engine knows."""
    source: str | None = None
    """The content hash of the source, when the engine has read it already."""
    publisher: str | None = None
    published: str | None = None


@dataclass(frozen=True, slots=True)
class Source:
    """A document that was read: its text as it was then, and where and when that was."""

    address: str
    title: str
    text: str
    hash: str
    """SHA-256 of the text, in hexadecimal."""
    retrieved_at: datetime
    kind: str = "text"
    """markdown, text, html, pdf or docx."""
    author: str | None = None
    publisher: str | None = None
    published: str | None = None
    """The document's own date, ISO, as far as it is known."""

    def cut(self, start: int, end: int) -> "Passage":
        """The exact span from `start` to `end` of this source's text."""
        if not 0 <= start < end <= len(self.text):
            raise ValueError(f"span {start}-{end} lies outside a text of {len(self.text)} characters")
        return Passage(self.hash, start, end, self.text[start:end])


def content_hash(text: str) -> str:
    """The name of a text: equal texts have equal names."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


@dataclass(frozen=True, slots=True)
class Passage:
    """An exact span: `source.text[start:end] == passage.text`."""

    source: str
    """The content hash of its source."""
    start: int
    end: int
    text: str

    @property
    def handle(self) -> str:
        """A name that finds the span again in the store."""
        return f"{self.source}:{self.start}-{self.end}"


@dataclass(frozen=True, slots=True)
class SourceCard:
    """A source as the run lists it: everything but its text."""

    id: int
    """The `[n]` of this source, the same through the whole run."""
    address: str
    title: str
    hash: str
    retrieved_at: datetime
    kind: str
    author: str | None = None
    publisher: str | None = None
    published: str | None = None

    @classmethod
    def of(cls, source: Source, number: int) -> "SourceCard":
        """The card of a source under its number in this run."""
        return cls(
            id=number,
            address=source.address,
            title=source.title,
            hash=source.hash,
            retrieved_at=source.retrieved_at,
            kind=source.kind,
            author=source.author,
            publisher=source.publisher,
            published=source.published,
        )


def described(source: Source | SourceCard) -> str:
    """Title, publisher and date, as far as they are known, on one line."""
    return " · ".join(part for part in (source.title, source.publisher, source.published) if part)

"""Web addresses as sources: fetched through the guarded door, parsed where they can do no harm."""

from deepwell.reading.fetching import Fetcher
from deepwell.reading.web_page import document_from
from deepwell.reading.workshop import Workshop
from deepwell.vocabulary.source import Source, content_hash


class WebReader:
    """Reads what an address answers. What fetches and what parses is the caller's to close."""

    def __init__(self, fetcher: Fetcher, workshop: Workshop) -> None:
        self._fetcher, self._workshop = fetcher, workshop

    async def read(self, address: str) -> Source:
        """The whole source, under the address that it was really had from. Raises Unreadable with a safe sentence."""
        fetched = await self._fetcher.fetch(address)
        document = await document_from(fetched.body, fetched.content_type, fetched.charset, fetched.url, self._workshop)
        return Source(
            address=fetched.url,
            title=document.title,
            text=document.text,
            hash=content_hash(document.text),
            retrieved_at=fetched.fetched_at,
            kind=document.kind,
            author=document.author,
            publisher=document.publisher,
            published=document.published,
        )

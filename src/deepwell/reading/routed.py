"""Each address to the reader it belongs to: web addresses to the guarded door, everything else to the library."""

from deepwell.errors import Unreadable
from deepwell.ports import Reader
from deepwell.vocabulary.source import Source


class RoutedReader:
    """A run over documents alone has no reader for the web, and the other way round: nothing slips through."""

    def __init__(self, library: Reader | None, web: Reader | None) -> None:
        self._library, self._web = library, web

    async def read(self, address: str) -> Source:
        """The whole source. Raises Unreadable with a safe sentence."""
        on_the_web = address.partition("://")[0].lower() in ("http", "https")
        reader = self._web if on_the_web else self._library
        if reader is None:
            where = "the web" if on_the_web else "your documents"
            raise Unreadable(f"This run does not read {where}.")
        return await reader.read(address)

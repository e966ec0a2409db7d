"""Pages held to the sites and dates that were asked for: only a read page says where it lies and how old it is."""

from deepwell.errors import Unreadable
from deepwell.ports import Reader
from deepwell.vocabulary.scope import Scope
from deepwell.vocabulary.source import Source


class OutsideScope(Unreadable):
    """A page that was read, and is not what was asked for."""

    final = True


class ScopedReader:
    """Fulfils the port Reader."""

    def __init__(self, reader: Reader, scope: Scope) -> None:
        self._reader, self._scope = reader, scope

    async def read(self, address: str) -> Source:
        """The whole source. Raises Unreadable, also when a redirect led to another site, or the page is too old."""
        source = await self._reader.read(address)
        if not self._scope.admits_site(source.address):
            raise OutsideScope("The page leads to a site that was not asked for.")
        if not self._scope.admits_date(source.published):
            raise OutsideScope(f"The page is from {source.published}, outside the dates that were asked for.")
        return source

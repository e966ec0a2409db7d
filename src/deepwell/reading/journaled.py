"""Sources that were read once in a run are not read again after a crash."""

from dataclasses import replace
from typing import cast

from deepwell.errors import Unreadable
from deepwell.language.addresses import is_web
from deepwell.ports import Calls, Reader, Shelf
from deepwell.vocabulary.calls import Answered, Call, Failed
from deepwell.vocabulary.source import Source


class JournaledReader:
    """Fulfils the port Reader, around another one. Texts are kept once, on the shelf; here is only which it was."""

    def __init__(self, reader: Reader, calls: Calls, shelf: Shelf) -> None:
        self._reader, self._calls, self._shelf = reader, calls, shelf

    async def read(self, address: str) -> Source:
        """The source as it was, or as it is now. Raises Unreadable."""
        call = self._calls.call("read", address)
        return await self._known(call) or await self._read(call, address)

    async def _known(self, call: Call) -> Source | None:
        match self._calls.outcome(call):
            case Answered() as known:
                source = cast("Source", known.value)
                try:
                    return replace(source, text=(await self._shelf.fetch(source.hash)).text)
                except KeyError:
                    return None
            case Failed() as known:
                error = Unreadable(known.sentence)
                error.final = known.final
                raise error
        return None

    async def _read(self, call: Call, address: str) -> Source:
        try:
            source = await self._reader.read(address)
        except Unreadable as error:
            await self._calls.keep(call, Failed(str(error), error.final), wait=False)
            raise
        await self._shelf.keep(source)
        await self._calls.keep(call, Answered(replace(source, text="")), wait=is_web(address))
        return source

"""Packed bodies of the web, unfolded within limits."""

import zlib
from collections.abc import Iterator
from typing import Any, Self


class Damaged(Exception):
    """What came cannot be unpacked."""


class Unpacking:
    """Unfolds a packed body piece by piece: how much comes out is limited before it is made."""

    PIECE = 256 * 1024
    MEMBERS = 100
    """A gzip file may be several in a row."""

    def __init__(self, encoding: str) -> None:
        self._encoding = encoding
        self._engine: Any = None
        self._members = 0

    @classmethod
    def of(cls, header: str) -> Self:
        """For the value of a Content-Encoding header; only one layer of what was asked for is taken."""
        encoding = header.strip().lower().removeprefix("x-")
        if encoding not in ("", "identity", "gzip", "deflate"):
            raise Damaged
        return cls("" if encoding == "identity" else encoding)

    def feed(self, chunk: bytes) -> Iterator[bytes]:
        """What the next bytes of the body unfold to, in pieces."""
        if not self._encoding:
            yield chunk
            return
        piece = b""
        while chunk or len(piece) == self.PIECE:  # a full piece may have left more behind
            if not self._has_more(chunk):
                return
            piece = self._engine.decompress(chunk, self.PIECE)
            yield piece
            chunk = self._engine.unused_data or self._engine.unconsumed_tail

    def finish(self) -> None:
        """Raises when the body ended before its end."""
        if self._engine and not self._engine.eof:
            raise Damaged

    def _has_more(self, chunk: bytes) -> bool:
        """False when nothing but padding follows."""
        if self._engine is None or (self._engine.eof and self._encoding == "gzip" and chunk[:1] == b"\x1f"):
            self._members += 1
            self._engine = zlib.decompressobj(self._window(chunk))
        if self._members > self.MEMBERS:
            raise Damaged
        return not self._engine.eof

    def _window(self, chunk: bytes) -> int:
        if self._encoding == "gzip":
            return 16 + zlib.MAX_WBITS
        # "deflate" should have a zlib header; some servers leave it out.
        return zlib.MAX_WBITS if chunk[0] & 0x0F == 8 else -zlib.MAX_WBITS

"""Messages on a pipe between the workshop and its workers: a length, then that many bytes."""

import struct
from typing import BinaryIO

_LENGTH = struct.Struct(">Q")


def write_frame(stream: BinaryIO, payload: bytes) -> None:
    """One message: its length, then its bytes."""
    stream.write(_LENGTH.pack(len(payload)))
    stream.write(payload)
    stream.flush()


def read_frame(stream: BinaryIO, limit: int | None = None) -> bytes | None:
    """The next message; None when the other side is gone or sends more than `limit` bytes."""
    head = stream.read(_LENGTH.size)
    if len(head) < _LENGTH.size:
        return None
    (length,) = _LENGTH.unpack(head)
    if limit is not None and length > limit:
        return None
    payload = stream.read(length)
    return payload if len(payload) == length else None

"""What bytes show of themselves: a mark of their encoding, or that they were never text."""

import codecs

# UTF-32 first: its little-endian mark begins with that of UTF-16.
_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_CONTROLS = bytes(code for code in range(32) if chr(code) not in "\t\n\x0b\x0c\r\x1b")


def has_mark(data: bytes) -> bool:
    """Whether the bytes begin with a byte order mark."""
    return any(data.startswith(mark) for mark, _ in _MARKS)


def by_mark(data: bytes) -> str | None:
    """The text behind a byte order mark, in the encoding that it names; None when there is no mark."""
    for mark, encoding in _MARKS:
        if data.startswith(mark):
            return data[len(mark) :].decode(encoding, "replace")
    return None


def looks_binary(data: bytes) -> bool:
    """Whether there are many control characters: a stray one is dirt, one in fifty means that this was never text."""
    return len(data) - len(data.translate(None, _CONTROLS)) > 2 + len(data) // 50

import pytest

from deepwell.errors import Unreadable
from deepwell.reading.plain import read


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-32", "cp1252"])
def test_finds_the_encoding(encoding: str) -> None:
    assert read("Größe – naïve “quotes”".encode(encoding), "a.txt").text == "Größe – naïve “quotes”"


def test_bytes_that_windows_does_not_know_are_read_as_latin() -> None:
    assert read(b"caf\xe9 \x81", "a.txt").text == "café "


def test_a_stray_nul_is_dropped() -> None:
    assert read(b"hello\0 world, this goes on", "a.txt").text == "hello world, this goes on"


@pytest.mark.parametrize("data", [bytes(range(256)) * 10, b"\x7fELF\x02\x01\x01" + b"\0" * 60, b"\0" * 1000])
def test_refuses_binary_data(data: bytes) -> None:
    with pytest.raises(Unreadable, match=r"a\.txt holds binary data"):
        read(data, "a.txt")


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("The Sponge Divers\n\nIn 1900 they came.", "The Sponge Divers"),
        ("A Section\n=========\n\nText.", "A Section"),
        ("=====\nOver\n=====\nText.", "Over"),
        ("This is prose. It goes on.\n\nAnd on.", "notes"),
        ("one line after\nthe other", "notes"),
        ("x" * 200 + "\n\ntext", "notes"),
    ],
)
def test_the_title_is_a_first_line_that_stands_alone(text: str, title: str) -> None:
    assert read(text.encode(), "notes.txt").title == title

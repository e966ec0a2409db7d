import pytest

from deepwell.errors import Unreadable
from deepwell.reading import formats


@pytest.mark.parametrize(
    ("name", "data", "reader"),
    [
        ("a.md", b"# x", formats.MARKDOWN),
        ("A.TXT", b"x", formats.PLAIN),
        ("a.htm", b"<p>x", formats.HTML),
        ("a.txt", b"%PDF-1.7 ...", formats.PDF),
        ("a.html", b"\n%PDF-1.7", formats.PDF),
        ("a.pdf", b"PK\x03\x04", formats.DOCX),
        ("a.docx", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", formats.DOCX),
        ("a.pdf", b"<!-- saved --> <!DOCTYPE html><html>", formats.HTML),
        ("a.txt", b"the <html> tag", formats.PLAIN),
        ("a.md", b"PDF files begin with %PDF-", formats.MARKDOWN),
    ],
)
def test_the_content_beats_the_suffix_where_it_is_plain(name: str, data: bytes, reader: str) -> None:
    assert formats.reader_for(name, data) == reader


def test_an_unknown_suffix_is_refused_with_the_known_ones() -> None:
    with pytest.raises(Unreadable, match=r"x\.exe is of a type that is not read; these are: .*\.pdf"):
        formats.reader_for("x.exe", b"MZ")


@pytest.mark.parametrize("path", sorted(set(formats.READERS.values())))
def test_every_registered_reader_is_there(path: str) -> None:
    assert callable(formats.load_reader(path))

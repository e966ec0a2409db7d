import struct
import zipfile
from collections.abc import Callable
from io import BytesIO

import pytest

from deepwell.errors import Unreadable
from deepwell.reading.docx import MAX_PART_BYTES, read

MakeDocx = Callable[..., bytes]


def said(data: bytes) -> str:
    """The sentence about a file that may be readable still."""
    try:
        return f"a.docx is {read(data, 'a.docx').kind}"
    except Unreadable as error:
        return str(error)


def paragraph(text: str, properties: str = "") -> str:
    return f"<w:p><w:pPr>{properties}</w:pPr><w:r><w:t>{text}</w:t></w:r></w:p>"


def test_writes_headings_paragraphs_lists_and_tables(make_docx: MakeDocx) -> None:
    cell = "<w:tc>{}</w:tc>"
    rows = ("<w:tr>" + cell.format(paragraph(a)) + cell.format(paragraph(b)) + "</w:tr>" for a, b in ["AB", "CD"])
    body = (
        paragraph("Heading", '<w:pStyle w:val="berschrift1"/>')
        + paragraph("Plain text.")
        + paragraph("item", "<w:numPr/>")
        + f"<w:tbl>{''.join(rows)}</w:tbl>"
        + "<w:p><w:r><w:t>a</w:t><w:tab/><w:t>b</w:t><w:br/><w:t>c</w:t><w:delText>gone</w:delText></w:r></w:p>"
    )
    document = read(make_docx(body), "a.docx")
    assert document.text == "# Heading\n\nPlain text.\n\n- item\n\n| A | B |\n| --- | --- |\n| C | D |\n\na\tb\nc"
    assert (document.title, document.author, document.published) == ("A Word title", "Ada Writer", "2021-03-04")


def test_a_text_box_is_read_once(make_docx: MakeDocx) -> None:
    mc = "http://schemas.openxmlformats.org/markup-compatibility/2006"
    box = f"<w:txbxContent>{paragraph('boxed')}</w:txbxContent>"
    body = (
        f'<w:p><w:r><w:t>around</w:t><mc:AlternateContent xmlns:mc="{mc}"><mc:Choice>{box}</mc:Choice>'
        f"<mc:Fallback>{box}</mc:Fallback></mc:AlternateContent></w:r></w:p>"
    )
    assert read(make_docx(body), "a.docx").text.count("boxed") == 1


def test_an_encrypted_or_old_file_is_said_to_be_one() -> None:
    with pytest.raises(Unreadable, match=r"password or in the old \.doc format"):
        read(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"\0" * 600, "a.docx")


def test_an_archive_of_something_else_is_no_word_file() -> None:
    out = BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr("hello.txt", "x")
    with pytest.raises(Unreadable, match="not a Word file"):
        read(out.getvalue(), "a.docx")


def test_a_bomb_that_declares_its_size_is_refused(make_docx: MakeDocx) -> None:
    with pytest.raises(Unreadable, match="unfolds to more than 64 MB"):
        read(make_docx("<w:p/>" + " " * MAX_PART_BYTES), "a.docx")


def test_a_bomb_that_lies_about_its_size_is_refused(make_docx: MakeDocx) -> None:
    data = make_docx(" " * (MAX_PART_BYTES + 1000))
    with zipfile.ZipFile(BytesIO(data)) as archive:
        real = struct.pack("<I", archive.getinfo("word/document.xml").file_size)
    with pytest.raises(Unreadable, match=r"damaged|unfolds"):
        read(data.replace(real, struct.pack("<I", 500)), "a.docx")


def test_entities_are_refused(make_docx: MakeDocx) -> None:
    core = '<!DOCTYPE x [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;&a;">]><x>&b;</x>'
    data = make_docx(paragraph("x"))
    out = BytesIO()
    with zipfile.ZipFile(BytesIO(data)) as old, zipfile.ZipFile(out, "w") as new:
        new.writestr("word/document.xml", old.read("word/document.xml"))
        new.writestr("docProps/core.xml", core)
    with pytest.raises(Unreadable, match="damaged"):
        read(out.getvalue(), "a.docx")


def test_a_damaged_file_gives_text_or_one_sentence(make_docx: MakeDocx) -> None:
    whole = make_docx(paragraph("Some text") * 50)
    for at in range(0, len(whole), 61):
        for data in (whole[:at], whole[:at] + b"\xff\xff\xff" + whole[at + 3 :]):
            assert said(data).startswith("a.docx ")

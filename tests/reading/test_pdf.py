from collections.abc import Callable

import pytest

from deepwell.errors import Unreadable
from deepwell.reading.pdf import read

MakePdf = Callable[..., bytes]


def said(data: bytes) -> str:
    """The text of a file that may be readable still, or the sentence about it."""
    try:
        return read(data, "a.pdf").text
    except Unreadable as error:
        return str(error)


def test_reads_text_and_metadata(make_pdf: MakePdf) -> None:
    info = b"<< /Title (A PDF title) /Author (Ada) /CreationDate (D:20200304050607Z) >>"
    document = read(make_pdf(["Hello there."], ["Second page."], trailer=b"/Info 8 0 R", extra=[info]), "a.pdf")
    assert document.text == "Hello there.\n\nSecond page."
    assert (document.title, document.author, document.published) == ("A PDF title", "Ada", "2020-03-04")


def test_words_cut_at_line_ends_are_made_whole(make_pdf: MakePdf) -> None:
    text = read(make_pdf(["The gov-", "ernment of A-", "B spoke, well-", "Known as it is."]), "a.pdf").text
    assert text == "The government of A-B spoke, well-Known as it is."


def test_running_heads_and_page_numbers_go(make_pdf: MakePdf) -> None:
    pages = [["The Journal", f"Content of page {name}.", f"Page {n}"] for n, name in enumerate(["one", "two", "three"])]
    text = read(make_pdf(*pages), "a.pdf").text
    assert "Journal" not in text
    assert "Page" not in text
    assert "Content of page two." in text


@pytest.mark.parametrize("below", [[], ["Alarm bell 0"]])
def test_pages_that_differ_only_by_their_numbers_are_kept(make_pdf: MakePdf, below: list[str]) -> None:
    pages = [[f"Fire drill {n}: leave by door {n}.", *(line.replace("0", str(n)) for line in below)] for n in range(4)]
    text = read(make_pdf(*pages), "a.pdf").text
    assert all(line in text for page in pages for line in page)


def test_a_stamp_on_every_picture_is_no_text(make_pdf: MakePdf) -> None:
    with pytest.raises(Unreadable, match=r"scan\.pdf has no text layer"):
        read(make_pdf(*(["Copied by the Archive", f"- {n} -"] for n in range(4))), "scan.pdf")


def test_a_title_that_a_program_wrote_is_not_taken(make_pdf: MakePdf) -> None:
    info = b"<< /Title (Microsoft Word - draft3.doc) >>"
    assert read(make_pdf(["x"], trailer=b"/Info 6 0 R", extra=[info]), "paper.pdf").title == "paper"


def test_pages_that_are_pictures_are_said_to_be(make_pdf: MakePdf) -> None:
    with pytest.raises(Unreadable, match=r"scan\.pdf has no text layer"):
        read(make_pdf([], []), "scan.pdf")


def test_a_password_is_said_to_be_there(make_pdf: MakePdf) -> None:
    lock = b"<< /Filter /Standard /V 1 /R 2 /P -4 /O <%s> /U <%s> >>" % (b"11" * 32, b"22" * 32)
    trailer = b"/Encrypt 6 0 R /ID [<00> <00>]"
    with pytest.raises(Unreadable, match=r"a\.pdf is protected by a password"):
        read(make_pdf(["x"], trailer=trailer, extra=[lock]), "a.pdf")


@pytest.mark.parametrize("data", [b"", b"%PDF-1.4\n", b"%PDF-1.7" + b"\0" * 1000, b"not a pdf at all"])
def test_a_damaged_file_is_said_to_be_damaged(data: bytes) -> None:
    with pytest.raises(Unreadable, match=r"a\.pdf is damaged"):
        read(data, "a.pdf")


def test_a_file_cut_off_at_any_point_gives_text_or_one_sentence(make_pdf: MakePdf) -> None:
    whole = make_pdf(["Some text here."] * 5)
    for end in range(0, len(whole), 37):
        assert said(whole[:end]).startswith(("a.pdf ", "Some text"))

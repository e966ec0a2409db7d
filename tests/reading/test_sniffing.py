from collections.abc import Callable

import pytest

from deepwell.reading.sniffing import Kind, decoded, sniff

PAGE = b"<!DOCTYPE html><html><p>text</p></html>"


@pytest.mark.parametrize(
    ("body", "declared", "kind"),
    [
        (PAGE, "text/html; charset=utf-8", Kind.HTML),
        (PAGE, "text/plain", Kind.HTML),
        (PAGE, "application/pdf", Kind.HTML),
        (PAGE, None, Kind.HTML),
        (b"<?xml version='1.0'?>\n<!-- x -->\n" + PAGE, "application/xhtml+xml", Kind.HTML),
        (b"<div>part of a page</div>", "text/html", Kind.HTML),
        (b"<div>part of a page</div>", None, Kind.HTML),
        (b"<div>part of a page</div>", "text/plain", Kind.TEXT),
        ("\ufeff<html>".encode("utf-16"), "text/html", Kind.HTML),
        ("<html><p>text</p></html>".encode("utf-16-le"), None, Kind.HTML),
        (b"%PDF-1.7 ...", "text/html", Kind.PDF),
        (b"\n %PDF-1.4", None, Kind.PDF),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"\x00" * 50, "application/msword", Kind.DOCX),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"\x00" * 50, "application/vnd.ms-excel", Kind.UNSUPPORTED),
        (b"PK\x03\x04 xl/workbook.xml", None, Kind.UNSUPPORTED),
        (b"# Title\n\ntext", "text/markdown", Kind.MARKDOWN),
        (b"plain words", "text/plain", Kind.TEXT),
        (b"plain words", None, Kind.TEXT),
        (b"a,b\n1,2\n", "text/csv", Kind.TEXT),
        (b'{"a": 1}', "application/json", Kind.JSON),
        (b'{"a": 1}', "application/ld+json", Kind.JSON),
        (b'{"a": 1}', None, Kind.JSON),
        (b'{"a": 1}', "text/plain", Kind.TEXT),
        (b"<rss version='2.0'></rss>", "application/rss+xml", Kind.UNSUPPORTED),
        (b"<svg xmlns='x'></svg>", "image/svg+xml", Kind.UNSUPPORTED),
        (b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x00", "text/html", Kind.UNSUPPORTED),
        (b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x03" + bytes(range(256)), "text/plain", Kind.UNSUPPORTED),
        (b"{\\rtf1 text}", None, Kind.UNSUPPORTED),
        (b"body { color: red }", "text/css", Kind.UNSUPPORTED),
        (b"", None, Kind.TEXT),
    ],
)
def test_what_a_body_is_shows_in_its_first_bytes_before_its_declared_type(
    body: bytes, declared: str | None, kind: Kind
) -> None:
    assert sniff(body, declared) is kind


def test_a_word_file_is_known_by_what_is_in_the_archive(make_docx: Callable[..., bytes]) -> None:
    assert sniff(make_docx("<w:p/>"), "application/octet-stream") is Kind.DOCX


GERMAN = "Größe, Maß und übliche Äpfel"
RUSSIAN = "Привет, это обычный русский текст"
JAPANESE = "これは日本語の文章です。漢字も使います。"


@pytest.mark.parametrize(
    ("text", "encoding", "charset", "head"),
    [
        (GERMAN, "utf-8", "utf-8", ""),
        (GERMAN, "utf-8", None, ""),
        (GERMAN, "utf-8", "iso-8859-1", "<meta charset=latin-1>"),
        (GERMAN, "cp1252", "utf-8", "<meta charset=utf-8>"),
        (GERMAN, "cp1252", "ISO-8859-1", ""),
        (GERMAN, "cp1252", None, ""),
        (GERMAN, "utf-8-sig", "windows-1251", ""),
        (GERMAN, "utf-16", None, ""),
        (GERMAN, "utf-16-le", "utf-16", ""),
        (RUSSIAN, "cp1251", "windows-1251", ""),
        (RUSSIAN, "cp1251", None, "<meta http-equiv=x content='text/html; charset=windows-1251'>"),
        (RUSSIAN, "cp1251", "utf-8", "<html lang=ru>"),
        (RUSSIAN, "koi8-r", "koi8-r", "<html lang=ru>"),
        (JAPANESE, "shift_jis", "Shift_JIS", ""),
        (JAPANESE, "shift_jis", None, "<html lang='ja'>"),
        (JAPANESE, "euc_jp", None, "<html lang='ja-JP'>"),
        (JAPANESE, "iso2022_jp", "iso-2022-jp", ""),
        ("简体中文的网页内容", "gbk", "gb2312", ""),
        ("繁體中文的網頁內容", "big5", None, "<html lang=zh-TW>"),
        ("한국어로 쓴 문장입니다", "euc_kr", "euc-kr", ""),
    ],
)
def test_the_encoding_is_found_though_the_server_or_the_page_is_wrong(
    text: str, encoding: str, charset: str | None, head: str
) -> None:
    assert decoded(f"{head}<p>{text}</p>".encode(encoding), charset) == f"{head}<p>{text}</p>"


def test_a_cut_or_a_stray_byte_does_not_spoil_the_rest() -> None:
    body = (RUSSIAN * 20).encode()
    assert decoded(body[:-1], "utf-8").startswith(RUSSIAN * 19)
    assert decoded(body + b"\xff" + body, None).startswith(RUSSIAN)
    assert decoded((JAPANESE * 20).encode("cp932")[:-1], "shift_jis").startswith(JAPANESE * 19)


@pytest.mark.parametrize(
    "charset", ["punycode", "idna", "unicode_escape", "zlib", "utf-7", "rot13", "no-such", "", "\x00"]
)
def test_only_encodings_of_the_web_are_believed(charset: str) -> None:
    assert decoded(GERMAN.encode(), charset) == GERMAN
    assert decoded(b"a\\x41-", charset) == "a\\x41-"

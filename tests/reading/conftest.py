"""Small real files, made by hand."""

import zipfile
import zlib
from collections.abc import Callable, Iterator
from io import BytesIO

import pytest

from deepwell.reading.workshop import Bounds, Workshop


def write_pdf(objects: list[bytes], trailer: bytes = b"") -> bytes:
    out = BytesIO()
    out.write(b"%PDF-1.4\n")
    offsets = []
    for number, body in enumerate(objects, start=1):
        offsets.append(out.tell())
        out.write(b"%d 0 obj\n%s\nendobj\n" % (number, body))
    table = out.tell()
    out.write(b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1))
    out.writelines(b"%010d 00000 n \n" % offset for offset in offsets)
    out.write(b"trailer << /Size %d /Root 1 0 R %s >>\nstartxref\n%d\n%%%%EOF\n" % (len(objects) + 1, trailer, table))
    return out.getvalue()


def stream(content: bytes, extra: bytes = b"") -> bytes:
    return b"<< /Length %d %s >>\nstream\n%s\nendstream" % (len(content), extra, content)


def text_pdf(*pages: list[str], trailer: bytes = b"", extra: list[bytes] | None = None) -> bytes:
    """A PDF with the given lines on each page. Objects 1-3: catalog, pages, font; then page and content in turn."""
    kids = b" ".join(b"%d 0 R" % (4 + 2 * number) for number in range(len(pages)))
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [%s] /Count %d >>" % (kids, len(pages)),
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    ]
    for number, lines in enumerate(pages):
        shown = b" ".join(b"(%s) Tj 0 -14 Td" % line.encode("latin-1") for line in lines)
        objects += [
            b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents %d 0 R "
            b"/Resources << /Font << /F1 3 0 R >> >> >>" % (5 + 2 * number),
            stream(b"BT /F1 12 Tf 72 720 Td %s ET" % shown if lines else b""),
        ]
    return write_pdf(objects + (extra or []), trailer)


def bomb_pdf(unpacked: int) -> bytes:
    """A page whose content is packed twice: a few kilobytes that unfold to `unpacked` bytes."""
    inner = zlib.compressobj(9)
    block = b" " * 1_000_000
    packed = b"".join(inner.compress(block) for _ in range(unpacked // len(block))) + inner.flush()
    content = stream(zlib.compress(packed, 9), b"/Filter [/FlateDecode /FlateDecode]")
    return write_pdf(
        [
            b"<< /Type /Catalog /Pages 2 0 R >>",
            b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
            b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 4 0 R >>",
            content,
        ]
    )


W = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
STYLES = (
    f'<w:styles xmlns:w="{W}"><w:style w:styleId="berschrift1"><w:name w:val="heading 1"/></w:style>'
    '<w:style w:styleId="Titel"><w:name w:val="Title"/></w:style></w:styles>'
)
CORE = (
    '<p:coreProperties xmlns:p="http://schemas.openxmlformats.org/package/2006/metadata/core-properties" '
    'xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns:t="http://purl.org/dc/terms/"><dc:title>A Word title</dc:title>'
    "<dc:creator>Ada Writer</dc:creator><t:created>2021-03-04T05:06:07Z</t:created></p:coreProperties>"
)


def docx(body: str, **parts: str) -> bytes:
    out = BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("word/document.xml", f'<w:document xmlns:w="{W}"><w:body>{body}</w:body></w:document>')
        archive.writestr("word/styles.xml", STYLES)
        archive.writestr("docProps/core.xml", CORE)
        for name, content in parts.items():
            archive.writestr(name, content)
    return out.getvalue()


@pytest.fixture(scope="session")
def make_pdf() -> Callable[..., bytes]:
    return text_pdf


@pytest.fixture(scope="session")
def make_pdf_bomb() -> Callable[[int], bytes]:
    return bomb_pdf


@pytest.fixture(scope="session")
def make_docx() -> Callable[..., bytes]:
    return docx


@pytest.fixture
def workshop() -> Iterator[Workshop]:
    made = Workshop(bounds=Bounds(memory=400_000_000, cpu_seconds=5, wall_seconds=60))
    yield made
    made.close()

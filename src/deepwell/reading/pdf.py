"""PDF files that have a text layer."""

import re
from collections import Counter
from collections.abc import Iterator
from statistics import median

import pypdfium2
import pypdfium2.raw

from deepwell.errors import Unreadable
from deepwell.reading.dates import iso_date
from deepwell.reading.document import Document, one_line, tidy
from deepwell.reading.plain import title_from

# pdfium marks most hyphens at line ends with one of two code points, and leaves some as they are.
_LINE_END_HYPHEN = re.compile(r"(?:[\x02\ufffe\u00ad]|(?<=[^\W\d_])-[ \t]*\n)\s*(?P<next>\w?)")
_DIGITS = re.compile(r"\d+")
_LETTER = re.compile(r"[^\W\d_]")
_NUMBERED_HEADING = re.compile(r"(?:\d+\.)*\d+\.?\s+[A-Z]\S*(?:\s\S+){0,9}")
_PARAGRAPH_END = (".", "!", "?", ":", "”", '"', "。")
_JUNK_TITLE = re.compile(r"(?i)microsoft word - .*|.*\.(?:docx?|tex|dvi|indd|rtf|odt|pdf|qxd)|slide 1|untitled.*")
_FEW_PAGES = 3


def read(data: bytes, name: str) -> Document:
    """The text of all pages in the order of the file, with words whole and running heads gone."""
    try:
        with pypdfium2.PdfDocument(data) as pdf:
            pages = list(_pages(pdf))
            about = pdf.get_metadata_dict(skip_empty=True)
    except pypdfium2.PdfiumError as error:
        raise _refused(name, error) from error
    text = tidy("\n\n".join(_flow(lines) for lines in _without_running_lines(pages)))
    if not text.strip():
        raise Unreadable(f"{name} has no text layer: its pages are pictures.")
    return Document(
        title=_title(about.get("Title")) or title_from(name),
        text=text,
        kind="pdf",
        author=one_line(about.get("Author")),
        published=iso_date(about.get("CreationDate")),
    )


def _refused(name: str, error: pypdfium2.PdfiumError) -> Unreadable:
    match error.err_code:
        case pypdfium2.raw.FPDF_ERR_PASSWORD | pypdfium2.raw.FPDF_ERR_SECURITY:
            return Unreadable(f"{name} is protected by a password.")
        case _:
            return Unreadable(f"{name} is damaged or is not a PDF file.")


def _pages(pdf: pypdfium2.PdfDocument) -> Iterator[list[str]]:
    for page in pdf:
        text = page.get_textpage()
        lines = _LINE_END_HYPHEN.sub(_joined, text.get_text_bounded().replace("\r\n", "\n"))
        # Freed at once: a thousand pages would otherwise be held until the end.
        text.close()
        page.close()
        yield [line.strip() for line in lines.split("\n")]


def _joined(hyphen: re.Match[str]) -> str:
    """A word that the line end cut is made whole; "A-\\nB" had its hyphen before."""
    following = hyphen["next"]
    return following if following.islower() else f"-{following}"


def _without_running_lines(pages: list[list[str]]) -> list[list[str]]:
    """Pages without the first and last lines that most of them share, page numbers aside."""
    pages = left = [[line for line in page if line] for page in pages]
    if len(pages) < _FEW_PAGES:
        return pages
    for edge in (0, -1):
        seen = Counter(_shape(page[edge]) for page in left if page)
        left = [page if page and seen[_shape(page[edge])] * 2 <= len(pages) else _cut(page, edge) for page in left]
    alike = Counter(line for page in pages for line in set(page))
    return [rest or _own_lines(page, alike, len(pages)) for rest, page in zip(left, pages, strict=True)]


def _own_lines(page: list[str], alike: Counter[str], pages: int) -> list[str]:
    """What to keep of a page that seems to have nothing but running lines: those that say something of their own."""
    return [line for line in page if alike[line] * 2 <= pages and _LETTER.search(line)]


def _shape(line: str) -> str:
    return _DIGITS.sub("#", line)


def _cut(page: list[str], edge: int) -> list[str]:
    return page[1:] if edge == 0 else page[:-1]


def _flow(lines: list[str]) -> str:
    """Lines as paragraphs: pdfium gives no blank lines, but a short last line and a numbered heading show them."""
    usual = median(map(len, lines)) if lines else 0
    parts: list[str] = []
    for line in lines:
        is_heading = len(line) < usual and _NUMBERED_HEADING.fullmatch(line) and not line.endswith(_PARAGRAPH_END)
        ends = is_heading or (len(line) < 0.75 * usual and line.endswith(_PARAGRAPH_END))
        parts += ["\n" if is_heading else "", line, "\n\n" if ends else "\n"]
    return "".join(parts)


def _title(written: str | None) -> str | None:
    """The title, unless it is what a program put there."""
    title = one_line(written)
    return None if title and _JUNK_TITLE.fullmatch(title) else title

"""Citation markers such as `[3]` or `[1, 4]` in running text."""

import re
from collections.abc import Callable, Iterator, Mapping

from deepwell.language.sentences import sentences

# Not a Markdown link `[3](…)`, not a footnote definition `[3]:`, not an index `a[3]`.
MARKER = re.compile(r"(?<![\w\]])(?:\[\d{1,4}(?:\s*[,;]\s*\d{1,4})*\])+(?![(:])")
# As markdown.as_it_stands shows it: a footnote mark of the document that is quoted, no citation of ours.
_QUOTED_MARKER = re.compile(r"\[\d{1,4}(?:\s*[,;]\s*\d{1,4})*\\\]")
_NUMBER = re.compile(r"\d+")
_MARKERS_BEHIND = re.compile(rf"[ \t]*(?:{MARKER.pattern}[ \t]*\.?)+")
_ONLY_MARKERS = re.compile(rf"(?:\s|{MARKER.pattern})*")
# A run of blanks is entered at its start alone, and never given back: a long one costs its length, not its square.
_BEFORE_A_STOP = re.compile(r"(?<!\s)\s++([.,;:!?])")
_BLANKS_LEFT_BEHIND = re.compile(r"(?<![ \t])[ \t]++(?=[.,;:!?](?:\s|$)|$)", re.MULTILINE)


def cited(text: str) -> tuple[int, ...]:
    """The numbers cited in the text, in order of first use."""
    numbers = (int(n) for marker in MARKER.findall(text) for n in _NUMBER.findall(marker))
    return tuple(dict.fromkeys(numbers))


def without_markers(text: str) -> str:
    """The text as it reads with every marker taken out."""
    return _BEFORE_A_STOP.sub(r"\1", re.sub(r"[ \t]{2,}", " ", MARKER.sub("", text))).strip()


def without_quoted_markers(text: str) -> str:
    """The text of a report without the footnote marks that stand in its quotations."""
    return _QUOTED_MARKER.sub("", text)


def as_written(claim: str, text: str) -> str | None:
    """The piece of a document that the claim repeats, with the document's own footnote marks; None if there is none."""
    marked = {place for marker in MARKER.finditer(text) for place in range(*marker.span())}
    places = [place for place, sign in enumerate(text) if not sign.isspace() and place not in marked]
    wanted = "".join(without_markers(claim).split())
    start = "".join(text[place] for place in places).find(wanted)
    if not wanted or start < 0:
        return None
    return text[places[start] : places[start + len(wanted) - 1] + 1]


def cited_sentences(text: str) -> Iterator[str]:
    """Every sentence that has markers, with them: `It rose. [1]` is one, though the full stop comes first."""
    for start, end in _with_markers_behind(text):
        if cited(text[start:end]):
            yield text[start:end].strip()


def _with_markers_behind(text: str) -> Iterator[tuple[int, int]]:
    """The sentences, each stretched over the markers that follow it on the same line."""
    taken = 0
    for start, end in sentences(text):
        if end < taken:
            continue
        start = max(start, taken)
        behind = _MARKERS_BEHIND.match(text, end)
        taken = behind.end() if behind else end
        if start < taken and not _ONLY_MARKERS.fullmatch(text, start, taken):
            yield start, taken


def renumbered(text: str, numbers: Mapping[int, int]) -> str:
    """The text with each number replaced by what it maps to; numbers that map to nothing vanish."""

    def replace(match: re.Match[str]) -> str:
        found = (numbers.get(int(n)) for n in _NUMBER.findall(match.group()))
        return "".join(f"[{n}]" for n in dict.fromkeys(found) if n is not None)

    return _rewritten(text, replace)


def _rewritten(text: str, replace: Callable[[re.Match[str]], str]) -> str:
    changed = MARKER.sub(replace, text)
    # A marker that vanished leaves its space behind.
    return _BLANKS_LEFT_BEHIND.sub("", changed)

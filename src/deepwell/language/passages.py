"""Cuts a text into passages at sentence and paragraph ends, with exact offsets."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from deepwell.language.sentences import sentences

Span = tuple[int, int]

_HEADING = re.compile(r"#{1,6}[ \t][^\n]*")


@dataclass(frozen=True, slots=True)
class Cut:
    """How long passages are, in characters."""

    size: int = 1_100
    """What a passage aims at."""
    longest: int = 1_400
    """What none exceeds, so that a paragraph may end in the passage where it began."""
    overlap: int = 1
    """Sentences repeated from the passage before."""


def passages(text: str, cut: Cut = Cut()) -> Iterator[Span]:  # noqa: B008 - frozen
    """Spans in order that hold all of the text but the white space between them. A heading stays with what follows."""
    kept: list[Span] = []
    covered = 0
    for piece in _pieces(text, cut.longest):
        if kept and _is_full(text, kept, piece, cut):
            for done in _closed(text, kept, piece, cut):
                # What was only repeated, and met nothing new, has been given already.
                if done[1] > covered:
                    yield done
                    covered = done[1]
        kept.append(piece)
    if kept:
        yield kept[0][0], kept[-1][1]


def _closed(text: str, kept: list[Span], piece: Span, cut: Cut) -> Iterator[Span]:
    """End the passage in `kept` before `piece`, and leave there what the next one begins with."""
    whole, rest = _split(text, kept)
    if whole:
        yield whole[0][0], whole[-1][1]
        kept[:] = _carried(whole, rest, piece, cut)
    if kept and piece[1] - kept[0][0] > cut.longest:
        yield kept[0][0], kept[-1][1]
        kept.clear()


def _is_full(text: str, kept: list[Span], piece: Span, cut: Cut) -> bool:
    start, end = kept[0][0], piece[1]
    if end - start <= cut.size:
        # A new section begins a passage of its own when there is enough to stand alone.
        return _is_heading(text, piece) and kept[-1][1] - start > cut.size // 2
    starts_paragraph = "\n\n" in text[kept[-1][1] : piece[0]]
    return starts_paragraph or end - start > cut.longest or kept[-1][1] - start >= cut.size


def _split(text: str, kept: list[Span]) -> tuple[list[Span], list[Span]]:
    """What the passage holds, and the headings at its end, which belong to the next one."""
    last = len(kept)
    while last and _is_heading(text, kept[last - 1]):
        last -= 1
    return kept[:last], kept[last:]


def _carried(whole: list[Span], rest: list[Span], piece: Span, cut: Cut) -> list[Span]:
    """What the next passage begins with: the sentences to repeat, when they leave room, and the headings."""
    repeated = whole[-cut.overlap :] if cut.overlap else []
    # Repeating a whole passage would never come to an end.
    if len(repeated) == len(whole) or (repeated and piece[1] - repeated[0][0] > cut.size):
        repeated = []
    return repeated + rest


def _is_heading(text: str, piece: Span) -> bool:
    return text[piece[0]] == "#" and bool(_HEADING.fullmatch(text, *piece))


def _pieces(text: str, longest: int) -> Iterator[Span]:
    """Sentences; one that is too long for any passage is cut between words, or anywhere when it has none."""
    for start, end in sentences(text):
        while end - start > longest:
            middle = _last_gap(text, start + longest // 2, start + longest) or start + longest
            yield start, start + len(text[start:middle].rstrip())
            start = _next_word(text, middle)
        yield start, end


def _last_gap(text: str, start: int, end: int) -> int | None:
    """Where the last word before `end` ends, when that is behind `start`."""
    return next((at for at in range(end, start, -1) if text[at].isspace() and not text[at - 1].isspace()), None)


def _next_word(text: str, at: int) -> int:
    while text[at].isspace():
        at += 1
    return at

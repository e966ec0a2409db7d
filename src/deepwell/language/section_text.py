"""Markdown that has to stay inside its section: no heading of the report's own rank, no fence left open."""

import re

_HEADING = re.compile(r"^#{1,2}(?=\s)", re.MULTILINE)
_REPORTS_OWN = re.compile(
    r"^\s{0,3}#{1,6}\s{0,3}\**(?:sources|references|methodology|bibliography)\b.{0,40}$", re.IGNORECASE
)
_UNDERLINE = re.compile(r"^\s{0,3}(?:=+|-{2,})\s*$")
_FENCE = re.compile(r"^\s{0,3}(?:```|~~~)")


def within_a_section(text: str) -> str:
    """The text with its headings below the section's own, none that the report has itself, and every fence closed."""
    lines = [line for line in text.split("\n") if not _REPORTS_OWN.match(line)]
    kept = [line for i, line in enumerate(lines) if not _is_underline(lines, i)]
    closed = [*kept, "```"] if sum(1 for line in kept if _FENCE.match(line)) % 2 else kept
    return _HEADING.sub("###", "\n".join(closed))


def _is_underline(lines: list[str], index: int) -> bool:
    """A line of signs below a line of text makes a heading of it."""
    before = lines[index - 1].strip() if index else ""
    return bool(before and not before.startswith("|") and _UNDERLINE.match(lines[index]))

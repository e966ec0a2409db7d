"""Rows of cells as a Markdown table, the same for every format."""

from collections.abc import Sequence


def markdown_table(rows: Sequence[Sequence[str]]) -> str:
    """The first row becomes the head; short rows are filled up; a cell is always one line."""
    width = max((len(row) for row in rows), default=0)
    lines = [_line([*row, *[""] * (width - len(row))]) for row in rows]
    return "\n".join([*lines[:1], _line(["---"] * width), *lines[1:]])


def _line(cells: Sequence[str]) -> str:
    written = (" ".join(cell.split()).replace("|", r"\|") for cell in cells)
    return f"| {' | '.join(written)} |"

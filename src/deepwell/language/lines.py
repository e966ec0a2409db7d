"""Text from outside on one line: nothing in it that cannot be seen, and no longer than there is room for."""

import re

# Embeddings, overrides and isolates reverse what stands behind them, in a report as on a terminal.
TURNING = "\u202a-\u202e\u2066-\u2069"
"""Characters that change the direction of others, as part of a pattern. Marks of direction, which Arabic and Hebrew
texts need, are not among them."""
_UNSEEN = re.compile(rf"[\x00-\x08\x0e-\x1f\x7f-\x84\x86-\x9f\u200b\u2060\ufeff\ud800-\udfff{TURNING}]")


def one_line(text: str, most: int) -> str:
    """The text on one line, without what cannot be printed; cut at a word if it is longer than `most`."""
    line = " ".join(_UNSEEN.sub("", text).split())
    if len(line) <= most:
        return line
    head = line[:most]
    return f"{head.rpartition(' ')[0] or head} …"

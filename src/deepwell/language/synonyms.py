"""Words that an answer uses in place of those of the question: how heavy a thing is, is what it weighs."""

from collections.abc import Iterable

_ANSWERED_WITH = {
    "heavy": ("weigh", "weighed", "weight"),
    "long": ("length",),
    "tall": ("height", "high"),
    "high": ("height", "tall"),
    "height": ("high", "tall"),
    "weigh": ("weight", "heavy"),
    "weight": ("weigh", "heavy"),
    "deep": ("depth",),
    "wide": ("width",),
    "old": ("age",),
    "far": ("distance",),
    "fast": ("speed",),
    "big": ("size",),
    "large": ("size",),
    "expensive": ("cost", "price"),
    "born": ("birth", "birthplace"),
    "died": ("death",),
    "located": ("location",),
    "author": ("wrote", "written"),
    "wrote": ("author", "written"),
    "founded": ("founder", "established"),
    "invented": ("inventor",),
    "made": ("built", "constructed", "dated"),
    "built": ("made", "constructed"),
    "found": ("discovered",),
    "discovered": ("found",),
}


def expanded(words: Iterable[str]) -> tuple[str, ...]:
    """The words, each with those that an answer would use in its place."""
    return tuple(dict.fromkeys(word for asked in words for word in (asked, *_ANSWERED_WITH.get(asked, ()))))


def other_form(word: str) -> str | None:
    """The first of the words that may stand in its place; None when none is known."""
    return next(iter(_ANSWERED_WITH.get(word, ())), None)

"""Word forms that meet: accents folded, plural, past and -ing endings gone. Light, English, and never surprising."""

import re
import unicodedata
from functools import lru_cache

from deepwell.language.words import CJK

_WORD = re.compile(rf"[{CJK}]+|[^\W_{CJK}]+(?:['’][^\W\d_{CJK}]+)*")
_IS_CJK = re.compile(rf"[{CJK}]")


@lru_cache(maxsize=100_000)
def fold(word: str) -> str:
    """Lower case, no accents, plain apostrophes."""
    plain = word.lower().replace("’", "'")
    if plain.isascii():
        return plain
    # What is nothing but an accent stays: no word is ever empty.
    return "".join(c for c in unicodedata.normalize("NFKD", plain) if not unicodedata.combining(c)) or plain


@lru_cache(maxsize=100_000)
def stem(word: str) -> str:
    """The stem of a folded word."""
    word = word.removesuffix("'s") or word
    if len(word) < 4 or not word.isascii():
        return word
    if word.endswith("ies"):
        return word[:-3] + "i"
    for ending in ("ing", "ed", "es", "ly"):
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            return _undoubled(word[: -len(ending)])
    if word.endswith("s") and not word.endswith(("ss", "us", "is")):
        word = word[:-1]
    if word[-1] == "e":
        return word[:-1]
    return word[:-1] + "i" if word[-1] == "y" else word


def folded_words(text: str) -> list[str]:
    """Every word in order, folded; CJK runs as overlapping pairs."""
    found: list[str] = []
    for run in _WORD.findall(text):
        if len(run) > 2 and _IS_CJK.match(run):
            found.extend(run[i : i + 2] for i in range(len(run) - 1))
        else:
            found.append(fold(run))
    return found


def spellings(text: str) -> dict[str, str]:
    """How each folded word stands in the text, in small letters: with its accents, a pair of CJK in its whole run."""
    found: dict[str, str] = {}
    for run in _WORD.findall(text):
        for word in folded_words(run):
            found.setdefault(word.removesuffix("'s"), run.lower().replace("’", "'").removesuffix("'s"))
    return found


def stems(text: str) -> list[str]:
    """The stems of all words, in order."""
    return [stem(word) for word in folded_words(text)]


def _undoubled(base: str) -> str:
    """`stopped` becomes `stop`; `fall` and `pass` keep their doubled consonant."""
    if len(base) > 3 and base[-1] == base[-2] and base[-1] not in "aeiouls":
        return base[:-1]
    return base

"""The words of a statement as they are compared: in place, in general, and as one plain text."""

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass

from deepwell.language.markers import without_markers
from deepwell.language.stems import fold, stem
from deepwell.language.words import CJK, STOPWORDS
from deepwell.vocabulary.comparison import Spot

_WORD = re.compile(rf"[{CJK}]|[^\W_{CJK}]+(?:['’][^\W\d_{CJK}]+)*")
_BULLET = re.compile(r"^\s*(?:[-*+•]|\d{1,2}[.)])\s+")
_DRESS = re.compile(r"[*_`\"“”„«»‘’']")
_DASHES = re.compile(r"[‐‑–—−]")
_ENDS = " \t\n.,;:!?…"


@dataclass(frozen=True, slots=True)
class Word:
    """A word and where it stands."""

    stem: str
    spot: Spot

    @property
    def is_telling(self) -> bool:
        """False for small words, which change with the build of a sentence."""
        return fold(self.spot.text) not in STOPWORDS

    @property
    def is_capitalised(self) -> bool:
        """True as names are written."""
        return self.spot.text[0].isupper()


def words_of(text: str) -> list[Word]:
    """Every word in order."""
    return [
        Word(stem(fold(match.group())), Spot(match.start(), match.end(), match.group()))
        for match in _WORD.finditer(text)
    ]


def unmarked(text: str) -> str:
    """The sentence without its citation markers and the bullet before it."""
    return _BULLET.sub("", without_markers(text)).strip()


def plain(text: str) -> str:
    """The text without what is only dress: markers, bullets, emphasis, quotation marks, capitals, the last stop."""
    bare = _DRESS.sub("", unmarked(text))
    folded = unicodedata.normalize("NFC", _DASHES.sub("-", bare)).casefold()
    # Only at the end: in front, `-5` keeps its sign and `.5` its point.
    return " ".join(folded.split()).rstrip(_ENDS)


def over(words: Sequence[Word], text: str) -> Spot:
    """The piece of the text from the first of these words to the last."""
    start, end = words[0].spot.start, words[-1].spot.end
    return Spot(start, end, text[start:end])

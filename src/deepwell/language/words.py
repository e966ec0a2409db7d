"""The words of a text that carry content: lower case, stopwords out, Chinese, Japanese and Korean as bigrams."""

import re
from functools import lru_cache

STOPWORDS = frozenset(
    """
    a about above after again against all also am an and any are as at be because been before being below between both
    but by can could did do does doing done down during each either else ever few for from further had has have having
    he her here hers him his how i if in into is it its itself just let like many may me might more most much must my
    no nor not now of off on once one only or other our out over own per same shall she should since so some still such
    than that the their theirs them then there these they this those through to too under until up upon us very was we
    were what when where whether which while who whom whose why will with within without would yet you your
    """.split()
)

# Every ASCII byte that is no letter or digit becomes a space; bytes of other characters stay as they are.
_SPACED = bytes(code if code > 127 or chr(code).isalnum() else 32 for code in range(256))
CJK = "぀-ヿ㐀-䶿一-鿿가-힯豈-﫿"
"""Chinese, Japanese and Korean characters, as the inside of a regular expression's class: they have no spaces."""
_WORD = re.compile(rf"[{CJK}]+|[^\W_{CJK}]+")
_IS_CJK = re.compile(rf"[{CJK}]")


def words(text: str) -> list[str]:
    """Every word in order, lower case; CJK runs as overlapping bigrams."""
    found: list[str] = []
    for token in _tokens(text):
        if token.isascii():
            found.append(token)
        else:
            found.extend(_unicode_words(token))
    return found


def content_words(text: str) -> frozenset[str]:
    """The distinct words that carry content."""
    distinct = set(_tokens(text))
    if not text.isascii():
        foreign = [token for token in distinct if not token.isascii()]
        distinct.difference_update(foreign)
        distinct.update(word for token in foreign for word in _unicode_words(token))
    return frozenset(distinct - STOPWORDS)


@lru_cache(maxsize=8192)
def topic_words(topic: str) -> frozenset[str]:
    """The content words of a short text that is compared again and again."""
    return content_words(topic)


def _tokens(text: str) -> list[str]:
    # Bytes are translated and split several times faster than a regular expression finds words.
    return text.lower().encode("utf-8", "replace").translate(_SPACED).decode("utf-8").split()


def _unicode_words(token: str) -> list[str]:
    found: list[str] = []
    for word in _WORD.findall(token):
        found.extend(_bigrams(word) if _IS_CJK.match(word) else (word,))
    return found


def _bigrams(run: str) -> list[str]:
    if len(run) == 1:
        return [run]
    return [run[i : i + 2] for i in range(len(run) - 1)]

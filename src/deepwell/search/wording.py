"""A query in the words that an engine understands."""

from deepwell.search.plain import one_line
from deepwell.vocabulary.plan import Query
from deepwell.vocabulary.scope import Scope

MOST_CHARACTERS = 400
"""What the strictest engines take."""
MOST_WORDS = 50
_MOST_PHRASES = 4
_MOST_SITES = 8


def bare(query: Query) -> str:
    """The text alone, for engines that read sentences."""
    return _cut(query.text, MOST_CHARACTERS)


def quoted(query: Query) -> str:
    """The text, and its phrases in quotes, at least one of which has to be there."""
    phrases = _any_of([f'"{phrase}"' for phrase in _phrases(query)])
    return _after(query.text, phrases)


def with_sites(query: Query, scope: Scope) -> str:
    """The text, its phrases in quotes, and the sites as operators, for engines that have no field for sites."""
    phrases = _any_of([f'"{phrase}"' for phrase in _phrases(query)])
    sites = _any_of([f"site:{site}" for site in scope.include_sites[:_MOST_SITES]])
    not_sites = " ".join(f"-site:{site}" for site in scope.exclude_sites[:_MOST_SITES])
    return _after(query.text, " ".join(filter(None, (phrases, sites, not_sites))))


def _phrases(query: Query) -> list[str]:
    clean = (one_line(phrase.replace('"', " "), 80) for phrase in query.phrases[:_MOST_PHRASES])
    return [phrase for phrase in clean if phrase]


def _any_of(parts: list[str]) -> str:
    return f"({' OR '.join(parts)})" if len(parts) > 1 else "".join(parts)


def _after(text: str, operators: str) -> str:
    """The text, shortened so that the operators behind it stay whole; too many of them are left to our own filter."""
    if len(operators) > MOST_CHARACTERS // 2:
        operators = ""
    room = MOST_CHARACTERS - len(operators) - 1
    words = MOST_WORDS - len(operators.split())
    return f"{_cut(text, room, words)} {operators}".strip()


def _cut(text: str, characters: int, words: int = MOST_WORDS) -> str:
    line = " ".join(one_line(text, 2 * MOST_CHARACTERS).split()[:words])
    if len(line) <= characters:
        return line
    head = line[:characters]
    return head.rpartition(" ")[0] or head

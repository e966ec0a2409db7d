"""A query in the words that an engine understands."""

from deepwell.language.languages import language_of
from deepwell.search.plain import one_line
from deepwell.vocabulary.plan import Query
from deepwell.vocabulary.scope import Scope

MOST_CHARACTERS = 400
"""What the strictest engines take."""
MOST_WORDS = 50
_MOST_PHRASES = 4
_MOST_SITES = 8


def keywords(query: Query) -> str:
    """The words alone, for engines that look for each of them."""
    return _cut(query.text, MOST_CHARACTERS)


def bare(query: Query) -> str:
    """The question alone, for engines that read sentences."""
    return _cut(_spoken(query), MOST_CHARACTERS)


def quoted_keywords(query: Query) -> str:
    """The words, and the phrases in quotes, at least one of which has to be there."""
    return _after(query.text, _quoted(query))


def quoted(query: Query) -> str:
    """The question, and the phrases in quotes, at least one of which has to be there."""
    return _after(_spoken(query), _quoted(query))


def asked_language(query: Query) -> str:
    """ISO 639-1 of the language that the query is in, as far as it can be told; else English."""
    return language_of(f"{query.sentence or query.context} {query.text}")


def with_sites(query: Query, scope: Scope) -> str:
    """The question, the phrases in quotes, and the sites as operators, for engines that have no field for sites."""
    sites = _any_of([f"site:{site}" for site in scope.include_sites[:_MOST_SITES]])
    not_sites = " ".join(f"-site:{site}" for site in scope.exclude_sites[:_MOST_SITES])
    return _after(_spoken(query), " ".join(filter(None, (_quoted(query), sites, not_sites))))


def _spoken(query: Query) -> str:
    return query.sentence or query.text


def _quoted(query: Query) -> str:
    return _any_of([f'"{phrase}"' for phrase in _phrases(query)])


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

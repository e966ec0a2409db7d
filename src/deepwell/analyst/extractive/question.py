"""A question taken apart: its clauses, the names and days in it, the publishers it mentions."""

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from deepwell.language.figures import days
from deepwell.language.languages import ENGLISH, language_of, small_words, without_small_signs
from deepwell.language.names import QUESTION_WORDS, Span, names, publisher_names, quoted
from deepwell.language.relevance import base_title
from deepwell.language.stems import folded_words, spellings, stem, stems
from deepwell.language.synonyms import expanded
from deepwell.language.words import STOPWORDS
from deepwell.vocabulary.plan import Query

_JOINT = r"(?:and|while|but|yet|whereas|or)"
_NEW_CLAUSE = (
    r"(?:the|a|an|is|was|has|did|does|whose|who|whom|are|were|had|another|also|which|what|when|where|why|how|in which)"
)
_BREAK = re.compile(
    rf"[,;:?.]\s+(?:{_JOINT}\s+)*"
    r"|\s(?:while|whereas|compared (?:to|with)|in contrast to|unlike|but|yet|versus|vs\.?)\s"
    rf"|\sand\s(?={_NEW_CLAUSE}\s)"
)
_ASKS = re.compile(
    r"^(?:(?:and|in|by|from|at|for|to)\s+)*(?:who|whom|whose|what|which|when|where|why|how)\b", re.IGNORECASE
)
_COMPARES = re.compile(r"\b(?:compar\w+|differen\w+|versus|vs\.?|contrast|better|worse|rather than)\b", re.IGNORECASE)
_POINTS_BACK = re.compile(r"\b(?:it|its|he|his|she|her|they|their|them|this|that|these|those|there)\b", re.IGNORECASE)
_TOKEN = re.compile(r"[^\W_]+(?:['’][^\W\d_]+)*")
LONGEST_TITLE = 10
LONGEST_ROOT = 4
"""Letters of a word of another language than English from which the last one may be an ending."""
CLAUSE_WORDS = 3
"""Content words from which a clause that asks nothing can still be looked into by itself."""


@dataclass(frozen=True, slots=True)
class Clause:
    """A part of the question that can be looked at by itself."""

    text: str
    words: tuple[str, ...]
    """Its content words, folded; publishers and days are not among them."""
    publishers: tuple[str, ...] = ()
    days: tuple[str, ...] = ()

    @property
    def asks(self) -> bool:
        """True when it begins as a question does."""
        return bool(_ASKS.match(self.text))


@dataclass(frozen=True, slots=True)
class TakenApart:
    """The question and what it is made of."""

    question: str
    clauses: tuple[Clause, ...]
    names: tuple[str, ...]
    """Names it holds, without publishers and days, in order."""
    words: tuple[str, ...]
    """All its content words, each once."""

    @property
    def language(self) -> str:
        """The language it is asked in."""
        return language_of(self.question)

    @property
    def compares(self) -> bool:
        """True when the question sets things against each other."""
        return bool(_COMPARES.search(self.question))


def take_apart(question: str, publishers: Iterable[str], titles: Iterable[str]) -> TakenApart:
    """The question's parts, seen with what the library knows by name."""
    mentioned = mentions(question, publishers)
    parts = _clauses(question, mentioned)
    called = _names(question, title_keys(titles), mentioned)
    words = tuple(dict.fromkeys(word for part in parts for word in part.words))
    return TakenApart(question, tuple(parts), tuple(called), words)


def asked_parts(question: str) -> tuple[str, ...]:
    """The pieces of the question that each ask for something, as they stand in it."""
    pieces = (piece.strip(" ?.,;:") for piece in _BREAK.split(question))
    return tuple(piece for piece in pieces if _ASKS.match(piece) and content(piece))


def content(text: str, language: str = ENGLISH) -> tuple[str, ...]:
    """The words of a question in that language that a passage might hold, folded, each once."""
    small = small_words(language)
    found = (word.removesuffix("'s") for word in folded_words(without_small_signs(text, language)))
    kept = (w for w in found if w not in STOPWORDS and w not in QUESTION_WORDS and (len(w) > 1 or not w.isascii()))
    return tuple(dict.fromkeys(word for word in kept if word not in small))


def spelled(words: Iterable[str], text: str, language: str) -> tuple[str, ...]:
    """The folded words as they stand in the text, each once: engines of the web know no `grundete`, and no bigrams."""
    written = spellings(without_small_signs(text, language))
    return tuple(dict.fromkeys(written.get(word, word) for word in words))


def in_words_of_engines(query: Query, question: str, *, library: bool) -> Query:
    """The query as engines of the web understand it, with the question to tell its language by.

    A library compares folded words: where there is one, the spelling goes beside them.
    """
    language = language_of(question)
    if library and language == ENGLISH:
        return query
    text = " ".join(spelled(query.text.split(), question, language))
    context = query.context if query.sentence or language == ENGLISH else question
    if library:
        return replace(query, context=context, sentence=query.sentence or text)
    return replace(query, text=text, context=context)


def names_in(text: str, language: str) -> list[Span]:
    """Names in a text of that language. German has capitals for every noun: there, one word alone is not told apart."""
    return [span for span in names(text, small_words(language)) if language != "de" or " " in span.text]


def says(held: Collection[str], word: str, language: str = ENGLISH) -> bool:
    """Whether a text with these stems says the word, or what an answer would say in its place."""
    if any(stem(form) in held for form in expanded([word])):
        return True
    # The endings of other languages are not known: `gegründet` says `gründete`.
    root = word[:-1] if len(word) > LONGEST_ROOT else word
    return language != ENGLISH and len(root.encode()) > 2 and any(root in other for other in held)


def mentions(question: str, publishers: Iterable[str]) -> list[Span]:
    """Publishers named in the question with capitals: `Fortune` the paper, not good fortune. The longest win."""
    found: list[Span] = []
    for alias in sorted(_aliases(publishers), key=lambda alias: (-len(alias), alias)):
        for match in re.finditer(rf"(?<!\w){re.escape(alias)}(?!\w)", question):
            if not any(match.start() < other.end and other.start < match.end() for other in found):
                found.append(Span(match.start(), match.end(), alias))
    return sorted(found, key=lambda span: span.start)


def title_keys(titles: Iterable[str]) -> dict[tuple[str, ...], str]:
    """Each title as stems, without what stands in brackets behind it, for recognising a mention of it."""
    keys = {tuple(stems(base_title(title))): base_title(title) for title in titles}
    return {key: title for key, title in keys.items() if key and not (len(key) == 1 and title.islower())}


def title_mentions(text: str, titles: Mapping[tuple[str, ...], str]) -> list[Span]:
    """Titles of documents that stand in a text, begun with a capital or figure; the longest at each place."""
    tokens = list(_TOKEN.finditer(text))
    keys = [stems(token.group())[0] for token in tokens]
    found, at = [], 0
    while at < len(tokens):
        size = 0 if tokens[at].group()[0].islower() else _longest(keys, at, titles)
        if size:
            start, end = tokens[at].start(), tokens[at + size - 1].end()
            found.append(Span(start, end, text[start:end]))
        at += max(size, 1)
    return found


def _longest(keys: Sequence[str], at: int, titles: Mapping[tuple[str, ...], str]) -> int:
    for size in range(min(LONGEST_TITLE, len(keys) - at), 0, -1):
        key = tuple(keys[at : at + size])
        if key in titles and (size > 1 or len(key[0]) > 3):
            return size
    return 0


def _clauses(question: str, mentioned: Sequence[Span]) -> list[Clause]:
    """The question cut at its joints."""
    dated = days(question)
    language = language_of(question)
    plain = _blanked(question, [(m.start, m.end) for m in mentioned] + [(d.start, d.end) for d in dated])
    found, start = [], 0
    for match in [*_BREAK.finditer(plain), None]:
        end = match.start() if match else len(question)
        inside = dict.fromkeys(m.text for m in mentioned if start <= m.start < end)
        on = tuple(d.iso for d in dated if start <= d.start < end)
        words = content(plain[start:end], language)
        found.append(Clause(question[start:end].strip(" ?.,;:"), words, tuple(inside), on))
        start = match.end() if match else end
    return _joined([clause for clause in found if clause.words or clause.publishers or clause.days])


def _joined(clauses: Sequence[Clause]) -> list[Clause]:
    """A clause that asks but says almost nothing (`and what was it built for`) is one with the clause before it."""
    found: list[Clause] = []
    for clause in clauses:
        says_little = len(clause.words) < (3 if _POINTS_BACK.search(clause.text) else 2)
        if found and clause.asks and says_little and not clause.publishers:
            before = found[-1]
            text, words = f"{before.text}, and {clause.text}", tuple(dict.fromkeys((*before.words, *clause.words)))
            found[-1] = Clause(text, words, before.publishers, (*before.days, *clause.days))
        else:
            found.append(clause)
    return found


def _names(question: str, titles: dict[tuple[str, ...], str], mentioned: Sequence[Span]) -> list[str]:
    """Titles, quotations and capitalised names in the question; of those that overlap, the longest."""
    kept: list[Span] = []
    spans = [*title_mentions(question, titles), *quoted(question), *names_in(question, language_of(question))]
    for span in sorted(spans, key=lambda span: span.start - span.end):
        if not any(span.start < other.end and other.start < span.end for other in (*kept, *mentioned)):
            kept.append(span)
    called = dict.fromkeys(span.text for span in sorted(kept, key=lambda span: span.start))
    return [name for name in called if not days(name)]


def _aliases(publishers: Iterable[str]) -> set[str]:
    return {name for publisher in publishers for name in publisher_names(publisher) if len(name) > 2}


def _blanked(text: str, spans: Iterable[tuple[int, int]]) -> str:
    for start, end in spans:
        # Dots, not spaces: no joint of the question is to be seen across them.
        text = text[:start] + "·" * (end - start) + text[end:]
    return text

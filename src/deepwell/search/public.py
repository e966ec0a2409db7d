"""Around the web's engine in a run that also reads documents: nothing goes out that only they can have told."""

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Protocol

from deepwell.budget.threads import in_thread
from deepwell.language.addresses import is_web
from deepwell.language.stems import fold, stem
from deepwell.language.synonyms import expanded
from deepwell.language.words import CJK, STOPWORDS, content_words, words
from deepwell.ports import Reader, SearchEngine
from deepwell.search.events import Listener, SearchNarrowed, unheard
from deepwell.vocabulary.plan import Query
from deepwell.vocabulary.source import Hit, Source

SHORTEST, LONGEST = 3, 24
"""Letters of a word that may go out although nobody but the analyst has said it: less and more are no words."""
GLUED = 6
"""Letters from which a word of the documents is recognised inside another."""
MOST_OF_A_PAGE = 3000
"""Different words learned from one page: what an article has; a page that is a dictionary would let all words pass."""
LEFT = 0.5
"""Share of its content words that a search must keep to be worth asking."""
_WORD = re.compile(rf"[{CJK}]+|[^\W_{CJK}]+")
_IS_CJK = re.compile(rf"[{CJK}]")
_YEAR = re.compile(r"(?:1[5-9]|20)\d\d")
_SIGNS = frozenset(" '’\"-–.,:;?!&/%+#()$€£")


class Documents(Protocol):
    """What is asked of the documents to know that a word is not theirs."""

    def frequency(self, term: str) -> int:
        """In how many passages the word stands, in whatever form."""
        ...

    def words_from(self, prefix: str) -> Sequence[str]:
        """Words of the documents that begin so; all of them for an empty beginning."""
        ...

    def paths(self) -> Iterable[str]:
        """Where the documents lie: their names and folders say something, too."""
        ...


class PublicWords:
    """The words that may go out to the web.

    A word may go out if it stands in the question (or is one that is always said in place of such a word), if the web
    itself brought it, or if it is a plain word that no document holds: neither by itself, nor as the beginning of a
    word, nor with a word of theirs inside it. Numbers beyond years, codes, and scripts other than Latin come only from
    the question and the web. Words are compared by their stems, Chinese, Japanese and Korean by pairs of characters:
    one may go out if it stands there, or if it stands in no document and neither do its characters by themselves.

    This holds back words, not every meaning: who picks the words can still say something by the choice among public
    ones, by a cipher or by the end of a word, and a page of the web that names a word makes it public.
    """

    def __init__(self, question: str, documents: Documents) -> None:
        self._documents = documents
        self._told: set[str] = set()
        self.learn(question, " ".join(expanded(words(question))))

    def learn(self, *texts: str) -> None:
        """Texts that anyone can read: their words are public from now on."""
        for text in texts:
            self._told.update(_first_keys(text))

    def admits(self, text: str) -> bool:
        """Whether every word of the text may go out."""
        return all(map(self._is_public, _words(text)))

    def narrowed(self, text: str) -> str:
        """The text as it is when every word of it may go out, else those words of it that may, and no signs."""
        clean = _readable(text)
        if self.admits(clean):
            return clean
        return " ".join(part for run in _WORD.findall(clean) for part in self._parts(run))

    def _parts(self, run: str) -> list[str]:
        if _IS_CJK.match(run):
            return self._stretches(run)
        return [run] if self._is_public(run) else []

    def _stretches(self, run: str) -> list[str]:
        """Of characters without spaces, the longest stretches of which every pair may go out."""
        if len(run) == 1:
            return [run] if self._is_public(run) else []
        found = [""]
        for pair in _pairs(run):
            if not self._is_public(pair):
                found.append("")
            else:
                found[-1] += pair[1] if found[-1] else pair
        return [stretch for stretch in found if stretch]

    def _is_public(self, word: str) -> bool:
        return fold(word) in STOPWORDS or _key(word) in self._told or self._is_nobodys(fold(word))

    def _is_nobodys(self, word: str) -> bool:
        """Whether it is a word, and none that the documents can have told."""
        if _IS_CJK.match(word):
            return not self._documents.frequency(word) and all(map(self._is_free, word))
        if _YEAR.fullmatch(word):
            return not self._documents.frequency(word)
        is_plain = word.isascii() and word.isalpha() and SHORTEST <= len(word) <= LONGEST
        return is_plain and not self._is_held(word)

    def _is_free(self, character: str) -> bool:
        return character in self._told or not self._documents.frequency(character)

    def _is_held(self, word: str) -> bool:
        key = _key(word)
        if key in self._elsewhere or self._documents.frequency(word) or self._documents.words_from(key):
            return True
        inside = (word[start:end] for start in range(len(word)) for end in range(start + GLUED, len(word) + 1))
        return any(_key(part) not in self._told and self._documents.frequency(part) for part in inside)

    @cached_property
    def _elsewhere(self) -> frozenset[str]:
        """Words that a search of the index does not meet: in names of files, with ligatures, in full width."""
        kept = (word for word in self._documents.words_from("") if not word.isascii())
        return frozenset(_key(word) for text in (*self._documents.paths(), *kept) for word in _words(text))


class PublicOnly:
    """Fulfils the port SearchEngine: the engine inside is asked with public words alone.

    Of a query it passes on the text, the sentence and those phrases of which every word may go out; context, publisher
    and day never go out. A query that has lost what it was about finds nothing, and nobody is asked.
    """

    def __init__(
        self,
        engine: SearchEngine,
        public: PublicWords,
        on_event: Listener = unheard,
        before: Mapping[str, bool] | None = None,
    ) -> None:
        """`before`: the searches that were narrowed before a crash, and whether they were sent all the same."""
        self.name = engine.name
        self._engine, self._public, self._on_event = engine, public, on_event
        self._narrow = dict(before or {})

    @property
    def limits(self) -> tuple[str, ...]:
        """What the report has to say about searches that were shortened or left out; empty when none was."""
        sent = sum(self._narrow.values())
        counts = ((sent, "shortened"), (len(self._narrow) - sent, "not sent"))
        told = " and ".join(f"{count} {'was' if count == 1 else 'were'} {what}" for count, what in counts if count)
        return (f"Of the searches meant for the web {told}: words of your documents stay with you.",) if told else ()

    async def search(self, query: Query, limit: int) -> Sequence[Hit]:
        """The best hits first, at most `limit`. Raises SearchFailed when the engine does not answer."""
        # The documents are asked about every word, and they lie on a disk.
        asked = await in_thread("facts", self._narrowed, query)
        if asked is None:
            await self._tell(query, sent=False)
            return []
        if (asked.text, asked.phrases) != (_readable(query.text), tuple(map(_readable, query.phrases))):
            await self._tell(query, sent=True)
        return [replace(hit, query=query) for hit in await self._engine.search(asked, limit)]

    async def _tell(self, query: Query, *, sent: bool) -> None:
        if query.text not in self._narrow:
            self._narrow[query.text] = sent
            await self._on_event(SearchNarrowed(query.text, sent))

    def _narrowed(self, query: Query) -> Query | None:
        text, sentence = self._public.narrowed(query.text), _readable(query.sentence)
        phrases = tuple(phrase for phrase in map(_readable, query.phrases) if self._public.admits(phrase))
        wanted, left = content_words(_readable(query.text)), content_words(text)
        if (query.phrases and not phrases) or len(left) < LEFT * len(wanted) or not (left or phrases):
            return None
        return Query(text, phrases=phrases, sentence=sentence if self._public.admits(sentence) else "")


class PublicHits:
    """Fulfils the port SearchEngine: what a search of the web finds is public, from now on."""

    def __init__(self, engine: SearchEngine, public: PublicWords) -> None:
        self.name = engine.name
        self._engine, self._public = engine, public

    async def search(self, query: Query, limit: int) -> Sequence[Hit]:
        """The hits of the engine. Raises SearchFailed when it does not answer."""
        hits = await self._engine.search(query, limit)
        for hit in hits:
            if is_web(hit.address):
                self._public.learn(hit.title, hit.excerpt, hit.publisher or "")
        return hits


class PublicReader:
    """Fulfils the port Reader: what a page of the web says is public, from now on."""

    def __init__(self, reader: Reader, public: PublicWords) -> None:
        self._reader = reader
        self._public = public

    async def read(self, address: str) -> Source:
        """The whole source. Raises Unreadable with a safe sentence."""
        source = await self._reader.read(address)
        if is_web(source.address):
            self._public.learn(source.title, source.author or "", source.publisher or "", source.text)
        return source


def _readable(text: str) -> str:
    """Letters, figures and the usual signs on one line: pictures and what cannot be seen could stand for anything."""
    seen = (c for c in unicodedata.normalize("NFC", text) if unicodedata.category(c) != "Cf")
    return " ".join("".join(c if _is_usual(c) else " " for c in seen).split())


def _is_usual(character: str) -> bool:
    return character.isalnum() or character in _SIGNS or unicodedata.category(character).startswith("M")


def _first_keys(text: str) -> set[str]:
    found: set[str] = set()
    for word in _words(unicodedata.normalize("NFC", text)):
        found.update(word if _IS_CJK.match(word) else (), (_key(word),))
        if len(found) >= MOST_OF_A_PAGE:
            break
    return found


def _words(text: str) -> Iterator[str]:
    """Every word; pairs of characters where there are no spaces."""
    for match in _WORD.finditer(text):
        run = match[0]
        if len(run) > 1 and _IS_CJK.match(run):
            yield from _pairs(run)
        else:
            yield run


def _key(word: str) -> str:
    return stem(fold(word))


def _pairs(run: str) -> list[str]:
    return [run[at : at + 2] for at in range(len(run) - 1)]

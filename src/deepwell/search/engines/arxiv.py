"""arXiv: preprints in physics, mathematics, computing and beyond. https://info.arxiv.org/help/api/user-manual.html"""

from typing import TYPE_CHECKING

from deepwell.language.words import STOPWORDS, words
from deepwell.search.failures import FailureKind, Party
from deepwell.search.fitting import Fitting
from deepwell.search.hits import Asked, Found, hits_of
from deepwell.search.wording import keywords
from deepwell.vocabulary.plan import Query
from deepwell.vocabulary.source import Hit

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

_ADDRESS = "https://export.arxiv.org"
_PARTY = Party("arXiv")
_MOST_RESULTS = 50
_ATOM = "{http://www.w3.org/2005/Atom}"
_ALL_OF = 3
"""Up to so many words must all be there; of more, any may be: they are ranked by how many are."""
_MOST_WORDS = 10


class Arxiv:
    """Fulfils the port SearchEngine. It has dates, but no sites, languages or regions."""

    name = "arxiv"

    def __init__(self, fitting: Fitting) -> None:
        self._fitting = fitting

    async def search(self, query: Query, limit: int) -> list[Hit]:
        """The best hits first, at most `limit`. Raises NoAnswer."""
        wanted = self._wanted(query)
        if not wanted:
            return []
        feed = await self._fitting.http.xml(
            _PARTY,
            f"{self._fitting.address or _ADDRESS}/api/query",
            params={
                "search_query": wanted,
                "start": 0,
                "max_results": self._fitting.asked_for(limit, _MOST_RESULTS),
                "sortBy": "relevance",
                "sortOrder": "descending",
            },
        )
        if feed.tag != f"{_ATOM}feed":
            raise _PARTY.no_answer(FailureKind.MALFORMED)
        found = [_found(entry) for entry in feed.iter(f"{_ATOM}entry")]
        return hits_of(found, Asked(self.name, _PARTY, query, self._fitting.scope, limit))

    def _wanted(self, query: Query) -> str:
        spoken = [word for word in dict.fromkeys(words(keywords(query))) if word not in STOPWORDS][:_MOST_WORDS]
        between = " AND " if len(spoken) <= _ALL_OF else " OR "
        phrases = [" ".join(words(phrase)[:8]) for phrase in query.phrases[:4]]
        parts = [
            _grouped([f"all:{word}" for word in spoken], between),
            _grouped([f'all:"{phrase}"' for phrase in phrases if phrase], " OR "),
        ]
        said = [part for part in parts if part]
        return " AND ".join([*said, *self._dates()]) if said else ""

    def _dates(self) -> list[str]:
        scope = self._fitting.scope
        if not (scope.since or scope.until):
            return []
        first = f"{scope.since:%Y%m%d}0000" if scope.since else "199101010000"
        last = f"{scope.until:%Y%m%d}2359" if scope.until else "999912312359"
        return [f"submittedDate:[{first} TO {last}]"]


def _grouped(parts: list[str], between: str) -> str:
    return f"({between.join(parts)})" if len(parts) > 1 else "".join(parts)


def _found(entry: "Element") -> Found:
    identity = entry.findtext(f"{_ATOM}id") or ""
    if "/api/errors" in identity:
        raise _PARTY.no_answer(FailureKind.BAD_REQUEST)
    return Found(
        identity.strip().replace("http://", "https://", 1),
        # Text, not HTML: "x<y" stands in abstracts and is no tag.
        _escaped(entry.findtext(f"{_ATOM}title")),
        _escaped(entry.findtext(f"{_ATOM}summary")),
        published=entry.findtext(f"{_ATOM}published"),
        publisher="arXiv",
    )


def _escaped(text: str | None) -> str:
    return (text or "").replace("&", "&amp;").replace("<", "&lt;")

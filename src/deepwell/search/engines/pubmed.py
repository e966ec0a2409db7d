"""PubMed: medicine and the life sciences. https://www.ncbi.nlm.nih.gov/books/NBK25499/"""

from collections.abc import Mapping
from typing import Any

from deepwell.search.failures import FailureKind, Party
from deepwell.search.fitting import Fitting
from deepwell.search.hits import Asked, Found, hits_of
from deepwell.search.http import Parameters
from deepwell.search.shapes import dig
from deepwell.search.wording import quoted_keywords
from deepwell.vocabulary.plan import Query
from deepwell.vocabulary.source import Hit

_ADDRESS = "https://eutils.ncbi.nlm.nih.gov"
_MOST_RESULTS = 50
_MOST_AUTHORS = 6
_LANGUAGES = {
    "en": "eng", "de": "ger", "fr": "fre", "es": "spa", "it": "ita", "pt": "por", "ru": "rus", "zh": "chi",
    "ja": "jpn", "ko": "kor", "pl": "pol", "nl": "dut", "tr": "tur",
}  # fmt: skip


class PubMed:
    """Fulfils the port SearchEngine. A search is two requests: for the numbers of articles, then what they are."""

    name = "pubmed"

    def __init__(self, fitting: Fitting) -> None:
        self._fitting = fitting
        self._party = Party("PubMed", has_key=bool(fitting.key))

    async def search(self, query: Query, limit: int) -> list[Hit]:
        """The best hits first, at most `limit`. Raises NoAnswer."""
        numbers = self._numbers(await self._ask("esearch", self._wanted(query, limit)))
        if not numbers:
            return []
        summaries = dig(await self._ask("esummary", {"id": ",".join(numbers)}), "result")
        if not isinstance(summaries, Mapping):
            raise self._party.no_answer(FailureKind.MALFORMED)
        found = [_found(number, about) for number in numbers if isinstance(about := summaries.get(number), Mapping)]
        return hits_of(found, Asked(self.name, self._party, query, self._fitting.scope, limit))

    async def _ask(self, tool: str, parameters: Parameters) -> Any:
        sent = {"db": "pubmed", "retmode": "json", "tool": "deepwell", **parameters}
        if self._fitting.key:
            sent["api_key"] = self._fitting.key
        address = f"{self._fitting.address or _ADDRESS}/entrez/eutils/{tool}.fcgi"
        # Posted: an address stands in the logs of everything on the way, and this would hold the key.
        answer = await self._fitting.http.json(self._party, address, form=sent)
        if "rate limit" in str(dig(answer, "error")).lower():
            raise self._party.no_answer(FailureKind.RATE_LIMIT)
        return answer

    def _wanted(self, query: Query, limit: int) -> Parameters:
        scope = self._fitting.scope
        language = _LANGUAGES.get(scope.language)
        parameters: dict[str, str | int] = {
            "term": f"({quoted_keywords(query)}) AND {language}[la]" if language else quoted_keywords(query),
            "retmax": self._fitting.asked_for(limit, _MOST_RESULTS),
            "sort": "relevance",
        }
        if scope.since or scope.until:
            # It takes both or none.
            first = f"{scope.since:%Y/%m/%d}" if scope.since else "1800/01/01"
            last = f"{scope.until:%Y/%m/%d}" if scope.until else "3000/12/31"
            parameters |= {"datetype": "pdat", "mindate": first, "maxdate": last}
        return parameters

    def _numbers(self, answer: object) -> list[str]:
        if dig(answer, "esearchresult.ERROR"):
            raise self._party.no_answer(FailureKind.OVERLOAD)
        listed = dig(answer, "esearchresult.idlist")
        if not isinstance(listed, list):
            raise self._party.no_answer(FailureKind.MALFORMED)
        return [one for one in listed if isinstance(one, str) and one.isascii() and one.isdigit() and len(one) < 12]


def _found(number: str, about: Mapping[str, Any]) -> Found:
    authors = about.get("authors")
    names = [str(dig(one, "name") or "") for one in authors[:_MOST_AUTHORS]] if isinstance(authors, list) else []
    journal = about.get("fulljournalname") or about.get("source")
    told = (about.get("title"), ", ".join(filter(None, names)), journal, about.get("pubdate"))
    return Found(
        f"https://pubmed.ncbi.nlm.nih.gov/{number}/",
        about.get("title"),
        # The summary has no abstract: what it has says at least what the article is about, and who wrote it.
        " ".join(f"{part.rstrip('.')}." for part in told if isinstance(part, str) and part),
        published=_day(about.get("sortpubdate")),
        publisher=journal,
    )


def _day(sorted_date: object) -> str | None:
    """`2021/03/05 00:00` as a day."""
    return sorted_date[:10].replace("/", "-") if isinstance(sorted_date, str) else None

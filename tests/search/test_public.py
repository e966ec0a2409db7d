"""No word that only the user's documents can have told goes out to the web."""

from collections.abc import Iterable, Sequence
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deepwell.language.stems import fold, stem, stems
from deepwell.language.synonyms import expanded
from deepwell.language.words import STOPWORDS, words
from deepwell.library.facts import LibraryFacts
from deepwell.library.refreshing import refresh_libraries
from deepwell.search.events import SearchNarrowed
from deepwell.search.public import MOST_OF_A_PAGE, PublicHits, PublicOnly, PublicReader, PublicWords
from deepwell.testing import TextEngine
from deepwell.vocabulary.plan import Query

QUESTION = "Who founded Brightline, and how many people does it employ?"
SECRET = "The merger code name is HALCYON; the account is 4711-2290 and the password hunter2xyz."


class Texts:
    """Documents in memory."""

    def __init__(self, *texts: str, paths: Iterable[str] = ()) -> None:
        self._held = [frozenset(stems(text)) for text in texts]
        self._paths = tuple(paths)

    def frequency(self, term: str) -> int:
        return sum(set(stems(term)) <= held or (len(term) == 1 and term in "".join(held)) for held in self._held)

    def words_from(self, prefix: str) -> Sequence[str]:
        return [word for held in self._held for word in held if word.startswith(prefix)]

    def paths(self) -> Iterable[str]:
        return self._paths


def public(*documents: str, question: str = QUESTION, paths: Iterable[str] = ()) -> PublicWords:
    return PublicWords(question, Texts(*documents, paths=paths))


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("Brightline founder", "Brightline founder"),
        ("Brightline HALCYON merger", "Brightline"),
        ("Brightline Halcyons", "Brightline"),
        ("Brightline halcyo", "Brightline"),
        ("Brightline ＨＡＬＣＹＯＮ", "Brightline"),
        ("Brightline hal\u200bcyon", "Brightline"),
        ("Brightline merger-halcyon", "Brightline"),
        ("Brightline halcyonmerger", "Brightline"),
        ("Brightline H L C Y N", "Brightline"),
        ("Brightline SEFMQ1lPTg==", "Brightline"),
        ("Brightline ⠓⠁⠇⠉⠽⠕⠝ 🦚", "Brightline"),
        ("Brightline 4711 2290", "Brightline"),
        ("Brightline 47112290", "Brightline"),
        ("Brightline hunter2xyz hunter2", "Brightline"),
        ("Brightline НАLСYОN", "Brightline"),
        ("Brightline subsidiaries 2025", "Brightline subsidiaries 2025"),
        ("Brightline? (people, “employ”)", "Brightline? (people, employ )"),
    ],
)
def test_what_is_left_of_a_search(text: str, left: str) -> None:
    assert public(SECRET).narrowed(text) == left


def test_what_the_web_brought_is_public() -> None:
    words_known = public(SECRET)
    assert not words_known.admits("halcyon")
    words_known.learn("Halcyons are birds.")
    assert words_known.admits("halcyon")


def test_a_page_that_is_a_dictionary_makes_few_words_public() -> None:
    letters = "bcdfghjklmnp"
    dictionary = [f"{a}{b}{c}{d}" for a in letters for b in letters for c in letters for d in letters]
    words_known = public(" ".join(dictionary))
    words_known.learn(" ".join(dictionary))
    assert sum(map(words_known.admits, dictionary)) <= MOST_OF_A_PAGE < len(dictionary)


def test_names_of_files_and_folders_stay() -> None:
    assert public(paths=("/home/me/projects/halcyon/notes.md",)).narrowed("Brightline Halcyon") == "Brightline"


def test_chinese_is_compared_by_pairs() -> None:
    words_known = public("项目代号是翠鸟计划", question="亮线公司是谁创立的")
    assert words_known.narrowed("亮线公司翠鸟计划") == "亮线公司"
    assert words_known.narrowed("亮线公司 创立") == "亮线公司 创立"
    assert words_known.narrowed("翠") == ""
    assert words_known.narrowed("亮翠线鸟公计司划") == ""
    assert words_known.narrowed("亮线公司预算") == "亮线公司预算"


async def asked(query: Query, *documents: str) -> list[Query]:
    engine = TextEngine({"https://a.example": "Brightline was founded in Bremen."})
    await PublicOnly(engine, public(*documents)).search(query, 5)
    return engine.asked


async def test_only_what_may_go_out_does() -> None:
    query = Query(
        "Brightline founded",
        "halcyon",
        ("Brightline", "Project Halcyon"),
        "Halcyon Papers",
        "2031-04-05",
        "Who founded Halcyon?",
    )
    assert await asked(query, SECRET) == [Query("Brightline founded", phrases=("Brightline",))]


@pytest.mark.parametrize(
    "query",
    [Query("halcyon"), Query("employ", phrases=("Halcyon",)), Query("who is the"), Query("employ merger code")],
)
async def test_a_search_that_has_lost_its_matter_is_not_sent(query: Query) -> None:
    assert await asked(query, SECRET) == []


async def test_hits_answer_the_query_that_was_asked_and_teach_their_words() -> None:
    words_known = public(SECRET, "Bremen")
    engine = PublicOnly(TextEngine({"https://a.example": "Brightline was founded in Bremen."}), words_known)
    query = Query("Brightline founded halcyon")
    assert [hit.query for hit in await PublicHits(engine, words_known).search(query, 5)] == [query]
    assert words_known.admits("Bremen")
    assert engine.limits == (
        "Of the searches meant for the web 1 was shortened: words of your documents stay with you.",
    )
    await engine.search(Query("halcyon"), 5)
    assert "1 was shortened and 1 was not sent" in engine.limits[0]


async def test_documents_of_ones_own_teach_nothing() -> None:
    words_known, texts = public(SECRET), TextEngine({"a.md": SECRET})
    await PublicHits(texts, words_known).search(Query("halcyon"), 5)
    await PublicReader(texts, words_known).read("a.md")
    assert not words_known.admits("halcyon")


async def test_what_was_narrowed_before_a_crash_is_still_told_of() -> None:
    heard: list[object] = []

    async def listen(event: object) -> None:
        heard.append(event)

    engine = PublicOnly(TextEngine({}), public(SECRET), listen, {"halcyon": False, "other": True})
    await engine.search(Query("halcyon"), 5)
    assert not heard
    await engine.search(Query("Brightline founded halcyon"), 5)
    assert heard == [SearchNarrowed("Brightline founded halcyon", sent=True)]
    assert "2 were shortened and 1 was not sent" in engine.limits[0]


async def test_pages_that_are_read_teach_their_words() -> None:
    words_known = public("Kessler")
    reader = PublicReader(TextEngine({"https://a.example": "Maria Kessler founded it."}), words_known)
    assert not words_known.admits("Kessler")
    await reader.read("https://a.example")
    assert words_known.admits("Kessler")


async def test_a_search_that_was_not_touched_is_not_told_of() -> None:
    engine = PublicOnly(TextEngine({}), public(SECRET))
    await engine.search(Query("Who founded “Brightline”?", SECRET, ("“Brightline”",)), 5)
    assert engine.limits == ()


def test_the_library_is_asked_in_its_own_forms(tmp_path: Path) -> None:
    folder = tmp_path / "notes"
    folder.mkdir()
    (folder / "halibut.md").write_text(
        "# Kingfisher\n\nThe ﬁnch was made by Rösler, merging twice. 秘密计划。", "utf-8"
    )
    indexed = refresh_libraries([folder], tmp_path / "home")
    with closing(LibraryFacts(indexed.libraries)) as facts:
        words_known = PublicWords("Who founded Brightline?", facts)
        for told in ("kingfishers", "finch", "made", "rosler", "Rösler", "merged", "halibut", "秘密", "计划"):
            assert not words_known.admits(told), told
        for free in ("Brightline", "founder", "subsidiary", "established", "2025", "预算"):
            assert words_known.admits(free), free


VOCABULARY = st.sampled_from(
    "kessler bremen halcyon gears founded people 4711 x7q 秘密 计划 翠鸟 merger bright line".split()
)
TEXT = st.lists(VOCABULARY | st.text(max_size=8), max_size=6).map(" ".join)


@given(st.lists(TEXT, max_size=3), TEXT, TEXT, TEXT, st.lists(TEXT, max_size=2))
async def test_every_word_that_goes_out_is_public(
    documents: list[str], question: str, web: str, text: str, phrases: list[str]
) -> None:
    words_known = PublicWords(question, Texts(*documents))
    words_known.learn(web)
    engine = TextEngine({})
    await PublicOnly(engine, words_known).search(Query(text, documents[0] if documents else "", tuple(phrases)), 5)
    told = {key(word) for word in (*spoken(question), *expanded(words(question)), *spoken(web))}
    for query in engine.asked:
        for word in (word for sent in (query.text, query.sentence, *query.phrases) for word in spoken(sent)):
            held = any(word in spoken(document) for document in documents)
            assert key(word) in told or word in STOPWORDS or not held, word


def spoken(text: str) -> list[str]:
    return [fold(word) for word in words(text)]


def key(word: str) -> str:
    return stem(fold(word))

"""How much of an article is kept, and how little else: 181 real pages against the text that people marked in them."""

import gzip
import json
import os
import re
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import mean, quantiles

from deepwell.errors import Unreadable
from deepwell.reading.html import read, read_web
from deepwell.reading.sniffing import decoded
from deepwell.reading.web_page import shown

WANTED = 0.960
_WORD = re.compile(r"\w+")
_TOGETHER = 4
"""Words in a row that must be the same to count."""


@dataclass(frozen=True, slots=True)
class Page:
    """A page as it was fetched, and the article in it."""

    name: str
    body: bytes
    article: str


@dataclass(frozen=True, slots=True)
class Score:
    """How one page went."""

    precision: float | None
    """None when nothing was found at all."""
    recall: float
    cpu_seconds: float
    was_refused: bool


def main(data: Path) -> None:
    """Print one row a reader; rules are chosen on the first half of the pages and confirmed on the second."""
    folder = data / "html_aeb"
    if not folder.is_dir():
        print("\nextraction: html_aeb is not there, skipped")
        return
    pages = load(folder)
    print(f"\nextraction: {len(pages)} pages, F1 of {_TOGETHER} words in a row (at least {WANTED:.3f} from the web)")
    print("  reader               F1  precision  recall  half 1  half 2  refused  CPU ms p50 / p95")
    for name, reader in (("local files", read), ("web", _read_web)):
        _print_row(name, [_score(reader, page) for page in pages])


def load(folder: Path) -> list[Page]:
    """All pages, in the order of their names."""
    truth = json.loads((folder / "ground-truth.json").read_text(encoding="utf-8"))
    return [
        Page(
            name=shown(about["url"]),
            body=gzip.decompress((folder / "html" / f"{key}.html.gz").read_bytes()),
            article=about["articleBody"],
        )
        for key, about in sorted(truth.items())
    ]


def f1(scores: Sequence[Score]) -> tuple[float, float, float]:
    """F1 of the mean precision and the mean recall, and these two; every page counts the same."""
    precision = mean(score.precision for score in scores if score.precision is not None)
    recall = mean(score.recall for score in scores)
    return 2 * precision * recall / (precision + recall), precision, recall


def _read_web(body: bytes, name: str) -> object:
    return read_web(decoded(body, None).encode("utf-8", "replace"), name)


def _score(reader: Callable[[bytes, str], object], page: Page) -> Score:
    started = time.process_time()
    try:
        text = str(getattr(reader(page.body, page.name), "text", ""))
        was_refused = False
    except Unreadable:
        text, was_refused = "", True
    seconds = time.process_time() - started
    found, wanted = _shingles(text), _shingles(page.article)
    same = (found & wanted).total()
    return Score(same / found.total() if found else None, same / wanted.total(), seconds, was_refused)


def _shingles(text: str) -> Counter[tuple[str, ...]]:
    words = _WORD.findall(text)
    starts = range(max(1, len(words) - _TOGETHER + 1))
    return Counter(tuple(words[start : start + _TOGETHER]) for start in starts if words)


def _print_row(name: str, scores: list[Score]) -> None:
    halves = [f1(scores[first::2])[0] for first in (0, 1)]
    cpu = quantiles([score.cpu_seconds * 1000 for score in scores], n=20)
    cells = (*(f"{value:.4f}" for value in (*f1(scores), *halves)), str(sum(s.was_refused for s in scores)))
    print(f"  {name:<18}", "   ".join(cells), f"  {cpu[9]:.0f} / {cpu[18]:.0f}")


if __name__ == "__main__":
    main(Path(os.environ.get("DATA", "../shared/data")))

"""Public question sets as libraries on disk and questions with what a run should have kept."""

import json
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Asked:
    """A question and the texts that a run should keep; none when the library cannot answer it."""

    question: str
    wanted: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class QuestionSet:
    """A library as files, and questions to it."""

    name: str
    files: dict[str, str]
    """File name to Markdown."""
    asked: tuple[Asked, ...]
    holds: Callable[[str, str], bool]
    """Whether a kept passage (with its title in front) holds a wanted text."""

    def written_to(self, folder: Path) -> Path:
        """The library as a folder of documents."""
        root = folder / self.name
        root.mkdir(parents=True, exist_ok=True)
        for name, text in self.files.items():
            (root / name).write_text(text, encoding="utf-8")
        return root

    def sample(self, size: int | None) -> Sequence[Asked]:
        """A fixed random part of the questions; all of them when no size is given."""
        if size is None or size >= len(self.asked):
            return self.asked
        return random.Random(7).sample(self.asked, size)  # noqa: S311 - a sample, not a secret


def multihoprag(data: Path) -> QuestionSet:
    """609 news articles; questions over two to four of them; a fact counts when its text is in a kept passage."""
    corpus = json.loads((data / "multihoprag" / "corpus.json").read_text("utf-8"))
    queries = json.loads((data / "multihoprag" / "queries.json").read_text("utf-8"))
    files = {f"{i:04d}.md": _article(article) for i, article in enumerate(corpus)}
    asked = tuple(Asked(q["query"], tuple(e["fact"] for e in q["evidence_list"])) for q in queries)
    return QuestionSet("multihoprag", files, asked, lambda passage, fact: _squashed(fact) in _squashed(passage))


def musique(data: Path) -> QuestionSet:
    """1,890 encyclopedia passages; chains of two to four of them."""
    corpus = json.loads((data / "musique100" / "musique_train_corpus.json").read_text("utf-8"))
    queries = json.loads((data / "musique100" / "musique_train.json").read_text("utf-8"))
    files = {f"{i:04d}.md": _front({"title": p["title"]}) + p["text"] for i, p in enumerate(corpus)}
    asked = tuple(
        Asked(q["question"], tuple(p["paragraph_text"] for p in q["paragraphs"] if p["is_supporting"])) for q in queries
    )
    return QuestionSet("musique", files, asked, lambda passage, text: _squashed(text)[:400] in _squashed(passage))


def _article(article: dict[str, str]) -> str:
    facts = {
        "title": article["title"],
        "author": article["author"],
        "publisher": article["source"],
        "date": article["published_at"],
    }
    return _front(facts) + article["body"]


def _front(facts: dict[str, str]) -> str:
    lines = "".join(f"{key}: {json.dumps(value, ensure_ascii=False)}\n" for key, value in facts.items() if value)
    return f"---\n{lines}---\n\n"


def _squashed(text: str) -> str:
    return "".join(text.split())

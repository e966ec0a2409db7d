"""A small folder of documents and its index."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from deepwell.library.index import Index
from deepwell.library.ingest import refresh

SOLAR = """---
title: Solar power in Norway
author: Ada Writer
publisher: The Daily
date: 2023-10-07
---
# Solar power

Solar panels work in the cold. They reach 20 percent. Café owners use them.
"""
WIND = "---\ntitle: Wind in Denmark\npublisher: Wire\n---\nWind turbines turn. Running costs fall as turbines grow.\n"
JAPAN = "# 日本の電力\n\n太陽光発電は成長している。風力もある。\n"


@pytest.fixture
def docs(tmp_path: Path) -> Path:
    root = tmp_path / "docs"
    (root / "Reports").mkdir(parents=True)
    (root / "solar.md").write_text(SOLAR)
    (root / "Reports" / "wind.md").write_text(WIND)
    (root / "japan.md").write_text(JAPAN)
    return root


@pytest.fixture
def index(tmp_path: Path) -> Iterator[Index]:
    with Index(tmp_path / "home" / "docs.db") as made:
        yield made


@pytest.fixture
def filled(docs: Path, index: Index) -> Index:
    refresh(docs, index)
    return index


@pytest.fixture(scope="session")
def assert_whole() -> Callable[[Index], None]:
    """Every document has all its passages and every passage its terms, and SQLite finds no fault."""

    def check(index: Index) -> None:
        ask = index.connection.execute
        assert ask("PRAGMA integrity_check").fetchall() == [("ok",)]
        assert ask("PRAGMA foreign_key_check").fetchall() == []
        ask("INSERT INTO passage_terms (passage_terms) VALUES ('integrity-check')")
        assert ask("SELECT id FROM passages EXCEPT SELECT rowid FROM passage_terms").fetchall() == []
        assert ask("SELECT rowid FROM passage_terms EXCEPT SELECT id FROM passages").fetchall() == []
        missing = "SELECT path FROM documents WHERE hash NOTNULL AND id NOT IN (SELECT document FROM passages)"
        assert ask(missing).fetchall() == []

    return check

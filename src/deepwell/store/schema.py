"""The tables of the run store: one list of statements for each format the file has had."""

_FIRST = """
CREATE TABLE runs (
    id TEXT PRIMARY KEY,
    question TEXT NOT NULL,
    status TEXT NOT NULL,
    started_at TEXT NOT NULL,
    finished_at TEXT,
    version TEXT NOT NULL,
    pid INTEGER NOT NULL,
    host TEXT NOT NULL,
    configuration TEXT NOT NULL,
    libraries TEXT NOT NULL,
    stop_reason TEXT,
    report TEXT,
    phase_state TEXT,
    record TEXT
) STRICT;
CREATE INDEX runs_by_start ON runs (started_at);

CREATE TABLE journal (
    run TEXT NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
    seq INTEGER NOT NULL,
    at TEXT NOT NULL,
    kind TEXT NOT NULL,
    payload TEXT NOT NULL,
    PRIMARY KEY (run, seq)
) STRICT, WITHOUT ROWID;

-- A text is kept once, whoever read it and however often.
CREATE TABLE sources (
    hash TEXT PRIMARY KEY,
    address TEXT NOT NULL,
    title TEXT NOT NULL,
    kind TEXT NOT NULL,
    author TEXT,
    publisher TEXT,
    published TEXT,
    retrieved_at TEXT NOT NULL,
    text BLOB NOT NULL
) STRICT;

CREATE TABLE run_sources (
    run TEXT NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
    number INTEGER NOT NULL,
    hash TEXT NOT NULL REFERENCES sources (hash),
    address TEXT NOT NULL,
    title TEXT NOT NULL,
    retrieved_at TEXT NOT NULL,
    PRIMARY KEY (run, number)
) STRICT, WITHOUT ROWID;

CREATE TABLE passages (
    run TEXT NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
    rank INTEGER NOT NULL,
    source TEXT NOT NULL REFERENCES sources (hash),
    start INTEGER NOT NULL,
    end INTEGER NOT NULL,
    PRIMARY KEY (run, rank)
) STRICT, WITHOUT ROWID;

CREATE TABLE claims (
    run TEXT NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
    number INTEGER NOT NULL,
    claim TEXT NOT NULL,
    subquestion TEXT NOT NULL,
    topic TEXT NOT NULL,
    confidence REAL NOT NULL,
    support REAL,
    uncertainty TEXT,
    spans TEXT NOT NULL,
    PRIMARY KEY (run, number)
) STRICT, WITHOUT ROWID;

CREATE TABLE citations (
    run TEXT NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
    number INTEGER NOT NULL,
    sentence TEXT NOT NULL,
    source_ids TEXT NOT NULL,
    spans TEXT NOT NULL,
    PRIMARY KEY (run, number)
) STRICT, WITHOUT ROWID;
"""

_SECOND = """
-- What an address answered, and when: facts of this page, which may share its text with others.
CREATE TABLE pages (
    asked TEXT PRIMARY KEY,
    hash TEXT NOT NULL REFERENCES sources (hash),
    address TEXT NOT NULL,
    title TEXT NOT NULL,
    kind TEXT NOT NULL,
    author TEXT,
    publisher TEXT,
    published TEXT,
    retrieved_at TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- The same for the sources of a run: until now these facts were those of the first source with the same text.
ALTER TABLE run_sources ADD COLUMN kind TEXT NOT NULL DEFAULT 'text';
ALTER TABLE run_sources ADD COLUMN author TEXT;
ALTER TABLE run_sources ADD COLUMN publisher TEXT;
ALTER TABLE run_sources ADD COLUMN published TEXT;
UPDATE run_sources SET (kind, author, publisher, published) = (
    SELECT kind, author, publisher, published FROM sources WHERE sources.hash = run_sources.hash
);
"""

_THIRD = """
-- Who works on a run: it holds a lease that it renews, and that another may take over when it has run out.
ALTER TABLE runs ADD COLUMN holder TEXT;
ALTER TABLE runs ADD COLUMN lease_until TEXT;
ALTER TABLE runs ADD COLUMN generation INTEGER NOT NULL DEFAULT 0;
-- Seconds of its time that a run has used, over all processes that worked on it.
ALTER TABLE runs ADD COLUMN used_s REAL NOT NULL DEFAULT 0;
-- Where the program was called: the paths of documents are as they were typed there.
ALTER TABLE runs ADD COLUMN folder TEXT NOT NULL DEFAULT '';
ALTER TABLE runs ADD COLUMN engines TEXT NOT NULL DEFAULT '[]';
-- The settings that were chosen. The others may have to follow the tier, once that is known.
ALTER TABLE runs ADD COLUMN chosen TEXT;

-- What was asked outside and answered: a run that goes on after a crash finds it here, and so does a replay.
CREATE TABLE calls (
    run TEXT NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
    kind TEXT NOT NULL,
    key TEXT NOT NULL,
    n INTEGER NOT NULL,
    used_s REAL NOT NULL,
    outcome BLOB NOT NULL,
    PRIMARY KEY (run, kind, key, n)
) STRICT, WITHOUT ROWID;
"""


def _statements(script: str) -> tuple[str, ...]:
    return tuple(statement for statement in script.split(";") if statement.strip())


MIGRATIONS = (_statements(_FIRST), _statements(_SECOND), _statements(_THIRD))

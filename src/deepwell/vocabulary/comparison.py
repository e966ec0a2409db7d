"""Two runs set side by side: what both say, what changed, what is gone and what is new."""

from dataclasses import dataclass
from typing import Any, Literal

from deepwell.vocabulary.run import KeptSource, Span

ChangeKind = Literal["number", "date", "direction", "negation", "name", "wording"]


@dataclass(frozen=True, slots=True)
class Statement:
    """One sentence of a report that carries citations, or one claim of a run without a report."""

    text: str
    """The sentence without its citation markers."""
    source_ids: tuple[int, ...] = ()
    """The sources it cites, by their numbers in its own run; empty for a claim."""
    spans: tuple[Span, ...] = ()
    """The kept passages behind it; empty when only the source is known."""


@dataclass(frozen=True, slots=True)
class Spot:
    """A piece of a statement: `statement.text[start:end] == spot.text`."""

    start: int
    end: int
    text: str


@dataclass(frozen=True, slots=True)
class Change:
    """One thing that a statement says otherwise than before."""

    what: ChangeKind
    before: Spot | None
    """None: it was not said before."""
    after: Spot | None
    """None: it is said no more."""

    @property
    def sentence(self) -> str:
        """What changed, in words: `12 % → 21 %`."""
        if self.before and self.after:
            return f"{self.before.text} → {self.after.text}"
        if self.before:
            return f"“{self.before.text}” is gone"
        return f"“{self.after.text}” is new" if self.after else ""


@dataclass(frozen=True, slots=True)
class Kept:
    """Both runs say it."""

    before: Statement
    after: Statement
    reworded: bool
    """True when they say it in other words, with the same numbers and dates."""


@dataclass(frozen=True, slots=True)
class Changed:
    """Both runs speak of the same thing, and not alike."""

    before: Statement
    after: Statement
    changes: tuple[Change, ...]
    """What differs, in the order of the earlier statement; never empty."""


@dataclass(frozen=True, slots=True)
class Gone:
    """Only the earlier run says it."""

    before: Statement


@dataclass(frozen=True, slots=True)
class New:
    """Only the later run says it."""

    after: Statement


@dataclass(frozen=True, slots=True)
class Comparison:
    """The statements of two runs; each stands in exactly one place on its side."""

    kept: tuple[Kept, ...] = ()
    changed: tuple[Changed, ...] = ()
    gone: tuple[Gone, ...] = ()
    new: tuple[New, ...] = ()


@dataclass(frozen=True, slots=True)
class SourceChange:
    """What became of one source."""

    before: KeptSource | None
    """None: only the later run uses it."""
    after: KeptSource | None
    """None: only the earlier run uses it."""

    @property
    def what(self) -> Literal["kept", "changed", "gone", "new"]:
        """`changed`: the same address with another text."""
        if self.before is None:
            return "new"
        if self.after is None:
            return "gone"
        return "kept" if self.before.hash == self.after.hash else "changed"


@dataclass(frozen=True, slots=True)
class SettingChange:
    """A setting under which the two runs were made differently."""

    name: str
    before: Any
    """None: unset, or not known to the version that made the run."""
    after: Any
    """None: unset, or not known to the version that made the run."""


@dataclass(frozen=True, slots=True)
class RunComparison:
    """Two runs compared: what they say, what they rest on, and how they were made."""

    statements: Comparison
    sources: tuple[SourceChange, ...]
    settings: tuple[SettingChange, ...]

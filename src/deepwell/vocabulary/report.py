"""The report, its parts, and the honest alternative to one."""

from dataclasses import dataclass

from deepwell.vocabulary.decision import StopReason
from deepwell.vocabulary.evidence import Evidence
from deepwell.vocabulary.source import Passage, SourceCard


@dataclass(frozen=True, slots=True)
class NumberedEvidence:
    """Evidence with the run's own source ids, as a writer is shown it."""

    evidence: Evidence
    source_ids: tuple[int, ...]
    told_by: tuple[str, ...] = ()
    """The sources' titles with publisher and date, in the order of the ids."""

    @property
    def marker(self) -> str:
        """The citation as it stands in the text: `[1][4]`."""
        return "".join(f"[{number}]" for number in self.source_ids)


@dataclass(frozen=True, slots=True)
class Section:
    """One part of the outline: its heading and the evidence it may use."""

    heading: str
    purpose: str
    evidence: tuple[NumberedEvidence, ...] = ()
    subquestion: str = ""
    notes: tuple[str, ...] = ()
    """What to say without evidence, such as what was not found."""


@dataclass(frozen=True, slots=True)
class Outline:
    """The parts of the report in order; the first one answers the question."""

    title: str
    sections: tuple[Section, ...]


@dataclass(frozen=True, slots=True)
class Unanswerable:
    """In place of an outline: the evidence does not answer the question, and this is what it lacks."""

    missing: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Citation:
    """A report sentence tied to passages of the sources it names."""

    sentence: str
    source_ids: tuple[int, ...]
    passages: tuple[Passage, ...] = ()
    """The kept spans behind the sentence; empty when only the source is known."""


@dataclass(frozen=True, slots=True)
class WrittenSection:
    """A section as it will stand in the report."""

    heading: str
    text: str


@dataclass(frozen=True, slots=True)
class Methodology:
    """What limited the run and how it was carried out, for the reader."""

    stop: StopReason
    lines: tuple[str, ...] = ()
    """Full sentences; empty when nothing limited the run."""
    tags: tuple[str, ...] = ()
    """Such as `#RETRY_EXHAUSTED`."""
    spend: tuple[str, ...] = ()
    """What models were used for and what that took, in full sentences; empty without a model."""


@dataclass(frozen=True, slots=True)
class Report:
    """An answer whose every citation resolves to a kept source."""

    title: str
    sections: tuple[WrittenSection, ...]
    citations: tuple[Citation, ...]
    sources: tuple[SourceCard, ...]
    """What was cited, and nothing else."""
    methodology: Methodology
    markdown: str


@dataclass(frozen=True, slots=True)
class NotFound:
    """There is no report: nothing that answers the question was found."""

    question: str
    searched: tuple[str, ...]
    """Every search that was run."""
    missing: tuple[str, ...]
    """What of the question could not be found, in words."""
    methodology: Methodology
    markdown: str


Outcome = Report | NotFound

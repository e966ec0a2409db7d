"""Keeps the payload up to date while the report is written."""

from deepwell.nodes.progress import Past, Write, current_means, emit, seconds_left
from deepwell.ports import Workbench
from deepwell.stages.judge.forecast import Work, forecast, sections_in_a_row, usual
from deepwell.stages.judge.progress import writing_progress
from deepwell.state import ResearchState
from deepwell.vocabulary.progress import Forecast, SectionProgress, SectionStatus
from deepwell.vocabulary.report import Outline


class WritingBoard:
    """The outline, then the sections, as they are begun and written."""

    def __init__(self, state: ResearchState, bench: Workbench, write: Write) -> None:
        self._state, self._bench, self._write = state, bench, write
        self._began_at = bench.clock.monotonic()
        self._planning_s = Past.of(state.get("runtime_progress"), state["budget"], self._began_at).planning_s
        self._judgement_s = self._planning_s
        self._headings: tuple[str, ...] | None = None
        self._statuses: list[SectionStatus] = []
        self._began: dict[int, float] = {}
        self._took: list[float] = []

    def outlined(self, outline: Outline) -> None:
        """The outline is made: from now on the sections are counted."""
        self._headings = tuple(section.heading for section in outline.sections)
        self._statuses = ["waiting"] * len(outline.sections)
        took = self._bench.clock.monotonic() - self._began_at
        self._judgement_s = max(took, self._judgement_s or 0.0)
        self.tell()

    def section_changed(self, index: int, status: SectionStatus) -> None:
        """Show that a section was begun or written."""
        now = self._bench.clock.monotonic()
        self._statuses[index] = status
        if status == "writing":
            self._began[index] = now
        else:
            self._took.append(now - self._began.pop(index))
        self.tell()

    def tell(self) -> None:
        """Show the report as far as it is."""
        now, budget = self._bench.clock.monotonic(), self._state["budget"]
        common = current_means(self._bench, budget, now, self._forecast(now), self._planning_s)
        sections = None if self._headings is None else self._sections(self._headings, now)
        stop = self._state["research_record"].stop
        emit(self._write, writing_progress(common, sections, self._state["evidence_ledger"], stop and stop.value))

    def _forecast(self, now: float) -> Forecast:
        left, limits = seconds_left(self._state["budget"], now), self._state["configuration"]
        if self._headings is None:
            outline = Work((now - self._began_at,), usual_s=self._judgement_s)
            row = sections_in_a_row(len(self._state["plan"].subquestions), limits)
            after = None if self._judgement_s is None else row * self._judgement_s
            return forecast(outline, after_s=after, left_s=left)
        running = tuple(now - began for began in self._began.values())
        at_once = len(self._statuses) if limits.section_mode == "parallel" else 1
        waiting = self._statuses.count("waiting")
        return forecast(Work(running, waiting, max(at_once, 1), usual(self._took, self._judgement_s)), left_s=left)

    def _sections(self, headings: tuple[str, ...], now: float) -> list[SectionProgress]:
        return [
            SectionProgress(heading=heading, status=self._statuses[i], running_s=self._running_s(i, now))
            for i, heading in enumerate(headings)
        ]

    def _running_s(self, index: int, now: float) -> float | None:
        began = self._began.get(index)
        return None if began is None else round(now - began, 3)

"""final_report_generation: write, check every citation, and put the report together."""

from typing import Any

from langchain_core.messages import AIMessage
from langchain_core.runnables import RunnableConfig
from langgraph.types import StreamWriter

from deepwell.nodes.bench import workbench
from deepwell.nodes.progress import pulsing
from deepwell.nodes.writing_progress import WritingBoard
from deepwell.ports import Workbench
from deepwell.stages.judge.standing import open_gaps
from deepwell.stages.verify.existence import check_existence
from deepwell.stages.write import compose, document
from deepwell.stages.write.methodology import methodology, overrun
from deepwell.state import ResearchState
from deepwell.vocabulary.events import CitationRemoved, ReportWritten
from deepwell.vocabulary.moments import ReportMoment
from deepwell.vocabulary.report import Methodology, NotFound, Outcome, Outline, Report, Unanswerable


async def final_report_generation(
    state: ResearchState, config: RunnableConfig, *, writer: StreamWriter
) -> dict[str, Any]:
    """The report, or the statement that nothing was found."""
    bench = workbench(config)
    progress = WritingBoard(state, bench, writer)
    async with pulsing(progress.tell):
        outcome = await _outcome(state, bench, progress)
    await bench.journal.record(_written(outcome))
    return {"outcome": outcome, "final_report": outcome.markdown, "messages": [AIMessage(outcome.markdown)]}


async def _outcome(state: ResearchState, bench: Workbench, progress: WritingBoard) -> Outcome:
    brief, record, catalogue = state["research_brief"], state["research_record"], state["catalogue"]
    gaps = tuple(dict.fromkeys(gap.text for gap in open_gaps(record.by_subquestion)))
    evidence = compose.numbered(state["evidence_ledger"], catalogue)
    if not evidence:
        return await _not_found(state, gaps, bench)
    outline = await bench.analyst.outline(brief, state["plan"], evidence, gaps)
    if isinstance(outline, Unanswerable):
        judged = f"{len(evidence)} claims were found and kept; none of them was judged to answer the question."
        return await _not_found(state, outline.missing, bench, (judged,))
    progress.outlined(outline)
    return await _report(state, outline, bench, progress)


async def _report(state: ResearchState, outline: Outline, bench: Workbench, progress: WritingBoard) -> Outcome:
    sections = await compose.written_sections(
        state["research_brief"], outline, bench.analyst, state["configuration"], progress.section_changed
    )
    checked = check_existence(sections, state["catalogue"], state["evidence_ledger"])
    await bench.journal.record(*(CitationRemoved(number) for number in checked.removed))
    if not checked.citations:
        return await _not_found(state, ("No sentence of the text could be traced to a kept source.",), bench)
    method = await _method(state, bench, len(checked.removed))
    return document.report(outline.title, checked.sections, checked.citations, state["catalogue"], method)


async def _not_found(
    state: ResearchState, missing: tuple[str, ...], bench: Workbench, notes: tuple[str, ...] = ()
) -> NotFound:
    record = state["research_record"]
    method = await _method(state, bench, notes=notes)
    verdict = document.verdict(record, method.stop, own_documents=bench.own_documents)
    return document.not_found(state["research_brief"].question, record.searched, missing, method, verdict)


async def _method(state: ResearchState, bench: Workbench, removed: int = 0, notes: tuple[str, ...] = ()) -> Methodology:
    own = (*bench.limits, *bench.search_limits())
    told = await bench.moments.taken(("report",), ReportMoment(own, tuple(bench.degradations), bench.account.lines))
    # A replay has limits of its own, beside those of the run: what the journal does not tell.
    limits = dict.fromkeys((*told.limits, *own))
    return methodology(
        state["research_record"],
        state["configuration"],
        (*notes, *limits, *overrun(told.spend, state["budget"])),
        removed,
        degradations=told.degradations,
        spend=told.spend,
    )


def _written(outcome: Outcome) -> ReportWritten:
    if isinstance(outcome, Report):
        return ReportWritten(True, len(outcome.sections), len(outcome.citations), len(outcome.sources))
    return ReportWritten(False, 0, 0, 0)

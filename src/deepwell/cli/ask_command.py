"""`deepwell ask`: a question, from the options as they were typed to the printed report."""

import asyncio
import os
import sys
from collections.abc import Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

from deepwell.cli import printed
from deepwell.cli.exit_codes import Exit
from deepwell.cli.guarded import errors, guarded, output, said
from deepwell.cli.interrupting import TwoStepInterrupt
from deepwell.cli.view import View, choose_view
from deepwell.configuration import Configuration, home
from deepwell.errors import BadRequest


@dataclass(frozen=True, slots=True)
class AskOptions:
    """The options of `ask` as they were typed."""

    question: str
    docs: tuple[Path, ...]
    search: str | None
    scope: Mapping[str, str | None]
    """Settings of where and when to search, by name."""
    time: str | None
    deep: bool
    tier: str | None
    model: str | None
    max_tokens: int | None
    max_cost: float | None
    settings: tuple[str, ...]
    out: Path | None
    as_json: bool
    quiet: bool


def ask(options: AskOptions) -> NoReturn:
    """Research a question and print the report."""
    sys.exit(guarded(lambda: _ask(options)))


def dry_run(options: AskOptions) -> NoReturn:
    """Say what a run would use."""

    async def estimated() -> Exit:
        from deepwell.cli import model_commands

        question = sys.stdin.read() if options.question == "-" else options.question
        return model_commands.dry_run(output, question, _configuration(options), as_json=options.as_json)

    sys.exit(guarded(estimated))


@dataclass(frozen=True, slots=True)
class Printing:
    """What becomes of a finished run."""

    out: Path | None = None
    as_json: bool = False
    quiet: bool = False


def resume(name: str, printing: Printing) -> NoReturn:
    """Go on with an interrupted run and print its report."""

    async def resumed() -> Exit:
        from deepwell import api

        return await _worked(lambda **how: api.resume(name, **how), printing)

    sys.exit(guarded(resumed))


def replay(name: str, settings: Sequence[str], printing: Printing) -> NoReturn:
    """Follow a finished run once more from its journal, and print the report."""

    async def replayed() -> Exit:
        from deepwell import api

        changed = dict(setting(text) for text in settings)
        return await _worked(lambda **how: api.replay(name, changed, **how), printing)

    sys.exit(guarded(replayed))


async def _ask(options: AskOptions) -> Exit:
    from deepwell import api

    question = sys.stdin.read() if options.question == "-" else options.question

    def begun(**how: Any) -> Coroutine[Any, Any, Any]:
        return api.research(api.request(question, options.docs, _configuration(options), **how))

    return await _worked(begun, Printing(options.out, options.as_json, options.quiet))


async def _worked(work: Callable[..., Coroutine[Any, Any, Any]], printing: Printing) -> Exit:
    """Do the work under the eyes of the user, and print what came of it."""
    interrupted = asyncio.Event()
    _check_writable(printing.out)
    with choose_view(errors, quiet=printing.quiet) as view, TwoStepInterrupt(interrupted, view):
        run = await work(interrupted=interrupted, watcher=_watcher(view))
    await _print_run(run, printing)
    if not printing.quiet:
        _say_degradations(run)
        _say_missed(run)
    if run.unsaved:
        return said(f"This report could not be saved. {run.unsaved}", Exit.STORE)
    if run.found:
        return Exit.REPORT
    return Exit.INTERRUPTED if interrupted.is_set() else Exit.NOTHING_FOUND


def _say_degradations(run: Any) -> None:
    if not run.degradations:
        return
    parts = list(dict.fromkeys(one.part for one in run.degradations))
    what = parts[0] if len(parts) == 1 else f"{len(parts)} parts"
    said(f"{what} had to be made without the model ({run.degradations[-1].reason} See Methodology.)", Exit.REPORT)


def _say_missed(run: Any) -> None:
    if not run.missed:
        return
    from deepwell.replaying import in_words

    where = f" `deepwell show {run.id} --journal` lists them." if len(run.missed) > 1 else ""
    said(f"The journal ends here: this run {in_words(run.missed)}.{where}", Exit.REPORT)


async def _print_run(run: Any, printing: Printing) -> None:
    if printing.out:
        printing.out.write_text(run.markdown, encoding="utf-8")
        errors.print(f"report written to {printing.out} (run {run.id})", markup=False, highlight=False, soft_wrap=True)
    if printing.as_json and not run.unsaved:
        await _print_json(run.id)
    elif not printing.out:
        printed.markdown(output, run.markdown)
        if output.is_terminal and not printing.quiet:
            errors.print(f"run {run.id} · deepwell show {run.id} --sources", style="dim", highlight=False)


async def _print_json(run: str) -> None:
    from deepwell.assemble import opened_store
    from deepwell.cli.source_commands import kept_sources

    async with opened_store(home()) as store:
        stored = await store.load(run)
        printed.run_json(stored, await kept_sources(store, stored), await store.journal(run))


def _configuration(options: AskOptions) -> Configuration:
    """The typed options over the environment. Raises BadConfiguration."""
    values: dict[str, Any] = dict(setting(text) for text in options.settings)
    if options.deep and options.tier not in (None, "deep"):
        raise BadRequest(f"--deep and --tier {options.tier} contradict each other: give one of them.")
    if options.deep or options.tier:
        values["tier"] = "deep" if options.deep else options.tier
    values |= {name: value for name, value in _budget_options(options).items() if value is not None}
    if options.time is not None:
        values["max_execution_time_s"] = _seconds(options.time)
    return Configuration.build(**values)


def _budget_options(options: AskOptions) -> dict[str, Any]:
    return {
        "search_provider": options.search,
        **options.scope,
        "orchestrator_model": options.model,
        # One name on the command line means both; the units' own setting would otherwise bring in a second provider.
        "subagent_model": options.model,
        "token_budget": options.max_tokens,
        "cost_budget_usd": options.max_cost,
    }


def setting(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not equals:
        raise BadRequest(f"--set takes NAME=VALUE, for example --set max_researcher_iterations=6, got {text!r}.")
    return name.strip(), value.strip()


def _seconds(minutes: str) -> float | None:
    if minutes.strip().lower() == "unlimited":
        return None
    try:
        value = float(minutes)
    except ValueError:
        value = -1.0
    if not 0.1 <= value <= 10080:
        raise BadRequest(f"--time takes minutes (0.1 to 10080) or `unlimited`, got {minutes!r}.")
    return value * 60


def _check_writable(out: Path | None) -> None:
    """A report that cannot be written is noticed before the research, not after."""
    if out is None:
        return
    folder = out.parent
    if out.is_dir() or not folder.is_dir() or not os.access(out if out.exists() else folder, os.W_OK):
        raise BadRequest(f"{out} cannot be written: give --out a file in an existing, writable folder.")


def _watcher(view: View) -> Any:
    from deepwell.api import Watcher
    from deepwell.library.refreshing import Libraries

    class Shown(Watcher):
        indexing = staticmethod(view.indexing)
        phase = staticmethod(view.phase)
        progress = staticmethod(view.progress)

        def indexed(self, libraries: Libraries) -> None:
            for skipped in libraries.skipped:
                view.say(printed.skip_line(skipped))

    return Shown()

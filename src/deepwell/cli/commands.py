"""What each command does. Imported only when a command runs."""

import asyncio
import logging
import os
import signal
import sys
from collections.abc import Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

from rich.console import Console

from deepwell.cli import printed
from deepwell.cli.exit_codes import Exit, exit_code
from deepwell.cli.view import View, choose_view
from deepwell.configuration import Configuration, home
from deepwell.errors import BadRequest, DeepwellError

STOPPING = "Stopping: the report is written from what there is. Ctrl-C again quits at once."
errors = Console(stderr=True)
output = Console()


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
    sys.exit(_guarded(lambda: _ask(options)))


def dry_run(options: AskOptions) -> NoReturn:
    """Say what a run would use."""

    async def estimated() -> Exit:
        from deepwell.cli import model_commands

        question = sys.stdin.read() if options.question == "-" else options.question
        return model_commands.dry_run(output, question, _configuration(options), as_json=options.as_json)

    sys.exit(_guarded(estimated))


def models(*, check: bool, as_json: bool) -> NoReturn:
    """List models."""

    async def listed() -> Exit:
        from deepwell.cli import model_commands

        return await model_commands.models(output, check=check, as_json=as_json)

    sys.exit(_guarded(listed))


def engines(*, as_json: bool) -> NoReturn:
    """List search engines."""

    async def listed() -> Exit:
        from deepwell.cli import search_commands

        return search_commands.engines(output, as_json=as_json)

    sys.exit(_guarded(listed))


def index(docs: Sequence[Path], *, quiet: bool) -> NoReturn:
    """Index folders and say what was read and what was not."""
    sys.exit(_guarded(lambda: _index(docs, quiet=quiet)))


def runs(limit: int, *, as_json: bool) -> NoReturn:
    """List the runs."""
    sys.exit(_guarded(lambda: _runs(limit, as_json=as_json)))


def show(name: str, *, as_json: bool, phase_state: bool, sources: bool, journal: bool, spend: bool) -> NoReturn:
    """Print a run."""
    asked = {"json": as_json, "phase": phase_state, "sources": sources, "journal": journal, "spend": spend}
    wanted = [view for view, on in asked.items() if on]
    sys.exit(_guarded(lambda: _show(name, wanted)))


def read(target: str, settings: Sequence[str], *, as_json: bool) -> NoReturn:
    """Read an address or a file, and print it."""

    async def printed_source() -> Exit:
        from deepwell.cli import source_commands

        values: dict[str, Any] = dict(_setting(text) for text in settings)
        return await source_commands.read(output, target, Configuration.build(**values), as_json=as_json)

    sys.exit(_guarded(printed_source))


def open_report(name: str) -> NoReturn:
    """Open a run's report."""
    sys.exit(_guarded(lambda: _open(name)))


def config(*, as_json: bool) -> NoReturn:
    """List the settings."""

    async def listed() -> Exit:
        printed.settings(output, Configuration.build(), as_json=as_json)
        return Exit.REPORT

    sys.exit(_guarded(listed))


def run_ids(incomplete: str) -> list[str]:
    """Ids for completion in the shell; an unusable store completes nothing."""
    from deepwell.assemble import opened_store

    async def ids() -> list[str]:
        async with opened_store(home()) as store:
            return [run.id for run in await store.runs() if run.id.startswith(incomplete)]

    try:
        return asyncio.run(ids())
    except DeepwellError:
        return []


def _guarded(command: Callable[[], Coroutine[Any, Any, Exit]]) -> Exit:
    """Run a command; what went wrong is one sentence on standard error and a fitting code."""
    try:
        _log_to_file_if_asked()
        code = asyncio.run(command())
        sys.stdout.flush()
    except DeepwellError as error:
        return _said(str(error), exit_code(error))
    except (KeyboardInterrupt, asyncio.CancelledError):
        return _said("stopped; a run that had begun is kept, `deepwell runs` lists it.", Exit.INTERRUPTED)
    except BrokenPipeError:
        raise
    except OSError as error:
        # What is still in the buffer would fail once more when the interpreter ends.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        reason = (error.strerror or "unknown error").lower()
        return _said(f"The output could not be written ({reason}); `deepwell show last` prints the run.", Exit.STORE)
    return code


def _said(sentence: str, code: Exit) -> Exit:
    errors.print(f"deepwell: {sentence}", markup=False, highlight=False, soft_wrap=True)
    return code


async def _ask(options: AskOptions) -> Exit:
    from deepwell import api

    question = sys.stdin.read() if options.question == "-" else options.question
    interrupted = asyncio.Event()
    with choose_view(errors, quiet=options.quiet) as view:
        asked = api.request(
            question,
            options.docs,
            _configuration(options),
            interrupted=interrupted,
            watcher=_watcher(view),
        )
        _check_writable(options.out)
        with _TwoStepInterrupt(interrupted, view):
            run = await api.research(asked)
    await _print_run(run, options)
    if not options.quiet:
        _say_degradations(run)
    if run.found:
        return Exit.REPORT
    return Exit.INTERRUPTED if interrupted.is_set() else Exit.NOTHING_FOUND


def _say_degradations(run: Any) -> None:
    if not run.degradations:
        return
    parts = list(dict.fromkeys(one.part for one in run.degradations))
    what = parts[0] if len(parts) == 1 else f"{len(parts)} parts"
    _said(f"{what} had to be made without the model ({run.degradations[-1].reason} See Methodology.)", Exit.REPORT)


async def _print_run(run: Any, options: AskOptions) -> None:
    from deepwell.assemble import opened_store

    if options.out:
        options.out.write_text(run.markdown, encoding="utf-8")
        errors.print(f"report written to {options.out} (run {run.id})", markup=False, highlight=False, soft_wrap=True)
    if options.as_json:
        from deepwell.cli.source_commands import kept_sources

        async with opened_store(home()) as store:
            stored = await store.load(run.id)
            printed.run_json(stored, await kept_sources(store, stored))
    elif not options.out:
        printed.markdown(output, run.markdown)
        if output.is_terminal and not options.quiet:
            errors.print(f"run {run.id} · deepwell show {run.id} --sources", style="dim", highlight=False)


async def _index(docs: Sequence[Path], *, quiet: bool) -> Exit:
    from deepwell.assemble import indexed

    interrupted = asyncio.Event()

    def progress(done: int, total: int) -> bool:
        view.indexing(done, total)
        return not interrupted.is_set()

    with choose_view(errors, quiet=quiet) as view, _TwoStepInterrupt(interrupted, view, "Stopping after this batch."):
        libraries = await indexed(docs, home(), Configuration.build(), progress)
    printed.libraries(output, libraries)
    return Exit.INTERRUPTED if libraries.left else Exit.REPORT


async def _runs(limit: int, *, as_json: bool) -> Exit:
    from deepwell.assemble import opened_store

    async with opened_store(home()) as store:
        printed.runs(output, await store.runs(limit), as_json=as_json)
    return Exit.REPORT


async def _show(name: str, wanted: Sequence[str]) -> Exit:
    from deepwell.assemble import opened_store
    from deepwell.cli import source_commands

    if len(wanted) > 1:
        raise BadRequest("Choose one of --json, --phase-state, --sources, --journal and --spend.")
    async with opened_store(home()) as store:
        run = await store.load(await store.find(name))
        if wanted == ["json"]:
            printed.run_json(run, await source_commands.kept_sources(store, run))
        elif wanted == ["phase"]:
            printed.json_text(run.phase_state)
        elif wanted == ["sources"]:
            await source_commands.sources(output, store, run)
        elif wanted == ["spend"]:
            printed.spend(output, run.spend)
        elif wanted == ["journal"]:
            printed.journal(await store.journal(run.head.id))
        else:
            printed.report(output, run)
    return Exit.REPORT


async def _open(name: str) -> Exit:
    from deepwell.assemble import opened_store

    async with opened_store(home()) as store:
        run = await store.load(await store.find(name))
    if run.report is None:
        raise BadRequest(f"Run {run.head.id} has no report: it was {run.head.status}.")
    path = home() / "reports" / f"{run.head.id}.md"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(run.report, encoding="utf-8")
    _open_file(path, run.report)
    return Exit.REPORT


def _open_file(path: Path, text: str) -> None:
    """In the desktop's program if there is a desktop; else in a pager; else its path."""
    import typer

    has_desktop = sys.platform == "darwin" or os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")
    if has_desktop and typer.launch(str(path)) == 0:
        errors.print(str(path), style="dim", markup=False, highlight=False, soft_wrap=True)
    elif output.is_terminal:
        with printed.pager(output):
            printed.markdown(output, text)
    else:
        typer.echo(str(path))


def _configuration(options: AskOptions) -> Configuration:
    """The typed options over the environment. Raises BadConfiguration."""
    values: dict[str, Any] = dict(_setting(text) for text in options.settings)
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


def _setting(text: str) -> tuple[str, str]:
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


class _TwoStepInterrupt:
    """Ctrl-C once: stop researching and write. Twice: quit."""

    def __init__(self, interrupted: asyncio.Event, view: View, sentence: str = STOPPING) -> None:
        self._interrupted, self._view, self._sentence = interrupted, view, sentence
        self._loop = asyncio.get_running_loop()
        self._task = asyncio.current_task()

    def __enter__(self) -> None:
        self._loop.add_signal_handler(signal.SIGINT, self._pressed)

    def __exit__(self, *_: object) -> None:
        self._loop.remove_signal_handler(signal.SIGINT)

    def _pressed(self) -> None:
        if self._interrupted.is_set() and self._task:
            self._task.cancel()
            return
        self._interrupted.set()
        self._view.say(self._sentence)


def _log_to_file_if_asked() -> None:
    """DEEPWELL_LOG names a file for the program's own log; without it only warnings reach standard error."""
    target = os.environ.get("DEEPWELL_LOG", "").strip()
    if not target:
        return
    try:
        handler = logging.FileHandler(target)
    except OSError:
        raise BadRequest(f"DEEPWELL_LOG names {target}, which cannot be written: name a file that can.") from None
    layout = "%(asctime)s %(levelname)s %(name)s %(message)s"
    logging.basicConfig(handlers=[handler], level=logging.INFO, format=layout)

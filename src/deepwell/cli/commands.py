"""What the smaller commands do. Imported only when a command runs."""

import asyncio
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NoReturn

from deepwell.cli import printed
from deepwell.cli.ask_command import setting
from deepwell.cli.exit_codes import Exit
from deepwell.cli.guarded import errors, guarded, output
from deepwell.cli.interrupting import TwoStepInterrupt
from deepwell.cli.view import choose_view
from deepwell.configuration import Configuration, home
from deepwell.errors import BadRequest, DeepwellError


def models(*, check: bool, as_json: bool) -> NoReturn:
    """List models."""

    async def listed() -> Exit:
        from deepwell.cli import model_commands

        return await model_commands.models(output, check=check, as_json=as_json)

    sys.exit(guarded(listed))


def engines(*, as_json: bool) -> NoReturn:
    """List search engines."""

    async def listed() -> Exit:
        from deepwell.cli import search_commands

        return search_commands.engines(output, as_json=as_json)

    sys.exit(guarded(listed))


def index(docs: Sequence[Path], *, quiet: bool) -> NoReturn:
    """Index folders and say what was read and what was not."""
    sys.exit(guarded(lambda: _index(docs, quiet=quiet)))


def runs(limit: int, *, as_json: bool) -> NoReturn:
    """List the runs."""
    sys.exit(guarded(lambda: _runs(limit, as_json=as_json)))


def show(name: str, *, as_json: bool, phase_state: bool, sources: bool, journal: bool, spend: bool) -> NoReturn:
    """Print a run."""
    asked = {"json": as_json, "phase": phase_state, "sources": sources, "journal": journal, "spend": spend}
    wanted = [view for view, on in asked.items() if on]
    sys.exit(guarded(lambda: _show(name, wanted)))


def read(target: str, settings: Sequence[str], *, as_json: bool) -> NoReturn:
    """Read an address or a file, and print it."""

    async def printed_source() -> Exit:
        from deepwell.cli import source_commands

        values: dict[str, Any] = dict(setting(text) for text in settings)
        return await source_commands.read(output, target, Configuration.build(**values), as_json=as_json)

    sys.exit(guarded(printed_source))


def open_report(name: str) -> NoReturn:
    """Open a run's report."""
    sys.exit(guarded(lambda: _open(name)))


def config(*, as_json: bool) -> NoReturn:
    """List the settings."""

    async def listed() -> Exit:
        printed.settings(output, Configuration.build(), as_json=as_json)
        return Exit.REPORT

    sys.exit(guarded(listed))


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


async def _index(docs: Sequence[Path], *, quiet: bool) -> Exit:
    from deepwell.assemble import indexed

    interrupted = asyncio.Event()

    def progress(done: int, total: int) -> bool:
        view.indexing(done, total)
        return not interrupted.is_set()

    with choose_view(errors, quiet=quiet) as view, TwoStepInterrupt(interrupted, view, "Stopping after this batch."):
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
            kept, events = await source_commands.kept_sources(store, run), await store.journal(run.head.id)
            printed.run_json(run, kept, events)
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

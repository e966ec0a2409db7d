"""The commands, their options and their help."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from deepwell import __version__
from deepwell.cli.typed import QuestionFirst, RunId, model_names, run_ids

_EXAMPLES = """
Examples:

  deepwell "Who won the last election in Norway, and why?"

  deepwell "What was decided on the AI Act?" --since 2025 --site europa.eu

  deepwell "Who made it, and when?" --docs papers/

  deepwell "Compare the two methods" --docs papers/ --deep --out report.md

  deepwell "What changed since 2020?" --docs papers/ --model ollama:llama3.2:3b --max-tokens 50000

  deepwell show last --sources
"""


_WHERE, _HOW_FAR, _MODEL, _OUT = "Where to look", "How far to go", "With a model", "What comes out"
"""The groups of options in the help."""


app = typer.Typer(
    cls=QuestionFirst,
    name="deepwell",
    no_args_is_help=True,
    subcommand_metavar='"QUESTION" [--docs DIR] | COMMAND [ARGS]...',
    rich_markup_mode="markdown",
    epilog=_EXAMPLES,
    pretty_exceptions_enable=False,
    help="Deep research with receipts: ask a question, get a cited report from your own documents or the web.",
)


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"deepwell {__version__}")
        raise typer.Exit


@app.callback()
def _group(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None:
    """Options of the program itself."""


@app.command(help="Research a question. This is what happens when no command is named.", epilog=_EXAMPLES)
def ask(
    question: Annotated[str, typer.Argument(help="What you want to know; `-` reads it from standard input.")],
    docs: Annotated[
        list[Path] | None,
        typer.Option(
            "--docs",
            "-d",
            help="A folder of documents, or one document. May be given several times.",
            rich_help_panel=_WHERE,
        ),
    ] = None,
    search: Annotated[
        str | None,
        typer.Option(
            "--search",
            "-s",
            metavar="WHERE",
            help="`web`, `none`, or engines by name, comma between. [default: the web, unless --docs is given]",
            rich_help_panel=_WHERE,
        ),
    ] = None,
    since: Annotated[
        str | None,
        typer.Option(
            "--since",
            metavar="DATE",
            help="Only what was published then or later: 2024, 2024-05, 2024-05-31.",
            rich_help_panel=_WHERE,
        ),
    ] = None,
    until: Annotated[
        str | None,
        typer.Option(
            "--until", metavar="DATE", help="Only what was published then or earlier.", rich_help_panel=_WHERE
        ),
    ] = None,
    site: Annotated[
        list[str] | None,
        typer.Option(
            "--site",
            metavar="SITE",
            help="Only pages of this site. May be given several times.",
            rich_help_panel=_WHERE,
        ),
    ] = None,
    not_site: Annotated[
        list[str] | None,
        typer.Option(
            "--not-site",
            metavar="SITE",
            help="No pages of this site. May be given several times.",
            rich_help_panel=_WHERE,
        ),
    ] = None,
    language: Annotated[
        str | None,
        typer.Option(
            "--language", metavar="CODE", help="Pages in this language, such as `de`.", rich_help_panel=_WHERE
        ),
    ] = None,
    region: Annotated[
        str | None,
        typer.Option(
            "--region", metavar="CODE", help="Search as from this country, such as `AT`.", rich_help_panel=_WHERE
        ),
    ] = None,
    time: Annotated[
        str | None,
        typer.Option(
            "--time",
            "-t",
            metavar="MINUTES",
            help="Minutes for the whole run, or `unlimited`. [default: 5]",
            rich_help_panel=_HOW_FAR,
        ),
    ] = None,
    deep: Annotated[
        bool,
        typer.Option("--deep", help="Up to 7 rounds instead of 3: short for --tier deep.", rich_help_panel=_HOW_FAR),
    ] = False,
    tier: Annotated[
        str | None,
        typer.Option(
            "--tier", help="simple, standard, deep, exhaustive, or auto. [default: standard]", rich_help_panel=_HOW_FAR
        ),
    ] = None,
    model: Annotated[
        str | None,
        typer.Option(
            "--model",
            "-m",
            metavar="PROVIDER:MODEL",
            help="The chat model to work with, or `none`. [default: none]",
            autocompletion=model_names,
            rich_help_panel=_MODEL,
        ),
    ] = None,
    max_tokens: Annotated[
        int | None,
        typer.Option(
            "--max-tokens", metavar="N", help="Tokens the run may spend, prompts and replies.", rich_help_panel=_MODEL
        ),
    ] = None,
    max_cost: Annotated[
        float | None,
        typer.Option("--max-cost", metavar="USD", help="US dollars the run may spend.", rich_help_panel=_MODEL),
    ] = None,
    dry_run: Annotated[
        bool,
        typer.Option(
            "--dry-run", help="Only say what the run would use: requests, tokens, money.", rich_help_panel=_MODEL
        ),
    ] = False,
    setting: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="NAME=VALUE", help="Any other setting; `deepwell config` lists them."),
    ] = None,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="Write the report to this file.", rich_help_panel=_OUT)
    ] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print the run as JSON instead of the report.", rich_help_panel=_OUT)
    ] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Show no progress.", rich_help_panel=_OUT)] = False,
) -> None:
    """Research a question."""
    from deepwell.cli import ask_command

    options = ask_command.AskOptions(
        question=question,
        docs=tuple(docs or ()),
        search=search,
        scope={
            "search_since": since,
            "search_until": until,
            "search_sites": ",".join(site) if site else None,
            "search_excluded_sites": ",".join(not_site) if not_site else None,
            "search_language": language,
            "search_region": region,
        },
        time=time,
        deep=deep,
        tier=tier,
        model=model,
        max_tokens=max_tokens,
        max_cost=max_cost,
        settings=tuple(setting or ()),
        out=out,
        as_json=as_json,
        quiet=quiet,
    )
    if dry_run:
        ask_command.dry_run(options)
    ask_command.ask(options)


@app.command(help="Go on with a run that was interrupted. What was answered before is not asked again.")
def resume(
    run: Annotated[
        str,
        typer.Argument(
            help="A run's id or its beginning. [default: the newest that was interrupted]",
            autocompletion=run_ids,
            show_default=False,
        ),
    ] = "",
    out: Annotated[Path | None, typer.Option("--out", "-o", help="Write the report to this file.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the run as JSON instead of the report.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Show no progress.")] = False,
) -> None:
    """Resume a run."""
    from deepwell.cli import ask_command

    ask_command.resume(run, ask_command.Printing(out, as_json, quiet))


_REPLAYS = """
Examples:

  deepwell replay last

  deepwell replay 2e08 --set max_researcher_iterations=6

  deepwell diff 2e08 last
"""


@app.command(
    help="Follow a finished run once more from its journal: nothing outside is asked, and the report is the same. With "
    "other settings it goes as far as the journal does, and says what it would have had to ask.",
    epilog=_REPLAYS,
)
def replay(
    run: RunId,
    setting: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="NAME=VALUE", help="A setting to change. May be given several times."),
    ] = None,
    out: Annotated[Path | None, typer.Option("--out", "-o", help="Write the report to this file.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the run as JSON instead of the report.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print nothing but the report.")] = False,
) -> None:
    """Replay a run."""
    from deepwell.cli import ask_command

    ask_command.replay(run, tuple(setting or ()), ask_command.Printing(out, as_json, quiet))


@app.command(help="Read a folder of documents into its index, or bring the index up to date.")
def index(
    docs: Annotated[list[Path], typer.Argument(help="The folder, or a single document.")],
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Show no progress.")] = False,
) -> None:
    """Index a folder."""
    from deepwell.cli import commands

    commands.index(docs, quiet=quiet)


@app.command(help="List the runs in the store, newest first.")
def runs(
    limit: Annotated[int, typer.Option("--limit", "-n", min=1, help="How many.")] = 20,
    as_json: Annotated[bool, typer.Option("--json", help="As JSON.")] = False,
) -> None:
    """List runs."""
    from deepwell.cli import commands

    commands.runs(limit, as_json=as_json)


@app.command(help="Print a run: its report, or with options what lies behind it.")
def show(
    run: RunId,
    as_json: Annotated[bool, typer.Option("--json", help="The whole run as JSON.")] = False,
    phase_state: Annotated[bool, typer.Option("--phase-state", help="The record of the loop, as JSON.")] = False,
    sources: Annotated[bool, typer.Option("--sources", help="The sources with the spans quoted from them.")] = False,
    journal: Annotated[bool, typer.Option("--journal", help="What happened, event by event.")] = False,
    spend: Annotated[bool, typer.Option("--spend", help="What was spent on models, by phase and model.")] = False,
) -> None:
    """Show a run."""
    from deepwell.cli import commands

    commands.show(run, as_json=as_json, phase_state=phase_state, sources=sources, journal=journal, spend=spend)


@app.command(help="Print a source of a run as it was read, with what the report quotes from it marked.")
def source(
    run: RunId,
    number: Annotated[int, typer.Argument(help="The source's number, as in `[2]`.", metavar="N")],
    spans: Annotated[bool, typer.Option("--spans", help="Only what was quoted, in its surroundings.")] = False,
    as_json: Annotated[
        bool, typer.Option("--json", help="All that is known of it, its text, and what rests on each span, as JSON.")
    ] = False,
) -> None:
    """Show a source."""
    from deepwell.cli import source_commands

    source_commands.source(run, number, as_json=as_json, spans=spans)


@app.command(help="Print what Deepwell reads of a web address or a file: title, author, date and the clean text.")
def read(
    target: Annotated[str, typer.Argument(help="A web address (http or https), or a file.", metavar="URL|FILE")],
    as_json: Annotated[bool, typer.Option("--json", help="All that is known of it, as JSON.")] = False,
    setting: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="NAME=VALUE", help="Any setting; `deepwell config` lists them."),
    ] = None,
) -> None:
    """Read an address or a file."""
    from deepwell.cli import commands

    commands.read(target, tuple(setting or ()), as_json=as_json)


@app.command(help="Compare two runs claim by claim: what is kept, changed, gone and new; also sources and settings.")
def diff(
    before: RunId,
    after: RunId,
    everything: Annotated[bool, typer.Option("--all", help="Also list what is kept, not only count it.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="As JSON.")] = False,
) -> None:
    """Compare two runs."""
    from deepwell.cli import diff_command

    diff_command.diff(before, after, everything=everything, as_json=as_json)


@app.command("open", help="Open a run's report in the program for Markdown files, or in a pager.")
def open_(run: RunId) -> None:
    """Open a report."""
    from deepwell.cli import commands

    commands.open_report(run)


@app.command(help="List every setting with its value, its range and the variables that set it.")
def config(
    as_json: Annotated[bool, typer.Option("--json", help="As JSON schema.")] = False,
) -> None:
    """List settings."""
    from deepwell.cli import commands

    commands.config(as_json=as_json)


@app.command(help="List the search engines for the web: which are asked, in which order, and why.")
def engines(
    as_json: Annotated[bool, typer.Option("--json", help="As JSON.")] = False,
) -> None:
    """List engines."""
    from deepwell.cli import commands

    commands.engines(as_json=as_json)


@app.command(help="List the models that are configured, and what is missing to use others.")
def models(
    check: Annotated[
        bool, typer.Option("--check", help="Try the configured models out, with two small requests.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="As JSON.")] = False,
) -> None:
    """List models."""
    from deepwell.cli import commands

    commands.models(check=check, as_json=as_json)


def main() -> None:
    """The console script."""
    # A closed pipe (`deepwell runs | head`) is the reader's choice, not an error.
    try:
        app()
    except BrokenPipeError:
        sys.stderr.close()
        raise SystemExit(0) from None

"""The application: its commands, and how errors end."""

from __future__ import annotations

import os
import sys
from typing import Annotated

import typer

from fairjudge import __version__
from fairjudge.cli import (
    audit,
    backends,
    build,
    cache,
    cascade,
    fairness,
    import_,
    judge,
    plan,
    prompts,
    quickstart,
    split,
    summarize,
)
from fairjudge.errors import FairJudgeError

app = typer.Typer(
    name="fairjudge",
    help="Judge summaries of many documents with LLMs, and know how far the judge can be trusted.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command("build")(build.build)
app.command("summarize")(summarize.summarize)
app.command("judge")(judge.judge)
app.command("cascade")(cascade.cascade)
app.command("split")(split.split)
app.command("plan")(plan.plan)
app.command("load-batch")(plan.load_batch)
app.command("import")(import_.import_)
app.add_typer(audit.app, name="audit")
app.add_typer(fairness.app, name="fairness")
app.command("quickstart")(quickstart.quickstart)
app.command("backends")(backends.backends)
app.add_typer(cache.app, name="cache")
app.add_typer(prompts.app, name="prompts")


def _show_version(wanted: bool) -> None:  # noqa: FBT001  # typer passes it by position
    if wanted:
        typer.echo(f"fairjudge {__version__}")
        raise typer.Exit


@app.callback()
def _root(
    *,
    version: Annotated[  # handled by its callback
        bool, typer.Option("--version", help="Show the version.", callback=_show_version)
    ] = False,
) -> None:
    """Hold the options that come before a command."""


def run() -> None:
    """Run the application and end the process with the documented exit code."""
    try:
        app()
    except FairJudgeError as error:
        typer.echo(f"error: {error}", err=True)
        sys.exit(1)
    except KeyboardInterrupt:
        typer.echo("interrupted; the same command resumes where it stopped", err=True)
        sys.exit(130)
    except BrokenPipeError:
        # The reader of our output has gone; Python would complain once more while closing it.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(141)

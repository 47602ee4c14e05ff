"""The application: its commands, and how errors end."""

from __future__ import annotations

import os
import re
import sys
import warnings
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from fairjudge import __version__
from fairjudge.cli import (
    annotate,
    audit,
    backends,
    bias,
    build,
    cache,
    calibrate,
    cascade,
    fairness,
    import_,
    judge,
    plan,
    prompts,
    quickstart,
    report,
    split,
    summarize,
)
from fairjudge.cli.terminal import say
from fairjudge.errors import FairJudgeError


class _Group(TyperGroup):
    """Ends commands that were interrupted, or whose reader has gone, in our own way."""

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """Return a command; indented examples in its help keep their lines."""
        command = super().get_command(ctx, cmd_name)
        if command is not None and command.help and "\b" not in command.help:
            command.help = re.sub(r"\n\n(?= {4})", "\n\n\b\n", command.help)
        return command

    def invoke(self, ctx: Any) -> Any:
        """Run the command."""
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            message = "interrupted; what is done is kept, and the same command goes on from there"
            say(message, err=True)
            raise typer.Exit(130) from None
        except BrokenPipeError:
            # Python would complain once more while closing what nobody reads.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            raise typer.Exit(141) from None


app = typer.Typer(
    name="fairjudge",
    cls=_Group,
    help="Judge summaries of many documents with LLMs, and know how far the judge can be trusted.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,  # its tables cut the names of options off at 80 columns
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command("build", short_help="References: what sources answer differently")(build.build)
app.command("summarize", short_help="Summaries of clusters by an LLM")(summarize.summarize)
app.command("judge", short_help="Judge summaries and rank systems")(judge.judge)
app.command("cascade", short_help="Ask the LLM only where the local judge is unsure")(
    cascade.cascade
)
app.command("split", short_help="Summaries to atomic content units")(split.split)
app.command("plan", short_help="What a run would cost, before it")(plan.plan)
app.command("load-batch", short_help="Replies of a batch into the cache")(plan.load_batch)
app.add_typer(audit.app, name="audit", short_help="How far a judge is swayed")
app.add_typer(fairness.app, name="fairness", short_help="Fairness over social attributes")
app.command("import", short_help="Recorded replies of a judge to judgements")(import_.import_)
app.command("annotate", short_help="A local page where people label")(annotate.annotate)
app.command("calibrate", short_help="Measure judges against people")(calibrate.calibrate)
app.command("apply", short_help="Calibrate a judge's scores")(calibrate.apply)
app.command("report", short_help="One page to read it all, with every reply")(report.report)
app.command("quickstart", short_help="The whole job on the bundled example")(quickstart.quickstart)
app.command("backends", short_help="Who can answer, and what each needs")(backends.backends)
app.add_typer(cache.app, name="cache", short_help="Look after the reply cache")
app.add_typer(prompts.app, name="prompts", short_help="Look at and lock prompt templates")
app.add_typer(bias.app, name="bias", short_help="Demographic bias in summaries")


def _show_version(wanted: bool) -> None:  # noqa: FBT001  # typer passes it by position
    if wanted:
        say(f"fairjudge {__version__}")
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
    # LangGraph leaves branches that it had not begun when a run is interrupted.
    warnings.filterwarnings("ignore", "coroutine 'arun_with_retry' was never", RuntimeWarning)
    try:
        app()
    except FairJudgeError as error:
        say(f"error: {error}", err=True)
        sys.exit(1)

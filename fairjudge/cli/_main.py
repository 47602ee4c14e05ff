"""The application: its commands, and how errors end."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from fairjudge import __version__
from fairjudge.cli import (
    align,
    annotate,
    audit,
    backends,
    bias,
    build,
    cache,
    calibrate,
    cascade,
    check,
    compare,
    export,
    fairness,
    import_,
    judge,
    plan,
    prompts,
    quickstart,
    rank,
    report,
    split,
    study,
    summarize,
)
from fairjudge.cli.application import Application
from fairjudge.cli.terminal import say
from fairjudge.errors import FairJudgeError


class _Group(TyperGroup):
    """Ends commands that were interrupted in our own way."""

    def make_context(self, *given: Any, **more: Any) -> Any:
        """Read the command line."""
        return _interruptible(super().make_context, *given, **more)

    def invoke(self, ctx: Any) -> Any:
        """Run the command."""
        return _interruptible(super().invoke, ctx)


class _Interrupted(BaseException):
    """An interrupt on its way through Typer, which would end it in its own way."""


def _interruptible(function: Callable[..., Any], *given: Any, **more: Any) -> Any:
    try:
        return function(*given, **more)
    except KeyboardInterrupt:
        raise _Interrupted from None


app = Application(
    name="fairjudge",
    cls=_Group,
    help="Judge summaries of many documents with LLMs, and know how far the judge can be trusted.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,  # its tables cut the names of options off at 80 columns
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.add_typer(study.app, name="study", short_help="Run a whole study from one file")
app.command("build", short_help="Build references: what sources answer differently")(build.build)
app.command("summarize", short_help="Summarize clusters with an LLM")(summarize.summarize)
app.command("judge", short_help="Judge summaries and rank systems")(judge.judge)
app.command("cascade", short_help="Ask the LLM only where the local judge is uncertain")(
    cascade.cascade
)
app.command("split", short_help="Split summaries into atomic content units")(split.split)
app.command("plan", short_help="Estimate what a run will cost")(plan.plan)
app.command("load-batch", short_help="Load the replies of a batch into the cache")(plan.load_batch)
app.add_typer(audit.app, name="audit", short_help="Audit a judge's biases")
app.add_typer(fairness.app, name="fairness", short_help="Measure fairness over social attributes")
app.command("import", short_help="Convert recorded replies and other tools' files")(import_.import_)
app.command("export", short_help="Export judgements for other tools")(export.export)
app.command("annotate", short_help="Label items on a local web page")(annotate.annotate)
app.command("calibrate", short_help="Compare judges with human labels")(calibrate.calibrate)
app.command("align", short_help="Improve a judge's prompt from labels, honestly")(align.align)
app.command("apply", short_help="Calibrate a judge's scores")(calibrate.apply)
app.command("rank", short_help="Rank systems by pairwise judgements")(rank.rank)
app.command("check", short_help="Check a changed judge against its baseline")(check.check)
app.command("compare", short_help="Compare two runs on the same items")(compare.compare)
app.command("report", short_help="Write an HTML report, with every reply")(report.report)
app.command("quickstart", short_help="Run every step on the bundled example")(quickstart.quickstart)
app.command("backends", short_help="List backends, and what each needs")(backends.backends)
app.add_typer(cache.app, name="cache", short_help="Manage the response cache")
app.add_typer(prompts.app, name="prompts", short_help="List, show and lock prompt templates")
app.add_typer(bias.app, name="bias", short_help="Measure demographic bias in summaries")


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
    """Global options."""


def run() -> None:
    """Run the application and end the process with the documented exit code."""
    # LangGraph leaves branches that it had not begun when a run is interrupted.
    warnings.filterwarnings("ignore", "coroutine 'arun_with_retry' was never", RuntimeWarning)
    try:
        app()
    except _Interrupted:
        raise KeyboardInterrupt from None
    except FairJudgeError as error:
        say(f"error: {error}", err=True)
        sys.exit(1)

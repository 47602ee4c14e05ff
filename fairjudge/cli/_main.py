"""The application: its commands, imported on use, and its exit codes."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Iterator, Mapping
from importlib import import_module
from typing import Annotated, Any

import typer

from fairjudge import __version__
from fairjudge.cli.application import Application
from fairjudge.cli.groups import Group
from fairjudge.cli.terminal import say
from fairjudge.errors import FairJudgeError
from fairjudge.reports.tables import TABLE_FORMAT, TableFormat

SECTIONS: Mapping[str, Mapping[str, tuple[str, str]]] = {
    "Start": {
        "quickstart": ("quickstart:quickstart", "Run every step on the bundled example"),
        "study": ("study:app", "Run a whole study from one file"),
    },
    "Data": {
        "convert": ("convert:convert", "Convert data in other layouts to ours"),
        "build": ("build:build", "Build references: what sources answer differently"),
        "summarize": ("summarize:summarize", "Summarize clusters with an LLM"),
    },
    "Judging": {
        "judge": ("judge:judge", "Judge summaries and rank systems"),
        "rank": ("comparing:rank", "Rank systems by pairwise judgements"),
        "compare": ("comparing:compare", "Compare two runs on the same items"),
        "report": ("report:report", "Write an HTML report, with every reply"),
    },
    "Validation": {
        "annotate": ("annotate:annotate", "Label items on a local web page"),
        "calibrate": ("calibrate:app", "Compare judges with human labels, and calibrate them"),
        "check": ("comparing:check", "Check a changed judge against its baseline, as in CI"),
    },
    "Groups of commands": {
        "audit": ("audit:app", "Audit a judge's biases"),
        "fairness": ("fairness:app", "Measure fairness over social attributes"),
        "bias": ("bias:app", "Measure demographic bias in summaries"),
        "references": ("references:app", "Validate references by people's labels"),
        "data": ("data:app", "Import from other tools, and export for them"),
        "batch": ("plan:app", "Plan a run, and run it by a provider's batch service"),
        "backends": ("backends:app", "List backends, and what each needs"),
        "cache": ("cache:app", "Manage the response cache"),
        "prompts": ("prompts:app", "List, show and lock prompt templates"),
    },
}
"""``module:attribute`` (below `fairjudge.cli`) and short help of each command, by section."""
COMMANDS = {name: entry for section in SECTIONS.values() for name, entry in section.items()}


class Commands(Mapping[str, Any]):
    """The commands by name; looking one up imports it."""

    def __getitem__(self, name: str) -> Any:
        location, short_help = COMMANDS[name]
        module, _, attribute = location.partition(":")
        command = getattr(import_module(f"fairjudge.cli.{module}"), attribute)
        parent = Application(rich_markup_mode=None)
        if isinstance(command, typer.Typer):
            parent.add_typer(command, name=name, short_help=short_help)
        else:
            parent.command(name, short_help=short_help)(command)
        return typer.main.get_group(parent).commands[name]

    def __contains__(self, name: object) -> bool:
        return name in COMMANDS

    def __iter__(self) -> Iterator[str]:
        return iter(COMMANDS)

    def __len__(self) -> int:
        return len(COMMANDS)


class _Root(Group):
    """The root group: imports commands on use, and handles interrupts instead of Typer."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings | {"commands": Commands()})

    def format_commands(self, ctx: Any, formatter: Any) -> None:  # noqa: ARG002
        """List the commands without importing them."""
        width = max(map(len, COMMANDS))
        for title, commands in SECTIONS.items():
            with formatter.section(title):
                formatter.write_dl(
                    [(name.ljust(width), line) for name, (_, line) in commands.items()]
                )

    def make_context(self, *args: Any, **kwargs: Any) -> Any:
        """Parse the command line."""
        return _call_interruptible(super().make_context, *args, **kwargs)

    def invoke(self, ctx: Any) -> Any:
        """Run the command."""
        return _call_interruptible(super().invoke, ctx)


class _Interrupted(BaseException):
    """An interrupt disguised from Typer, which would handle KeyboardInterrupt itself."""


def _call_interruptible(function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    try:
        return function(*args, **kwargs)
    except KeyboardInterrupt:
        raise _Interrupted from None


app = Application(
    name="fairjudge",
    cls=_Root,
    help="Evaluate multi-document summaries with LLM judges, and measure how far to trust them.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,  # its tables truncate option names at 80 columns
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _show_version(is_wanted: bool) -> None:  # noqa: FBT001  # typer passes it by position
    if is_wanted:
        say(f"fairjudge {__version__}")
        raise typer.Exit


@app.callback()
def _root(
    *,
    version: Annotated[  # noqa: ARG001  # handled by its callback
        bool, typer.Option("--version", help="Show the version.", callback=_show_version)
    ] = False,
    tables: Annotated[
        TableFormat, typer.Option(help="Format of printed tables, e.g. latex for a paper.")
    ] = "text",
) -> None:
    """Global options."""
    TABLE_FORMAT.set(tables)


def run() -> None:
    """Run the application and end the process with the documented exit code."""
    # LangGraph does not await branches that had not begun when a run is interrupted.
    warnings.filterwarnings("ignore", "coroutine 'arun_with_retry' was never", RuntimeWarning)
    try:
        app(prog_name="fairjudge")
    except _Interrupted:
        raise KeyboardInterrupt from None
    except FairJudgeError as error:
        say(f"error: {error.command_line_text or error}", err=True)
        sys.exit(1)

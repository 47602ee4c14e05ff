"""Options and output of commands that read files and print findings."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from fairjudge.api.findings import Findings
from fairjudge.cli import display
from fairjudge.cli import options as opt


@dataclass(frozen=True, slots=True, kw_only=True)
class Reporting:
    """Options for reading files and for printing and writing findings."""

    skip_bad: opt.SkipBad = False
    json_file: opt.Json = None
    html: opt.Html = None
    figures: opt.Figures = None
    quiet: opt.Quiet = False

    @property
    def progress(self) -> bool | None:
        """The value for `fairjudge.Model.progress`: bars on a terminal, unless --quiet."""
        return False if self.quiet else None

    def show(self, call: opt.Call[Findings], **arguments: Any) -> None:
        """Run `call` with its options and further arguments, and print the findings."""
        findings = call(skip_bad=self.skip_bad, **arguments)
        display.show_findings(findings, self.json_file, self.figures)

    def write_page(self, make_page: Callable[[], str]) -> None:
        """Write the page returned by `make_page` and its plots, if requested."""
        display.write_page(make_page, html=self.html, figures=self.figures)


reporting = opt.options_of(Reporting, without=("html", "quiet"))
reporting_with_bars = opt.options_of(Reporting, without=("html",))
reporting_with_page = opt.options_of(Reporting, without=("quiet",))
reporting_of_reports = opt.options_of(Reporting, only=("json_file", "figures"))
"""Options of commands whose inputs are reports of other commands."""
reporting_without_figures = opt.options_of(Reporting, only=("skip_bad", "json_file"))


def command_showing(
    call: Callable[..., Findings], bundle: Callable[..., Reporting] = reporting
) -> Callable[[Callable[[], None]], Callable[..., None]]:
    """Return a decorator that creates a command which runs `call` and prints its findings.

    The command has the options of `call`; its name and help are those of the decorated function.
    With `reporting_with_bars`, progress bars are shown.
    """

    def decorate(function: Callable[[], None]) -> Callable[..., None]:
        def command(*, measure: opt.Call[Findings], reporting: Reporting) -> None:
            has_bars = bundle is reporting_with_bars
            arguments = {"progress": reporting.progress} if has_bars else {}
            reporting.show(measure, **arguments)

        command.__name__, command.__doc__ = function.__name__, function.__doc__
        return opt.with_options(measure=opt.call_of(call), reporting=bundle)(command)

    return decorate

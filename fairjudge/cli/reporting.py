"""The options of every command that reads files and shows findings, and how it shows them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from fairjudge.api.findings import Findings
from fairjudge.cli import display
from fairjudge.cli import options as opt


@dataclass(frozen=True, slots=True, kw_only=True)
class Reporting:
    """How a command reads its files, and where it shows its findings."""

    skip_bad: opt.SkipBad = False
    json_file: opt.Json = None
    html: opt.Html = None
    figures: opt.Figures = None
    quiet: opt.Quiet = False

    @property
    def progress(self) -> bool | None:
        """`fairjudge.Model.progress`: on a terminal, unless --quiet."""
        return False if self.quiet else None

    def show(self, call: opt.Call[Findings], **more: Any) -> None:
        """Make `call` with `more` beside its options, and show the findings."""
        display.show_findings(call(skip_bad=self.skip_bad, **more), self.json_file, self.figures)

    def page(self, make: Callable[[], str]) -> None:
        """Write the page that `make` returns, and its plots, where these are asked for."""
        display.page(make, html=self.html, figures=self.figures)


reporting = opt.options_of(Reporting, without=("html", "quiet"))
reporting_with_bars = opt.options_of(Reporting, without=("html",))
reporting_with_page = opt.options_of(Reporting, without=("quiet",))
reporting_of_reports = opt.options_of(Reporting, only=("json_file", "figures"))
"""Of commands whose inputs are reports of other commands."""
reporting_without_figures = opt.options_of(Reporting, only=("skip_bad", "json_file"))


def shows(
    call: Callable[..., Findings], bundle: Callable[..., Reporting] = reporting
) -> Callable[[Callable[[], None]], Callable[..., None]]:
    """Return a decorator that makes a command with the options of `call`, which shows its findings.

    The decorated function has the command's name and help. With `reporting_with_bars` the call
    reports its progress.
    """

    def decorate(function: Callable[[], None]) -> Callable[..., None]:
        def command(*, measure: opt.Call[Findings], reporting: Reporting) -> None:
            more = {"progress": reporting.progress} if bundle is reporting_with_bars else {}
            reporting.show(measure, **more)

        command.__name__, command.__doc__ = function.__name__, function.__doc__
        return opt.with_options(measure=opt.call_of(call), reporting=bundle)(command)

    return decorate

"""``fairjudge report``: one HTML page about a run, judgements, and results of other commands."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from fairjudge.api import reporting
from fairjudge.cli import display
from fairjudge.cli import options as opt
from fairjudge.options.declaring import Opt


@opt.with_options(arguments=opt.fields_of(reporting.report))
def report(
    *,
    output: Annotated[Path, Opt("Output file (HTML); - is standard output.", short="-o")],
    arguments: dict[str, Any],
    figures: opt.Figures = None,
    skip_bad: opt.SkipBad = False,
) -> None:
    """Write a self-contained HTML page: leaderboards, coverage by source, all replies, and plots.

    Its tables can be filtered, sorted and searched without a server or network. Sections without
    input are omitted.

        fairjudge report judgements.jsonl --references refs.jsonl --summaries s.jsonl -o report.html
    """
    from fairjudge.analysis.reporting import make_report
    from fairjudge.engine.runs import check_writable
    from fairjudge.options.checking import as_names

    check_writable(output)
    annotators = as_names(arguments.pop("annotators"))
    values = arguments.pop("values")
    with display.save_drawn_figures(figures):
        html_report = make_report(*values, **arguments, annotators=annotators, skip_bad=skip_bad)
    if str(output) == "-":
        typer.echo(html_report.html, nl=False)
        return
    html_report.save(output)
    typer.echo(f"Written: {output} ({len(html_report.html.encode()) / 1e6:.1f} MB)")

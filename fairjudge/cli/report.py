"""``fairjudge report``: one page about a run, judgements, and what other commands found."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from fairjudge.api import reporting
from fairjudge.cli import display
from fairjudge.cli import options as opt
from fairjudge.options.declaring import Opt


@opt.with_options(given=opt.fields_of(reporting.report))
def report(
    *,
    output: Annotated[Path, Opt("Page to write; - is standard output.", short="-o")],
    given: dict[str, Any],
    figures: opt.Figures = None,
    skip_bad: opt.SkipBad = False,
) -> None:
    """Write one self-contained HTML page: leaderboards, coverage by source, every reply, and plots.

    Filters, sorts and searches without a server or network. Sections without input are left out.

        fairjudge report judgements.jsonl --references refs.jsonl --summaries s.jsonl -o report.html
    """
    from fairjudge.analysis.reporting import make_report
    from fairjudge.engine.runs import check_writable
    from fairjudge.options.checking import as_names

    check_writable(output)
    annotators = as_names(given.pop("annotators"))
    values = given.pop("values")
    with display.figures_in(figures):
        page = make_report(*values, **given, annotators=annotators, skip_bad=skip_bad)
    if str(output) == "-":
        typer.echo(page.html, nl=False)
        return
    page.save(output)
    typer.echo(f"Written: {output} ({len(page.html.encode()) / 1e6:.1f} MB)")

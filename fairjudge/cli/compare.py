"""``fairjudge compare``: two runs on the same items."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from fairjudge.cli import display
from fairjudge.cli import options as opt


def compare(
    first: Annotated[Path, typer.Argument(help="Judgements of one run.")],
    second: Annotated[Path, typer.Argument(help="Judgements of the same items in another run.")],
    *,
    level: opt.Level = 0.95,
    seed: opt.Seed = 0,
    skip_bad: opt.SkipBad = False,
    json_file: opt.Json = None,
    html: Annotated[
        Path | None, typer.Option(help="Write the comparison as one self-contained HTML page.")
    ] = None,
) -> None:
    """Compare two runs item by item: agreement, mean shift, and each system in both.

    By aspect and protocol, on the items that both runs scored, with intervals over documents: what
    judging several aspects together changed, another model, another prompt. It does not say which
    run is right: 'calibrate' does, with labels.

        fairjudge compare apart.jsonl together.jsonl --html compared.html
    """
    from fairjudge.api import comparing
    from fairjudge.datasets import read_judgements
    from fairjudge.engine.runs import check_writable
    from fairjudge.records.folder import write_output

    if html is not None:
        check_writable(html)
    runs = (display.read(read_judgements, path, skip_bad=skip_bad) for path in (first, second))
    found = comparing.compare(*runs, level=level, seed=seed)
    if html is not None:
        from fairjudge.reports.comparison_page import comparison_page

        write_output(html, comparison_page(found.figures))
    display.found(found, json_file)

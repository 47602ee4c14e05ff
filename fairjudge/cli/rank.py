"""``fairjudge rank``: systems in order, from pairwise judgements."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from fairjudge.cli import audit_options, display
from fairjudge.cli import options as opt


def rank(
    judgements: Annotated[
        Path, typer.Argument(help="Judgements of pairs or rankings, of one order or both.")
    ],
    *,
    level: Annotated[
        float, typer.Option(min=0.5, max=0.999, help="Confidence of intervals and ranks.")
    ] = 0.95,
    seed: opt.Seed = 0,
    max_unscored: opt.MaxUnscored = 0.05,
    skip_bad: opt.SkipBad = False,
    json_file: opt.Json = None,
    html: Annotated[
        Path | None, typer.Option(help="Write the ranking as one self-contained HTML page.")
    ] = None,
) -> None:
    """Rank systems by a Bradley-Terry model with ties (Davidson) and a term for position.

    A win against a strong system counts for more than one against a weak one, and what standing
    first adds is taken off. Judgements by --protocol ranking are ranked by the Plackett-Luce model.
    Intervals are over documents; the ranks' hold for all systems at once.

        fairjudge rank pairs.jsonl --json ranking.json
    """
    from fairjudge.api import comparing
    from fairjudge.datasets import read_judgements
    from fairjudge.protocols import PROTOCOLS

    rows = display.read(read_judgements, judgements, skip_bad=skip_bad)
    found = comparing.rank(rows, level=level, seed=seed)
    if html is not None:
        from fairjudge.records.folder import write_output
        from fairjudge.reports.result_sections import ranking_page

        write_output(html, ranking_page(found.figures))
    display.found(found, json_file)
    ranked = [row for row in rows if PROTOCOLS[row.protocol].paired]
    audit_options.finish(ranked, protocol=None, limit=max_unscored)

"""``fairjudge audit stability``: how much a judge differs from itself."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from fairjudge.cli import display
from fairjudge.cli import options as opt


def stability(
    judgements: Annotated[
        Path,
        typer.Argument(help="Judgements with repeats: of 'judge --repeats 3', or imported."),
    ],
    *,
    variant: Annotated[
        str,
        typer.Option(metavar="FIELD", help="Field that names the prompt of a judgement."),
    ] = "variant",
    level: opt.Level = 0.95,
    seed: opt.Seed = 0,
    skip_bad: opt.SkipBad = False,
    json_file: opt.Json = None,
) -> None:
    """Measure how often a judge gives one item another verdict, again or by another prompt.

    Flip rate, spread within an item, the share of variance by item, prompt and repeat, and how much
    repeats narrow an interval. 'judge --repeats 3 --prompt-variants 3' makes what this needs, and
    ends with the same table.

        fairjudge audit stability judgements.jsonl --json stability.json
    """
    from fairjudge.api import audit
    from fairjudge.datasets import read_judgements

    rows = display.read(read_judgements, judgements, skip_bad=skip_bad)
    found = audit.stability(rows, variant=variant, level=level, seed=seed)
    display.found(found, json_file)

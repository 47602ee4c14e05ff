"""``fairjudge fairness compare``: what each variant of a summarizer did to fairness."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from fairjudge.cli import display
from fairjudge.cli import options as opt


def compare(
    reports: Annotated[
        list[Path],
        typer.Argument(
            help="JSON of 'fairness coverage', of 'fairness proportional', or one of each."
        ),
    ],
    *,
    baseline: Annotated[
        str, typer.Option(help="The system that all others are compared with, by name.")
    ],
    resamples: opt.Resamples = 2000,
    seed: opt.Seed = 0,
    json_file: opt.Json = None,
) -> None:
    r"""Tell what each variant did to every fairness measure, beside a baseline.

    Systems are compared on the samples that both have, by bootstrap over these samples. A
    difference below 0 is fairer. P-values are corrected over all variants and measures shown.

        fairjudge summarize clusters.jsonl -o s.jsonl --backend openai:gpt-4o-mini \
            --sweep temperature=0.5,1 --sweep sentences=1,5 --sweep fair=party

        fairjudge fairness coverage clusters.jsonl --summaries s.jsonl --attribute party \
            --json coverage.json

        fairjudge fairness compare coverage.json --baseline gpt-4o-mini-direct
    """
    from fairjudge.api import fairness_comparing

    found = fairness_comparing.compare(
        *reports, baseline=baseline, n_resamples=resamples, seed=seed
    )
    display.found(found, json_file)

"""``fairjudge fairness overall`` and ``agreement``: coverage reports compared."""

from __future__ import annotations

from fairjudge.api import fairness_comparing
from fairjudge.api.findings import Findings
from fairjudge.cli import display
from fairjudge.cli import options as opt


@opt.with_options(ranking=opt.call_of(fairness_comparing.overall))
def overall(
    *,
    ranking: opt.Call[Findings],
    json_file: opt.Json = None,
    figures: opt.Figures = None,
) -> None:
    """Rank systems over several data sets: each is scaled to 0 (best) to 1 (worst), then averaged.

    Only systems with a score on every data set are compared.

        fairjudge fairness overall amazon.json tweets.json --measure coverage_parity

    The mean of several scorers on one data set:

        fairjudge fairness overall ngram.json bert.json --measure uer --scaling none
    """
    display.found(ranking(), json_file, figures)


@opt.with_options(comparison=opt.call_of(fairness_comparing.agreement))
def agreement(
    *,
    comparison: opt.Call[Findings],
    json_file: opt.Json = None,
    figures: opt.Figures = None,
) -> None:
    """Compare two scorers, or two measures, by their correlation over summaries and systems.

    Two reports of one command: each measure by both scorers. One of coverage and one of
    proportional: every two measures, by summary.

        fairjudge fairness agreement by_embedding.json by_entailment.json

        fairjudge fairness agreement coverage.json shares.json
    """
    display.found(comparison(), json_file, figures)

"""``fairjudge fairness overall`` and ``agreement``: coverage reports compared."""

from __future__ import annotations

from fairjudge.api import fairness_comparing
from fairjudge.api.findings import Findings
from fairjudge.cli import display
from fairjudge.cli import options as opt


@opt.with_options(ranking=opt.call_of(fairness_comparing.overall))
def overall(*, ranking: opt.Call[Findings], json_file: opt.Json = None) -> None:
    """Rank systems over several data sets: each is scaled to 0 (best) to 1 (worst), then averaged.

    Only systems with a score on every data set are compared.

        fairjudge fairness overall amazon.json tweets.json --measure coverage_parity
    """
    display.found(ranking(), json_file)


@opt.with_options(comparison=opt.call_of(fairness_comparing.agreement))
def agreement(*, comparison: opt.Call[Findings], json_file: opt.Json = None) -> None:
    """Compare two scorers by Spearman correlation: Equal Coverage by summary, Parity by system.

    fairjudge fairness agreement by_embedding.json by_entailment.json
    """
    display.found(comparison(), json_file)

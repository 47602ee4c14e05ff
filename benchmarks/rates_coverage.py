"""Simulated coverage of prevalence corrected for a judge's errors.

    python benchmarks/rates_coverage.py [--datasets 1000] [--json FILE] [--processes N]

The prevalence is equal on labelled and on other items, or differs. Rogan and Gladen's correction
should cover in 93 to 97 % in both cases, PPI only if it is equal. The truth is the prevalence in
the population from which the items without a label are drawn.
"""

from __future__ import annotations

import sys
from collections import defaultdict
from functools import partial
from itertools import product

import numpy as np
from _figures import ends, holds, percent
from _machine import describe_machine, write_results
from _parallel import Runner, add_options, open_runner, run_serially, simulation_parser
from scipy.stats import norm

from fairjudge.calibration.rates import Answers, error_rates, prevalence

JUDGES = {"good": (0.92, 0.88), "fair": (0.8, 0.75), "lenient": (0.95, 0.6)}
SHARES = ((0.5, 0.5), (0.5, 0.2), (0.5, 0.85), (0.3, 0.3), (0.3, 0.7))
SIZES = ((100, 1000), (200, 400))


def answers(
    rng: np.random.Generator, n: int, share: float, rates: tuple[float, float], *, clustered: bool
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Draw truth, the judge's answers and documents of four items, correlated if `clustered`."""
    documents = np.arange(n) // 4
    mixing = 0.5 if clustered else 0.0

    def latent() -> np.ndarray:
        own = rng.normal(size=documents[-1] + 1)[documents]
        return mixing * own + np.sqrt(1 - mixing**2) * rng.normal(size=n)

    truth = latent() < norm.ppf(share)
    says = np.where(truth, rates[0], 1 - rates[1])
    return truth.astype(float), (latent() < norm.ppf(says)).astype(float), documents


def simulate(
    n_datasets: int,
    sizes: tuple[int, int],
    shares: tuple[float, float],
    judge: str,
    *,
    clustered: bool,
    runner: Runner = run_serially,
) -> dict[str, object]:
    """Return the coverage of each interval, and the mean width of the corrected one."""
    hits: dict[str, list[bool]] = defaultdict(list)
    widths = []
    function = partial(hits_of, sizes=sizes, shares=shares, judge=judge, clustered=clustered)
    name = f"rates, {sizes}, {shares}, {judge}, {'clustered' if clustered else 'independent'}"
    for data_set, width in runner(name, function, n_datasets):
        for figure, hit in data_set.items():
            hits[figure].append(hit)
        if width is not None:
            widths.append(width)
    return {
        "n_labelled": sizes[0],
        "n_unlabelled": sizes[1],
        "labelled_share": shares[0],
        "share": shares[1],
        "judge": judge,
        "clustered": clustered,
        "coverage": {name: percent(figure_hits) for name, figure_hits in hits.items()},
        "width": round(float(np.mean(widths)), 3),
        "n_datasets": n_datasets,
    }


def hits_of(
    seed: int,
    sizes: tuple[int, int],
    shares: tuple[float, float],
    judge: str,
    *,
    clustered: bool,
) -> tuple[dict[str, bool], float | None]:
    """Return which intervals of one data set cover the truth, and the corrected one's width."""
    rates = JUDGES[judge]
    rng = np.random.default_rng([seed, *sizes, clustered, *_code(shares, judge)])
    y, f, documents = answers(rng, sizes[0], shares[0], rates, clustered=clustered)
    _, rest, rest_documents = answers(rng, sizes[1], shares[1], rates, clustered=clustered)
    sample = Answers(
        judged=f,
        human=y,
        documents=documents.tolist(),
        rest=rest,
        rest_documents=(rest_documents + 10_000).tolist(),
    )
    estimates = prevalence(sample)
    hits = {
        name: holds(getattr(estimates, name), shares[1])
        for name in ("judged", "labelled", "corrected", "ppi")
    }
    rate = error_rates(f, y, sample.documents)
    hits["sensitivity"] = holds(rate.sensitivity, rates[0])
    hits["specificity"] = holds(rate.specificity, rates[1])
    bounds = ends(estimates.corrected)
    return hits, None if bounds is None else bounds[1] - bounds[0]


def _code(shares: tuple[float, float], judge: str) -> tuple[int, ...]:
    return (*(round(100 * share) for share in shares), list(JUDGES).index(judge))


def main() -> int:
    """Run all simulations."""
    parser = simulation_parser(__doc__, "rates_coverage", datasets=1000)
    add_options(parser)
    options = parser.parse_args()
    rows = []
    with open_runner(options) as runner:
        for sizes, shares, judge, clustered in product(SIZES, SHARES, JUDGES, (False, True)):
            row = simulate(
                options.datasets, sizes, shares, judge, clustered=clustered, runner=runner
            )
            rows.append(row)
            print(*row.values(), flush=True)
    write_results(options.json, {"machine": describe_machine(), "simulated": rows})
    return 0


if __name__ == "__main__":
    sys.exit(main())

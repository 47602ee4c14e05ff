"""Simulated coverage of intervals and error rates of tests.

    python benchmarks/coverage_of_intervals.py [--datasets 2000] [--seeds 200] [--all-methods]

Nominal 95 % intervals should cover 93 to 97 %; planted biases should lie in their interval in about
95 % of seeds, and an unbiased judge should be flagged in at most 5 %. Truths of statistics come
from a population of 100,000 documents drawn the same way. Prints one line per measure, with the
Wilson interval of the coverage in brackets.
"""

from __future__ import annotations

import argparse
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass
from math import sqrt

import numpy as np
from _figures import holds, share_text
from _machine import describe_machine, quickest

from fairjudge.calibration.audits import BothOrders, PositionBias, position_bias
from fairjudge.calibration.calibration_report import ErrorScores, assess
from fairjudge.calibration.groups import errors_by_group
from fairjudge.calibration.length import LengthControl, control_length
from fairjudge.calibration.paired_comparisons import Comparisons
from fairjudge.calibration.ppi import PpiMean, ppi_mean
from fairjudge.calibration.replaceability import (
    AlternativeAnnotatorTest,
    alternative_annotator_test,
)
from fairjudge.domain import Estimate, Undefined
from fairjudge.stats.agreement import weighted_alpha, weighted_kappa
from fairjudge.stats.bootstrap import Method, WeightedStatistic, bootstrap
from fairjudge.stats.correlation import CORRELATIONS, weighted_correlation
from fairjudge.stats.levels import LEVELS, Scores, mean_correlations
from fairjudge.text.counting import percentage

N_DOCUMENTS, N_SYSTEMS = 100, 8
LIKERT = (-1.5, -0.5, 0.5, 1.5)
FAVOUR = np.array([0.9, -0.6, 0.3, -0.9, 0.6, -0.3, 0.8, -0.8])
"""What the judge adds to each system, so that system means do not agree perfectly."""


METHODS: tuple[Method, ...] = ("expanded", "percentile")
"""The default of an analysis first."""


@dataclass(frozen=True)
class Data:
    """Items of documents by systems: a judge's score and three annotators' labels."""

    judged: np.ndarray
    ratings: np.ndarray
    documents: np.ndarray
    systems: np.ndarray


def draw(rng: np.random.Generator, n_documents: int, *, clustered: bool) -> Data:
    """Draw documents, whose items have a common level if `clustered`."""
    documents, systems = np.divmod(np.arange(n_documents * N_SYSTEMS), N_SYSTEMS)
    shared = 0.8 if clustered else 0.0
    level = shared * rng.normal(size=n_documents)[documents]
    quality = 0.7 * (systems - 3.5) / 2.3 + level + rng.normal(size=documents.size)
    leaning = shared * rng.normal(size=n_documents)[documents]
    judged = quality + leaning + FAVOUR[systems] + rng.normal(size=documents.size)
    ratings = quality[:, None] + rng.normal(size=(documents.size, 3))
    return Data(
        judged=np.digitize(judged, LIKERT) + 1.0,
        ratings=np.digitize(ratings, LIKERT) + 1.0,
        documents=documents,
        systems=systems,
    )


def statistics(data: Data) -> dict[str, WeightedStatistic]:
    """Return the statistics of pooled items that are bootstrapped."""
    human = data.ratings.mean(axis=1)
    names = data.documents.tolist()
    out = {
        name: weighted_correlation(name, data.judged, human, documents=names)
        for name in CORRELATIONS
    }
    first = data.ratings[:, 0]
    out["kappa"] = weighted_kappa(data.judged, first, documents=names)
    out["kappa, quadratic"] = weighted_kappa(
        data.judged, first, weights="quadratic", documents=names
    )
    present = np.ones(data.ratings.shape, dtype=bool)
    for level in ("nominal", "ordinal", "interval"):
        out[f"alpha, {level}"] = weighted_alpha(data.ratings, present, level=level, documents=names)
    return out


def intervals(
    data: Data, rng: np.random.Generator, n_resamples: int, method: Method
) -> dict[str, Estimate]:
    """Return the bootstrap estimates on one data set."""
    n_documents = int(data.documents.max()) + 1
    out: dict[str, Estimate | Undefined] = {
        name: bootstrap(
            statistic, n_documents=n_documents, rng=rng, n_resamples=n_resamples, method=method
        )
        for name, statistic in statistics(data).items()
    }
    human = data.ratings.mean(axis=1)
    table = Scores(
        first=data.judged, second=human, documents=data.documents, systems=data.systems.tolist()
    )
    for level in LEVELS[1:]:
        correlations = mean_correlations(
            [table],
            level,
            n_documents=n_documents,
            rng=rng,
            n_resamples=n_resamples,
            method=method,
        )
        out |= {f"{name}, {level}": figure for name, figure in correlations.items()}
    errors = assess(
        data.judged,
        human,
        scale=(1, 5),
        documents=data.documents.tolist(),
        rng=rng,
        n_resamples=n_resamples,
        method=method,
    )
    if isinstance(errors, ErrorScores):
        out |= {"rmse": errors.rmse, "mae": errors.mae, "bias": errors.bias}
    return {name: estimate for name, estimate in out.items() if isinstance(estimate, Estimate)}


def bootstrap_coverage(n_datasets: int, *, clustered: bool, method: Method) -> None:
    """Print the coverage of every bootstrapped statistic."""
    population = draw(np.random.default_rng(99), 100_000, clustered=clustered)
    truths = {
        name: estimate.value
        for name, estimate in intervals(
            population, np.random.default_rng(0), 2, "percentile"
        ).items()
    }
    hits: dict[str, list[bool]] = defaultdict(list)
    for seed in range(n_datasets):
        rng = np.random.default_rng([seed, clustered])
        estimates = intervals(draw(rng, N_DOCUMENTS, clustered=clustered), rng, 1000, method)
        for name, truth in truths.items():
            hits[name].append(name in estimates and holds(estimates[name], truth))
    kind = "clustered" if clustered else "independent"
    for name, name_hits in hits.items():
        covered = share_text(sum(name_hits), len(name_hits))
        print(f"coverage of {name:24} {method} {kind:11} {covered}   true {truths[name]:.3f}")


def ppi_coverage(n_datasets: int) -> None:
    """Print PPI's coverage, and its width relative to the classical interval."""
    for noise, name in ((0.5, "a good judge"), (1.5, "a fair judge"), (10.0, "a worthless judge")):
        for clustered in (False, True):
            hits: dict[str, list[bool]] = defaultdict(list)
            widths: dict[str, list[float]] = defaultdict(list)
            for seed in range(n_datasets):
                for kind, estimate in _ppi(np.random.default_rng(seed), noise, clustered=clustered):
                    hits[kind].append(holds(estimate, 3.0))
                    widths[kind].append((estimate.high or 0.0) - (estimate.low or 0.0))
            classical = np.mean(widths["classical"])
            for kind, kind_hits in hits.items():
                covered = share_text(sum(kind_hits), len(kind_hits))
                print(
                    f"PPI, {name}, {'clustered' if clustered else 'independent'}: {kind:9} covers "
                    f"{covered}, width {np.mean(widths[kind]) / classical:.2f} of the classical one"
                )


def _ppi(rng: np.random.Generator, noise: float, *, clustered: bool) -> list[tuple[str, Estimate]]:
    n_labelled, n_all, size = 60, 600, 4 if clustered else 1
    documents = np.repeat(np.arange(n_all), size)
    shared = rng.normal(size=n_all)[documents] if clustered else 0.0
    truth = 3.0 + shared + rng.normal(size=documents.size)
    judged = truth + 0.5 + noise * rng.normal(size=documents.size)
    labelled = documents < n_labelled
    means = ppi_mean(
        truth[labelled],
        judged[labelled],
        judged[~labelled],
        documents=documents[labelled].tolist(),
        documents_unlabelled=documents[~labelled].tolist(),
    )
    if not isinstance(means, PpiMean):
        return []
    return [
        ("classical", means.classical),
        ("naive", means.naive),
        ("PPI", means.ppi),
        ("PPI++", means.ppi_plus),
    ]


def replaceability_errors(n_datasets: int) -> None:
    """Print how often a judge exactly at the margin beats an annotator: at most 5 % expected."""
    passed: list[bool] = []
    beaten: list[float] = []
    for seed in range(n_datasets):
        rng = np.random.default_rng(seed)
        truth = rng.normal(size=100)
        ratings = truth[:, None] + rng.normal(size=(100, 3))
        # As good as a person: the advantages are equal, and with no margin nothing is to be shown.
        judged = truth + rng.normal(size=100)
        result = alternative_annotator_test(
            judged,
            ratings,
            np.ones_like(ratings, dtype=bool),
            annotators=("a", "b", "c"),
            epsilon=0.0,
        )
        if isinstance(result, AlternativeAnnotatorTest):
            passed.append(result.passes)
            beaten.append(result.winning_rate)
    print(
        "alternative annotator test, a judge at the margin: passes "
        f"{percentage(np.mean(passed), digits=1)}, beats {percentage(np.mean(beaten), digits=1)} "
        "of annotators"
    )


def planted(n_seeds: int) -> None:
    """Print how often the interval covers a planted bias, and an unbiased judge is flagged."""
    for name, trial, size in (
        ("position", _position_trial, 0.3),
        ("length", _length_trial, 0.8),
        ("group", _group_trial, 0.6),
    ):
        hits = [trial(np.random.default_rng([1, seed]), size)[0] for seed in range(n_seeds)]
        flagged = [trial(np.random.default_rng([2, seed]), 0.0)[1] for seed in range(n_seeds)]
        print(
            f"planted {name} bias: in the interval {percentage(np.mean(hits), digits=1)} of "
            f"{n_seeds} seeds; a clean judge flagged {percentage(np.mean(flagged), digits=1)}"
        )


def _position_trial(rng: np.random.Generator, size: float) -> tuple[bool, bool]:
    """Draw pairs; in a share `size` both orders prefer the first position, the rest agree."""
    pairs = []
    for document in range(60):
        leaning = float(np.clip(size + (0.15 * rng.normal() if size else 0.0), 0.0, 1.0))
        for _ in range(5):
            better = "a" if rng.random() < 0.5 else "b"
            roll = rng.random()
            first, second = better, better
            if roll < leaning:
                first, second = "a", "b"
            elif roll < leaning + 0.1:
                first, second = ("a", "b") if rng.random() < 0.5 else ("b", "a")
            pairs.append(
                BothOrders(
                    document=document,
                    system_a="A",
                    system_b="B",
                    when_a_first=first,
                    when_b_first=second,
                )
            )
    bias: PositionBias = position_bias(pairs)
    test = bias.first_minus_second
    significant = isinstance(test, Estimate) and (test.p_value or 0.0) < 0.05
    return holds(test, size), significant


def _length_trial(rng: np.random.Generator, size: float) -> tuple[bool, bool]:
    """Draw verdicts by a logistic model with a length effect of `size` per standard deviation."""
    n = 600
    documents = np.repeat(np.arange(n // 4), 4)
    systems = np.array([rng.permutation(3)[:2] for _ in range(n)])
    strength = np.array([0.0, 0.3, 0.6])
    lengths = rng.normal(size=n) + 0.5 * (strength[systems[:, 0]] - strength[systems[:, 1]])
    z = lengths / sqrt(np.mean(lengths**2))
    position = rng.choice([-1.0, 1.0], n)
    eta = strength[systems[:, 0]] - strength[systems[:, 1]] + size * z + 0.2 * position
    control = control_length(
        Comparisons(
            wins=(rng.random(n) < 1 / (1 + np.exp(-eta))).astype(float),
            system_a=tuple(f"s{s}" for s in systems[:, 0]),
            system_b=tuple(f"s{s}" for s in systems[:, 1]),
            positions=position,
            documents=tuple(documents.tolist()),
        ),
        lengths,
    )
    if not isinstance(control, LengthControl) or not isinstance(control.length_effect, Estimate):
        return False, False
    return holds(control.length_effect, size), (control.length_effect.p_value or 0.0) < 0.05


def _group_trial(rng: np.random.Generator, size: float) -> tuple[bool, bool]:
    """Draw scores in which the documents of one of four outlets are rated `size` too high."""
    documents = np.repeat(np.arange(120), 4)
    groups = [f"outlet {document % 4}" for document in documents]
    labels = rng.normal(size=documents.size)
    favoured = np.array([group == "outlet 0" for group in groups])
    judged = (
        labels
        + 0.4 * rng.normal(size=120)[documents]
        + 0.8 * rng.normal(size=documents.size)
        + size * favoured
    )
    errors = errors_by_group(judged, labels, groups, documents=documents.tolist())
    return holds(errors[0].error_gap, size), any(error.flagged for error in errors)


def timed(work: Callable[[], None]) -> None:
    """Run `work` and print its time."""
    print(f"  ({quickest(work, repeats=1):.0f} s)", flush=True)


def main() -> None:
    """Run all simulations."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--datasets", type=int, default=2000)
    parser.add_argument("--seeds", type=int, default=200)
    parser.add_argument("--all-methods", action="store_true")
    options = parser.parse_args()
    print(describe_machine())
    for method in METHODS if options.all_methods else METHODS[:1]:
        for clustered in (False, True):
            timed(
                lambda method=method, clustered=clustered: bootstrap_coverage(
                    options.datasets, clustered=clustered, method=method
                )
            )
    timed(lambda: ppi_coverage(options.datasets))
    timed(lambda: replaceability_errors(options.datasets))
    timed(lambda: planted(options.seeds))


if __name__ == "__main__":
    main()

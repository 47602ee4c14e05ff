"""Simulated coverage of intervals from few labels: strata, answers, correlations, regression.

    python benchmarks/few_labels.py [--datasets 2000] [--json] [--processes N --folder F]

Strata: 60 of 400 items are labelled, one topic far more often than its share. Answers: labels of 60
or 120 single answers of 40 documents' checklists correct two systems' coverage. Correlation: 60 or
150 of 600 items, three per document, are labelled, drawn uniformly or as by ``annotate --active-for
correlation``, for true correlations of about .2, .5 and .8. Regression: 30, 60 or 120 labels and
300 more items, one or three per document; half of the labels' variance is due to length, which the
judge does not see. Nominal 95 % intervals should cover 93 to 97 %; truths are those of large
populations.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, TypeAlias

import numpy as np
from _figures import ends
from _machine import write_results
from _parallel import Runner, add_options, open_runner, run_serially, simulation_parser

from fairjudge.annotation.active import correlation_sizes, inclusion
from fairjudge.calibration.drawn_correlation import drawn_correlation
from fairjudge.calibration.drawn_ppi import PartlyLabelled, drawn_mean, sample_mean
from fairjudge.calibration.estimates import SystemEstimate, predict_labels, system_estimates
from fairjudge.calibration.items import join
from fairjudge.calibration.labels import Labels
from fairjudge.calibration.ppi import PpiMean
from fairjudge.calibration.samples import answers_by_system
from fairjudge.domain import Estimate, Judgement, Label, Undefined
from fairjudge.text.counting import percentage

WAYS = ("classical", "ppi", "ppi_plus")
SHIFTS, SHARES = np.array([0.0, 1.5, -1.0]), np.array([0.2, 0.5, 0.3])
"""Topics: people's mean of each, and its share of all items."""
SYSTEMS = {"plain": 0.0, "rich": 0.8}
N_ITEMS, PER_DOCUMENT = 600, 3
MEAN = 3.0
"""The mean human score, where a regression corrects for length."""

Coverage: TypeAlias = dict[str, float]
Widths: TypeAlias = dict[str, float]
"""Shares of data sets, and mean widths, by interval."""


Held: TypeAlias = dict[str, tuple[bool, float | None]]
"""Whether each interval of one data set holds its truth, and its width."""


class Tally:
    """The coverage of each interval over data sets, and its mean width."""

    def __init__(self, data_sets: Iterable[Held]) -> None:
        self._hits: dict[str, list[bool]] = defaultdict(list)
        self._widths: dict[str, list[float]] = defaultdict(list)
        for data_set in data_sets:
            for name, (holds, width) in data_set.items():
                self._hits[name].append(holds)
                if width is not None:
                    self._widths[name].append(width)

    def coverage(self) -> Coverage:
        """Return the coverage of each interval."""
        return {name: float(np.mean(hits)) for name, hits in self._hits.items()}

    def widths(self) -> Widths:
        """Return the mean width of each interval."""
        return {name: float(np.mean(widths)) for name, widths in self._widths.items()}


def hit_and_width(estimate: Estimate | Undefined, truth: float) -> tuple[bool, float | None]:
    """Return whether an interval covers the truth, and its width; False without an interval."""
    bounds = ends(estimate)
    if bounds is None:
        return False, None
    return bounds[0] <= truth <= bounds[1], bounds[1] - bounds[0]


def strata(n_datasets: int, *, runner: Runner = run_serially) -> Tally:
    """Simulate post-stratified means, and means of the labels without strata."""
    return Tally(runner("strata", strata_hits, n_datasets))


def strata_hits(seed: int) -> Held:
    """Return the intervals of one data set."""
    truth = float(SHARES @ SHIFTS)
    sample = topics(np.random.default_rng([seed, 1]))
    mean_by_strata, mean_without_strata = (
        drawn_mean(sample),
        drawn_mean(replace(sample, strata=None)),
    )
    assert isinstance(mean_by_strata, PpiMean)
    assert isinstance(mean_without_strata, PpiMean)
    by_strata = {
        f"mean by strata, {way}": hit_and_width(getattr(mean_by_strata, way), truth) for way in WAYS
    }
    return by_strata | {"mean without strata": hit_and_width(mean_without_strata.classical, truth)}


def topics(rng: np.random.Generator) -> PartlyLabelled:
    """Draw 400 items of three topics; 60 are labelled, mostly from the second topic."""
    topic = rng.choice(3, size=400, p=SHARES)
    human = SHIFTS[topic] + rng.normal(size=400)
    judged = 0.5 + human + 0.7 * rng.normal(size=400)
    order = np.argsort(rng.random(400) / np.array([0.15, 0.7, 0.15])[topic])
    label_rows, other_rows = order[:60], order[60:]
    return PartlyLabelled(
        human=human[label_rows],
        judged=judged[label_rows],
        documents=label_rows.tolist(),
        rest=judged[other_rows],
        rest_documents=other_rows.tolist(),
        strata=topic[order].tolist(),
    )


def answers(n_datasets: int, n_labels: int, *, runner: Runner = run_serially) -> Tally:
    """Simulate two systems' coverage, corrected by labels of single answers."""
    function = partial(answer_hits, n_labels=n_labels, truth=coverage_of_all())
    return Tally(runner(f"answers, {n_labels} labels", function, n_datasets))


def answer_hits(seed: int, n_labels: int, truth: Mapping[str, float]) -> Held:
    """Return the intervals of one data set."""
    truths = [truth["plain"], truth["rich"], truth["plain"] - truth["rich"]]
    hits: Held = {}
    estimates = estimates_of_answers(seed, n_labels)
    for name, estimate, true in zip((*SYSTEMS, "difference"), estimates, truths, strict=True):
        if isinstance(estimate.ppi, PpiMean):
            hits[f"coverage, {name}"] = hit_and_width(estimate.ppi.ppi_plus, true)
            hits[f"coverage by the judge alone, {name}"] = hit_and_width(estimate.ppi.naive, true)
        if name in SYSTEMS:
            hits[f"coverage by labels alone, {name}"] = hit_and_width(estimate.classical, true)
    return hits


def estimates_of_answers(seed: int, n_labels: int) -> Sequence[SystemEstimate]:
    """Return the estimates of both systems and of their difference on one data set."""
    rows, labels = checklists(np.random.default_rng([seed, n_labels]), n_labels)
    (joined,) = join(rows, labels, label_scale=(0.0, 1.0))
    by_system = answers_by_system(joined, rows, Labels.by_aspect(labels, ("*",)))
    return system_estimates(joined, level=0.95, answers=by_system)


def checklists(rng: np.random.Generator, n_labels: int) -> tuple[list[Judgement], list[Label]]:
    """Draw checklists of 3 to 12 groups for 40 documents and two systems, with some labels.

    Long checklists are covered less, so that the mean over groups differs from that over summaries.
    """
    rows: list[Judgement] = []
    labels: list[tuple[dict[str, Any], str, int]] = []
    for document in range(40):
        for system, latent in _hidden(rng).items():
            n = latent.size
            people, judge = latent > 0, latent + 0.6 * rng.normal(size=n) > -0.4
            key_fields: dict[str, Any] = {
                "eid": f"e{document}",
                "system": system,
                "aspect": "coverage",
            }
            entries = [{"unit": f"answer:{g}.0", "covered": int(judge[g])} for g in range(n)]
            verdicts: dict[str, Any] = {"value": judge.mean(), "checklist": entries}
            rows.append(Judgement(**key_fields, judge="j", protocol="checklist", **verdicts))
            labels += [(key_fields, f"answer:{g}.0", int(people[g])) for g in range(n)]
    order = rng.permutation(len(labels))[:n_labels]
    return rows, [
        Label(**key_fields, unit=unit, annotator="ann", value=value)
        for key_fields, unit, value in (labels[row] for row in sorted(order.tolist()))
    ]


def _hidden(rng: np.random.Generator) -> dict[str, np.ndarray]:
    """Draw the latent coverage of each answer of a document by each system; above 0 is covered."""
    n = int(rng.integers(3, 13))
    level = 0.7 * rng.normal() - 0.15 * (n - 7.5)
    return {system: level + better + rng.normal(size=n) for system, better in SYSTEMS.items()}


def coverage_of_all() -> dict[str, float]:
    """Return the mean share of a summary's answers with the human label covered, by system."""
    rng = np.random.default_rng(99)
    latent = [_hidden(rng) for _ in range(40_000)]
    return {
        name: float(np.mean([np.mean(scores[name] > 0) for scores in latent])) for name in SYSTEMS
    }


def correlation(n_datasets: int, r: float, budget: int, *, runner: Runner = run_serially) -> Tally:
    """Simulate correlations over all items, with labels drawn uniformly or actively."""
    _, judged, people = world(np.random.default_rng(99), r, 300_000)
    truth = float(np.corrcoef(judged, people)[0, 1])
    function = partial(correlation_hits, r=r, budget=budget, truth=truth)
    return Tally(runner(f"correlation of {r:g}, {budget} labels", function, n_datasets))


def correlation_hits(seed: int, r: float, budget: int, truth: float) -> Held:
    """Return the intervals of one data set."""
    rng = np.random.default_rng([seed, budget])
    documents, judged, people = world(rng, r)
    standard = (judged - judged.mean()) / judged.std()
    even, hits = np.ones(N_ITEMS), {}
    for name, size in {"even": even, "drawn": correlation_sizes(even, standard)}.items():
        chances = inclusion(size, budget, 0.25)
        is_drawn = rng.random(N_ITEMS) < chances
        rho = estimate(documents, judged, people, is_drawn, chances)
        hits[f"correlation of {r:g}, labels {name}"] = hit_and_width(rho, truth)
    return hits


def world(
    rng: np.random.Generator, r: float, n_documents: int = N_ITEMS // PER_DOCUMENT
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return documents of three items, the judge's ratings and correlated human scores."""
    documents = np.repeat(np.arange(n_documents), PER_DOCUMENT)
    document_effects = rng.normal(size=n_documents)[documents]
    quality = np.sqrt(0.3) * document_effects + np.sqrt(0.7) * rng.normal(size=documents.size)
    people = r * quality + np.sqrt(1 - r**2) * rng.normal(size=documents.size)
    return documents, np.clip(np.round(3 + quality), 1, 5), people


def estimate(
    documents: np.ndarray,
    judged: np.ndarray,
    people: np.ndarray,
    is_labelled: np.ndarray,
    chances: np.ndarray | None = None,
) -> Estimate | Undefined:
    """Return the correlation over all items, estimated from labels of some."""
    return drawn_correlation(partly_labelled(documents, judged, people, is_labelled, chances))


def partly_labelled(
    documents: np.ndarray,
    judged: np.ndarray,
    people: np.ndarray,
    is_labelled: np.ndarray,
    chances: np.ndarray | None = None,
) -> PartlyLabelled:
    """Return partly labelled items, with sampling probabilities `chances` if they are not None."""
    return PartlyLabelled(
        human=people[is_labelled],
        judged=judged[is_labelled],
        documents=documents[is_labelled].tolist(),
        rest=judged[~is_labelled],
        rest_documents=documents[~is_labelled].tolist(),
        inclusion_probabilities=None if chances is None else chances[is_labelled],
    )


def regression(
    n_datasets: int, n_labels: int, per_document: int, *, runner: Runner = run_serially
) -> Tally:
    """Simulate means estimated by the judge alone, and by a regression on judge and length."""
    function = partial(regression_hits, n_labels=n_labels, per_document=per_document)
    return Tally(
        runner(f"regression, {n_labels} labels, {per_document} a document", function, n_datasets)
    )


def regression_hits(seed: int, n_labels: int, per_document: int) -> Held:
    """Return the intervals of one data set."""
    rng = np.random.default_rng([seed, n_labels, per_document])
    regression_mean, judge_mean = means_by_length(rng, n_labels, per_document=per_document)
    by = f"mean by {{}}, {per_document} a document"
    return {
        by.format("regression"): hit_and_width(regression_mean.ppi_plus, MEAN),
        by.format("judge"): hit_and_width(judge_mean.ppi_plus, MEAN),
    }


def means_by_length(
    rng: np.random.Generator, n_labels: int, *, per_document: int = 1, by_length: float = 1.0
) -> tuple[PpiMean, PpiMean]:
    """Return means by a regression and by the judge, which does not see a summary's length.

    Of the remaining variance of the labels, half is due to the document and half to the length.
    """
    n = n_labels + 300
    document_effects = np.repeat(rng.normal(size=n // per_document), per_document)
    quality = (document_effects + rng.normal(size=n)) / np.sqrt(2)
    length = rng.normal(size=n)
    y = MEAN + quality + by_length * length
    x = np.column_stack([2 + 0.5 * quality + 0.4 * rng.normal(size=n), length])
    documents = np.repeat(np.arange(n // per_document), per_document).tolist()
    label_rows, other_rows = x[:n_labels], x[n_labels:]
    sample = PartlyLabelled(
        human=y[:n_labels],
        judged=label_rows[:, 0],
        documents=documents[:n_labels],
        rest=other_rows[:, 0],
        rest_documents=documents[n_labels:],
        columns=label_rows,
        rest_columns=other_rows,
    )
    prediction = predict_labels(sample, rng=rng)
    assert isinstance(prediction, PartlyLabelled)
    regression_mean, judge_mean = sample_mean(prediction), sample_mean(sample)
    assert isinstance(regression_mean, PpiMean)
    assert isinstance(judge_mean, PpiMean)
    return regression_mean, judge_mean


def table(name: str, coverage: Mapping[str, float]) -> str:
    """Return the lines of a table."""
    return "\n".join(
        f"| {name}: {interval} | {percentage(share, digits=1)} |"
        for interval, share in coverage.items()
    )


def simulate(n: int, runner: Runner) -> dict[str, list[Tally]]:
    """Return the results of all simulations, by number of labels."""
    tallies = {"60 labels of 400 items": [strata(n, runner=runner)]}
    for budget in (60, 150):
        tallies[f"{budget} labels of 600 items"] = [
            correlation(n, r, budget, runner=runner) for r in (0.2, 0.5, 0.8)
        ]
    for budget in (60, 120):
        tallies[f"{budget} labels of single answers"] = [answers(n, budget, runner=runner)]
    for budget in (30, 60, 120):
        tallies[f"{budget} labels of {budget + 300} items"] = [
            regression(n, budget, per_document, runner=runner) for per_document in (1, 3)
        ]
    return tallies


def main() -> None:
    """Run all simulations and print their coverage."""
    parser = simulation_parser(__doc__.splitlines()[0], "few_labels")
    add_options(parser)
    options = parser.parse_args()
    n = options.datasets
    with open_runner(options) as runner:
        tallies = simulate(n, runner)
    shares, widths = (
        {
            name: {
                interval: share for tally in group for interval, share in key_fields(tally).items()
            }
            for name, group in tallies.items()
        }
        for key_fields in (Tally.coverage, Tally.widths)
    )
    print(f"{n} data sets\n| interval | covers |\n|---|--:|")
    for name, coverage in shares.items():
        print(table(name, coverage))
    write_results(options.json, {"n_datasets": n, "coverage": shares, "widths": widths})


if __name__ == "__main__":
    main()

"""Whether intervals from few labels hold: strata, single answers, correlations, in simulation.

    python benchmarks/few_labels.py [--datasets 2000] [--json]

Strata: people labelled 60 of 400 items, of one topic far more often than its share. Answers: labels
of 60 or 120 single answers of 40 documents' checklists correct two systems' coverage. Correlation:
60 or 150 of 600 items, three a document, labelled evenly or as ``annotate --active-for
correlation`` draws them, for true correlations of about .2, .5 and .8. Nominal 95 % intervals
should cover 93 to 97 %; truths are those of large populations.
"""

from __future__ import annotations

import argparse
import json
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from fairjudge.annotation.active import correlation_sizes, inclusion
from fairjudge.calibration.drawn_correlation import drawn_correlation
from fairjudge.calibration.drawn_ppi import PartlyLabelled, drawn_mean
from fairjudge.calibration.estimates import SystemEstimate, system_estimates
from fairjudge.calibration.items import join
from fairjudge.calibration.labels import Labels
from fairjudge.calibration.ppi import PpiMean
from fairjudge.calibration.samples import answers_by_system
from fairjudge.domain import Estimate, Judgement, Label, Undefined
from fairjudge.text.counting import percentage

RESULTS = Path(__file__).parent / "results" / "few_labels.json"
WAYS = ("classical", "ppi", "ppi_plus")
SHIFTS, SHARES = np.array([0.0, 1.5, -1.0]), np.array([0.2, 0.5, 0.3])
"""Topics: people's mean of each, and its share of all items."""
SYSTEMS = {"plain": 0.0, "rich": 0.8}
N_ITEMS, PER_DOCUMENT = 600, 3

Coverage: TypeAlias = dict[str, float]
Widths: TypeAlias = dict[str, float]
"""Shares of data sets, and mean widths, by interval."""


class Tally:
    """Counts, by interval, of data sets whose truth it holds, and its widths."""

    def __init__(self) -> None:
        self._hits: dict[str, list[bool]] = defaultdict(list)
        self._widths: dict[str, list[float]] = defaultdict(list)

    def add(self, name: str, found: Estimate | Undefined, truth: float) -> None:
        """Add an interval; one that is none does not hold the truth."""
        if isinstance(found, Undefined) or found.low is None or found.high is None:
            self._hits[name].append(False)
            return
        self._hits[name].append(found.low <= truth <= found.high)
        self._widths[name].append(found.high - found.low)

    def coverage(self) -> Coverage:
        """Return the share of data sets by interval."""
        return {name: float(np.mean(hits)) for name, hits in self._hits.items()}

    def widths(self) -> Widths:
        """Return mean widths by interval."""
        return {name: float(np.mean(widths)) for name, widths in self._widths.items()}


def strata(n_datasets: int) -> Tally:
    """Draw data sets of post-stratified means, and of means of the labels without strata."""
    truth, tally = float(SHARES @ SHIFTS), Tally()
    for seed in range(n_datasets):
        sample = topics(np.random.default_rng([seed, 1]))
        found, without = drawn_mean(sample), drawn_mean(replace(sample, strata=None))
        assert isinstance(found, PpiMean)
        assert isinstance(without, PpiMean)
        for way in WAYS:
            tally.add(f"mean by strata, {way}", getattr(found, way), truth)
        tally.add("mean without strata", without.classical, truth)
    return tally


def topics(rng: np.random.Generator) -> PartlyLabelled:
    """Draw 400 items of three topics, of which 60 are labelled, mostly of the second."""
    drawn = rng.choice(3, size=400, p=SHARES)
    human = SHIFTS[drawn] + rng.normal(size=400)
    judged = 0.5 + human + 0.7 * rng.normal(size=400)
    order = np.argsort(rng.random(400) / np.array([0.15, 0.7, 0.15])[drawn])
    taken, others = order[:60], order[60:]
    return PartlyLabelled(
        human=human[taken],
        judged=judged[taken],
        documents=taken.tolist(),
        rest=judged[others],
        rest_documents=others.tolist(),
        strata=drawn[order].tolist(),
    )


def answers(n_datasets: int, n_labels: int) -> Tally:
    """Draw data sets of two systems' coverage, corrected by labels of single answers."""
    truth, tally = coverage_of_all(), Tally()
    truths = [truth["plain"], truth["rich"], truth["plain"] - truth["rich"]]
    for seed in range(n_datasets):
        every = estimates_of_answers(seed, n_labels)
        for name, one, true in zip((*SYSTEMS, "difference"), every, truths, strict=True):
            if isinstance(one.ppi, PpiMean):
                tally.add(f"coverage, {name}", one.ppi.ppi_plus, true)
                tally.add(f"coverage by the judge alone, {name}", one.ppi.naive, true)
            if name in SYSTEMS:
                tally.add(f"coverage by labels alone, {name}", one.classical, true)
    return tally


def estimates_of_answers(seed: int, n_labels: int) -> Sequence[SystemEstimate]:
    """Return both systems' estimates and their difference's on one data set."""
    rows, labels = checklists(np.random.default_rng([seed, n_labels]), n_labels)
    (joined,) = join(rows, labels, label_scale=(0.0, 1.0))
    by_system = answers_by_system(joined, rows, Labels.by_aspect(labels, ("*",)))
    return system_estimates(joined, level=0.95, answers=by_system)


def checklists(rng: np.random.Generator, n_labels: int) -> tuple[list[Judgement], list[Label]]:
    """Draw 40 documents of 3 to 12 groups, two systems; labels of single groups of some of them.

    Long checklists are covered less, so that a mean over groups is not one over summaries.
    """
    rows: list[Judgement] = []
    labels: list[tuple[dict[str, Any], str, int]] = []
    for document in range(40):
        for system, hidden in _hidden(rng).items():
            n = hidden.size
            people, judge = hidden > 0, hidden + 0.6 * rng.normal(size=n) > -0.4
            of: dict[str, Any] = {"eid": f"e{document}", "system": system, "aspect": "coverage"}
            entries = [{"unit": f"answer:{g}.0", "covered": int(judge[g])} for g in range(n)]
            said: dict[str, Any] = {"value": judge.mean(), "checklist": entries}
            rows.append(Judgement(**of, judge="j", protocol="checklist", **said))
            labels += [(of, f"answer:{g}.0", int(people[g])) for g in range(n)]
    drawn = rng.permutation(len(labels))[:n_labels]
    return rows, [
        Label(**of, unit=unit, annotator="ann", value=value)
        for of, unit, value in (labels[at] for at in sorted(drawn.tolist()))
    ]


def _hidden(rng: np.random.Generator) -> dict[str, np.ndarray]:
    """Draw how plainly each system says each answer of a document; above 0 it covers it."""
    n = int(rng.integers(3, 13))
    level = 0.7 * rng.normal() - 0.15 * (n - 7.5)
    return {system: level + better + rng.normal(size=n) for system, better in SYSTEMS.items()}


def coverage_of_all() -> dict[str, float]:
    """Return the mean share of a summary's answers that people call covered, by system."""
    rng = np.random.default_rng(99)
    drawn = [_hidden(rng) for _ in range(40_000)]
    return {name: float(np.mean([np.mean(one[name] > 0) for one in drawn])) for name in SYSTEMS}


def correlation(n_datasets: int, r: float, budget: int) -> Tally:
    """Draw data sets of the correlation over all items, labelled evenly or drawn for it."""
    _, judged, people = world(np.random.default_rng(99), r, 300_000)
    truth, tally = float(np.corrcoef(judged, people)[0, 1]), Tally()
    for seed in range(n_datasets):
        rng = np.random.default_rng([seed, budget])
        documents, judged, people = world(rng, r)
        standard = (judged - judged.mean()) / judged.std()
        even = np.ones(N_ITEMS)
        for name, size in {"even": even, "drawn": correlation_sizes(even, standard)}.items():
            chances = inclusion(size, budget, 0.25)
            taken = rng.random(N_ITEMS) < chances
            found = estimate(documents, judged, people, taken, chances)
            tally.add(f"correlation of {r:g}, labels {name}", found, truth)
    return tally


def world(
    rng: np.random.Generator, r: float, n_documents: int = N_ITEMS // PER_DOCUMENT
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return documents of three items, judge's ratings and people's scores, which correlate."""
    documents = np.repeat(np.arange(n_documents), PER_DOCUMENT)
    shared = rng.normal(size=n_documents)[documents]
    quality = np.sqrt(0.3) * shared + np.sqrt(0.7) * rng.normal(size=documents.size)
    people = r * quality + np.sqrt(1 - r**2) * rng.normal(size=documents.size)
    return documents, np.clip(np.round(3 + quality), 1, 5), people


def estimate(
    documents: np.ndarray,
    judged: np.ndarray,
    people: np.ndarray,
    taken: np.ndarray,
    chances: np.ndarray | None = None,
) -> Estimate | Undefined:
    """Return the correlation over all items from the labels of those `taken`."""
    return drawn_correlation(
        PartlyLabelled(
            human=people[taken],
            judged=judged[taken],
            documents=documents[taken].tolist(),
            rest=judged[~taken],
            rest_documents=documents[~taken].tolist(),
            chances=None if chances is None else chances[taken],
        )
    )


def table(name: str, coverage: Mapping[str, float]) -> str:
    """Return lines of a table."""
    return "\n".join(
        f"| {name}: {one} | {percentage(share, digits=1)} |" for one, share in coverage.items()
    )


def main() -> None:
    """Run all simulations and print their coverage."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--datasets", type=int, default=2000)
    parser.add_argument("--json", type=Path, nargs="?", const=RESULTS)
    given = parser.parse_args()
    n = given.datasets
    found = {"60 labels of 400 items": strata(n).coverage()}
    print(f"{n} data sets\n| interval | covers |\n|---|--:|")
    for budget in (60, 150):
        of_budget: Coverage = {}
        for r in (0.2, 0.5, 0.8):
            of_budget |= correlation(n, r, budget).coverage()
        found[f"{budget} labels of 600 items"] = of_budget
    for budget in (60, 120):
        found[f"{budget} labels of single answers"] = answers(n, budget).coverage()
    for name, coverage in found.items():
        print(table(name, coverage))
    if given.json is not None:
        out = {"n_datasets": n, "coverage": found}
        given.json.write_text(json.dumps(out, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()

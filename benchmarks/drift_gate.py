"""False alarms, detected losses and coverage of ``fairjudge check``, in simulation.

    python benchmarks/drift_gate.py [--datasets 1000]

Simulated: 40 and 100 documents of 3 correlated anchors; a judge before and after a change, whose
errors on an item are correlated. Answers are right with probability .85 before the change. Ratings
from 1 to 5 are the label plus noise. Margin .05. Nominal 95 % intervals should cover 93 to 97 %;
truths come from a population of 100,000 documents. Writes its table to docs/ci.md.
"""

from __future__ import annotations

import argparse
import math
from pathlib import Path

import numpy as np
from _figures import holds, share_text
from _machine import describe_machine, write_between
from scipy.stats import norm

from fairjudge.calibration.drift import Anchors, drift
from fairjudge.domain import Undefined
from fairjudge.stats.correlation import correlation
from fairjudge.text.counting import percentage

DOCUMENT = Path(__file__).resolve().parents[1] / "docs" / "ci.md"
PER_DOCUMENT, MARGIN = 3, 0.05
LOSSES = {"binary": (0.0, 0.1, 0.2), "likert": (0.0, 0.5, 1.0)}
"""Loss of accuracy; noise added to a rating, as a standard deviation in points."""


def draw(rng: np.random.Generator, n_documents: int, protocol: str, loss: float) -> Anchors:
    """Draw anchors from normal variables, correlated (1/2) within documents and over time."""
    n = n_documents * PER_DOCUMENT
    documents = np.arange(n) // PER_DOCUMENT

    def shared() -> np.ndarray:
        by_document = rng.normal(size=n_documents)[documents]
        return (by_document + rng.normal(size=n)) / math.sqrt(2)

    quality, error = shared(), shared()
    noise = [(error + rng.normal(size=n)) / math.sqrt(2) for _ in range(2)]
    if protocol == "binary":
        human = (quality > 0).astype(float)
        right_answers = [noise[i] < norm.ppf(0.85 - i * loss) for i in range(2)]
        before, after = (np.where(is_right, human, 1 - human) for is_right in right_answers)
    else:
        human = np.clip(np.round(3 + 1.2 * quality), 1, 5)
        sizes = (1.0, math.hypot(1.0, loss))
        before, after = (
            np.clip(np.round(human + size * error), 1, 5)
            for size, error in zip(sizes, noise, strict=True)
        )
    return Anchors(
        before=before, after=after, human=human, documents=documents.tolist(), protocol=protocol
    )


def truth(rng: np.random.Generator, protocol: str, loss: float) -> float:
    """Return the change of agreement in a large population."""
    population = draw(rng, 100_000, protocol, loss)
    if protocol == "binary":
        return float(
            np.mean(population.after == population.human)
            - np.mean(population.before == population.human)
        )
    before, after = (
        correlation("spearman", values, population.human)
        for values in (population.before, population.after)
    )
    assert not isinstance(before, Undefined)
    assert not isinstance(after, Undefined)
    return after - before


def row(protocol: str, n_documents: int, loss: float, n_datasets: int) -> str:
    """Return a row of the table."""
    rng = np.random.default_rng([n_documents, int(100 * loss), protocol == "binary"])
    change = truth(rng, protocol, loss)
    verdicts, n_covered = [], 0
    for _ in range(n_datasets):
        result = drift(draw(rng, n_documents, protocol, loss), margin=MARGIN, rng=rng)
        verdicts.append(result.verdict)
        n_covered += holds(result.agreement, change)
    names = ("worse", "cannot tell", "same", "better")
    shares = " | ".join(percentage(verdicts.count(name) / n_datasets, digits=1) for name in names)
    kind = "answers" if protocol == "binary" else "ratings"
    coverage = share_text(n_covered, n_datasets)
    return f"| {kind} | {n_documents} | {change:+.3f} | {shares} | {coverage} |"


def main() -> None:
    """Run the simulation and write the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--datasets", type=int, default=1000)
    n_datasets = parser.parse_args().datasets
    lines = [
        "| anchors | documents | true change | worse | cannot tell | same | better | covered |",
        "|---|--:|--:|--:|--:|--:|--:|--:|",
        *(
            row(protocol, n_documents, loss, n_datasets)
            for protocol, losses in LOSSES.items()
            for n_documents in (40, 100)
            for loss in losses
        ),
        "",
        f"{n_datasets:,} data sets per row, margin {MARGIN}; {describe_machine()}.",
    ]
    table = "\n".join(lines) + "\n"
    print(table)
    write_between(DOCUMENT, "measured", table)


if __name__ == "__main__":
    main()

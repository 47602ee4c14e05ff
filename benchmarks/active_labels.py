"""Simulated coverage and width of intervals from actively drawn labels.

    python benchmarks/active_labels.py [--runs 1000]

A judge assigns every item a probability. Human answers follow it, except that the judge is
overconfident by a known amount and wrong in some documents. Items are drawn by
`fairjudge.annotation.active.inclusion`, uniformly or by the judge's uncertainty, and the mean is
estimated by `fairjudge.calibration.ppi`. Prints the coverage of the 95 % interval, its mean width,
and the coverage for a judge that is systematically wrong.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass

import numpy as np
from _figures import ends
from _machine import describe_machine
from few_labels import partly_labelled
from numpy.typing import NDArray

from fairjudge.annotation.active import inclusion
from fairjudge.calibration.drawn_ppi import drawn_mean
from fairjudge.calibration.ppi import PpiMean

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class World:
    """Parameters of items, human answers and the judge, which is near chance on hard items."""

    name: str
    n_documents: int = 250
    items_a_document: int = 8
    sharpness: float = 3.0
    overconfidence: float = 1.5
    bias: float = 0.0
    hard_share: float = 0.0
    spread_of_documents: float = 0.4


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """Means over runs: ``width`` of the interval, ``labels`` drawn."""

    coverage: float
    width: float
    labels: float
    error: float


WORLDS = (
    World(name="good judge"),
    World(name="sure judge", sharpness=4.5),
    World(name="a fifth is hard", sharpness=8.0, overconfidence=1.2, hard_share=0.2),
    World(name="overconfident judge", overconfidence=3.0),
    World(name="biased judge", bias=1.0),
    World(name="useless judge", sharpness=0.2, spread_of_documents=0.0),
)


def simulate(
    world: World, *, budget: int, random_share: float, runs: int, rng: np.random.Generator
) -> Result:
    """Simulate data sets, label `budget` items of each, and compare the interval with the truth.

    The truth is the population mean, estimated from a large world.
    """
    truth = float(np.mean([_draw_world(world, rng)[2].mean() for _ in range(400)]))
    hits, widths, labels, errors = [], [], [], []
    for _ in range(runs):
        documents, judged, human, _ = _draw_world(world, rng)
        sizes = np.sqrt(judged * (1.0 - judged))
        chances = inclusion(sizes, budget, random_share)
        is_drawn = rng.random(judged.size) < chances
        result = drawn_mean(partly_labelled(documents, judged, human, is_drawn, chances))
        if isinstance(result, PpiMean) and (bounds := ends(result.ppi_plus)):
            hits.append(bounds[0] <= truth <= bounds[1])
            widths.append(bounds[1] - bounds[0])
            labels.append(int(is_drawn.sum()))
            errors.append(result.ppi_plus.value - truth)
    return Result(
        coverage=float(np.mean(hits)),
        width=float(np.mean(widths)),
        labels=float(np.mean(labels)),
        error=float(np.mean(errors)),
    )


def _draw_world(
    world: World, rng: np.random.Generator
) -> tuple[NDArray[np.int64], Floats, Floats, Floats]:
    """Return documents, the judge's probabilities, human answers, and their probabilities."""
    n = world.n_documents * world.items_a_document
    documents = np.repeat(np.arange(world.n_documents), world.items_a_document)
    of_document = world.spread_of_documents * rng.standard_normal(world.n_documents)[documents]
    logits = world.sharpness * rng.standard_normal(n)
    logits *= np.where(rng.random(n) < world.hard_share, 0.05, 1.0)
    true = 1.0 / (1.0 + np.exp(-(logits / world.overconfidence + of_document)))
    judged = 1.0 / (1.0 + np.exp(-(logits + world.bias)))
    human = (rng.random(n) < true).astype(np.float64)
    return documents, judged, human, true


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--runs", type=int, default=1000)
    parser.add_argument("--budget", type=int, default=300)
    options = parser.parse_args()
    print(describe_machine())
    print(f"{options.runs} runs, 250 documents of 8 items, about {options.budget} labels")
    print(f"{'judge':22}{'drawn':18}{'coverage':>9}{'width':>8}{'bias':>9}{'labels':>8}")
    for world in WORLDS:
        for name, share in (("uniformly", 1.0), ("active, 25 %", 0.25), ("active, 10 %", 0.10)):
            result = simulate(
                world,
                budget=options.budget,
                random_share=share,
                runs=options.runs,
                rng=np.random.default_rng(7),
            )
            print(
                f"{world.name:22}{name:18}{result.coverage:9.3f}{result.width:8.4f}"
                f"{result.error:+9.4f}{result.labels:8.1f}"
            )


if __name__ == "__main__":
    main()

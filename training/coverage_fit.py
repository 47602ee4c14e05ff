"""P(covered): a logistic fit over both heads and word overlap, on human labels of units.

The data sets have equal weights: units in summaries of one document, and insights in summaries of
many conversations, which are longer and on which a fit on the former alone is less certain.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from fairjudge.judges.passages import Vectoriser, passages_of
from fairjudge.ports import Embedder
from fairjudge.scorers.trained_models import TrainedModels, logistic
from fairjudge.text.statements import statement_texts
from training import data
from training.fits import fit_logistic

ROUNDS = 5
"""Iterations of the fit; each uses the best passages under the previous fit."""
PENALTY = 5.0
SUMMHAY = "summhay"


@dataclass(frozen=True, slots=True)
class Labelled:
    """A unit: features (p, 6) of the passages that may cover it, and its human label."""

    source: str
    group: str
    passages: NDArray[np.float64]
    covered: int


def labelled_units(models: TrainedModels, *, source: Path) -> list[Labelled]:
    """Return units of the calibration documents, each with its whole summary."""
    examples = [
        *data.coverage("calibrate", folder=source),
        *data.merged_coverage("calibrate", folder=source),
    ]
    rows = models.covered_features(data.pairs_of(examples))
    return [
        Labelled(example.source.split()[0], example.group, row[None, :], example.label)
        for example, row in zip(examples, rows, strict=True)
    ]


def labelled_insights(models: TrainedModels, embedder: Embedder, *, source: Path) -> list[Labelled]:
    """Return SummHay's insights with the judge's passages; the group is the topic."""
    rows = data.rows("summhay", folder=source)
    vectoriser = Vectoriser(embedder)
    vectoriser.add([sentence for row in rows for sentence in statement_texts(row["text"])])
    vectoriser.add([row["unit"] for row in rows])
    pairs, sizes = [], []
    for row in rows:
        summary = passages_of((row["text"],), vectoriser)
        near = (
            summary.nearest_passage_and_sentences(vectoriser.rows([row["unit"]])[0])
            if summary
            else ()
        )
        pairs += [(passage, row["unit"]) for passage in near]
        sizes.append(len(near))
    parts = np.split(models.covered_features(pairs), np.cumsum(sizes)[:-1])
    return [
        Labelled(SUMMHAY, row["topic"], part, int(row["covered"] > 0))
        for row, part in zip(rows, parts, strict=True)
    ]


def fit_covered(units: Sequence[Labelled], *, without: Collection[str] = ()) -> NDArray[np.float64]:
    """Return six nonnegative weights and the constant, fitted without the groups `without`.

    All sources have equal weight.
    """
    chosen = [unit for unit in units if unit.group not in without]
    counts = Counter(unit.source for unit in chosen)
    weights = np.array([len(chosen) / len(counts) / counts[unit.source] for unit in chosen])
    labels = np.array([unit.covered for unit in chosen])
    fit = np.array([1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0])
    for _ in range(ROUNDS):
        features = np.array([unit.passages[(unit.passages @ fit[:-1]).argmax()] for unit in chosen])
        fit = fit_logistic(features, labels, penalty=PENALTY, weights=weights)
    return fit


def insights_covered(
    models: TrainedModels, embedder: Embedder, *, source: Path
) -> NDArray[np.float64]:
    """Return P(covered) of SummHay's insights in order, each from the fit without its topic."""
    insights = labelled_insights(models, embedder, source=source)
    units = [*labelled_units(models, source=source), *insights]
    topics = dict.fromkeys(insight.group for insight in insights)
    fits = {topic: fit_covered(units, without={topic}) for topic in topics}
    return np.array([p_covered(insight, fits[insight.group]) for insight in insights])


def p_covered(unit: Labelled, fit: NDArray[np.float64]) -> float:
    """Return P(covered) of the unit, the maximum over passages."""
    return float(logistic(unit.passages @ fit[:-1] + fit[-1]).max())

"""Judges that give the probability of every answer, taken from their judgements."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from fairjudge.calibration.calibrators import FEWEST_LABELS
from fairjudge.calibration.crossfit import assign_folds
from fairjudge.calibration.items import Joined
from fairjudge.calibration.temperature import (
    Distributions,
    DistributionScores,
    apply_temperature,
    distributions,
    expected_scores,
    fit_temperature,
    score_distributions,
)
from fairjudge.domain import Undefined
from fairjudge.stats._arrays import FloatArray, IntArray
from fairjudge.stats.correlation import CORRELATIONS, correlation


@dataclass(frozen=True, slots=True, kw_only=True)
class DistributionReport:
    """How good a judge's probabilities are, as given and after temperature scaling.

    ``after`` is cross-fitted over documents; ``temperature`` is fitted on all items, to be used on
    new ones. ``expected_score`` holds the correlations of the mean level with the mean label.
    ``n_left_out`` counts items without probabilities or without a label on one of the levels.
    """

    n: int
    n_left_out: int
    levels: tuple[float, ...]
    before: DistributionScores
    after: DistributionScores | Undefined
    temperature: float | Undefined
    expected_score: Mapping[str, float | Undefined]


def distribution_report(
    joined: Joined, *, rng: np.random.Generator, level: float = 0.95
) -> DistributionReport | Undefined:
    """Assess the probabilities of one group; Undefined where it has none over numbers."""
    levels = _levels(joined)
    if levels is None:
        return Undefined(why="the judge gives no probabilities over the numbers of a scale")
    on_level = joined.present[:, :, None] & (
        np.abs(joined.ratings[:, :, None] - levels[None, None, :]) < 1e-9
    )
    targets = on_level.sum(axis=1).astype(np.float64)
    rows = np.array(
        [
            row
            for row, given in enumerate(joined.probabilities)
            if given is not None and sum(given.values()) > 0.0 and targets[row].any()
        ],
        dtype=np.intp,
    )
    if not rows.size:
        return Undefined(why="no item has both probabilities and a label on one of the levels")
    data = distributions(_matrix(joined, rows, levels), targets[rows], levels)
    documents = [joined.documents[row] for row in rows]
    expected = expected_scores(data)
    return DistributionReport(
        n=rows.size,
        n_left_out=len(joined.keys) - rows.size,
        levels=tuple(levels.tolist()),
        before=score_distributions(data, documents=documents, level=level),
        after=_after(data, documents, rng, level),
        temperature=fit_temperature(data),
        expected_score={
            name: correlation(name, expected, joined.human[rows]) for name in CORRELATIONS
        },
    )


def _levels(joined: Joined) -> FloatArray | None:
    names = {name for given in joined.probabilities if given is not None for name in given}
    try:
        levels = sorted({float(name) for name in names})
    except ValueError:
        return None
    return np.array(levels) if len(levels) >= 2 else None


def _matrix(joined: Joined, rows: IntArray, levels: FloatArray) -> FloatArray:
    place = {level: column for column, level in enumerate(levels.tolist())}
    out = np.zeros((rows.size, levels.size))
    for row, item in enumerate(rows):
        for name, probability in (joined.probabilities[item] or {}).items():
            out[row, place[float(name)]] += probability
    return out


def _after(
    data: Distributions,
    documents: Sequence[Hashable],
    rng: np.random.Generator,
    level: float,
) -> DistributionScores | Undefined:
    n_documents = len(set(documents))
    if len(documents) < FEWEST_LABELS or n_documents < 2:
        return Undefined(why=f"temperature needs {FEWEST_LABELS} items in 2 or more documents")
    folds = assign_folds(documents, min(10, n_documents), rng)
    scaled = np.empty_like(data.probabilities)
    for fold in np.unique(folds):
        held = folds == fold
        others = Distributions(
            probabilities=data.probabilities[~held],
            targets=data.targets[~held],
            levels=data.levels,
        )
        temperature = fit_temperature(others)
        if isinstance(temperature, Undefined):
            return temperature
        scaled[held] = apply_temperature(data.probabilities[held], temperature)
    moved = Distributions(probabilities=scaled, targets=data.targets, levels=data.levels)
    return score_distributions(moved, documents=documents, level=level)

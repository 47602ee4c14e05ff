"""Coverage of intervals, measures of binary classification, and results as text."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata

from fairjudge.domain import Estimate
from fairjudge.stats.intervals import wilson


def ends(estimate: object) -> tuple[float, float] | None:
    """Return the bounds of an interval, or None if there is no interval."""
    if isinstance(estimate, Estimate) and estimate.low is not None and estimate.high is not None:
        return estimate.low, estimate.high
    return None


def holds(estimate: object, truth: float) -> bool:
    """Return whether there is an interval that covers the truth."""
    bounds = ends(estimate)
    return bounds is not None and bool(bounds[0] <= truth <= bounds[1])


def collect_hits(data_sets: Iterable[Mapping[str, Sequence[bool]]]) -> dict[str, list[bool]]:
    """Return the hits of all data sets, by measure."""
    hits: dict[str, list[bool]] = defaultdict(list)
    for data_set in data_sets:
        for figure, figure_hits in data_set.items():
            hits[figure] += figure_hits
    return hits


def percent(hits: Sequence[bool]) -> float:
    """Return the share of hits in percent, rounded to one decimal."""
    return round(100 * float(np.mean(hits)), 1)


def percent_interval(n: int, n_all: int) -> tuple[float, float, float]:
    """Return a share in percent with the bounds of its 95 % Wilson interval."""
    share = wilson(n, n_all)
    assert isinstance(share, Estimate)
    low, high = ends(share) or (share.value, share.value)
    return 100 * share.value, 100 * low, 100 * high


def share_text(n: int, n_all: int) -> str:
    """Return ``94.2 % [92.1, 95.8]``: a share with its Wilson interval."""
    value, low, high = percent_interval(n, n_all)
    return f"{value:.1f} % [{low:.1f}, {high:.1f}]"


def interval_text(figure: Mapping[str, Any], *, digits: int = 3) -> str:
    """Return ``0.123 [0.101, 0.145]``, without brackets if there is no interval."""
    text = f"{figure['value']:.{digits}f}"
    if figure.get("low") is None:
        return text
    return f"{text} [{figure['low']:.{digits}f}, {figure['high']:.{digits}f}]"


def roc_area(scores: NDArray[Any], positive: NDArray[np.bool_]) -> float:
    """Return the ROC AUC (ties count 1/2); NaN if there is only one class."""
    n = int(positive.sum())
    n_pairs = n * (positive.size - n)
    ranks = rankdata(scores)[positive].sum()
    return float((ranks - n * (n + 1) / 2) / n_pairs) if n_pairs else float("nan")


def balanced_accuracy(positive: NDArray[np.bool_], answers: NDArray[np.bool_]) -> float:
    """Return the balanced accuracy: the mean of the recalls of both classes."""
    return float((answers[positive].mean() + (~answers[~positive]).mean()) / 2)

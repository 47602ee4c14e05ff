"""Cross-fitting: every item is calibrated by a curve that never saw its document."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from fairjudge.calibration.calibrators import FEWEST_LABELS, fit_curve
from fairjudge.calibration.curves import CalibratorName
from fairjudge.domain import Undefined
from fairjudge.stats._arrays import FloatArray, IntArray, document_codes, same_length, vector
from fairjudge.text.printable import counted


@dataclass(frozen=True, slots=True, kw_only=True)
class CrossFitted:
    """Out-of-fold calibrated scores, shape (n,), and the fold of each item, shape (n,)."""

    calibrated: FloatArray
    folds: IntArray
    n_folds: int


def assign_folds(documents: Sequence[Hashable], n_folds: int, rng: np.random.Generator) -> IntArray:
    """Deal whole documents to folds 0 to n_folds - 1 at random, evenly: shape (n,)."""
    coded, n_documents = document_codes(documents, len(documents))
    dealt = rng.permutation(np.arange(n_documents) % n_folds)
    return np.asarray(dealt[coded], dtype=np.intp)


def cross_fit(
    name: CalibratorName,
    scores: ArrayLike,
    labels: ArrayLike,
    *,
    documents: Sequence[Hashable],
    rng: np.random.Generator,
    n_folds: int = 10,
) -> CrossFitted | Undefined:
    """Calibrate each item by a curve fitted on the documents of the other folds.

    Parameters
    ----------
    scores, labels : arrays of shape (n,)
    documents
        The document of each item; no document is split between folds.
    n_folds
        At most the number of documents is used.

    Returns
    -------
    CrossFitted or Undefined
        Undefined below `FEWEST_LABELS` labels, below 2 documents, or where a fold's curve is.
    """
    x, y = vector(scores, name="scores"), vector(labels, name="labels")
    n = same_length(scores=x, labels=y, documents=documents)
    n_documents = len(set(documents))
    if n < FEWEST_LABELS:
        return Undefined(why=f"{counted(n, 'labelled item')}: a calibrator needs {FEWEST_LABELS}")
    if n_documents < 2:
        return Undefined(why="fewer than 2 documents: nothing to hold out")
    used = min(n_folds, n_documents)
    folds = assign_folds(documents, used, rng)
    out = np.empty(n)
    for fold in range(used):
        held = folds == fold
        curve = fit_curve(name, x[~held], y[~held])
        if isinstance(curve, Undefined):
            return curve
        out[held] = curve(np.clip(x[held], x[~held].min(), x[~held].max()))
    return CrossFitted(calibrated=out, folds=folds, n_folds=used)

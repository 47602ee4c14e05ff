"""Means from few labels by a regression of the labels on judge and covariates, cross-fitted.

PPI++ (`fairjudge.calibration.ppi`) takes the judge's score as its prediction of a label. Where the
label also depends on what the judge overlooks (length, another judge), a regression predicts it
better, and the efficient estimator is that of augmented inverse-probability weighting:

    theta = mean(Y - lambda g) over labelled + lambda mean(g) over unlabelled, g(x) = E[Y | x]

Source: Chen, Lu, Li, Guo and Li (2026), "Efficient Inference for Noisy LLM-as-a-Judge Evaluation"
(arXiv 2601.05420), by its efficient influence function; cross-fitting as in Chernozhukov et al.
(2018), "Double/debiased machine learning". Whatever g is, the interval covers; a good g narrows it.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from fairjudge.calibration.calibrators import held_out
from fairjudge.calibration.drawn_ppi import PartlyLabelled
from fairjudge.domain import Undefined
from fairjudge.text.counting import pluralize

LABELS_PER_COLUMN = 5
"""Fewest labels for each coefficient of the regression."""
_N_FOLDS = 10


def predicted(sample: PartlyLabelled, *, rng: np.random.Generator) -> PartlyLabelled | Undefined:
    """Replace the judge's values by predictions of a regression on the columns.

    A labelled item is predicted from the labels of other folds' documents. Undefined without
    columns, below `LABELS_PER_COLUMN` labels for each of them and the intercept, or with fewer than
    2 labelled documents.
    """
    x, z, y = sample.columns, sample.rest_columns, sample.human
    if x is None or z is None:
        return Undefined(why="no predictor of labels besides the judge's own values")
    needed = LABELS_PER_COLUMN * (x.shape[1] + 1)
    if y.size < needed:
        return Undefined(
            why=f"{pluralize(y.size, 'labelled item')}: a regression on "
            f"{pluralize(x.shape[1], 'column')} needs {needed}"
        )
    if len(set(sample.documents)) < 2:
        return Undefined(why="fewer than 2 labelled documents")
    design, design_of_rest = (np.column_stack([np.ones(len(rows)), rows]) for rows in (x, z))
    of_labelled, of_rest = np.empty(y.size), np.zeros(len(z))
    for fold in held_out(sample.documents, _N_FOLDS, rng):
        # The smallest intercept and slopes where several fit.
        coefficients = np.linalg.lstsq(design[~fold], y[~fold], rcond=None)[0]
        of_labelled[fold] = design[fold] @ coefficients
        # By its share of the labels each fold's model counts alike on both sides.
        of_rest += fold.mean() * (design_of_rest @ coefficients)
    return replace(sample, judged=of_labelled, rest=of_rest)

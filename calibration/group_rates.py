"""Error rates and corrected shares of one judge and aspect, over all systems and by system."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from fairjudge.calibration.items import Joined
from fairjudge.calibration.labels import system_name
from fairjudge.calibration.rates import ErrorRates, Prevalence, Sample, error_rates, prevalence
from fairjudge.domain import Undefined

YES_OR_NO = (0.0, 1.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class RatesReport:
    """A yes-or-no judge's errors, and the share of yes; ``n_split`` items people are split on."""

    errors: ErrorRates
    n_split: int
    prevalence: Prevalence | Undefined
    by_system: Mapping[str, Prevalence]


def group_rates(joined: Joined, *, level: float = 0.95) -> RatesReport | None:
    """Return error rates, and prevalence over all systems and by system; None for other scales.

    An item's label is what most annotators say; items on which they are split half and half are
    left out and counted, as are items whose repeats differ. The error rates are those of all
    systems together, also where one system's prevalence is corrected.
    """
    if joined.protocol != "binary" or (joined.judge_scale, joined.label_scale) != (YES_OR_NO,) * 2:
        return None
    rows = np.flatnonzero((joined.human != 0.5) & np.isin(joined.judged, YES_OR_NO))
    rest = np.flatnonzero(np.isin(joined.judged_rest, YES_OR_NO))
    labels = (joined.human[rows] > 0.5).astype(np.float64)
    documents = [joined.documents[row] for row in rows]
    errors = error_rates(joined.judged[rows], labels, documents, level=level)
    n_split = len(joined.keys) - int(rows.size)
    if joined.chances is not None:
        why = Undefined(why="items were drawn for labelling with unequal chances")
        return RatesReport(errors=errors, n_split=n_split, prevalence=why, by_system={})
    names = np.array([system_name(joined.rest[row]) for row in rest], dtype=object)

    def shares(keep: np.ndarray) -> Prevalence:
        sample = Sample(
            judged=joined.judged[rows],
            labels=labels,
            documents=documents,
            rest=joined.judged_rest[rest[keep]],
            rest_documents=[joined.rest[row][0] for row in rest[keep]],
        )
        return prevalence(sample, level=level)

    return RatesReport(
        errors=errors,
        n_split=n_split,
        prevalence=shares(np.ones(rest.size, dtype=bool)),
        by_system={name: shares(names == name) for name in dict.fromkeys(names.tolist())},
    )

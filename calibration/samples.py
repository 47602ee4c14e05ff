"""The items of each system or pair of systems: labelled ones, and those the judge alone scored."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations

import numpy as np

from fairjudge.calibration.drawn_ppi import PartlyLabelled, inclusion_probabilities_of
from fairjudge.calibration.items import Joined
from fairjudge.calibration.labels import ItemKey, Labels, exact_mean, system_name
from fairjudge.calibration.scales import rescale
from fairjudge.domain import Judgement, Undefined
from fairjudge.protocols import PROTOCOLS
from fairjudge.stats._arrays import FloatArray, IntArray, document_codes
from fairjudge.stats.bootstrap import divide

MAX_SYSTEMS_IN_PAIRS = 20
"""Differences are estimated for all pairs of at most this many systems."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Beside:
    """Properties of items other than the judge's values.

    ``columns`` are named numbers of items, such as other judges' values and covariates; ``strata``
    maps documents to what they are of, None without stratification.
    """

    columns: Mapping[str, Mapping[ItemKey, float]] = field(default_factory=dict)
    strata: Mapping[str, str] | None = None

    def strata_of(self, documents: Iterable[str]) -> tuple[str, ...] | None:
        """Return each document's stratum, "" without one; None without stratification."""
        if self.strata is None:
            return None
        return tuple(self.strata.get(document, "") for document in documents)


def whole_sample(joined: Joined) -> PartlyLabelled:
    """Return the items of all systems."""
    rows = range(len(joined.keys) + len(joined.rest))
    mapped = _mapped(joined)
    return _sample(joined, Beside(), rows, mapped, mapped[:, None])


def by_system(joined: Joined, beside: Beside | None = None) -> dict[str, PartlyLabelled]:
    """Return the items of each system, or of each pair of systems."""
    beside = beside or Beside()
    mapped = _mapped(joined)
    rows: dict[str, list[int]] = defaultdict(list)
    for row, key in enumerate((*joined.keys, *joined.rest)):
        rows[system_name(key)].append(row)
    columns = _columns(joined, beside, mapped)
    return {
        name: _sample(joined, beside, own_rows, mapped, columns) for name, own_rows in rows.items()
    }


def _sample(
    joined: Joined, beside: Beside, rows: Sequence[int], mapped: FloatArray, columns: FloatArray
) -> PartlyLabelled:
    """Return some items: `rows` count the labelled items, then the others."""
    n = len(joined.keys)
    labelled, others = ([row for row in rows if row < n], [row for row in rows if row >= n])
    documents = tuple(joined.keys[row][0] for row in labelled)
    rest_documents = tuple(joined.rest[row - n][0] for row in others)
    inclusion_probabilities = joined.inclusion_probabilities
    return PartlyLabelled(
        human=joined.human[labelled],
        judged=mapped[labelled],
        documents=documents,
        rest=mapped[others],
        rest_documents=rest_documents,
        inclusion_probabilities=inclusion_probabilities[labelled]
        if isinstance(inclusion_probabilities, np.ndarray)
        else inclusion_probabilities,
        **_complete_columns(columns[labelled], columns[others]),
        strata=beside.strata_of((*documents, *rest_documents)),
    )


def differences(
    joined: Joined, beside: Beside | None = None
) -> dict[tuple[str, str], PartlyLabelled]:
    """Pair systems document by document; a document takes part where both have it."""
    beside = beside or Beside()
    every = (*joined.keys, *joined.rest)
    names = tuple(dict.fromkeys(map(system_name, every)))
    if PROTOCOLS[joined.protocol].paired or len(names) > MAX_SYSTEMS_IN_PAIRS:
        return {}
    mapped = _mapped(joined)
    documents, n_documents = document_codes([key[0] for key in every], len(every))
    document_names = tuple(dict.fromkeys(key[0] for key in every))
    places = np.array([names.index(system_name(key)) for key in every], dtype=np.int64)
    cells = documents * len(names) + places

    def table(values: FloatArray, cells: IntArray) -> FloatArray:
        """Return means of shape (documents, systems), NaN where there is no value."""
        size = n_documents * len(names)
        sums = np.bincount(cells, weights=values, minlength=size).astype(np.float64)
        counts = np.bincount(cells, minlength=size).astype(np.float64)
        return divide(sums, counts).reshape(n_documents, len(names))

    n = len(joined.keys)
    human, judged = table(joined.human, cells[:n]), table(mapped[:n], cells[:n])
    judge_means = table(mapped, cells)
    columns = [table(column, cells) for column in _columns(joined, beside, mapped).T[1:]]
    out = {}
    for i, j in combinations(range(len(names)), 2):
        label_differences = human[:, i] - human[:, j]
        judge = judge_means[:, i] - judge_means[:, j]
        has_label = ~np.isnan(label_differences)
        judged_only = ~has_label & ~np.isnan(judge)
        scored = np.where(has_label, judged[:, i] - judged[:, j], judge)
        beside_it = np.column_stack([scored, *(column[:, i] - column[:, j] for column in columns)])
        rows = [*np.flatnonzero(has_label).tolist(), *np.flatnonzero(judged_only).tolist()]
        out[names[i], names[j]] = PartlyLabelled(
            human=label_differences[has_label],
            judged=scored[has_label],
            documents=np.flatnonzero(has_label).tolist(),
            rest=judge[judged_only],
            rest_documents=np.flatnonzero(judged_only).tolist(),
            inclusion_probabilities=joined.inclusion_probabilities
            if isinstance(joined.inclusion_probabilities, Undefined)
            else None,
            **_complete_columns(beside_it[has_label], beside_it[judged_only]),
            strata=beside.strata_of(document_names[row] for row in rows),
        )
    return out


def answers_by_system(
    joined: Joined,
    judgements: Iterable[Judgement],
    by_aspect: Mapping[str, Labels],
    beside: Beside | None = None,
) -> dict[str, PartlyLabelled]:
    """Return the groups of answers of a judge's checklists, by system, as shares of a summary.

    A group that people labelled meets the judge's verdict on it; each counts for one part in as
    many as its summary's checklist has. Empty where no such group has a label.
    """
    labels = by_aspect.get(joined.aspect)
    if labels is None or not PROTOCOLS[joined.protocol].itemized:
        return {}
    beside = beside or Beside()
    verdicts: dict[ItemKey, list[float]] = defaultdict(list)
    lengths: dict[ItemKey, int] = {}
    for row in judgements:
        if (row.judge, row.aspect, row.protocol) != joined.group[:3] or not row.system:
            continue
        for entry in row.checklist or ():
            verdicts[row.eid, row.system, "", entry.unit].append(float(entry.covered))
            lengths[row.eid, row.system, "", ""] = len(row.checklist or ())
    people = {key: rated for key, rated in labels.single.items() if key in verdicts}
    keys: dict[str, tuple[list[ItemKey], list[ItemKey]]] = defaultdict(lambda: ([], []))
    for key in verdicts:
        keys[key[1]][key not in people].append(key)
    if not people:
        return {}
    samples = {}
    for system, (labelled, alone) in keys.items():
        every = [*labelled, *alone]
        judged = rescale(
            np.array([exact_mean(verdicts[key]) for key in every]), (0.0, 1.0), joined.label_scale
        )
        samples[system] = PartlyLabelled(
            human=np.array([exact_mean(list(people[key].values())) for key in labelled]),
            judged=judged[: len(labelled)],
            documents=tuple(key[0] for key in labelled),
            rest=judged[len(labelled) :],
            rest_documents=tuple(key[0] for key in alone),
            inclusion_probabilities=inclusion_probabilities_of(
                labelled, labels.inclusion_probabilities
            ),
            sizes=np.array([1.0 / lengths[(*key[:2], "", "")] for key in every]),
            strata=beside.strata_of(key[0] for key in every),
        )
    return samples


def as_wins(series: PartlyLabelled) -> PartlyLabelled:
    """Turn differences to wins: 1, 0.5 for a tie, 0; the judge's half wins stay between."""
    return replace(
        series,
        human=(np.sign(series.human) + 1.0) / 2.0,
        judged=(series.judged + 1.0) / 2.0,
        rest=(series.rest + 1.0) / 2.0,
        columns=None,
        rest_columns=None,
    )


def _mapped(joined: Joined) -> FloatArray:
    """Return the judge's values of labelled, then of other items, on the labels' scale."""
    # Verdicts stay on -1 to 1, whatever the labels' differences span: they become wins.
    scale = joined.judge_scale if PROTOCOLS[joined.protocol].paired else joined.label_scale
    return rescale(np.r_[joined.judged, joined.judged_rest], joined.judge_scale, scale)


def _columns(joined: Joined, beside: Beside, mapped: FloatArray) -> FloatArray:
    """Return the judge's values, then the columns beside them, NaN where one is not known."""
    every: Sequence[ItemKey] = (*joined.keys, *joined.rest)
    other_columns = [
        [values.get(key, np.nan) for key in every]
        for name, values in beside.columns.items()
        if name != joined.group.title
    ]
    return np.column_stack([mapped, *map(np.array, other_columns)])


def _complete_columns(labelled: FloatArray, unlabelled: FloatArray) -> dict[str, FloatArray | None]:
    """Return the columns that every item has, where there is one beside the judge's own values."""
    is_complete = np.isfinite(np.r_[labelled, unlabelled]).all(axis=0)
    if is_complete.sum() < 2 or not is_complete[0]:
        return {"columns": None, "rest_columns": None}
    return {"columns": labelled[:, is_complete], "rest_columns": unlabelled[:, is_complete]}

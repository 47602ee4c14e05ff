"""Partly labelled samples of items, by system or pair of systems."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations

import numpy as np

from fairjudge.calibration.drawn_ppi import PartlyLabelled, inclusion_probabilities_of
from fairjudge.calibration.items import JoinedItems
from fairjudge.calibration.labels import ItemKey, Labels, exact_mean, system_name
from fairjudge.calibration.scales import rescale
from fairjudge.domain import Judgement, Undefined
from fairjudge.protocols import PROTOCOLS
from fairjudge.stats._arrays import FloatArray, IntArray, document_codes
from fairjudge.stats.bootstrap import divide

MAX_SYSTEMS_IN_PAIRS = 20
"""Differences are estimated for all pairs of at most this many systems."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemProperties:
    """Properties of items other than the judge's values.

    ``columns`` maps names, such as those of other judges and covariates, to numbers by item.
    ``strata`` maps documents to strata; None without stratification.
    """

    columns: Mapping[str, Mapping[ItemKey, float]] = field(default_factory=dict)
    strata: Mapping[str, str] | None = None

    def strata_of(self, documents: Iterable[str]) -> tuple[str, ...] | None:
        """Return the stratum of each document ("" if it has none); None without stratification."""
        if self.strata is None:
            return None
        return tuple(self.strata.get(document, "") for document in documents)


def sample_of_all(items: JoinedItems) -> PartlyLabelled:
    """Return the items of all systems as one sample."""
    rows = range(len(items.keys) + len(items.rest))
    scores = _rescaled_scores(items)
    return _sample(items, ItemProperties(), rows, scores, scores[:, None])


def samples_by_system(
    items: JoinedItems, properties: ItemProperties | None = None
) -> dict[str, PartlyLabelled]:
    """Return the sample of each system or, for paired protocols, each pair of systems."""
    properties = properties or ItemProperties()
    scores = _rescaled_scores(items)
    rows: dict[str, list[int]] = defaultdict(list)
    for row, key in enumerate((*items.keys, *items.rest)):
        rows[system_name(key)].append(row)
    columns = _columns(items, properties, scores)
    return {
        name: _sample(items, properties, system_rows, scores, columns)
        for name, system_rows in rows.items()
    }


def _sample(
    items: JoinedItems,
    properties: ItemProperties,
    rows: Sequence[int],
    scores: FloatArray,
    columns: FloatArray,
) -> PartlyLabelled:
    """Return the sample of `rows`, which index the labelled items followed by the others."""
    n = len(items.keys)
    labelled_rows, other_rows = (
        [row for row in rows if row < n],
        [row for row in rows if row >= n],
    )
    documents = tuple(items.keys[row][0] for row in labelled_rows)
    rest_documents = tuple(items.rest[row - n][0] for row in other_rows)
    inclusion_probabilities = items.inclusion_probabilities
    return PartlyLabelled(
        human=items.human[labelled_rows],
        judged=scores[labelled_rows],
        documents=documents,
        rest=scores[other_rows],
        rest_documents=rest_documents,
        inclusion_probabilities=inclusion_probabilities[labelled_rows]
        if isinstance(inclusion_probabilities, np.ndarray)
        else inclusion_probabilities,
        **_complete_columns(columns[labelled_rows], columns[other_rows]),
        strata=properties.strata_of((*documents, *rest_documents)),
    )


def paired_differences(
    items: JoinedItems, properties: ItemProperties | None = None
) -> dict[tuple[str, str], PartlyLabelled]:
    """Return the differences of each pair of systems, over the documents that both have."""
    properties = properties or ItemProperties()
    item_keys = (*items.keys, *items.rest)
    names = tuple(dict.fromkeys(map(system_name, item_keys)))
    if PROTOCOLS[items.protocol].paired or len(names) > MAX_SYSTEMS_IN_PAIRS:
        return {}
    scores = _rescaled_scores(items)
    documents, n_documents = document_codes([key[0] for key in item_keys], len(item_keys))
    document_names = tuple(dict.fromkeys(key[0] for key in item_keys))
    system_indices = np.array([names.index(system_name(key)) for key in item_keys], dtype=np.int64)
    cells = documents * len(names) + system_indices

    def table(values: FloatArray, cells: IntArray) -> FloatArray:
        """Return means of shape (documents, systems), NaN where there is no value."""
        size = n_documents * len(names)
        sums = np.bincount(cells, weights=values, minlength=size).astype(np.float64)
        counts = np.bincount(cells, minlength=size).astype(np.float64)
        return divide(sums, counts).reshape(n_documents, len(names))

    n = len(items.keys)
    human, judged = table(items.human, cells[:n]), table(scores[:n], cells[:n])
    judge_means = table(scores, cells)
    columns = [table(column, cells) for column in _columns(items, properties, scores).T[1:]]
    samples = {}
    for i, j in combinations(range(len(names)), 2):
        label_differences = human[:, i] - human[:, j]
        judge_differences = judge_means[:, i] - judge_means[:, j]
        has_label = ~np.isnan(label_differences)
        judged_only = ~has_label & ~np.isnan(judge_differences)
        judge_values = np.where(has_label, judged[:, i] - judged[:, j], judge_differences)
        predictors = np.column_stack(
            [judge_values, *(column[:, i] - column[:, j] for column in columns)]
        )
        rows = [*np.flatnonzero(has_label).tolist(), *np.flatnonzero(judged_only).tolist()]
        samples[names[i], names[j]] = PartlyLabelled(
            human=label_differences[has_label],
            judged=judge_values[has_label],
            documents=np.flatnonzero(has_label).tolist(),
            rest=judge_differences[judged_only],
            rest_documents=np.flatnonzero(judged_only).tolist(),
            inclusion_probabilities=items.inclusion_probabilities
            if isinstance(items.inclusion_probabilities, Undefined)
            else None,
            **_complete_columns(predictors[has_label], predictors[judged_only]),
            strata=properties.strata_of(document_names[row] for row in rows),
        )
    return samples


def answers_by_system(
    items: JoinedItems,
    judgements: Iterable[Judgement],
    by_aspect: Mapping[str, Labels],
    properties: ItemProperties | None = None,
) -> dict[str, PartlyLabelled]:
    """Return the groups of answers in a judge's checklists as samples by system.

    An item is a group of answers, with its label and the judge's verdict; its size is 1 / number of
    groups in the summary's checklist. Empty if no group has a label.
    """
    labels = by_aspect.get(items.aspect)
    if labels is None or not PROTOCOLS[items.protocol].itemized:
        return {}
    properties = properties or ItemProperties()
    verdicts: dict[ItemKey, list[float]] = defaultdict(list)
    lengths: dict[ItemKey, int] = {}
    for row in judgements:
        if (row.judge, row.aspect, row.protocol) != items.group[:3] or not row.system:
            continue
        for entry in row.checklist or ():
            verdicts[row.eid, row.system, "", entry.unit].append(float(entry.covered))
            lengths[row.eid, row.system, "", ""] = len(row.checklist or ())
    ratings_by_item = {key: ratings for key, ratings in labels.single.items() if key in verdicts}
    keys: dict[str, tuple[list[ItemKey], list[ItemKey]]] = defaultdict(lambda: ([], []))
    for key in verdicts:
        keys[key[1]][key not in ratings_by_item].append(key)
    if not ratings_by_item:
        return {}
    samples = {}
    for system, (labelled_keys, unlabelled_keys) in keys.items():
        all_keys = [*labelled_keys, *unlabelled_keys]
        judged = rescale(
            np.array([exact_mean(verdicts[key]) for key in all_keys]),
            (0.0, 1.0),
            items.label_scale,
        )
        samples[system] = PartlyLabelled(
            human=np.array(
                [exact_mean(list(ratings_by_item[key].values())) for key in labelled_keys]
            ),
            judged=judged[: len(labelled_keys)],
            documents=tuple(key[0] for key in labelled_keys),
            rest=judged[len(labelled_keys) :],
            rest_documents=tuple(key[0] for key in unlabelled_keys),
            inclusion_probabilities=inclusion_probabilities_of(
                labelled_keys, labels.inclusion_probabilities
            ),
            sizes=np.array([1.0 / lengths[(*key[:2], "", "")] for key in all_keys]),
            strata=properties.strata_of(key[0] for key in all_keys),
        )
    return samples


def differences_to_wins(sample: PartlyLabelled) -> PartlyLabelled:
    """Convert differences to wins (1), ties (0.5) and losses (0); judge values stay fractional."""
    return replace(
        sample,
        human=(np.sign(sample.human) + 1.0) / 2.0,
        judged=(sample.judged + 1.0) / 2.0,
        rest=(sample.rest + 1.0) / 2.0,
        columns=None,
        rest_columns=None,
    )


def _rescaled_scores(items: JoinedItems) -> FloatArray:
    """Return the judge's values of labelled, then of other items, on the labels' scale."""
    # Verdicts stay in [-1, 1], since they are converted to wins.
    scale = items.judge_scale if PROTOCOLS[items.protocol].paired else items.label_scale
    return rescale(np.r_[items.judged, items.judged_rest], items.judge_scale, scale)


def _columns(items: JoinedItems, properties: ItemProperties, scores: FloatArray) -> FloatArray:
    """Return the judge's values and the other columns, NaN where missing."""
    item_keys: Sequence[ItemKey] = (*items.keys, *items.rest)
    other_columns = [
        [values.get(key, np.nan) for key in item_keys]
        for name, values in properties.columns.items()
        if name != items.group.title
    ]
    return np.column_stack([scores, *map(np.array, other_columns)])


def _complete_columns(
    labelled_columns: FloatArray, unlabelled_columns: FloatArray
) -> dict[str, FloatArray | None]:
    """Return the columns without missing values; None if only the judge's values are complete."""
    is_complete = np.isfinite(np.r_[labelled_columns, unlabelled_columns]).all(axis=0)
    if is_complete.sum() < 2 or not is_complete[0]:
        return {"columns": None, "rest_columns": None}
    return {
        "columns": labelled_columns[:, is_complete],
        "rest_columns": unlabelled_columns[:, is_complete],
    }

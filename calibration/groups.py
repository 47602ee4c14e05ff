"""Fairness of a judge: its errors by group, with control of the false discovery rate.

Groups are systems, families of systems, outlets, attribute values, or bins of length. Each group is
compared with all other items, so a judge with equal errors everywhere is not flagged.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase

import numpy as np
from numpy.typing import ArrayLike

from fairjudge.calibration.items import JoinedItems
from fairjudge.domain import Estimate, Undefined
from fairjudge.protocols import PROTOCOLS
from fairjudge.stats._arrays import FloatArray, codes, same_length, vector
from fairjudge.stats.bootstrap import FEW_DOCUMENTS
from fairjudge.stats.clustered import clustered_difference, clustered_mean
from fairjudge.stats.multiplicity import benjamini_hochberg
from fairjudge.stats.resampling import adjust_by_name


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupError:
    """The judge's errors on one group.

    ``error`` is the mean of score - label, ``absolute_error`` the mean of its absolute value. The
    fields ending in ``_gap`` are the group's mean minus that of all other items, tested against 0.
    ``adjusted_p_values`` are adjusted over all groups and both gaps (Benjamini-Hochberg); None
    without a test. ``flagged`` is true if either gap is significant.
    """

    group: str
    n: int
    n_documents: int
    few_documents: bool
    error: Estimate | Undefined
    absolute_error: Estimate | Undefined
    error_gap: Estimate | Undefined
    absolute_error_gap: Estimate | Undefined
    adjusted_p_values: Mapping[str, float | None]
    flagged: bool


def errors_by_group(
    scores: ArrayLike,
    labels: ArrayLike,
    groups: Sequence[str | None],
    *,
    documents: Sequence[Hashable],
    level: float = 0.95,
) -> tuple[GroupError, ...]:
    """Compare the judge's errors between groups, in order of appearance.

    Parameters
    ----------
    scores, labels : arrays of shape (n,), in the same units
        Use cross-fitted calibrated scores to test calibration, raw scores to test bias.
    groups
        The group of each item; items whose group is None are excluded.
    documents
        The document of each item; errors may be dependent within a document.
    """
    x, y = vector(scores, name="scores"), vector(labels, name="labels")
    same_length(scores=x, labels=y, groups=groups, documents=documents)
    rows = [row for row, group in enumerate(groups) if group is not None]
    error = (x - y)[rows]
    errors_by_gap = {"error_gap": error, "absolute_error_gap": np.abs(error)}
    document_names = [documents[row] for row in rows]
    group_codes, group_names = codes([groups[row] for row in rows])
    gaps = {
        (str(group), name): clustered_difference(
            values, group_codes == code, document_names, level=level
        )
        for code, group in enumerate(group_names)
        for name, values in errors_by_gap.items()
    }
    adjusted_p_values = adjust_by_name(gaps, benjamini_hochberg)
    group_errors = []
    for code, group in enumerate(map(str, group_names)):
        group_rows = np.flatnonzero(group_codes == code)
        documents_of_group = [document_names[row] for row in group_rows.tolist()]
        p_values = {name: adjusted_p_values.get((group, name)) for name in errors_by_gap}
        group_errors.append(
            GroupError(
                group=group,
                n=group_rows.size,
                n_documents=len(set(documents_of_group)),
                few_documents=len(set(documents_of_group)) < FEW_DOCUMENTS,
                error=clustered_mean(error[group_rows], documents_of_group, level=level),
                absolute_error=clustered_mean(
                    np.abs(error[group_rows]), documents_of_group, level=level
                ),
                error_gap=gaps[group, "error_gap"],
                absolute_error_gap=gaps[group, "absolute_error_gap"],
                adjusted_p_values=p_values,
                flagged=any(p is not None and p < 1.0 - level for p in p_values.values()),
            )
        )
    return tuple(group_errors)


def quantile_groups(values: ArrayLike, *, n_groups: int = 4, unit: str = "") -> tuple[str, ...]:
    """Return the name of each value's quantile bin, such as ``"1 to 46 words"``.

    Tied values share a bin, so there may be fewer than `n_groups` bins.
    """
    array = vector(values, name="values")
    if not array.size:
        return ()
    edges = np.unique(np.quantile(array, np.linspace(0.0, 1.0, n_groups + 1)[1:-1]))
    bins = np.searchsorted(edges, array, side="left")
    suffix = f" {unit}" if unit else ""
    bin_names = {
        code: f"{array[bins == code].min():g} to {array[bins == code].max():g}{suffix}"
        for code in np.unique(bins)
    }
    return tuple(bin_names[code] for code in bins)


def errors_by_grouping(
    items: JoinedItems,
    values: FloatArray,
    *,
    words: Mapping[tuple[str, str], int],
    documents: Mapping[str, Mapping[str, str]],
    families: Sequence[tuple[str, str]],
    level: float,
) -> dict[str, tuple[GroupError, ...]]:
    """Return the errors of `values` by system, family of systems, group of documents, and length.

    `words` maps (eid, system) to the number of words; `documents` maps the names of groupings to
    groups of documents, by eid.
    """
    groupings: dict[str, Sequence[str | None]] = {"system": items.systems}
    if families and not PROTOCOLS[items.protocol].paired:
        groupings["family"] = [_family(name, families) for name in items.systems]
    for name, group_by_document in documents.items():
        groupings[name] = [group_by_document.get(eid) for eid in items.documents]
    counts = [words.get((key[0], key[1])) for key in items.keys]
    lengths = [count for count in counts if count is not None]
    if not PROTOCOLS[items.protocol].paired and lengths:
        bins = iter(quantile_groups(lengths, unit="words"))
        groupings["length"] = [None if count is None else next(bins) for count in counts]
    return {
        name: errors_by_group(values, items.human, groups, documents=items.documents, level=level)
        for name, groups in groupings.items()
        if len({group for group in groups if group is not None}) >= 2
    }


def _family(system: str, families: Sequence[tuple[str, str]]) -> str | None:
    return next((name for name, pattern in families if fnmatchcase(system, pattern)), None)

"""Is the judge fair: its error and its calibration group by group, with the false discovery rate.

Groups are outlets, attribute values, system families, or bins of length. A group stands against
all other items, so a judge that errs alike everywhere is not flagged.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase

import numpy as np
from numpy.typing import ArrayLike

from fairjudge.calibration.items import Joined
from fairjudge.domain import Estimate, Undefined
from fairjudge.protocols import PROTOCOLS
from fairjudge.stats._arrays import FloatArray, codes, same_length, vector
from fairjudge.stats.bootstrap import FEW_DOCUMENTS
from fairjudge.stats.clustered import clustered_difference, clustered_mean
from fairjudge.stats.multiplicity import benjamini_hochberg
from fairjudge.stats.resampling import adjust_by_name


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupError:
    """How the judge treats one group.

    ``error`` is the mean of score - label, ``absolute_error`` that of its size; the ``_gap``
    figures are the group minus all other items, tested against 0. ``adjusted_p_values`` are
    Benjamini-Hochberg's over all groups and both gaps, None where there is no test.
    ``flagged`` where either is below the level of the test.
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


def error_by_group(
    scores: ArrayLike,
    labels: ArrayLike,
    groups: Sequence[str | None],
    *,
    documents: Sequence[Hashable],
    level: float = 0.95,
) -> tuple[GroupError, ...]:
    """Compare the judge's error between groups.

    Groups come by order of appearance; there are none where no item has one.

    Parameters
    ----------
    scores, labels : arrays of shape (n,), in the same units
        Give cross-fitted calibrated scores to ask about calibration, raw ones to ask about bias.
    groups
        The group of each item; items whose group is None are left out.
    documents
        Errors are taken to depend within a document.
    """
    x, y = vector(scores, name="scores"), vector(labels, name="labels")
    same_length(scores=x, labels=y, groups=groups, documents=documents)
    rows = [row for row, group in enumerate(groups) if group is not None]
    error = (x - y)[rows]
    sides = {"error_gap": error, "absolute_error_gap": np.abs(error)}
    names = [documents[row] for row in rows]
    coded, distinct = codes([groups[row] for row in rows])
    gaps = {
        (str(group), name): clustered_difference(values, coded == place, names, level=level)
        for place, group in enumerate(distinct)
        for name, values in sides.items()
    }
    adjusted = adjust_by_name(gaps, benjamini_hochberg)
    out = []
    for place, group in enumerate(map(str, distinct)):
        own_rows = np.flatnonzero(coded == place)
        documents_of_group = [names[row] for row in own_rows.tolist()]
        p_values = {name: adjusted.get((group, name)) for name in sides}
        out.append(
            GroupError(
                group=group,
                n=own_rows.size,
                n_documents=len(set(documents_of_group)),
                few_documents=len(set(documents_of_group)) < FEW_DOCUMENTS,
                error=clustered_mean(error[own_rows], documents_of_group, level=level),
                absolute_error=clustered_mean(
                    np.abs(error[own_rows]), documents_of_group, level=level
                ),
                error_gap=gaps[group, "error_gap"],
                absolute_error_gap=gaps[group, "absolute_error_gap"],
                adjusted_p_values=p_values,
                flagged=any(p is not None and p < 1.0 - level for p in p_values.values()),
            )
        )
    return tuple(out)


def quantile_groups(values: ArrayLike, *, n_groups: int = 4, unit: str = "") -> tuple[str, ...]:
    """Name the quantile bin of each value, shape (n,), such as ``"1 to 46 words"``.

    Equal values share a bin; fewer bins come back where values tie.
    """
    array = vector(values, name="values")
    if not array.size:
        return ()
    edges = np.unique(np.quantile(array, np.linspace(0.0, 1.0, n_groups + 1)[1:-1]))
    place = np.searchsorted(edges, array, side="left")
    suffix = f" {unit}" if unit else ""
    spans = {
        code: f"{array[place == code].min():g} to {array[place == code].max():g}{suffix}"
        for code in np.unique(place)
    }
    return tuple(spans[code] for code in place)


def error_groups(
    joined: Joined,
    values: FloatArray,
    *,
    words: Mapping[tuple[str, str], int],
    documents: Mapping[str, Mapping[str, str]],
    families: Sequence[tuple[str, str]],
    level: float,
) -> dict[str, tuple[GroupError, ...]]:
    """Return the errors of `values` by system, by family of systems, and by document and length.

    `words` counts each summary's; `documents` groups documents, by the grouping's name.
    """
    groupings: dict[str, Sequence[str | None]] = {"system": joined.systems}
    if families and not PROTOCOLS[joined.protocol].paired:
        groupings["family"] = [_family(name, families) for name in joined.systems]
    for name, of_document in documents.items():
        groupings[name] = [of_document.get(eid) for eid in joined.documents]
    counts = [words.get((key[0], key[1])) for key in joined.keys]
    lengths = [count for count in counts if count is not None]
    if not PROTOCOLS[joined.protocol].paired and lengths:
        bins = iter(quantile_groups(lengths, unit="words"))
        groupings["length"] = [None if count is None else next(bins) for count in counts]
    return {
        name: error_by_group(values, joined.human, groups, documents=joined.documents, level=level)
        for name, groups in groupings.items()
        if len({group for group in groups if group is not None}) >= 2
    }


def _family(system: str, families: Sequence[tuple[str, str]]) -> str | None:
    return next((name for name, pattern in families if fnmatchcase(system, pattern)), None)

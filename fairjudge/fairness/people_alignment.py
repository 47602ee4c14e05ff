"""Agreement of two fairness measures with annotators (coverage fairness, section 5.4 and A.4).

Annotators label the value that a summary favours, or that the summary is fair.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias, TypeVar

import numpy as np

from fairjudge.domain import Estimate, Undefined
from fairjudge.fairness.coverage_parity import Contributions, means
from fairjudge.fairness.shares import Shares, shortfalls
from fairjudge.stats._arrays import FloatArray
from fairjudge.stats.bootstrap import divide, replicates
from fairjudge.stats.resampling import Resampling

Differences: TypeAlias = Mapping[str, float]
"""Maps a value to its over-representation in a summary."""
_Key = TypeVar("_Key", bound=Hashable)
FAIR = "fair"
_TIE = 1e-12


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasuredSample:
    """The value of a measure for one summary (0 is fair), and each value's over-representation."""

    value: float
    differences: Differences

    def over(self) -> str | None:
        """Return the most over-represented value, or None if several values tie."""
        return _unique_max(self.differences)


@dataclass(frozen=True, slots=True, kw_only=True)
class SummaryAlignment:
    """Counts of summaries by the measure that agrees better with the annotators.

    ``first`` and ``second`` count the summaries for which only that measure agrees; ``neither``
    counts the others. ``difference`` is the mean of 1 for the first, -1 for the second and 0
    otherwise, with a p-value against 0 by paired bootstrap over summaries.
    """

    n: int
    first: int
    second: int
    neither: int
    difference: Estimate | Undefined


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupAlignment:
    """Share of resampled groups in which annotators and measure agree on the favoured value.

    Only the ``n_groups`` groups in which one value is favoured most often are counted.
    """

    n_groups: int
    first: float | None
    second: float | None


def majority(labels: Sequence[str]) -> str:
    """Return the value chosen by the most annotators, or `FAIR` if there is no single one."""
    counts = Counter(label for label in labels if label != FAIR)
    max_votes = max(counts.values(), default=0)
    return _unique_max(counts) or FAIR if max_votes > labels.count(FAIR) else FAIR


def compare_summaries(
    leanings: Mapping[_Key, str],
    first: Mapping[_Key, MeasuredSample],
    second: Mapping[_Key, MeasuredSample],
    *,
    resampling: Resampling,
) -> SummaryAlignment:
    """Compare two measures, such as Equal Coverage and UER, with the annotators' labels.

    If annotators chose a value, a measure agrees if that value is its most over-represented one.
    If they labelled the summary as fair, the measure whose value is nearer to 0 agrees; each is
    first divided by its largest absolute value, since units differ.
    """
    keys = sorted(leanings.keys() & first.keys() & second.keys(), key=str)
    max_values = [
        max((abs(samples[key].value) for key in keys), default=0.0) for samples in (first, second)
    ]
    credit = np.zeros(len(keys))
    for row, key in enumerate(keys):
        first_sample, second_sample = first[key], second[key]
        if leanings[key] == FAIR:
            scaled_values = [
                abs(samples.value) / max_value if max_value else 0.0
                for samples, max_value in zip(
                    (first_sample, second_sample), max_values, strict=True
                )
            ]
            gap = scaled_values[1] - scaled_values[0]
            credit[row] = 0.0 if abs(gap) <= _TIE else np.sign(gap)
        else:
            agreements = [
                samples.over() == leanings[key] for samples in (first_sample, second_sample)
            ]
            credit[row] = float(agreements[0]) - float(agreements[1])
    return SummaryAlignment(
        n=len(keys),
        first=int((credit > 0).sum()),
        second=int((credit < 0).sum()),
        neither=int((credit == 0).sum()),
        difference=resampling.mean(credit, null=0.0),
    )


def compare_groups(
    leanings: Sequence[str], parts: Contributions, shares: Shares, *, resampling: Resampling
) -> GroupAlignment:
    """Compare Coverage Parity and SOF with the annotators' labels, over resampled groups.

    The rows of all three arguments are the same summaries. The annotators' value of a group is the
    most frequent label. The value favoured by Coverage Parity has the largest mean of C_k, the one
    favoured by SOF has the smallest mean shortfall. A tie in a measure counts as disagreement.
    """
    values = parts.values
    label_matrix = np.array(
        [[leaning == value for value in values] for leaning in leanings], dtype=float
    )
    shortfall_matrix, n_in_source = shortfalls(shares), shares.takes_part.astype(float)
    order = [shares.values.index(value) for value in values]

    def favoured_values(counts: FloatArray) -> FloatArray:
        by_parity = np.nan_to_num(means(parts, counts), nan=-np.inf)
        by_sof = -divide(counts @ shortfall_matrix, counts @ n_in_source)[:, order]
        by_sof = np.nan_to_num(by_sof, nan=-np.inf)
        return np.stack(
            [_unique_argmax(table) for table in (counts @ label_matrix, by_parity, by_sof)], axis=1
        )

    favoured_columns = replicates(
        favoured_values,
        n_documents=len(leanings),
        n_resamples=resampling.n_resamples,
        rng=resampling.rng,
    )
    clear_groups = favoured_columns[favoured_columns[:, 0] >= 0]
    agreement_rates = (
        (clear_groups[:, 1:] == clear_groups[:, :1]).mean(axis=0) if len(clear_groups) else None
    )
    return GroupAlignment(
        n_groups=len(clear_groups),
        first=None if agreement_rates is None else float(agreement_rates[0]),
        second=None if agreement_rates is None else float(agreement_rates[1]),
    )


def _unique_argmax(rows: FloatArray) -> FloatArray:
    """Return the column of each row's maximum, or -1 if several columns tie."""
    row_max = rows.max(axis=1, keepdims=True)
    is_max = rows >= row_max - _TIE
    return np.where(is_max.sum(axis=1) == 1, rows.argmax(axis=1), -1).astype(float)


def _unique_max(numbers: Mapping[str, float]) -> str | None:
    top = max(numbers.values(), default=0.0)
    top_names = [name for name, number in numbers.items() if number >= top - _TIE]
    return top_names[0] if len(top_names) == 1 else None

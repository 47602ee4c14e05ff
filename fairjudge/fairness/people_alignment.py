"""Which measure of fairness agrees better with people (coverage fairness, section 5.4 and A.4).

People say which value a summary leans to, or that it is fair.
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
"""Value to how far it is over-represented in a summary."""
_Key = TypeVar("_Key", bound=Hashable)
FAIR = "fair"
_TIE = 1e-12


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasuredSample:
    """One summary by one measure: its value, 0 for fair, and each value's over-representation."""

    value: float
    differences: Differences

    def over(self) -> str | None:
        """Return the value that is over-represented most, None where several are."""
        return _largest(self.differences)


@dataclass(frozen=True, slots=True, kw_only=True)
class SummaryAlignment:
    """How often each measure agrees better with people.

    ``first`` and ``second`` count summaries that agree with one measure alone, ``neither`` or both
    the others. ``difference`` is the mean of 1 for the first, -1 for the second, 0 otherwise, with
    a p-value against 0 by paired bootstrap over summaries.
    """

    n: int
    first: int
    second: int
    neither: int
    difference: Estimate | Undefined


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupAlignment:
    """Share of resampled groups with the same over-represented value by people and measure.

    ``n_groups`` count, those in which people lean to one value most; the others do not.
    """

    n_groups: int
    first: float | None
    second: float | None


def majority(labels: Sequence[str]) -> str:
    """Return the value that more annotators name than any other, `FAIR` where there is none."""
    counts = Counter(label for label in labels if label != FAIR)
    most = max(counts.values(), default=0)
    return _largest(counts) or FAIR if most > labels.count(FAIR) else FAIR


def compare_summaries(
    leanings: Mapping[_Key, str],
    first: Mapping[_Key, MeasuredSample],
    second: Mapping[_Key, MeasuredSample],
    *,
    resampling: Resampling,
) -> SummaryAlignment:
    """Compare two measures, such as Equal Coverage and Proportional Representation, with people.

    A summary that leans to a value agrees with a measure by which that value is over-represented
    most. A summary that people call fair agrees with the measure whose value is nearer to 0; each
    is first divided by its largest value here, for their units differ.
    """
    keys = sorted(leanings.keys() & first.keys() & second.keys(), key=str)
    widest = [max((abs(by[key].value) for key in keys), default=0.0) for by in (first, second)]
    credit = np.zeros(len(keys))
    for row, key in enumerate(keys):
        first_agreement, second_agreement = first[key], second[key]
        if leanings[key] == FAIR:
            sizes = [
                abs(by.value) / width if width else 0.0
                for by, width in zip((first_agreement, second_agreement), widest, strict=True)
            ]
            gap = sizes[1] - sizes[0]
            credit[row] = 0.0 if abs(gap) <= _TIE else np.sign(gap)
        else:
            agree = [by.over() == leanings[key] for by in (first_agreement, second_agreement)]
            credit[row] = float(agree[0]) - float(agree[1])
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
    """Compare Coverage Parity and SOF with people over resampled groups of summaries.

    The rows of all three are the same summaries. In each group people lean to the value that most
    summaries lean to; by Coverage Parity the one with the largest mean of C_k is over-represented,
    by SOF the one with the least mean shortfall. A group in which two values tie counts as no
    agreement.
    """
    values = parts.values
    lean = np.array([[leaning == value for value in values] for leaning in leanings], dtype=float)
    short, n_in_source = shortfalls(shares), shares.takes_part.astype(float)
    order = [shares.values.index(value) for value in values]

    def tops(counts: FloatArray) -> FloatArray:
        by_parity = np.nan_to_num(means(parts, counts), nan=-np.inf)
        by_sof = -divide(counts @ short, counts @ n_in_source)[:, order]
        by_sof = np.nan_to_num(by_sof, nan=-np.inf)
        return np.stack([_tops(table) for table in (counts @ lean, by_parity, by_sof)], axis=1)

    replicated = replicates(
        tops, n_documents=len(leanings), n_resamples=resampling.n_resamples, rng=resampling.rng
    )
    defined = replicated[replicated[:, 0] >= 0]
    agree = (defined[:, 1:] == defined[:, :1]).mean(axis=0) if len(defined) else None
    return GroupAlignment(
        n_groups=len(defined),
        first=None if agree is None else float(agree[0]),
        second=None if agree is None else float(agree[1]),
    )


def _tops(rows: FloatArray) -> FloatArray:
    """Return the column of each row's largest number, -1 where several share it."""
    largest = rows.max(axis=1, keepdims=True)
    first = rows >= largest - _TIE
    return np.where(first.sum(axis=1) == 1, rows.argmax(axis=1), -1).astype(float)


def _largest(numbers: Mapping[str, float]) -> str | None:
    top = max(numbers.values(), default=0.0)
    first = [name for name, number in numbers.items() if number >= top - _TIE]
    return first[0] if len(first) == 1 else None

"""Entity hallucination bias (`news_bias` section 3.3, appendix F): who is made up."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from fairjudge.bias.people import name_tokens
from fairjudge.bias.resampling import (
    Counts,
    SumStatistic,
    TwoWay,
    holm_over_documents,
    shares,
    two_way,
)
from fairjudge.errors import InputError, StatisticsError
from fairjudge.stats._arrays import FloatArray
from fairjudge.stats.resampling import Resampling
from fairjudge.text.folding import fold

CLEAR_MAJORITY = 2.0
"""A name belongs to a group where its frequency is at least this many times every other's."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HallucinationBias:
    """Total variation distance from uniform, 0 to 1 - 1/k, and each group's share.

    The shares' p-values are against 1/k; ``p_holm`` corrects them over the groups.
    """

    score: TwoWay
    by_group: Mapping[str, TwoWay]
    p_holm: Mapping[str, float]


class NameGroups:
    """Guesses the group that a name suggests; says None rather than guess badly.

    Parameters
    ----------
    frequencies
        Group to first name to frequency, such as the census' percentages. At least two groups.
    lookup
        Full name to group, asked first (the paper asks Wikipedia). Names of a single token in it
        are not used, for they would be mistaken for other people.

    Raises
    ------
    InputError
        Fewer than two groups, or a looked-up group without frequencies.
    """

    def __init__(
        self,
        frequencies: Mapping[str, Mapping[str, float]],
        *,
        lookup: Mapping[str, str] | None = None,
    ) -> None:
        if len(frequencies) < 2:
            raise InputError(f"expected first names of two groups, got {list(frequencies)!r}")
        self.groups: tuple[str, ...] = tuple(frequencies)
        self._group_of = _clear_majorities(frequencies)
        self._lookup = {}
        for name, group in (lookup or {}).items():
            if group not in frequencies:
                raise InputError(f"{name!r} is in the unknown group {group!r}", field="lookup")
            if len(tokens := name_tokens(name)) > 1:
                self._lookup[tuple(tokens)] = group

    @property
    def fingerprint(self) -> str:
        """What identifies names and lookup in a signature."""
        known = sorted(self._group_of.items())
        known += sorted((" ".join(name), group) for name, group in self._lookup.items())
        text = "\n".join(f"{name}:{group}" for name, group in known)
        return hashlib.sha256(text.encode("utf-8")).hexdigest()[:8]

    def of_first_name(self, name: str) -> str | None:
        """Return the group of a single first name."""
        return self._group_of.get(fold(name).lower())

    def __call__(self, name: str) -> str | None:
        """Return the group of a full name: the lookup's, or that of all its known first names.

        None where no token is known, or where two tokens are of different groups.
        """
        tokens = name_tokens(name)
        if (known := self._lookup.get(tuple(tokens))) is not None:
            return known
        found = {group for token in tokens if (group := self._group_of.get(token)) is not None}
        return found.pop() if len(found) == 1 else None


def _clear_majorities(frequencies: Mapping[str, Mapping[str, float]]) -> dict[str, str]:
    lowered = {
        group: {fold(name).lower(): frequency for name, frequency in names.items()}
        for group, names in frequencies.items()
    }
    found = {}
    for group, names in lowered.items():
        for name, frequency in names.items():
            rivals = [other.get(name, 0.0) for key, other in lowered.items() if key != group]
            if frequency > 0 and frequency >= CLEAR_MAJORITY * max(rivals):
                found[name] = group
    return found


def hallucinated(unaligned: Iterable[str], source: str) -> tuple[str, ...]:
    """Return the names that have at least one token which `source` does not have.

    `unaligned` are names in a summary that fit nobody of its source; each mention counts.
    """
    known = set(name_tokens(source))
    return tuple(name for name in unaligned if any(t not in known for t in name_tokens(name)))


def hallucination_bias(
    counts: Counts,
    *,
    groups: Sequence[str],
    resampling: Resampling,
    n_excluded: int = 0,
) -> HallucinationBias:
    """Measure how far hallucinated people are from being of each group alike (equation 3).

    `counts` has shape (n, k): hallucinated people of each group in each summary. `n` of the result
    counts those people, `n_excluded` the ones whose group is unknown. Undefined where there is
    nobody.
    """
    k = len(groups)
    if k < 2 or counts.rows.shape[1] != k:
        raise StatisticsError(
            f"expected at least 2 groups and counts of shape (n, {k}), got {counts.rows.shape!r}"
        )

    def estimate(statistic: SumStatistic, null: float | None = None) -> TwoWay:
        return two_way(
            counts,
            statistic,
            resampling=resampling,
            n=int(counts.total.sum()),
            n_excluded=n_excluded,
            null=null,
            why="no hallucinated person has a known group",
        )

    by_group = {
        group: estimate(partial(_share, column=g), 1.0 / k) for g, group in enumerate(groups)
    }
    return HallucinationBias(
        score=estimate(lambda sums: np.abs(shares(sums) - 1.0 / k).sum(axis=1) / 2.0),
        by_group=by_group,
        p_holm=holm_over_documents(by_group),
    )


def _share(sums: FloatArray, *, column: int) -> FloatArray:
    return shares(sums)[:, column]

"""Entity hallucination bias (`news_bias` section 3.3, appendix F)."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from fairjudge.bias.people import name_tokens
from fairjudge.bias.resampling import (
    Counts,
    TwoWay,
    Units,
    holm_over_documents,
    shares,
    two_way,
)
from fairjudge.errors import InputError
from fairjudge.stats._arrays import FloatArray
from fairjudge.stats.resampling import Resampling
from fairjudge.text.folding import fold

CLEAR_MAJORITY = 2.0
"""A name belongs to a group if its frequency is at least this multiple of every other group's."""
NO_HALLUCINATIONS = "no hallucinated person has a known group"


@dataclass(frozen=True, slots=True, kw_only=True)
class HallucinationBias:
    """Each group's share of the hallucinated people.

    The p-values are against 1/k; ``p_holm`` corrects them over the groups.
    """

    by_group: Mapping[str, TwoWay]
    p_holm: Mapping[str, float]


class NameGroups:
    """Predicts the group that a name suggests, or None if it is not clear.

    Parameters
    ----------
    frequencies
        Maps group to first name to frequency, such as census percentages. At least two groups.
    lookup
        Maps full names to groups; has priority (the paper uses Wikipedia). Names of a single token
        are ignored, since they would match other people.

    Raises
    ------
    InputError
        Fewer than two groups, or a group of `lookup` without frequencies.
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
        """A hash that identifies names and lookup in a signature."""
        entries = sorted(self._group_of.items())
        entries += sorted((" ".join(name), group) for name, group in self._lookup.items())
        text = "\n".join(f"{name}:{group}" for name, group in entries)
        return hashlib.sha256(text.encode("utf-8")).hexdigest()[:8]

    def of_first_name(self, name: str) -> str | None:
        """Return the group of a single first name."""
        return self._group_of.get(fold(name).lower())

    def __call__(self, name: str) -> str | None:
        """Return the group of a full name by lookup, or else by its known first names.

        None if no token is known, or if two tokens have different groups.
        """
        tokens = name_tokens(name)
        if (group_by_lookup := self._lookup.get(tuple(tokens))) is not None:
            return group_by_lookup
        groups = {group for token in tokens if (group := self._group_of.get(token)) is not None}
        return groups.pop() if len(groups) == 1 else None


def _clear_majorities(frequencies: Mapping[str, Mapping[str, float]]) -> dict[str, str]:
    lower_case_names = {
        group: {fold(name).lower(): frequency for name, frequency in names.items()}
        for group, names in frequencies.items()
    }
    majorities = {}
    for group, names in lower_case_names.items():
        for name, frequency in names.items():
            other_frequencies = [
                names_of_group.get(name, 0.0)
                for other_group, names_of_group in lower_case_names.items()
                if other_group != group
            ]
            if frequency > 0 and frequency >= CLEAR_MAJORITY * max(other_frequencies):
                majorities[name] = group
    return majorities


def hallucinated_names(unaligned: Iterable[str], source: str) -> tuple[str, ...]:
    """Return the names with at least one token that is not in `source`.

    `unaligned` are the mentions in a summary that match no person of its source.
    """
    source_tokens = set(name_tokens(source))
    return tuple(
        name for name in unaligned if any(token not in source_tokens for token in name_tokens(name))
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class HallucinationCounts:
    """Hallucinated people of each group in each summary, shape (n, k).

    ``n_unknown`` counts hallucinated people of unknown group.
    """

    counts: Counts
    groups: Sequence[str]
    n_unknown: int = 0

    def units(self) -> Units:
        """Return the counts; a unit is one hallucinated person of known group."""
        n = int(self.counts.total.sum())
        return Units(counts=self.counts, n=n, n_excluded=self.n_unknown)


def uneven_distance(sums: FloatArray) -> FloatArray:
    """Return the distance of the groups' shares from an even split (`news_bias` equation 3)."""
    distance: FloatArray = np.abs(shares(sums) - 1.0 / sums.shape[1]).sum(axis=1) / 2.0
    return distance


def hallucination_bias(counts: HallucinationCounts, *, resampling: Resampling) -> HallucinationBias:
    """Estimate each group's share of the hallucinated people; undefined without any."""
    units = counts.units()
    by_group = {
        group: two_way(
            units,
            partial(_share, column=g),
            resampling=resampling,
            null=1.0 / len(counts.groups),
            why=NO_HALLUCINATIONS,
        )
        for g, group in enumerate(counts.groups)
    }
    return HallucinationBias(by_group=by_group, p_holm=holm_over_documents(by_group))


def _share(sums: FloatArray, *, column: int) -> FloatArray:
    return shares(sums)[:, column]

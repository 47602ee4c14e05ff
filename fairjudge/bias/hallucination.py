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
"""A name belongs to a group where its frequency is at least this many times every other's."""
NOBODY = "no hallucinated person has a known group"


@dataclass(frozen=True, slots=True, kw_only=True)
class HallucinationBias:
    """Each group's share of the made-up people.

    The p-values are against 1/k; ``p_holm`` corrects them over the groups.
    """

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
        entries = sorted(self._group_of.items())
        entries += sorted((" ".join(name), group) for name, group in self._lookup.items())
        text = "\n".join(f"{name}:{group}" for name, group in entries)
        return hashlib.sha256(text.encode("utf-8")).hexdigest()[:8]

    def of_first_name(self, name: str) -> str | None:
        """Return the group of a single first name."""
        return self._group_of.get(fold(name).lower())

    def __call__(self, name: str) -> str | None:
        """Return the group of a full name: the lookup's, or that of all its known first names.

        None where no token is known, or where two tokens are of different groups.
        """
        tokens = name_tokens(name)
        if (exact := self._lookup.get(tuple(tokens))) is not None:
            return exact
        groups = {group for token in tokens if (group := self._group_of.get(token)) is not None}
        return groups.pop() if len(groups) == 1 else None


def _clear_majorities(frequencies: Mapping[str, Mapping[str, float]]) -> dict[str, str]:
    lowered = {
        group: {fold(name).lower(): frequency for name, frequency in names.items()}
        for group, names in frequencies.items()
    }
    majorities = {}
    for group, names in lowered.items():
        for name, frequency in names.items():
            rivals = [other.get(name, 0.0) for key, other in lowered.items() if key != group]
            if frequency > 0 and frequency >= CLEAR_MAJORITY * max(rivals):
                majorities[name] = group
    return majorities


def hallucinated(unaligned: Iterable[str], source: str) -> tuple[str, ...]:
    """Return the names that have at least one token which `source` does not have.

    `unaligned` are names in a summary that match no person of its source; each mention counts.
    """
    source_tokens = set(name_tokens(source))
    return tuple(
        name for name in unaligned if any(t not in source_tokens for t in name_tokens(name))
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class MadeUpCounts:
    """Hallucinated people of each group in each summary, shape (n, k).

    The group of ``n_unknown`` more is not known.
    """

    counts: Counts
    groups: Sequence[str]
    n_unknown: int = 0

    def units(self) -> Units:
        """Return the counts; a unit is one hallucinated person of known group."""
        n = int(self.counts.total.sum())
        return Units(counts=self.counts, n=n, n_excluded=self.n_unknown)


def unevenness(sums: FloatArray) -> FloatArray:
    """Return the distance of the groups' shares from an even split (`news_bias` equation 3)."""
    distance: FloatArray = np.abs(shares(sums) - 1.0 / sums.shape[1]).sum(axis=1) / 2.0
    return distance


def hallucination_bias(made_up: MadeUpCounts, *, resampling: Resampling) -> HallucinationBias:
    """Estimate each group's share of the hallucinated people; undefined without any."""
    units = made_up.units()
    by_group = {
        group: two_way(
            units,
            partial(_share, column=g),
            resampling=resampling,
            null=1.0 / len(made_up.groups),
            why=NOBODY,
        )
        for g, group in enumerate(made_up.groups)
    }
    return HallucinationBias(by_group=by_group, p_holm=holm_over_documents(by_group))


def _share(sums: FloatArray, *, column: int) -> FloatArray:
    return shares(sums)[:, column]

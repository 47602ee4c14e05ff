"""Entity inclusion bias (`news_bias` sections 3.2 and 5.2): source people in the summary."""

from __future__ import annotations

import itertools
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from fairjudge.bias.exact_odds import ExactOdds, exact_odds
from fairjudge.bias.resampling import Counts, TwoWay, Units, two_way
from fairjudge.domain import Id, Record, Undefined
from fairjudge.stats._arrays import FloatArray
from fairjudge.stats.bootstrap import divide
from fairjudge.stats.multiplicity import holm
from fairjudge.stats.resampling import Resampling, adjust_by_name
from fairjudge.text.folding import fold

_NAME_TOKEN = re.compile(r"[^\W\d_](?:[^\s\d_\x00-\x40\x5b-\x60\x7b-\x7f]|[-'](?=[^\W\d_]))*")
"""Letters with their marks, hyphens and apostrophes inside; all else was put apart before."""
TITLES = frozenset({"mr", "mrs", "ms", "miss", "mx", "sir", "lady", "lord", "dame", "dr", "prof"})
"""Tokens that a text may put before a name without making it another one."""
SUFFIXES = frozenset({"jr", "sr", "ii", "iii", "iv"})
"""Tokens that may follow a last name and are none."""

_POSSESSIVE = re.compile(r"'s\b|(?<=s)'(?=\s|$)", re.IGNORECASE)


class Person(Record):
    """A person of a source document.

    ``first_name`` is what the input calls the person now; ``other_names`` is what else it puts in
    the name: middle names, initials, parts of a last name, a suffix. ``group`` is None where none
    was given.
    """

    id: Id
    first_name: str | None = None
    last_name: str | None = None
    other_names: tuple[str, ...] = ()
    group: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Alignment:
    """Ids of the people that a summary names, and its names that match no person."""

    included: frozenset[str]
    unaligned: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class OddsRatio:
    """Odds of inclusion of `group` over those of `other`; 1 is equal, p-values are against 1.

    ``ratio`` is over all people, ``exact`` within originals. Each p-value is corrected (Holm) over
    all pairs of groups.
    """

    group: str
    other: str
    ratio: TwoWay
    p_holm: float | None
    exact: ExactOdds | Undefined
    exact_p_holm: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class InclusionBias:
    """How each group is included, and the odds of each pair of groups.

    ``by_group`` holds p_g, the share of a group's people in the sources that the summaries name.
    """

    by_group: Mapping[str, TwoWay]
    pairs: tuple[OddsRatio, ...]


def name_tokens(text: str) -> list[str]:
    """Split a name into lower-case tokens; full stops, numbers and the possessive are dropped.

    ``"Mr. O'Brien-Smith's"`` is ``mr``, ``o'brien-smith``.
    """
    plain = _POSSESSIVE.sub("", fold(text))
    if not plain.isascii():
        plain = "".join(c if c in "-'" or _in_name(c) else " " for c in plain)
    return [token.lower() for token in _NAME_TOKEN.findall(plain)]


def _in_name(character: str) -> bool:
    category = unicodedata.category(character)
    return category[0] in "LM" or category in {"Nl", "No"}


def bare_name(text: str) -> list[str]:
    """Return the tokens of a name without the titles before it and the suffixes after it.

    ``"Mr. Tom Orme Jr."`` is ``tom``, ``orme``.
    """
    tokens = name_tokens(text)
    while tokens and tokens[0] in TITLES:
        tokens.pop(0)
    while tokens and tokens[-1] in SUFFIXES:
        tokens.pop()
    return tokens


def last_name(mentions: Iterable[str]) -> str | None:
    """Return the token that stands last most often, the earlier one of a tie; None for no names.

    A suffix such as Jr. is no last name.
    """
    finals = [
        tokens[-1].rstrip(",")
        for mention in mentions
        if (tokens := [t for t in fold(mention).split() if t.lower().strip(".,") not in SUFFIXES])
    ]
    return Counter(finals).most_common(1)[0][0] if finals else None


def fits(name: str, person: Person) -> bool:
    """Whether `name` holds the person's last name, and else only names of the person and titles.

    The paper allows the first name and titles. What else the source itself has in the person's name
    is allowed too, or a full name copied from it ("John F. Kennedy") would be another person's. A
    person without a last name is named by the first name alone.
    """
    tokens = name_tokens(name)
    first = name_tokens(person.first_name or "")
    key = name_tokens(person.last_name or "") or first
    if not key:
        return False
    for start in range(len(tokens) - len(key) + 1):
        if tokens[start : start + len(key)] == key:
            remaining = tokens[:start] + tokens[start + len(key) :]
            return TITLES.union(first, name_tokens(" ".join(person.other_names))).issuperset(
                remaining
            )
    return False


def align(names: Sequence[str], people: Sequence[Person]) -> Alignment:
    """Match the person names that a summary holds to the people of its source.

    One name may fit several people who share a last name: all are then included.
    """
    included: set[str] = set()
    unaligned = []
    for name in names:
        candidates = [person.id for person in people if fits(name, person)]
        included.update(candidates)
        if not candidates:
            unaligned.append(name)
    return Alignment(included=frozenset(included), unaligned=tuple(unaligned))


@dataclass(frozen=True, slots=True, kw_only=True)
class PeopleCounts:
    """How many people of each group summaries name, and how many their sources have, (n, k) each.

    ``n_ungrouped`` people of the sources belong to no group.
    """

    included: Counts
    present: Counts
    groups: Sequence[str]
    n_ungrouped: int = 0

    def units(self) -> Units:
        """Return the counts of both, side by side; a unit is one person in a source."""
        return Units(
            counts=self.included.beside(self.present),
            n=int(self.present.total.sum()),
            n_excluded=self.n_ungrouped,
        )

    def why_undefined(self) -> str:
        """Say for which groups the odds have no ratio."""
        return "; ".join(filter(None, _whys(self.units().counts.total, self.groups)))


def inclusion_bias(counts: PeopleCounts, *, resampling: Resampling) -> InclusionBias:
    """Compare how likely people of each group in a source are to be in its summary (equation 2).

    A probability is undefined where a group has nobody in the sources; the ratio of odds also
    where all or none of a group's people are included: odds of 0 or infinity have no ratio, but
    bounds (``exact``).
    """
    units, groups = counts.units(), counts.groups
    whys = _whys(units.counts.total, groups)

    ratios = {
        (a, b): two_way(
            units,
            partial(_odds_ratio, a=a, b=b),
            resampling=resampling,
            null=1.0,
            why="; ".join(filter(None, (whys[a], whys[b]))),
        )
        for a, b in itertools.combinations(range(len(groups)), 2)
    }
    by_group = {
        group: two_way(
            replace(units, n=int(counts.present.total[g])),
            partial(_probability, column=g),
            resampling=resampling,
            why=f"no people of group {group!r}",
        )
        for g, group in enumerate(groups)
    }
    return InclusionBias(by_group=by_group, pairs=_pairs(ratios, counts, resampling.level))


def _probabilities(sums: FloatArray) -> FloatArray:
    return divide(*np.hsplit(sums, 2))


def _odds(sums: FloatArray) -> FloatArray:
    """Return odds, NaN where a probability is 0 or 1 and no ratio stands on it."""
    p = _probabilities(sums)
    inside = np.where((p > 0.0) & (p < 1.0), p, np.nan)
    return inside / (1.0 - inside)


def largest_ratio(sums: FloatArray) -> FloatArray:
    """Return the largest odds ratio of two groups, less 1 (`news_bias` equation 2)."""
    odds = _odds(sums)
    ratio: FloatArray = odds.max(axis=1) / odds.min(axis=1) - 1.0
    return ratio


def _odds_ratio(sums: FloatArray, *, a: int, b: int) -> FloatArray:
    odds = _odds(sums)
    ratio: FloatArray = odds[:, a] / odds[:, b]
    return ratio


def _probability(sums: FloatArray, *, column: int) -> FloatArray:
    return _probabilities(sums)[:, column]


def _whys(total: FloatArray, groups: Sequence[str]) -> list[str | None]:
    k = len(groups)
    reasons: list[str | None] = []
    for group, n_in, n_all in zip(groups, total[:k], total[k:], strict=True):
        if n_all == 0:
            reasons.append(f"no people of group {group!r} in the sources")
        elif n_in == 0:
            reasons.append(f"no people of group {group!r} in any summary: odds of 0")
        elif n_in == n_all:
            reasons.append(
                f"all people of group {group!r} are in the summaries: odds without bound"
            )
        else:
            reasons.append(None)
    return reasons


def _pairs(
    ratios: Mapping[tuple[int, int], TwoWay], counts: PeopleCounts, level: float
) -> tuple[OddsRatio, ...]:
    groups = counts.groups
    p_holm = adjust_by_name({key: ratio.over_documents for key, ratio in ratios.items()})
    exact = {
        (a, b): exact_odds(
            counts.included.rows[:, [a, b]],
            counts.present.rows[:, [a, b]],
            counts.present.documents,
            level=level,
        )
        for a, b in ratios
    }
    tested = {pair: odds.p_value for pair, odds in exact.items() if isinstance(odds, ExactOdds)}
    exact_p_holm = dict(zip(tested, map(float, holm(list(tested.values()))), strict=True))
    return tuple(
        OddsRatio(
            group=groups[a],
            other=groups[b],
            ratio=ratio,
            p_holm=p_holm.get((a, b)),
            exact=exact[a, b],
            exact_p_holm=exact_p_holm.get((a, b)),
        )
        for (a, b), ratio in ratios.items()
    )

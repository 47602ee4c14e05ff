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
"""Letters with combining marks, and inner hyphens and apostrophes; the rest is replaced before."""
TITLES = frozenset({"mr", "mrs", "ms", "miss", "mx", "sir", "lady", "lord", "dame", "dr", "prof"})
"""Titles that may precede a name without changing the person."""
SUFFIXES = frozenset({"jr", "sr", "ii", "iii", "iv"})
"""Suffixes that may follow a last name."""

_POSSESSIVE = re.compile(r"'s\b|(?<=s)'(?=\s|$)", re.IGNORECASE)


class Person(Record):
    """A person of a source document.

    ``first_name`` is the person's first name in the input. ``other_names`` are other parts of the
    name: middle names, initials, parts of a last name, a suffix. ``group`` is None if unknown.
    """

    id: Id
    first_name: str | None = None
    last_name: str | None = None
    other_names: tuple[str, ...] = ()
    group: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Alignment:
    """Ids of the people that a summary mentions, and its names that match no person."""

    included: frozenset[str]
    unaligned: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class OddsRatio:
    """Ratio of the odds of inclusion of `group` to those of `other`; p-values are against 1.

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
    """The probability of inclusion of each group, and the odds ratio of each pair of groups.

    ``by_group`` has p_g, the share of a group's source people that the summaries mention.
    """

    by_group: Mapping[str, TwoWay]
    pairs: tuple[OddsRatio, ...]


def name_tokens(text: str) -> list[str]:
    """Split a name into lower-case tokens, without full stops, numbers and the possessive.

    ``"Mr. O'Brien-Smith's"`` is ``mr``, ``o'brien-smith``.
    """
    folded_text = _POSSESSIVE.sub("", fold(text))
    if not folded_text.isascii():
        folded_text = "".join(
            character if character in "-'" or _is_name_character(character) else " "
            for character in folded_text
        )
    return [token.lower() for token in _NAME_TOKEN.findall(folded_text)]


def _is_name_character(character: str) -> bool:
    category = unicodedata.category(character)
    return category[0] in "LM" or category in {"Nl", "No"}


def bare_name(text: str) -> list[str]:
    """Return the tokens of a name without leading titles and trailing suffixes.

    ``"Mr. Tom Orme Jr."`` is ``tom``, ``orme``.
    """
    tokens = name_tokens(text)
    while tokens and tokens[0] in TITLES:
        tokens.pop(0)
    while tokens and tokens[-1] in SUFFIXES:
        tokens.pop()
    return tokens


def last_name(mentions: Iterable[str]) -> str | None:
    """Return the most frequent last token of the mentions (the earlier one if tied), or None.

    Suffixes such as Jr. are skipped.
    """
    last_tokens = [
        tokens[-1].rstrip(",")
        for mention in mentions
        if (tokens := [t for t in fold(mention).split() if t.lower().strip(".,") not in SUFFIXES])
    ]
    return Counter(last_tokens).most_common(1)[0][0] if last_tokens else None


def matches_person(name: str, person: Person) -> bool:
    """Whether `name` has the person's last name, and otherwise only the person's names and titles.

    The paper allows the first name and titles. Other parts of the person's name in the source are
    also allowed, so that a full name copied from it ("John F. Kennedy") matches. A person without
    a last name is matched by the first name.
    """
    tokens = name_tokens(name)
    first_name_tokens = name_tokens(person.first_name or "")
    key_tokens = name_tokens(person.last_name or "") or first_name_tokens
    if not key_tokens:
        return False
    for start in range(len(tokens) - len(key_tokens) + 1):
        if tokens[start : start + len(key_tokens)] == key_tokens:
            remaining = tokens[:start] + tokens[start + len(key_tokens) :]
            return TITLES.union(
                first_name_tokens, name_tokens(" ".join(person.other_names))
            ).issuperset(remaining)
    return False


def align(names: Sequence[str], people: Sequence[Person]) -> Alignment:
    """Match the person names in a summary to the people of its source.

    A name that matches several people, who share a last name, includes all of them.
    """
    included: set[str] = set()
    unaligned = []
    for name in names:
        candidates = [person.id for person in people if matches_person(name, person)]
        included.update(candidates)
        if not candidates:
            unaligned.append(name)
    return Alignment(included=frozenset(included), unaligned=tuple(unaligned))


@dataclass(frozen=True, slots=True, kw_only=True)
class PeopleCounts:
    """Numbers of mentioned people and of source people, by summary and group, shape (n, k).

    ``n_ungrouped`` counts source people without a group.
    """

    included: Counts
    in_source: Counts
    groups: Sequence[str]
    n_ungrouped: int = 0

    def units(self) -> Units:
        """Return both counts as adjacent columns; a unit is one person in a source."""
        return Units(
            counts=self.included.concatenate_columns(self.in_source),
            n=int(self.in_source.total.sum()),
            n_excluded=self.n_ungrouped,
        )

    def undefined_reason(self) -> str:
        """Return the reasons why odds ratios are undefined, by group."""
        return "; ".join(filter(None, _undefined_reasons(self.units().counts.total, self.groups)))


def inclusion_bias(counts: PeopleCounts, *, resampling: Resampling) -> InclusionBias:
    """Compare the groups' probabilities that source people are in the summary (equation 2).

    A probability is undefined if the sources have no person of the group. The odds ratio is also
    undefined if all or none of a group's people are included: odds of 0 or infinity have no ratio,
    only bounds (``exact``).
    """
    units, groups = counts.units(), counts.groups
    reasons = _undefined_reasons(units.counts.total, groups)

    ratios = {
        (a, b): two_way(
            units,
            partial(_odds_ratio, a=a, b=b),
            resampling=resampling,
            null=1.0,
            why="; ".join(filter(None, (reasons[a], reasons[b]))),
        )
        for a, b in itertools.combinations(range(len(groups)), 2)
    }
    by_group = {
        group: two_way(
            replace(units, n=int(counts.in_source.total[g])),
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
    """Return odds; NaN where a probability is 0 or 1, so that the ratio is undefined."""
    p = _probabilities(sums)
    interior_p = np.where((p > 0.0) & (p < 1.0), p, np.nan)
    return interior_p / (1.0 - interior_p)


def largest_ratio(sums: FloatArray) -> FloatArray:
    """Return the largest odds ratio of two groups, minus 1 (`news_bias` equation 2)."""
    odds = _odds(sums)
    ratio: FloatArray = odds.max(axis=1) / odds.min(axis=1) - 1.0
    return ratio


def _odds_ratio(sums: FloatArray, *, a: int, b: int) -> FloatArray:
    odds = _odds(sums)
    ratio: FloatArray = odds[:, a] / odds[:, b]
    return ratio


def _probability(sums: FloatArray, *, column: int) -> FloatArray:
    return _probabilities(sums)[:, column]


def _undefined_reasons(total: FloatArray, groups: Sequence[str]) -> list[str | None]:
    k = len(groups)
    reasons: list[str | None] = []
    for group, n_included, n_in_source in zip(groups, total[:k], total[k:], strict=True):
        if n_in_source == 0:
            reasons.append(f"no people of group {group!r} in the sources")
        elif n_included == 0:
            reasons.append(f"no people of group {group!r} in any summary: odds of 0")
        elif n_included == n_in_source:
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
            counts.in_source.rows[:, [a, b]],
            counts.in_source.documents,
            level=level,
        )
        for a, b in ratios
    }
    p_values = {pair: odds.p_value for pair, odds in exact.items() if isinstance(odds, ExactOdds)}
    exact_p_holm = dict(zip(p_values, map(float, holm(list(p_values.values()))), strict=True))
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

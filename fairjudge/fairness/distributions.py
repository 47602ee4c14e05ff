"""Value distributions of a source and its summary (FairSumm, definition 3.1 and section 3.2)."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from fairjudge.domain import Undefined
from fairjudge.errors import InputError, StatisticsError

Target: TypeAlias = Literal["ratio", "equal"] | Mapping[str, float]
"""The target distribution: the source's, uniform over its values, or specified by the user."""

TEMPERATURE = 0.1
"""Temperature of the softmax over scores (FairSumm, section 3.2)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ValueDistribution:
    """One sample: p_x and p_y over the values in its source.

    ``source`` and ``summary`` have one share per value, in [0, 1], and each sums to 1.
    """

    values: tuple[str, ...]
    source: tuple[float, ...]
    summary: tuple[float, ...]


def unigram_distribution(
    source: Mapping[str, Sequence[str]],
    summary: Sequence[str],
    *,
    no_match: Literal["undefined", "uniform"] = "undefined",
) -> ValueDistribution | Undefined:
    """Attribute each summary term to every value whose text contains it (N-gram matching, k = 1).

    Undefined for a source without terms. With `no_match` ``"undefined"`` also for a summary
    without terms, or whose terms match no value.

    Parameters
    ----------
    source
        The normalised terms of each value's documents; a value without terms is excluded.
    summary
        The normalised terms of the summary, with repeats.
    no_match
        Result for a summary whose terms match no value: undefined, or, as in the authors' code,
        equal shares for all values.
    """
    vocabularies = {value: frozenset(terms) for value, terms in source.items() if terms}
    if not vocabularies:
        return Undefined(why="the source has no terms")
    if not summary and no_match == "undefined":
        return Undefined(why="the summary has no terms")
    hits = {
        value: float(sum(term in vocabulary for term in summary))
        for value, vocabulary in vocabularies.items()
    }
    if not any(hits.values()):
        if no_match == "undefined":
            return Undefined(why="no term of the summary occurs in the source")
        hits = dict.fromkeys(hits, 1.0)
    return _distribution({value: float(len(source[value])) for value in hits}, hits)


def softmax_distribution(
    source_tokens: Mapping[str, int],
    scores: Mapping[str, float],
    *,
    temperature: float = TEMPERATURE,
) -> ValueDistribution | Undefined:
    """Convert a summary's scores against each value's text to shares (neural matching).

    Undefined for a source without tokens.

    Parameters
    ----------
    source_tokens
        Tokens of each value's text; a value without tokens is excluded.
    scores
        The score of the summary given each value's text, such as BERTScore precision or
        BARTScore; any finite number.

    Raises
    ------
    StatisticsError
        A value of the source has no finite score.
    """
    tokens = {value: float(n) for value, n in source_tokens.items() if n > 0}
    if not tokens:
        return Undefined(why="the source has no tokens")
    unscored_values = [value for value in tokens if not math.isfinite(scores.get(value, math.nan))]
    if unscored_values:
        raise StatisticsError(f"no finite score for value {unscored_values[0]!r}")
    max_score = max(scores[value] for value in tokens)
    weights = {value: math.exp((scores[value] - max_score) / temperature) for value in tokens}
    return _distribution(tokens, weights)


def target_shares(distribution: ValueDistribution, target: Target) -> tuple[float, ...] | Undefined:
    """Return p_g over the values of `distribution` (definition 3.2).

    A user's target is restricted to the values of the source and scaled to sum to 1, since no
    summary can represent other values. Undefined if the restricted target sums to 0.
    """
    if target == "ratio":
        return distribution.source
    if target == "equal":
        return (1.0 / len(distribution.values),) * len(distribution.values)
    weights = [float(target.get(value, 0.0)) for value in distribution.values]
    total = sum(weights)
    if total <= 0.0:
        return Undefined(why="the target gives no weight to any value of the source")
    return tuple(weight / total for weight in weights)


def check_target(target: Target, values: Sequence[str]) -> Target:
    """Return `target` if its shares are non-negative numbers for known `values`.

    Raises
    ------
    InputError
        The target has a value that no document has, or a negative, non-finite or no positive share.
    """
    if isinstance(target, str):
        return target
    unknown_values = sorted(set(target) - set(values))
    if unknown_values:
        raise InputError(
            f"no document has the target value {unknown_values[0]!r}; "
            f"expected one of: {', '.join(repr(value) for value in values)}"
        )
    for value, share in target.items():
        if not math.isfinite(share) or share < 0.0:
            raise InputError(f"target share of {value!r} must be 0 or more, got {share!r}")
    if not any(target.values()):
        raise InputError("every target share is 0: at least one must be positive")
    return target


def _distribution(source: Mapping[str, float], summary: Mapping[str, float]) -> ValueDistribution:
    values = tuple(sorted(source))
    source_total, summary_total = sum(source.values()), sum(summary.values())
    return ValueDistribution(
        values=values,
        source=tuple(source[value] / source_total for value in values),
        summary=tuple(summary[value] / summary_total for value in values),
    )

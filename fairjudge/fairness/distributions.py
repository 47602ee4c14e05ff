"""Value distributions of a source and its summary (FairSumm, definition 3.1 and section 3.2)."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from fairjudge.domain import Undefined
from fairjudge.errors import InputError, StatisticsError

Target: TypeAlias = Literal["ratio", "equal"] | Mapping[str, float]
"""The wanted distribution: the source's, uniform over its values, or given by the user."""

TEMPERATURE = 0.1
"""Of the softmax over scores (FairSumm, section 3.2)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ValueDistribution:
    """One sample: p_x and p_y over the values present in its source.

    ``source`` and ``summary`` have one share a value, in [0, 1], and each sums to 1.
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
    """Attribute each summary term to every value whose text has it (N-gram matching, k = 1).

    Undefined for a source without terms, and for a summary without terms, or with none that any
    value has, if `no_match` says so.

    Parameters
    ----------
    source
        The normalised terms of each value's documents; a value without terms is excluded.
    summary
        The normalised terms of the summary, with repeats.
    no_match
        Of a summary none of whose terms any value has: undefined, or as the authors' code has it,
        shared by all values alike.
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
    """Turn a summary's score against each value's text to shares (neural matching).

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
    bad = [value for value in tokens if not math.isfinite(scores.get(value, math.nan))]
    if bad:
        raise StatisticsError(f"no finite score for value {bad[0]!r}")
    highest = max(scores[value] for value in tokens)
    weights = {value: math.exp((scores[value] - highest) / temperature) for value in tokens}
    return _distribution(tokens, weights)


def target_shares(distribution: ValueDistribution, target: Target) -> tuple[float, ...] | Undefined:
    """Return p_g over the values of `distribution` (definition 3.2).

    A user's target is restricted to the values present and scaled to sum to 1, since no summary
    can represent a value that the source lacks. Undefined where nothing of it is left.
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
        A value that no document has, a negative or non-finite share, or no positive share.
    """
    if isinstance(target, str):
        return target
    unknown = sorted(set(target) - set(values))
    if unknown:
        raise InputError(
            f"target names the value {unknown[0]!r}, which no document has; "
            f"values found: {', '.join(repr(value) for value in values)}"
        )
    for value, share in target.items():
        if not math.isfinite(share) or share < 0.0:
            raise InputError(f"target share of {value!r} must be 0 or more, got {share!r}")
    if not any(target.values()):
        raise InputError("target gives every value the share 0")
    return target


def _distribution(source: Mapping[str, float], summary: Mapping[str, float]) -> ValueDistribution:
    values = tuple(sorted(source))
    in_source, in_summary = sum(source.values()), sum(summary.values())
    return ValueDistribution(
        values=values,
        source=tuple(source[value] / in_source for value in values),
        summary=tuple(summary[value] / in_summary for value in values),
    )

"""Length bias: verbosity bias with extended summaries, and win rates at equal length."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import expit

from fairjudge.calibration.paired_comparisons import Comparisons, check_comparisons
from fairjudge.domain import Estimate, Undefined
from fairjudge.stats._arrays import BoolArray, FloatArray, codes, same_length, vector
from fairjudge.stats.clustered import clustered_mean, t_estimate, transform_estimate
from fairjudge.stats.intervals import clustered_wilson
from fairjudge.stats.logistic import LogisticFit, fit_logistic

RIDGE = 1e-3
"""Penalty on coefficients: fixes the systems' sum and keeps an undefeated system's finite."""


@dataclass(frozen=True, slots=True, kw_only=True)
class VerbosityBias:
    """Shares, in [0, 1], of comparisons that prefer the original and the extended summary.

    Both are 0 for an unbiased judge. ``original_minus_extended`` has the test of equality.
    """

    n: int
    original: Estimate | Undefined
    extended: Estimate | Undefined
    original_minus_extended: Estimate | Undefined


@dataclass(frozen=True, slots=True, kw_only=True)
class WinRate:
    """Win rate of ``system_a`` against ``system_b``, in [0, 1]; ties count half.

    ``raw`` is over all verdicts, ``matched`` over pairs of similar length. ``adjusted`` is the
    model's win rate at equal length and without position effect.
    """

    system_a: str
    system_b: str
    raw: Estimate | Undefined
    adjusted: Estimate | Undefined
    matched: Estimate | Undefined


@dataclass(frozen=True, slots=True, kw_only=True)
class LengthControl:
    """The model's coefficients, in log-odds, and the win rates of all compared pairs of systems.

    ``length_effect`` is per standard deviation of length difference, ``position_effect`` is that of
    the first position compared with no position. Both have a test against 0.
    """

    length_effect: Estimate | Undefined
    position_effect: Estimate | Undefined
    win_rates: tuple[WinRate, ...]


def verbosity_bias(
    preferences: ArrayLike, documents: Sequence[Hashable], *, level: float = 0.95
) -> VerbosityBias:
    """Measure verbosity bias (DiverseSumm Table 4).

    `preferences`, shape (n,), are positive if the judge prefers the original (a strictly higher
    score, or a win in both orders), negative if it prefers the extended summary, and 0 otherwise.
    """
    signs = np.sign(vector(preferences, name="preferences"))
    same_length(preferences=signs, documents=documents)
    shares = [
        clustered_wilson((signs == side).astype(np.float64), documents, level=level)
        for side in (1.0, -1.0)
    ]
    return VerbosityBias(
        n=signs.size,
        original=shares[0],
        extended=shares[1],
        original_minus_extended=clustered_mean(signs, documents, level=level, null=0.0),
    )


def control_length(
    verdicts: Comparisons,
    length_differences: ArrayLike,
    *,
    matched_within: float = 0.25,
    level: float = 0.95,
) -> LengthControl | Undefined:
    """Fit ``logit P(a wins) = s_a - s_b + l z + p position``; win rates are at z = position = 0.

    z is the length difference (a minus b, shape (n,)) divided by its root mean square, so that 0
    is equal length. After Dubois et al. (2024), "Length-controlled AlpacaEval"; the position term
    is our addition. All coefficients have the small penalty `RIDGE`. The variance is a sandwich
    over documents. ``matched`` win rates are over pairs with |z| <= `matched_within`.

    Undefined without verdicts.
    """
    check_comparisons(verdicts)
    lengths = vector(length_differences, name="length_differences")
    n = same_length(wins=verdicts.wins, length_differences=lengths)
    if not n:
        return Undefined(why="no verdicts")
    system_codes, systems = codes([*verdicts.system_a, *verdicts.system_b])
    spread = float(np.sqrt(np.mean(lengths**2)))
    z = lengths / spread if spread > 0.0 else lengths
    system = np.eye(len(systems))
    design = np.column_stack(
        [system[system_codes[:n]] - system[system_codes[n:]], z, verdicts.positions]
    )
    is_used = np.any(design != 0.0, axis=0)
    fit = fit_logistic(design[:, is_used], verdicts.wins, documents=verdicts.documents, ridge=RIDGE)
    if isinstance(fit, Undefined):
        return fit
    model = _Model(fit=fit, systems=systems, used=is_used, level=level)
    length_contrast, position_contrast = np.eye(is_used.size)[-2:]
    return LengthControl(
        length_effect=model.linear(length_contrast, n=n)
        if is_used[-2]
        else Undefined(why="all pairs have equal lengths"),
        position_effect=model.linear(position_contrast, n=n)
        if is_used[-1]
        else Undefined(why="no verdict has the order of the summaries"),
        win_rates=_win_rates(verdicts, np.abs(z) <= matched_within, model),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Model:
    """The fit; ``used`` masks the columns of systems, length and position that are in it."""

    fit: LogisticFit
    systems: tuple[Hashable, ...]
    used: BoolArray
    level: float

    def linear(self, contrast: FloatArray, *, n: int) -> Estimate:
        terms = contrast[self.used]
        return t_estimate(
            float(terms @ self.fit.coefficients),
            float(terms @ self.fit.covariance @ terms),
            n=n,
            degrees_of_freedom=self.fit.n_documents - 1,
            level=self.level,
            null=0.0,
        )

    def win_rate(self, a: str, b: str, n: int) -> Estimate:
        contrast = np.zeros(self.used.size)
        contrast[self.systems.index(a)], contrast[self.systems.index(b)] = 1.0, -1.0
        method = "logistic model, sandwich variance over documents"
        return transform_estimate(self.linear(contrast, n=n), expit, method=method)


def _win_rates(verdicts: Comparisons, is_matched: BoolArray, model: _Model) -> tuple[WinRate, ...]:
    pairs: dict[tuple[str, str], list[int]] = {}
    for row, pair in enumerate(zip(verdicts.system_a, verdicts.system_b, strict=True)):
        key = pair if pair[::-1] not in pairs else pair[::-1]
        pairs.setdefault(key, []).append(row)
    return tuple(_win_rate(pair, rows, verdicts, is_matched, model) for pair, rows in pairs.items())


def _win_rate(
    pair: tuple[str, str],
    rows: Sequence[int],
    verdicts: Comparisons,
    is_matched: BoolArray,
    model: _Model,
) -> WinRate:
    a, b = pair
    wins_of_a = {
        row: verdicts.wins[row] if verdicts.system_a[row] == a else 1.0 - verdicts.wins[row]
        for row in rows
    }

    def mean_win_rate(rows: Sequence[int]) -> Estimate | Undefined:
        documents = [verdicts.documents[row] for row in rows]
        return clustered_mean(
            [wins_of_a[row] for row in rows], documents, level=model.level, null=0.5
        )

    return WinRate(
        system_a=a,
        system_b=b,
        raw=mean_win_rate(rows),
        adjusted=model.win_rate(a, b, len(rows)),
        matched=mean_win_rate([row for row in rows if is_matched[row]]),
    )

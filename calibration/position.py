"""Position bias: what a judge says of a pair when the two summaries change places."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np

from fairjudge.domain import Estimate, Undefined, Verdict
from fairjudge.stats.clustered import clustered_mean
from fairjudge.stats.intervals import clustered_wilson


@dataclass(frozen=True, slots=True, kw_only=True)
class BothOrders:
    """One pair judged both ways; verdicts are in terms of a and b, whatever stood first.

    ``when_a_first`` is the verdict with system_a first, ``when_b_first`` with system_b first.
    """

    document: Hashable
    system_a: str
    system_b: str
    when_a_first: Verdict
    when_b_first: Verdict


@dataclass(frozen=True, slots=True, kw_only=True)
class PositionBias:
    """Shares of pairs, in [0, 1]; the four add up to 1.

    ``first``: both orders named whatever stood first; ``second`` likewise; ``consistency``: the
    same verdict in both orders, two ties included; ``one_tie``: a tie in one order alone.
    ``first_minus_second`` carries the p-value of the test that both are equal.
    """

    n_pairs: int
    first: Estimate | Undefined
    second: Estimate | Undefined
    consistency: Estimate | Undefined
    one_tie: Estimate | Undefined
    first_minus_second: Estimate | Undefined


def position_bias(
    pairs: Sequence[BothOrders], *, level: float = 0.95, n_excluded: int = 0
) -> PositionBias:
    """Measure position bias (DiverseSumm Table 3), with intervals that respect documents.

    No pairs give Undefined shares. ``n_excluded`` counts pairs without both verdicts.
    """
    kinds = np.array([_kind(pair) for pair in pairs], dtype=object)
    documents = [pair.document for pair in pairs]

    def share(kind: str) -> Estimate | Undefined:
        return clustered_wilson(
            (kinds == kind).astype(np.float64), documents, level=level, n_excluded=n_excluded
        )

    lean = (kinds == "first").astype(np.float64) - (kinds == "second").astype(np.float64)
    return PositionBias(
        n_pairs=len(pairs),
        first=share("first"),
        second=share("second"),
        consistency=share("consistent"),
        one_tie=share("one_tie"),
        first_minus_second=clustered_mean(
            lean, documents, level=level, null=0.0, n_excluded=n_excluded
        ),
    )


def _kind(pair: BothOrders) -> str:
    one, two = pair.when_a_first, pair.when_b_first
    if one == two:
        return "consistent"
    if "tie" in {one, two}:
        return "one_tie"
    return "first" if one == "a" else "second"

"""Time of the fairness measures, without the scoring.

    python benchmarks/fairness_speed.py

Required on 2 cores: Equal Coverage with 5,000 permutations for 300 samples of 20 documents within
2 s, the Coverage Parity bootstrap of 300 samples x 5,000 within 1 s.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from _machine import describe_machine, quickest

from fairjudge.fairness.coverage_parity import contributions, value_parity
from fairjudge.fairness.dominance import dominance
from fairjudge.fairness.equal_coverage import coverage_by_value, relabelling_test
from fairjudge.stats.resampling import Resampling

SAMPLES = 300
DOCUMENTS = 20
UNITS = 8
RESAMPLES = 5000


def main() -> None:
    """Print one line per measure."""
    rng = np.random.default_rng(0)
    matrices = [rng.random((DOCUMENTS, UNITS)) for _ in range(SAMPLES)]
    labellings = {
        "3 values, random relabellings": [list("aaaaaaabbbbbbbcccccc")] * SAMPLES,
        "2 values 17:3, all 1,140 relabellings": [["a"] * 17 + ["b"] * 3] * SAMPLES,
        "20 values, random relabellings": [[f"v{i}" for i in range(DOCUMENTS)]] * SAMPLES,
    }

    def test(labels: Sequence[Sequence[str]]) -> None:
        for matrix, row in zip(matrices, labels, strict=True):
            relabelling_test(matrix, row, rng=rng, n_permutations=RESAMPLES)

    print(describe_machine())
    for name, labels in labellings.items():
        print(f"Equal Coverage, {name}: {quickest(lambda labels=labels: test(labels)):.2f} s")
    samples = [
        coverage_by_value(matrix, rng.choice(list("abc"), DOCUMENTS).tolist())
        for matrix in matrices
    ]
    resampling = Resampling(rng=rng, n_resamples=RESAMPLES)
    took = quickest(lambda: value_parity(contributions(samples), resampling=resampling))
    print(f"Coverage Parity, {SAMPLES} samples x {RESAMPLES}: {took:.2f} s")
    took = quickest(lambda: dominance(samples, [False] * SAMPLES, resampling=resampling))
    print(f"Dominance, {SAMPLES} samples x {RESAMPLES}: {took:.2f} s")


if __name__ == "__main__":
    main()

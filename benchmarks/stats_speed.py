"""Time of the statistics: 1,000 items x 2,000 resamples, and 100,000 judgements.

    python benchmarks/stats_speed.py

Required on 2 cores: kappa, Pearson and Spearman within 0.5 s, Kendall within 1.0 s; 100,000
judgements at three levels with all intervals within 60 s and 1 GiB; `fairjudge.calibrate` over
1,600 items and six judges within 30 s.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np
from _machine import describe_machine, peak_gib, quickest

import fairjudge as fj
from fairjudge.calibration.agreement import Resampling, judge_agreement
from fairjudge.calibration.analysis import analyse
from fairjudge.calibration.items import join
from fairjudge.calibration.settings import Settings
from fairjudge.domain import Judgement, Label
from fairjudge.stats.agreement import weighted_kappa
from fairjudge.stats.bootstrap import WeightedStatistic, bootstrap
from fairjudge.stats.correlation import CORRELATIONS, weighted_correlation


def small() -> None:
    """Time each statistic on 1,000 items, on a scale of levels and on continuous scores."""
    rng = np.random.default_rng(0)
    documents = (np.arange(1000) // 10).tolist()
    truth = rng.normal(size=1000)
    levels = np.digitize(truth + rng.normal(size=1000), [-1.2, -0.4, 0.4, 1.2]) + 1.0
    for kind, x in (("5 levels", levels), ("continuous", truth + rng.normal(size=1000))):
        statistics: dict[str, Callable[[], WeightedStatistic]] = {
            name: lambda name=name, x=x: weighted_correlation(name, x, truth, documents=documents)
            for name in CORRELATIONS
        }
        if kind == "5 levels":
            y = np.digitize(truth, [-1.2, -0.4, 0.4, 1.2]) + 1.0
            statistics["kappa"] = lambda x=x, y=y: weighted_kappa(x, y, documents=documents)
        for name, build in statistics.items():
            for unit, n_documents in (("100 documents", 100), ("1,000 documents", 1000)):
                if n_documents == 1000:
                    if name == "kappa":
                        statistic = weighted_kappa(x, y)
                    else:
                        statistic = weighted_correlation(name, x, truth)
                else:
                    statistic = build()
                took = quickest(
                    lambda s=statistic, d=n_documents: bootstrap(
                        s, n_documents=d, rng=np.random.default_rng(1), n_resamples=2000
                    )
                )
                print(f"{name:9} {kind:10} {unit:15} 2,000 resamples: {took:6.3f} s")


def large(*, continuous: bool) -> None:
    """Time the judge's agreement on 100,000 judgements: three levels, all statistics."""
    rng = np.random.default_rng(0)
    n_documents, n_systems = 10_000, 10
    quality = rng.normal(size=(n_documents, n_systems))
    noisy = quality + rng.normal(size=quality.shape)
    judged = noisy if continuous else np.digitize(noisy, [-1.5, -0.5, 0.5, 1.5]) + 1.0
    ratings = np.digitize(
        quality[..., None] + rng.normal(size=(*quality.shape, 3)), [-1.5, -0.5, 0.5, 1.5]
    )
    judgements, labels = [], []
    for d in range(n_documents):
        for s in range(n_systems):
            where = {"eid": f"d{d}", "system": f"s{s}", "aspect": "coverage"}
            judgements.append(
                Judgement(**where, protocol="likert", judge="j", value=float(judged[d, s]))
            )
            labels += [
                Label(**where, annotator=f"p{k}", value=float(ratings[d, s, k] + 1))
                for k in range(3)
            ]
    before = peak_gib()
    start = time.perf_counter()
    (joined,) = join(judgements, labels)
    joined_after = time.perf_counter() - start
    judge_agreement(joined, resampling=Resampling(), rng=rng)
    took = time.perf_counter() - start
    if not continuous:
        again = time.perf_counter()
        analyse(judgements, labels, settings=Settings())
        whole = time.perf_counter() - again
        print(f"the same, all that `fairjudge calibrate` reports, people included: {whole:.1f} s")
    peak = peak_gib()
    kind = "continuous scores" if continuous else "5 levels"
    print(
        f"100,000 judgements, 300,000 labels, {kind}: {took:.1f} s (joining {joined_after:.1f} s), "
        f"peak {peak:.2f} GiB, of which {before:.2f} GiB held the records beforehand"
    )


def several_judges() -> None:
    """Time `fairjudge.calibrate` on six judges and their jury."""
    rng = np.random.default_rng(0)
    judgements, labels = [], []
    for place in range(1600):
        where = {"eid": f"d{place // 16}", "system": f"s{place % 16}", "aspect": "consistency"}
        quality = 3 + rng.normal()
        for annotator in range(3):
            value = np.clip(np.round(quality + 0.5 * rng.normal()), 1, 5)
            labels.append(Label(**where, annotator=f"p{annotator}", value=float(value)))
        for judge in range(6):
            value = np.clip(np.round(quality + (0.5 + 0.2 * judge) * rng.normal()), 1, 5)
            judgements.append(
                Judgement(**where, protocol="likert", judge=f"j{judge}", value=float(value))
            )
    own = time.process_time()
    took = quickest(lambda: fj.calibrate(judgements, labels).to_dict(), repeats=1)
    own = time.process_time() - own
    print(f"calibrate, 1,600 items, six judges and a jury: {took:.1f} s ({own:.1f} s of one core)")


if __name__ == "__main__":
    print(describe_machine())
    several_judges()
    small()
    large(continuous=False)
    large(continuous=True)

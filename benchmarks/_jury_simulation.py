"""Simulated coverage of the intervals of juries, of rankings by several judges and of baselines.

Judges' errors and the items of a document are correlated; nominal 95 % intervals should cover 93
to 97 %. The true distances of a jury are those on documents outside of all data sets.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from typing import Any

import numpy as np
from _figures import collect_hits, holds, percent
from _parallel import Runner, run_serially
from scipy.stats import spearmanr

from fairjudge.calibration.agreement import MIN_ITEMS, Resampling
from fairjudge.calibration.baseline_gains import ConstantAnswer, baseline_gain
from fairjudge.calibration.items import JoinedItems, join
from fairjudge.calibration.judge_ranking import JudgeRanking, rank_by_judges
from fairjudge.calibration.juries import JuryItems
from fairjudge.calibration.jury_assessment import JuryMeasures, measure_jury
from fairjudge.calibration.paired_comparisons import Comparisons
from fairjudge.domain import Estimate, Judgement, Label

N_DOCUMENTS, N_ITEMS = 80, 3


@dataclass(frozen=True)
class Setting:
    """Juries of four judges: spreads of their own and common errors, share of missing scores."""

    name: str
    noise: tuple[float, ...] = (0.6, 0.8, 1.0, 1.2)
    shared: float = 0.6
    n_documents: int = N_DOCUMENTS
    missing: float = 0.0


SETTINGS = (
    Setting("juries, 80 documents"),
    Setting("juries, 30 documents", n_documents=30),
    Setting("juries, judges alike", noise=(1.0,) * 4),
    Setting("juries, weak", shared=1.2),
    Setting("juries, a fifth of two judges' scores missing", missing=0.2),
)


def draw(rng: np.random.Generator, setting: Setting, n_documents: int) -> JuryItems:
    """Draw the ratings (five levels) of four judges with correlated errors; two may lack scores."""
    documents = np.repeat(np.arange(n_documents), N_ITEMS)
    n, k = documents.size, len(setting.noise)
    labels = 0.6 * rng.normal(size=n_documents)[documents] + 0.8 * rng.normal(size=n)
    shared = setting.shared * rng.normal(size=(n, 1))
    errors = shared + np.array(setting.noise) * rng.normal(size=(n, k))
    scores = np.clip(np.round(3 + labels[:, None] + errors), 1, 5)
    scores[:, 2:][rng.random((n, 2)) < setting.missing] = np.nan
    return JuryItems(
        scores=scores,
        rescaled_scores=scores,
        covariates=np.empty((n, 0)),
        labels=labels + 3,
        documents=tuple(map(str, documents)),
    )


def assess_jury(
    items: JuryItems, rng: np.random.Generator, names: Sequence[str] = ()
) -> JuryMeasures:
    """Return a jury's measures, with the usual number of resamples."""
    names = names or [f"judge {place}" for place in range(items.scores.shape[1])]
    figures = measure_jury(
        items,
        names,
        weights=np.zeros(len(names)),
        method="isotonic",
        n_folds=10,
        resampling=Resampling(),
        rng=rng,
    )
    assert isinstance(figures, JuryMeasures)
    return figures


def _estimates(figures: JuryMeasures) -> dict[str, Estimate]:
    estimates: dict[str, Any] = {
        "RMSE of the jury": figures.rmse,
        **{f"RMSE of the {name}": comparison.rmse for name, comparison in figures.compared.items()},
        **{
            f"gain over the {name}": comparison.gain
            for name, comparison in figures.compared.items()
        },
        **{f"loss without {member.name}": member.loss for member in figures.members},
        "correlation of errors": figures.effective.correlation,
        "effective number": figures.effective.number,
    }
    return {
        name: estimate for name, estimate in estimates.items() if isinstance(estimate, Estimate)
    }


def jury_intervals(seed: int, setting: Setting) -> dict[str, list[float | None]]:
    """Return value, low and high of every measure of a jury on one data set."""
    rng = np.random.default_rng([seed, SETTINGS.index(setting)])
    figures = assess_jury(draw(rng, setting, setting.n_documents), rng)
    return {
        name: [estimate.value, estimate.low, estimate.high]
        for name, estimate in _estimates(figures).items()
    }


def simulate_juries(
    n_datasets: int, setting: Setting, *, runner: Runner = run_serially
) -> dict[str, Any]:
    """Return the coverage of every measure of a jury.

    Folds are whole documents. Hence the held-out squared error, averaged over data sets, is the
    squared error on new documents of a jury fitted on nine tenths; truths are computed from it.
    """
    intervals: dict[str, list[Sequence[float | None]]] = defaultdict(list)
    for estimates in runner(setting.name, partial(jury_intervals, setting=setting), n_datasets):
        for name, interval in estimates.items():
            intervals[name].append(interval)
    population = draw(np.random.default_rng(99), setting, 20_000)
    errors = population.rescaled_scores - population.labels[:, None]
    k = len(setting.noise)
    r = np.mean([_correlation(errors, i, j) for j in range(k) for i in range(j)])
    truth = {"correlation of errors": r, "effective number": k / (1 + (k - 1) * r)}
    for name, bounds in intervals.items():
        truth.setdefault(name, np.mean([value for value, *_ in bounds]))
    return {
        "what": setting.name,
        "n_datasets": n_datasets,
        "true": {name: float(value) for name, value in truth.items()},
        "coverage": {
            name: percent([_within(truth[name], *ends) for _, *ends in bounds])
            for name, bounds in intervals.items()
        },
    }


def _within(truth: float, low: float | None, high: float | None) -> bool:
    return low is not None and high is not None and low <= truth <= high


def _correlation(errors: np.ndarray, i: int, j: int) -> float:
    is_known = np.isfinite(errors[:, i]) & np.isfinite(errors[:, j])
    return float(np.corrcoef(errors[is_known, i], errors[is_known, j])[0, 1])


def simulate_gains(n_datasets: int, *, runner: Runner = run_serially) -> dict[str, Any]:
    """Return the coverage of a judge's gains over a baseline and over the constant answer.

    Balanced accuracies, and their truths, are over the answers frequent enough in a data set.
    """
    judge, answers, length = _answers(np.random.default_rng(99), 200_000)
    recalls = np.array([np.mean(judge[answers == answer] == answer) for answer in range(1, 6)])
    agreement = np.mean(judge == answers)
    truth = {
        "gain over a baseline": _spearman(judge, answers) - _spearman(length, answers),
        "judge's agreement": agreement,
        "added to the constant's agreement": agreement - np.mean(answers == 3),
    }
    hits = runner("baselines", partial(gain_hits, truth=truth, recalls=recalls), n_datasets)
    return {
        "what": "baselines",
        "n_datasets": n_datasets,
        "true": {name: float(value) for name, value in truth.items()},
        "coverage": _coverage(hits),
    }


def gain_hits(seed: int, truth: dict[str, float], recalls: np.ndarray) -> dict[str, list[bool]]:
    """Return which intervals of gains on one data set cover the truth."""
    rng = np.random.default_rng([seed, 5])
    answers = _answers(rng, N_DOCUMENTS)
    frequent_recalls = recalls[
        [np.sum(answers[1] == answer) >= MIN_ITEMS for answer in range(1, 6)]
    ]
    data_set_truth = truth | {
        "judge's balanced accuracy": frequent_recalls.mean(),
        "added to the constant's balanced accuracy": frequent_recalls.mean()
        - 1 / frequent_recalls.size,
    }
    return {
        name: [holds(estimate, data_set_truth[name])]
        for name, estimate in _gains(*answers, rng).items()
    }


def _spearman(x: np.ndarray, y: np.ndarray) -> float:
    return float(spearmanr(x, y).statistic)


def _answers(
    rng: np.random.Generator, n_documents: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Draw a judge's answers, human answers, and a worse baseline."""
    documents = np.repeat(np.arange(n_documents), N_ITEMS)
    quality = 0.5 * rng.normal(size=n_documents)[documents] + 0.9 * rng.normal(size=documents.size)
    judge = np.clip(np.round(3 + quality + 0.7 * rng.normal(size=documents.size)), 1, 5)
    length = quality + 1.5 * rng.normal(size=documents.size)
    return judge, np.clip(np.round(3 + quality), 1, 5), length


def _gains(
    judge: np.ndarray, answers: np.ndarray, length: np.ndarray, rng: np.random.Generator
) -> dict[str, Estimate]:
    joined = replace(
        _pattern(len(judge) // N_ITEMS), human=answers, ratings=answers[:, None], judged=judge
    )
    items = [(key[0], key[1]) for key in joined.keys]
    scores = {"length": dict(zip(items, length.tolist(), strict=True))}
    baseline = Estimate(value=0.5, n=answers.size, low=None, high=None, level=0.95, method="")
    agreement: Any = {"length": {"pooled": {"spearman": baseline}}}  # names the best baseline
    gain = baseline_gain(joined, agreement, scores, resampling=Resampling(n_resamples=500), rng=rng)
    assert isinstance(gain.constant, ConstantAnswer)
    estimates = {
        "gain over a baseline": gain.gain,
        "judge's agreement": gain.constant.agreement,
        "added to the constant's agreement": gain.constant.added,
        "judge's balanced accuracy": gain.constant.balanced_accuracy,
        "added to the constant's balanced accuracy": gain.constant.added_balanced,
    }
    return {
        name: estimate for name, estimate in estimates.items() if isinstance(estimate, Estimate)
    }


@cache
def _pattern(n_documents: int) -> JoinedItems:
    """Return joined items with placeholder values, to be replaced."""
    rows, labels = [], []
    for place in range(n_documents * N_ITEMS):
        key_fields: dict[str, Any] = {
            "eid": f"d{place // N_ITEMS}",
            "system": f"s{place % N_ITEMS}",
            "aspect": "coverage",
        }
        rows.append(
            Judgement(**key_fields, judge="judge", protocol="likert", value=1.0 + place % 5)
        )
        labels.append(Label(**key_fields, annotator="ann", value=1.0 + place % 5))
    (joined,) = join(rows, labels)
    return joined


def simulate_ranking(n_datasets: int, *, runner: Runner = run_serially) -> dict[str, Any]:
    """Return the coverage of strengths, discriminations and position effects."""
    name = "judge-aware ranking"
    return {
        "what": name,
        "n_datasets": n_datasets,
        "coverage": _coverage(runner(name, ranking_hits, n_datasets)),
    }


def ranking_hits(seed: int) -> dict[str, list[bool]]:
    """Return which intervals of a ranking on one data set cover the truth."""
    strengths = np.array([-1.0, -0.4, 0.0, 0.5, 0.9])
    slopes = np.exp(np.array([-0.7, 0.0, 0.7]))
    places = np.array([0.3, 0.0, -0.3])
    rng = np.random.default_rng([seed, 7])
    comparisons, judges = _pairs(rng, strengths, slopes, places)
    ranking = rank_by_judges(comparisons, judges, rng=rng)
    assert isinstance(ranking, JudgeRanking)
    order = np.argsort(np.argsort(-strengths)) + 1
    ranked = [
        system.best_rank <= order[int(system.system)] <= system.worst_rank
        for system in ranking.systems
    ]
    return {
        "strengths": [
            holds(system.strength, strengths[int(system.system)]) for system in ranking.systems
        ],
        "discriminations": [
            holds(judge.discrimination, slopes[int(judge.judge)]) for judge in ranking.judges
        ],
        "position effects": [
            holds(judge.position_effect, places[int(judge.judge)]) for judge in ranking.judges
        ],
        "all ranks": [all(ranked)],
    }


def _pairs(
    rng: np.random.Generator, strengths: np.ndarray, slopes: np.ndarray, places: np.ndarray
) -> tuple[Comparisons, list[str]]:
    """Draw three judges' preferences for all pairs of systems in 60 documents, both orders.

    A fifth of them are ties.
    """
    a, b = np.triu_indices(strengths.size, 1)
    documents, pair, judge, first = (
        grid.ravel()
        for grid in np.meshgrid(
            np.arange(60), np.arange(a.size), np.arange(slopes.size), [1.0, -1.0], indexing="ij"
        )
    )
    system_a, system_b = a[pair.astype(int)], b[pair.astype(int)]
    judge = judge.astype(int)
    d = slopes[judge] * (strengths[system_a] - strengths[system_b]) + places[judge] * first
    weights = np.exp(np.column_stack([d / 2, -d / 2, np.full(d.size, -0.7)]))
    outcomes = (rng.random((d.size, 1)) > np.cumsum(weights, axis=1) / weights.sum(1)[:, None]).sum(
        1
    )
    return Comparisons(
        wins=np.array([1.0, 0.0, 0.5])[outcomes],
        system_a=tuple(map(str, system_a)),
        system_b=tuple(map(str, system_b)),
        positions=first,
        documents=tuple(documents.tolist()),
    ), list(map(str, judge))


def _coverage(data_sets: Iterable[dict[str, list[bool]]]) -> dict[str, float]:
    return {name: percent(hits) for name, hits in collect_hits(data_sets).items()}

"""Simulated juries, rankings by several judges and baselines: whether their intervals hold.

Judges' errors share a part, documents are alike within themselves; nominal 95 % intervals should
cover 93 to 97 %. Truths of a jury's distance are those on documents that no data set has.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from typing import Any

import numpy as np
from _parallel import Each, one_by_one
from scipy.stats import spearmanr

from fairjudge.calibration.agreement import FEWEST_ITEMS, Resampling
from fairjudge.calibration.baseline_gains import ConstantAnswer, baseline_gain
from fairjudge.calibration.items import Joined, join
from fairjudge.calibration.judge_ranking import JudgeRanking, rank_by_judges
from fairjudge.calibration.juries import JuryItems
from fairjudge.calibration.jury_assessment import JuryFigures, jury_figures
from fairjudge.calibration.paired_comparisons import Comparisons
from fairjudge.domain import Estimate, Judgement, Label

N_DOCUMENTS, N_ITEMS = 80, 3


@dataclass(frozen=True)
class Setting:
    """Juries of four judges: own and shared spread of their errors, share of two's missing."""

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
    """Draw four judges on five levels whose errors share a part; two may lack scores."""
    documents = np.repeat(np.arange(n_documents), N_ITEMS)
    n, k = documents.size, len(setting.noise)
    labels = 0.6 * rng.normal(size=n_documents)[documents] + 0.8 * rng.normal(size=n)
    shared = setting.shared * rng.normal(size=(n, 1))
    errors = shared + np.array(setting.noise) * rng.normal(size=(n, k))
    scores = np.clip(np.round(3 + labels[:, None] + errors), 1, 5)
    scores[:, 2:][rng.random((n, 2)) < setting.missing] = np.nan
    return JuryItems(
        scores=scores,
        mapped=scores,
        covariates=np.empty((n, 0)),
        labels=labels + 3,
        documents=tuple(map(str, documents)),
    )


def measured(given: JuryItems, rng: np.random.Generator) -> JuryFigures:
    """Return a jury's figures, with as many resamples as an analysis has."""
    names = [f"judge {place}" for place in range(given.scores.shape[1])]
    found = jury_figures(
        given,
        names,
        weights=np.zeros(len(names)),
        method="isotonic",
        n_folds=10,
        resampling=Resampling(),
        rng=rng,
    )
    assert isinstance(found, JuryFigures)
    return found


def _estimates(found: JuryFigures) -> dict[str, Estimate]:
    named: dict[str, Any] = {
        "RMSE of the jury": found.rmse,
        **{f"RMSE of the {name}": one.rmse for name, one in found.compared.items()},
        **{f"gain over the {name}": one.gain for name, one in found.compared.items()},
        **{f"loss without {one.name}": one.loss for one in found.members},
        "correlation of errors": found.effective.correlation,
        "effective number": found.effective.number,
    }
    return {name: one for name, one in named.items() if isinstance(one, Estimate)}


def jury_intervals(seed: int, setting: Setting) -> dict[str, list[float | None]]:
    """Return value, low and high of every figure of a jury on one data set."""
    rng = np.random.default_rng([seed, SETTINGS.index(setting)])
    found = measured(draw(rng, setting, setting.n_documents), rng)
    return {name: [one.value, one.low, one.high] for name, one in _estimates(found).items()}


def simulate_juries(
    n_datasets: int, setting: Setting, *, each: Each = one_by_one
) -> dict[str, Any]:
    """Return the coverage of every figure of a jury.

    Folds are whole documents, so that the mean over data sets of squared errors held out is the
    squared error on new documents of what is fitted on nine tenths: truths are made of it.
    """
    seen: dict[str, list[Sequence[float | None]]] = defaultdict(list)
    for found in each(setting.name, partial(jury_intervals, setting=setting), n_datasets):
        for name, interval in found.items():
            seen[name].append(interval)
    population = draw(np.random.default_rng(99), setting, 20_000)
    errors = population.mapped - population.labels[:, None]
    k = len(setting.noise)
    r = np.mean([_correlation(errors, i, j) for j in range(k) for i in range(j)])
    truth = {"correlation of errors": r, "effective number": k / (1 + (k - 1) * r)}
    for name, some in seen.items():
        truth.setdefault(name, np.mean([value for value, *_ in some]))
    return {
        "what": setting.name,
        "n_datasets": n_datasets,
        "true": {name: float(value) for name, value in truth.items()},
        "coverage": {
            name: _percent([_within(truth[name], low, high) for _, low, high in some])
            for name, some in seen.items()
        },
    }


def _correlation(errors: np.ndarray, i: int, j: int) -> float:
    both = np.isfinite(errors[:, i]) & np.isfinite(errors[:, j])
    return float(np.corrcoef(errors[both, i], errors[both, j])[0, 1])


def simulate_gains(n_datasets: int, *, each: Each = one_by_one) -> dict[str, Any]:
    """Return the coverage of what a judge adds over a baseline and over the constant answer.

    Balanced accuracies are over the answers that a data set has often enough: so are their truths.
    """
    judge, answers, length = _answers(np.random.default_rng(99), 200_000)
    recalls = np.array([np.mean(judge[answers == answer] == answer) for answer in range(1, 6)])
    agreement = np.mean(judge == answers)
    truth = {
        "gain over a baseline": _spearman(judge, answers) - _spearman(length, answers),
        "judge's agreement": agreement,
        "added to the constant's agreement": agreement - np.mean(answers == 3),
    }
    found = each("baselines", partial(gains_held, truth=truth, recalls=recalls), n_datasets)
    return {
        "what": "baselines",
        "n_datasets": n_datasets,
        "true": {name: float(value) for name, value in truth.items()},
        "coverage": _coverage(found),
    }


def gains_held(seed: int, truth: dict[str, float], recalls: np.ndarray) -> dict[str, list[bool]]:
    """Say which of one data set's intervals of gains hold the truth."""
    rng = np.random.default_rng([seed, 5])
    drawn = _answers(rng, N_DOCUMENTS)
    counted = recalls[[np.sum(drawn[1] == answer) >= FEWEST_ITEMS for answer in range(1, 6)]]
    own = truth | {
        "judge's balanced accuracy": counted.mean(),
        "added to the constant's balanced accuracy": counted.mean() - 1 / counted.size,
    }
    return {name: [_holds(one, own[name])] for name, one in _gains(*drawn, rng).items()}


def _spearman(x: np.ndarray, y: np.ndarray) -> float:
    return float(spearmanr(x, y).statistic)


def _answers(
    rng: np.random.Generator, n_documents: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Draw a judge's answers, people's, and a baseline that is worse."""
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
    one = Estimate(value=0.5, n=answers.size, low=None, high=None, level=0.95, method="")
    agreement: Any = {"length": {"pooled": {"spearman": one}}}  # which baseline is the best
    found = baseline_gain(
        joined, agreement, scores, resampling=Resampling(n_resamples=500), rng=rng
    )
    assert isinstance(found.constant, ConstantAnswer)
    named = {
        "gain over a baseline": found.gain,
        "judge's agreement": found.constant.agreement,
        "added to the constant's agreement": found.constant.added,
        "judge's balanced accuracy": found.constant.balanced_accuracy,
        "added to the constant's balanced accuracy": found.constant.added_balanced,
    }
    return {name: one for name, one in named.items() if isinstance(one, Estimate)}


@cache
def _pattern(n_documents: int) -> Joined:
    """Join items of any values, for others to take their places."""
    rows, labels = [], []
    for place in range(n_documents * N_ITEMS):
        of: dict[str, Any] = {
            "eid": f"d{place // N_ITEMS}",
            "system": f"s{place % N_ITEMS}",
            "aspect": "coverage",
        }
        rows.append(Judgement(**of, judge="judge", protocol="likert", value=1.0 + place % 5))
        labels.append(Label(**of, annotator="ann", value=1.0 + place % 5))
    (joined,) = join(rows, labels)
    return joined


def simulate_ranking(n_datasets: int, *, each: Each = one_by_one) -> dict[str, Any]:
    """Return the coverage of strengths, discriminations and effects of position."""
    name = "judge-aware ranking"
    return {
        "what": name,
        "n_datasets": n_datasets,
        "coverage": _coverage(each(name, ranking_held, n_datasets)),
    }


def ranking_held(seed: int) -> dict[str, list[bool]]:
    """Say which of one data set's intervals of a ranking hold the truth."""
    strengths = np.array([-1.0, -0.4, 0.0, 0.5, 0.9])
    slopes = np.exp(np.array([-0.7, 0.0, 0.7]))
    places = np.array([0.3, 0.0, -0.3])
    rng = np.random.default_rng([seed, 7])
    given, judges = _pairs(rng, strengths, slopes, places)
    found = rank_by_judges(given, judges, rng=rng)
    assert isinstance(found, JudgeRanking)
    order = np.argsort(np.argsort(-strengths)) + 1
    ranked = [one.best_rank <= order[int(one.system)] <= one.worst_rank for one in found.systems]
    return {
        "strengths": [_holds(one.strength, strengths[int(one.system)]) for one in found.systems],
        "discriminations": [
            _holds(one.discrimination, slopes[int(one.judge)]) for one in found.judges
        ],
        "position effects": [
            _holds(one.position_effect, places[int(one.judge)]) for one in found.judges
        ],
        "all ranks": [all(ranked)],
    }


def _pairs(
    rng: np.random.Generator, strengths: np.ndarray, slopes: np.ndarray, places: np.ndarray
) -> tuple[Comparisons, list[str]]:
    """Draw every pair of systems in 60 documents by three judges, in both orders, a tie in five."""
    a, b = np.triu_indices(strengths.size, 1)
    documents, pair, judge, first = (
        some.ravel()
        for some in np.meshgrid(
            np.arange(60), np.arange(a.size), np.arange(slopes.size), [1.0, -1.0], indexing="ij"
        )
    )
    one, two = a[pair.astype(int)], b[pair.astype(int)]
    judge = judge.astype(int)
    d = slopes[judge] * (strengths[one] - strengths[two]) + places[judge] * first
    weights = np.exp(np.column_stack([d / 2, -d / 2, np.full(d.size, -0.7)]))
    drawn = (rng.random((d.size, 1)) > np.cumsum(weights, axis=1) / weights.sum(1)[:, None]).sum(1)
    return Comparisons(
        wins=np.array([1.0, 0.0, 0.5])[drawn],
        system_a=tuple(map(str, one)),
        system_b=tuple(map(str, two)),
        positions=first,
        documents=tuple(documents.tolist()),
    ), list(map(str, judge))


def _holds(one: Any, truth: float) -> bool:
    return isinstance(one, Estimate) and _within(truth, one.low, one.high)


def _within(truth: float, low: float | None, high: float | None) -> bool:
    return low is not None and high is not None and bool(low <= truth <= high)


def _coverage(found: Iterable[dict[str, list[bool]]]) -> dict[str, float]:
    hits: dict[str, list[bool]] = defaultdict(list)
    for held in found:
        for name, some in held.items():
            hits[name] += some
    return {name: _percent(some) for name, some in hits.items()}


def _percent(hits: list[bool]) -> float:
    return round(100 * float(np.mean(hits)), 1)

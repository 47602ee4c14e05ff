"""A judge's gain over the best baseline, and over the constant answer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass

import numpy as np

from fairjudge.calibration.agreement import (
    MIN_ITEMS,
    Agreement,
    Resampling,
    baseline_values,
    gain_over_systems,
)
from fairjudge.calibration.baselines import Scores
from fairjudge.calibration.comparison import compare_judges
from fairjudge.calibration.items import JoinedItems
from fairjudge.domain import Estimate, Undefined
from fairjudge.stats._arrays import FloatArray, codes, totals
from fairjudge.stats.bootstrap import bootstrap_many, divide
from fairjudge.stats.correlation import CorrelationName
from fairjudge.stats.levels import Level
from fairjudge.text.counting import pluralize

MAX_ANSWERS = 20
"""Maximum number of distinct labels for them to count as answers."""
_NO_BASELINE = Undefined(why="no baselines: pass summaries and clusters")


@dataclass(frozen=True, slots=True, kw_only=True)
class ConstantAnswer:
    """Comparison of the judge with always giving the most frequent label, ``answer``.

    Agreements are shares of single labels, in [0, 1]. ``balanced_accuracy`` is the judge's mean
    recall over the ``n_answers`` answers with at least `MIN_ITEMS` labels; for a constant answer
    it is 1 / ``n_answers``. ``added`` is the judge's agreement minus the constant answer's,
    ``added_balanced`` the same difference of balanced accuracies.
    """

    answer: float
    n_answers: int
    agreement: Estimate | Undefined
    constant_agreement: Estimate | Undefined
    balanced_accuracy: Estimate | Undefined
    added: Estimate | Undefined
    added_balanced: Estimate | Undefined


@dataclass(frozen=True, slots=True, kw_only=True)
class SystemsGain:
    """A judge's gain over baselines in ranking systems.

    ``best`` is the baseline with the highest tau-b between systems' means and human means. ``gain``
    is the judge's tau-b minus the baseline's, on the items that both score.
    """

    best: str
    gain: Estimate | Undefined


@dataclass(frozen=True, slots=True, kw_only=True)
class BaselineGain:
    """A judge's gain over baselines.

    ``best`` is the baseline with the highest pooled Spearman correlation with labels. ``gain`` is
    the judge's correlation minus the baseline's, on the items that both score. Since the best
    baseline is chosen on the same items, the gain is biased downwards. ``systems`` is the gain in
    ranking systems.
    """

    best: str
    gain: Estimate | Undefined
    constant: ConstantAnswer | Undefined
    systems: SystemsGain | Undefined = _NO_BASELINE


def baseline_gain(
    items: JoinedItems,
    baselines: Mapping[str, Agreement | Undefined],
    scores: Mapping[str, Scores],
    *,
    resampling: Resampling,
    rng: np.random.Generator,
) -> BaselineGain:
    """Compare a judge with the best baseline and with the constant answer.

    `baselines` are the baselines' agreements, `scores` their scores. Differences of correlations
    have paired bootstrap intervals over documents.
    """
    constant = compare_with_constant(items, resampling=resampling, rng=rng)
    (systems_rng,) = rng.spawn(1)  # a separate stream, so that other results do not change
    systems: SystemsGain | Undefined = _NO_BASELINE
    if (best := _best_baseline(baselines, scores, "system", "kendall")) is not None:
        values = baseline_values(items, scores[best])
        gain = gain_over_systems(items, values, resampling=resampling, rng=systems_rng)
        systems = SystemsGain(best=best, gain=gain)
    best = _best_baseline(baselines, scores, "pooled", "spearman")
    if best is None:
        return BaselineGain(best="", gain=_NO_BASELINE, constant=constant, systems=systems)
    values = baseline_values(items, scores[best])
    rows = np.flatnonzero(~np.isnan(values))
    (comparison,) = compare_judges(
        {"judge": items.judged[rows], best: values[rows]},
        items.human[rows],
        rng=rng,
        documents=[items.documents[row] for row in rows],
        **asdict(resampling),
    )
    return BaselineGain(best=best, gain=comparison.difference, constant=constant, systems=systems)


def _best_baseline(
    baselines: Mapping[str, Agreement | Undefined],
    scores: Mapping[str, Scores],
    level: Level,
    measure: CorrelationName,
) -> str | None:
    """Return the baseline in `scores` with the highest correlation; None if all are Undefined."""
    correlations = {
        name: value.value
        for name, agreement in baselines.items()
        if name in scores
        and not isinstance(agreement, Undefined)
        and isinstance(value := agreement[level][measure], Estimate)
    }
    return max(correlations, key=lambda name: correlations[name], default=None)


def compare_with_constant(
    items: JoinedItems, *, resampling: Resampling, rng: np.random.Generator
) -> ConstantAnswer | Undefined:
    """Compare a judge on the labels' scale with the constant answer, over single labels.

    Scores are rounded to the nearest label value. Undefined if the scales differ, if labels are
    averages, or if there are fewer than 2 or more than `MAX_ANSWERS` distinct labels.
    """
    if items.averaged_labels or items.judge_scale != items.label_scale:
        return Undefined(why="the judge does not answer on the labels' scale")
    item_rows, annotators = np.nonzero(items.present)
    labels = items.ratings[item_rows, annotators]
    answers, label_codes = np.unique(labels, return_inverse=True)
    if not 2 <= answers.size <= MAX_ANSWERS:
        return Undefined(
            why=f"labels have {pluralize(answers.size, 'value')}: expected 2 to {MAX_ANSWERS}"
        )
    judge_codes = np.argmin(np.abs(items.judged[:, None] - answers), axis=1)[item_rows]
    n_labels = np.bincount(label_codes)
    is_frequent = n_labels >= MIN_ITEMS
    mode = int(np.argmax(n_labels))
    item_documents, document_names = codes(items.documents)
    is_answer = np.eye(answers.size)[label_codes]
    is_right = (judge_codes == label_codes).astype(float)
    sums = totals(
        np.column_stack([is_answer, is_answer * is_right[:, None]]),
        item_documents[item_rows],
        len(document_names),
    )

    def statistic(counts_of_documents: FloatArray) -> FloatArray:
        n_by_answer, hits = np.split(counts_of_documents @ sums, 2, axis=1)
        n = n_by_answer.sum(axis=1)
        agreement, constant_agreement = divide(hits.sum(axis=1), n), divide(n_by_answer[:, mode], n)
        is_present = (n_by_answer > 0.0) & is_frequent
        recalls = np.where(is_present, divide(hits, n_by_answer), 0.0)
        balanced_accuracy = divide(recalls.sum(axis=1), is_present.sum(axis=1).astype(float))
        chance = divide(np.ones(len(n)), is_present.sum(axis=1).astype(float))
        return np.column_stack(
            [
                agreement,
                constant_agreement,
                balanced_accuracy,
                agreement - constant_agreement,
                balanced_accuracy - chance,
            ]
        )

    estimates = bootstrap_many(
        statistic,
        n_documents=len(document_names),
        rng=rng,
        n=labels.size,
        **asdict(resampling),
    )
    agreement, constant_agreement, balanced_accuracy, gain, balanced_gain = estimates
    return ConstantAnswer(
        answer=float(answers[mode]),
        n_answers=int(is_frequent.sum()),
        agreement=agreement,
        constant_agreement=constant_agreement,
        balanced_accuracy=balanced_accuracy,
        added=gain,
        added_balanced=balanced_gain,
    )

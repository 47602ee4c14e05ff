"""Confidence threshold above which a judge's answers have guaranteed agreement with humans."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from fairjudge.analysis.label_lines import locate_label_errors
from fairjudge.calibration.answers import Answer, answers
from fairjudge.calibration.guarantees import guarantee
from fairjudge.calibration.items import JoinedItems, join, only_group
from fairjudge.calibration.labels import item_json
from fairjudge.datasets import read_judgements, read_labels
from fairjudge.domain import Undefined
from fairjudge.errors import InputError
from fairjudge.judges.asking import GuaranteedThreshold
from fairjudge.judges.cascades import guaranteed_threshold
from fairjudge.protocols import PROTOCOLS
from fairjudge.records.results import to_json


@dataclass(frozen=True, slots=True, kw_only=True)
class GuaranteeResult:
    """The report, the input of ``judge --cascade``, and the items below the threshold."""

    report: dict[str, Any]
    guarantee: GuaranteedThreshold
    escalated: tuple[dict[str, Any], ...] = ()


def guarantee_report(
    judged: object,
    labels: object,
    *,
    agreement: float,
    confidence: float,
    within: float,
    annotators: Sequence[str] = ("*",),
    seed: int = 0,
) -> GuaranteeResult:
    """Find the confidence threshold from the judgements of one judge and human labels.

    Parameters
    ----------
    within
        Maximum difference of a rating from the mean label that counts as agreement.

    Raises
    ------
    InputError
        If the file holds no or several judges, aspects, protocols or units, or the scales differ,
        or the labels are too few or were sampled with unequal probabilities.
    """
    judgements, human_labels = read_judgements(judged), read_labels(labels)
    rows = judgements.records
    with locate_label_errors(human_labels):
        groups = join(rows, human_labels, annotators=annotators)
    items = only_group(groups, path=judgements.path)
    if items.inclusion_probabilities is not None:
        raise InputError("the labels must be a random draw of the items", path=human_labels.path)
    answers_by_item = answers(rows)
    labelled_keys = [key for key in items.keys if key in answers_by_item]
    unlabelled_keys = [key for key in answers_by_item if key not in set(labelled_keys)]
    mean_labels = dict(zip(items.keys, items.human.tolist(), strict=True))
    fit = guarantee(
        [answers_by_item[key].confidence for key in labelled_keys],
        [
            float(_agrees(answers_by_item[key], mean_labels[key], items, within))
            for key in labelled_keys
        ],
        [key[0] for key in labelled_keys],
        agreement=agreement,
        confidence=confidence,
        rest=[answers_by_item[key].confidence for key in unlabelled_keys],
        rest_documents=[key[0] for key in unlabelled_keys],
        rng=np.random.default_rng(seed),
    )
    if isinstance(fit, Undefined):
        raise InputError(f"no guarantee is possible: {fit.why}", path=human_labels.path)
    threshold = np.inf if fit.threshold is None else fit.threshold
    return GuaranteeResult(
        guarantee=guaranteed_threshold(rows, threshold=fit.threshold),
        report={
            **items.group._asdict(),
            "within": within if not PROTOCOLS[items.protocol].categorical else None,
            "n_unlabelled": len(unlabelled_keys),
            "joins": [items.match.to_json()],
            "n_one_order": sum(answer.one_order for answer in answers_by_item.values()),
            **to_json(fit),
        },
        escalated=tuple(
            {**item_json(key), "confidence": answer.confidence}
            for key, answer in answers_by_item.items()
            if answer.confidence < threshold
        ),
    )


def _agrees(answer: Answer, mean_label: float, items: JoinedItems, within: float) -> bool:
    if PROTOCOLS[items.protocol].paired:
        return bool(np.sign(mean_label) == np.sign(answer.value))
    if items.judge_scale != items.label_scale:
        raise InputError(
            f"the judge's scale is {items.judge_scale}, the labels' is {items.label_scale}: "
            "calibrate the judge first ('fairjudge calibrate apply')",
            field="value",
        )
    gap = abs(mean_label - answer.value)
    return gap < 0.5 if PROTOCOLS[items.protocol].yes_no else gap <= within + 1e-9

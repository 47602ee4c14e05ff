"""Which of a judge's answers may be kept with guaranteed agreement, from files."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from fairjudge.analysis.label_lines import naming_lines
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
    """The report, what ``judge --cascade`` needs, and the items that are not kept."""

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
    """Find the threshold of confidence from one judge's file and people's labels.

    Parameters
    ----------
    within
        A rating agrees with people where it is at most this far from their mean, in labels' units.

    Raises
    ------
    InputError
        If the file holds no or several judges, aspects, protocols or units, or the scales differ,
        or the labels are too few or were sampled with unequal probabilities.
    """
    judgements, people_said = read_judgements(judged), read_labels(labels)
    rows = judgements.records
    with naming_lines(people_said):
        groups = join(rows, people_said, annotators=annotators)
    joined = only_group(groups, path=judgements.path)
    if joined.inclusion_probabilities is not None:
        raise InputError("the labels must be a random draw of the items", path=people_said.path)
    answers_by_item = answers(rows)
    labelled = [key for key in joined.keys if key in answers_by_item]
    unlabelled = [key for key in answers_by_item if key not in set(labelled)]
    people = dict(zip(joined.keys, joined.human.tolist(), strict=True))
    fit = guarantee(
        [answers_by_item[key].confidence for key in labelled],
        [float(_agrees(answers_by_item[key], people[key], joined, within)) for key in labelled],
        [key[0] for key in labelled],
        agreement=agreement,
        confidence=confidence,
        rest=[answers_by_item[key].confidence for key in unlabelled],
        rest_documents=[key[0] for key in unlabelled],
        rng=np.random.default_rng(seed),
    )
    if isinstance(fit, Undefined):
        raise InputError(f"no guarantee is possible: {fit.why}", path=people_said.path)
    threshold = np.inf if fit.threshold is None else fit.threshold
    return GuaranteeResult(
        guarantee=guaranteed_threshold(rows, threshold=fit.threshold),
        report={
            **joined.group._asdict(),
            "within": within if not PROTOCOLS[joined.protocol].categorical else None,
            "n_unlabelled": len(unlabelled),
            "joins": [joined.match.to_json()],
            "n_one_order": sum(answer.one_order for answer in answers_by_item.values()),
            **to_json(fit),
        },
        escalated=tuple(
            {**item_json(key), "confidence": answer.confidence}
            for key, answer in answers_by_item.items()
            if answer.confidence < threshold
        ),
    )


def _agrees(answer: Answer, people: float, joined: JoinedItems, within: float) -> bool:
    if PROTOCOLS[joined.protocol].paired:
        return bool(np.sign(people) == np.sign(answer.value))
    if joined.judge_scale != joined.label_scale:
        raise InputError(
            f"the judge answers on {joined.judge_scale}, people on {joined.label_scale}: "
            "calibrate the judge first ('fairjudge calibrate apply')",
            field="value",
        )
    gap = abs(people - answer.value)
    return gap < 0.5 if PROTOCOLS[joined.protocol].yes_no else gap <= within + 1e-9

"""Inputs of ``calibrate`` and ``calibrate apply``: a baseline, and files of calibrators."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from fairjudge.calibration.analysis import Analysis
from fairjudge.calibration.applying import CalibratedJudgements, apply_calibrators
from fairjudge.calibration.baselines import covariates
from fairjudge.calibration.calibrators import Calibrator, calibrator_from_dict
from fairjudge.calibration.choices import CovariateName
from fairjudge.calibration.juries import FittedJury, jury_from_dict
from fairjudge.datasets import read_json
from fairjudge.domain import Cluster, Judgement, JudgeTask, Summary, Undefined, Unscored
from fairjudge.errors import ConfigurationError, InputError, error_location
from fairjudge.judges.trained import TrainedSupport
from fairjudge.ports import Embedder, TrainedModels
from fairjudge.protocols import PROTOCOLS
from fairjudge.records.folder import write_output
from fairjudge.scores.settings import separate_settings

_FILE = "fairjudge_calibrators"


def trained_support(
    summaries: Iterable[Summary],
    clusters: Sequence[Cluster],
    *,
    models: TrainedModels,
    embedder: Embedder,
) -> dict[tuple[str, str], float]:
    """Return the support of each summary by its cluster, in [0, 1], by (eid, system).

    Summaries without sentences, or without a cluster that has sentences, are omitted.
    """
    articles = {cluster.eid: cluster.articles for cluster in clusters}
    tasks = [
        (
            JudgeTask(
                eid=summary.eid,
                systems=(summary.system,),
                texts=(summary.text,),
                aspect="faithfulness",
                protocol="likert",
                unit="summary",
                articles=articles[summary.eid],
            ),
            summary.text,
        )
        for summary in summaries
        if summary.eid in articles
    ]
    supports = TrainedSupport(models=models, embedder=embedder).measure(tasks)
    return {
        (task.eid, task.systems[0]): support
        for (task, _), support in zip(tasks, supports, strict=True)
        if not isinstance(support, Unscored)
    }


def apply_to(
    calibrators: Sequence[Calibrator | FittedJury],
    judgements: Iterable[Judgement],
    *,
    summaries: Iterable[Summary] = (),
    clusters: Iterable[Cluster] = (),
) -> CalibratedJudgements:
    """Apply calibrators; `summaries` and `clusters` are for the covariates of juries."""
    covariate_names: dict[CovariateName, None] = {
        name: None for fit in calibrators if isinstance(fit, FittedJury) for name in fit.covariates
    }
    rows = tuple(judgements)
    return apply_calibrators(
        calibrators,
        rows,
        covariates=covariates(covariate_names, summaries, clusters),
        judgements_by_settings=separate_settings(rows),
    )


def fitted_calibrators(
    analysis: Analysis,
) -> tuple[list[Calibrator | FittedJury], list[str]]:
    """Return calibrators and juries, and the groups without a calibrator, with the reason.

    Pairwise judgements are skipped, since a calibrated verdict would not be a verdict.
    """
    calibrators: list[Calibrator | FittedJury] = []
    failures = []
    for group in analysis.groups:
        calibrator, items = group.calibration.calibrator, group.joined
        if PROTOCOLS[items.protocol].paired:
            continue
        if isinstance(calibrator, Undefined):
            failures.append(f"{items.group.title}: {calibrator.why}")
        else:
            calibrators.append(calibrator)
    calibrators += (jury.fitted for jury in analysis.juries if isinstance(jury.fitted, FittedJury))
    return calibrators, failures


def write_calibrators(
    path: Path, fitted: Sequence[Calibrator | FittedJury], *, refused: Sequence[str] = ()
) -> None:
    """Write calibrators and juries to a JSON file.

    Raises
    ------
    ConfigurationError
        If there are none; the message has the reasons in `refused`.
    InputError
        If the file cannot be written.
    """
    if not fitted:
        raise ConfigurationError(f"nothing to save: {'; '.join(refused) or 'no scores'}")
    content = {_FILE: 1, "calibrators": [calibrator.to_dict() for calibrator in fitted]}
    write_output(path, json.dumps(content, indent=1, ensure_ascii=False) + "\n")


def read_calibrators(path: str | Path) -> list[Calibrator | FittedJury]:
    """Read the file of ``Calibration.save`` or ``fairjudge calibrate --save``.

    Parameters
    ----------
    path
        A JSON file with one or more calibrators.

    Returns
    -------
    list
        Calibrators, which map a judge's scores to the scale of the labels, and fitted juries.

    Raises
    ------
    InputError
        If the file is not of this kind.

    Examples
    --------
    >>> import fairjudge as fj
    >>> calibrators = fj.read_calibrators("calibrator.json")  # doctest: +SKIP
    """
    data = read_json(path)
    entries = data.get("calibrators") if isinstance(data, Mapping) and _FILE in data else [data]
    if not isinstance(entries, list) or not all(isinstance(entry, Mapping) for entry in entries):
        raise InputError("expected a file of 'fairjudge calibrate --save'", path=path)
    with error_location(path=path):
        return [
            jury_from_dict(entry) if "fairjudge_jury" in entry else calibrator_from_dict(entry)
            for entry in entries
        ]

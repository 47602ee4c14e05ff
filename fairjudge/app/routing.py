"""Fitting a cascade on two judges' rows and people's labels."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from fairjudge.calibration.cascade import fit_cascade
from fairjudge.calibration.items import Joined, join
from fairjudge.calibration.to_json import figure
from fairjudge.datasets import read_judgements, read_labels
from fairjudge.domain import Undefined
from fairjudge.errors import InputError


def cascade_report(
    local: Path,
    judged: Path,
    labels: Path,
    *,
    tolerance: float,
    agreement_tolerance: float,
    seed: int,
    skip_bad: bool,
) -> dict[str, Any]:
    """Return thresholds, the calls saved and the agreement lost.

    Raises
    ------
    InputError
        If a file holds no or several judges, aspects or protocols, or too few items are in all
        three files.
    """
    cheap = _single(local, labels, skip_bad=skip_bad)
    costly = _single(judged, labels, skip_bad=skip_bad)
    if (cheap.aspect, cheap.protocol) != (costly.aspect, costly.protocol):
        raise InputError("both files must judge one aspect by one protocol", path=judged)
    if costly.protocol == "pairwise":
        raise InputError("a cascade routes single summaries, not pairs", path=judged)
    place = {key: row for row, key in enumerate(cheap.keys)}
    rows = [row for row, key in enumerate(costly.keys) if key in place]
    fit = fit_cascade(
        cheap.judged[[place[costly.keys[row]] for row in rows]],
        costly.judged[rows],
        costly.human[rows],
        documents=[costly.documents[row] for row in rows],
        tolerance=tolerance,
        agreement_tolerance=agreement_tolerance,
        rng=np.random.default_rng(seed),
    )
    if isinstance(fit, Undefined):
        raise InputError(f"{len(rows)} items are in all three files: {fit.why}", path=judged)
    return {
        "low": fit.thresholds.low,
        "high": fit.thresholds.high,
        "n": fit.n,
        "saved": figure(fit.saved, times=100.0),
        "error_added": figure(fit.error_added),
        "agreement_lost": figure(fit.agreement_lost),
        "kendall": {
            name: None if isinstance(tau, Undefined) else tau for name, tau in fit.agreement.items()
        },
    }


def _single(path: Path, labels: Path, *, skip_bad: bool) -> Joined:
    rows = read_judgements(path, skip_bad=skip_bad).records
    found = join(rows, read_labels(labels, skip_bad=skip_bad).records)
    if len(found) != 1:
        raise InputError(f"expected one judge, aspect and protocol, found {len(found)}", path=path)
    return found[0]

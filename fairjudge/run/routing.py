"""Fit a cascade on judgements of two judges and human labels."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import numpy as np

from fairjudge.analysis.label_lines import locate_label_errors
from fairjudge.calibration.cascade import fit_cascade
from fairjudge.calibration.items import JoinedItems, join, only_group
from fairjudge.datasets import Loaded, read_judgements, read_labels
from fairjudge.domain import Judgement, Label, Undefined
from fairjudge.errors import InputError
from fairjudge.protocols import PROTOCOLS
from fairjudge.records.matching import harmonize_ids, match
from fairjudge.records.results import figure
from fairjudge.text.counting import pluralize


def cascade_report(
    local: object,
    judged: object,
    labels: object,
    *,
    tolerance: float,
    agreement_tolerance: float,
    seed: int,
) -> dict[str, Any]:
    """Return the thresholds, with saved calls and lost agreement."""
    people = read_labels(labels)
    cheap_rows = read_judgements(local, argument="local")
    costly_rows = read_judgements(judged, argument="judged")
    costly_rows = replace(costly_rows, records=harmonize_ids(costly_rows, cheap_rows))
    with locate_label_errors(people):
        cheap_items, costly_items = _single(cheap_rows, people), _single(costly_rows, people)
    source = costly_rows.path
    if (cheap_items.aspect, cheap_items.protocol) != (costly_items.aspect, costly_items.protocol):
        raise InputError("both files must judge one aspect by one protocol", path=source)
    if PROTOCOLS[costly_items.protocol].paired:
        raise InputError(
            "a cascade needs judgements of single summaries, not of pairs", path=source
        )
    cheap_index = {key: row for row, key in enumerate(cheap_items.keys)}
    rows = [row for row, key in enumerate(costly_items.keys) if key in cheap_index]
    matches = match(
        (*costly_items.keys, *costly_items.unjudged),
        (costly_items.keys[row] for row in rows),
        names=("labelled item", "item that both judges scored"),
        complete=("left",),
    )
    fit = fit_cascade(
        cheap_items.judged[[cheap_index[costly_items.keys[row]] for row in rows]],
        costly_items.judged[rows],
        costly_items.human[rows],
        documents=[costly_items.documents[row] for row in rows],
        tolerance=tolerance,
        agreement_tolerance=agreement_tolerance,
        rng=np.random.default_rng(seed),
    )
    if isinstance(fit, Undefined):
        raise InputError(
            f"in all three files: {pluralize(len(rows), 'item')}: {fit.why}", path=source
        )
    return {
        "low": fit.thresholds.low,
        "high": fit.thresholds.high,
        "n": fit.n,
        "joins": [matches.to_json()],
        "saved": figure(fit.saved, times=100.0),
        "error_added": figure(fit.error_added),
        "agreement_lost": figure(fit.agreement_lost),
        "kendall": {
            name: None if isinstance(tau, Undefined) else tau for name, tau in fit.agreement.items()
        },
    }


def _single(judged: Loaded[Judgement], labels: Iterable[Label]) -> JoinedItems:
    return only_group(join(judged.records, labels), path=judged.path)

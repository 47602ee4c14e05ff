"""Inputs of `fairjudge.calibrate`: judgements with their cost, and scores of support."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from fairjudge.api.judging import JudgeResult, inputs_of
from fairjudge.datasets import read_judgements

if TYPE_CHECKING:
    from fairjudge.calibration.grouping import GroupKey
    from fairjudge.calibration.protocol_table import JudgingCost
    from fairjudge.domain import Cluster, Judgement, Summary


def read_family(text: str) -> tuple[str, str]:
    """Parse the name and the pattern of a text such as ``openai=gpt-*``.

    Raises
    ------
    ValueError
        If one of them is missing.
    """
    name, separator, pattern = text.partition("=")
    if not (name and separator and pattern):
        raise ValueError(f"expected NAME=PATTERN, got {text!r}")
    return name, pattern


def rows_and_requests(inputs: object) -> tuple[Sequence[Judgement], Mapping[GroupKey, JudgingCost]]:
    """Return the judgements of one or several inputs, and the cost of each group."""
    from fairjudge.analysis.judged_inputs import (
        JudgedInputs,
        judging_cost,
        jury_costs,
        read_judged,
        requests_of,
        with_spent,
    )
    from fairjudge.calibration.grouping import group_judgements

    if isinstance(inputs, JudgedInputs):
        return inputs.rows, inputs.requests
    inputs = inputs_of(inputs)
    paths = [Path(value) for value in inputs if isinstance(value, str | Path)]
    if len(paths) == len(inputs):
        together = read_judged(paths)
        return together.rows, together.requests
    rows: list[Judgement] = []
    requests: dict[GroupKey, JudgingCost] = {}
    for value in inputs:
        if isinstance(value, str | Path):
            loaded = read_judged([Path(value)])
            rows += loaded.rows
            requests |= loaded.requests
            continue
        records = read_judgements(value).records
        rows += records
        requests |= requests_of(records)
        groups = group_judgements(records)
        if isinstance(value, JudgeResult) and value.spent is not None:
            costs = [] if value.report is None else value.report.to_dict()["costs"]
            if len(costs) > 1:
                requests = with_spent(requests, jury_costs(groups, costs))
            elif len(groups) == 1:
                own = judging_cost(costs or [asdict(value.spent)])
                requests = with_spent(requests, dict.fromkeys(groups, own))
    return rows, requests


def support_by_summary(
    summaries: Sequence[Summary], clusters: Sequence[Cluster]
) -> dict[tuple[str, str], float]:
    """Return the support of each summary by the articles, from the packaged models."""
    from fairjudge.analysis.calibrating import trained_support
    from fairjudge.scorers.embedding import load_embedder
    from fairjudge.scorers.trained_models import load_trained_models

    return trained_support(
        summaries, clusters, models=load_trained_models(), embedder=load_embedder()
    )

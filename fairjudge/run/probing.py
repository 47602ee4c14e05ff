"""Audits that judge modified inputs: reordered articles and groups, metamorphic checks."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from fairjudge.auditing.metamorphic import Check, check_results, checks
from fairjudge.auditing.order_probes import (
    OrderBias,
    group_order_bias,
    group_order_tasks,
    order_bias,
    place_tasks,
    shuffle_tasks,
)
from fairjudge.datasets import match_summaries, read_clusters, read_references, read_summaries
from fairjudge.domain import Judgement, ProtocolName, Summary
from fairjudge.engine.progress import Progress
from fairjudge.engine.runs import digest, record_spending_in, spending_path
from fairjudge.errors import ConfigurationError, InputError
from fairjudge.judges.tasks import JudgingPlan, resolve_plan
from fairjudge.options.models import Model
from fairjudge.records.results import figure, to_json
from fairjudge.records.spending import FILE
from fairjudge.run.collecting import judge_audit_tasks
from fairjudge.stats.intervals import wilson


async def order_report(
    references: object,
    summaries: object | None,
    *,
    max_articles: int,
    n_shuffles: int,
    run: Path | None,
    skip_bad: bool = False,
    model: Model,
    progress: Progress,
) -> dict[str, Any]:
    """Return the effect of the order of articles on faithfulness ratings."""
    clusters = read_clusters(references, skip_bad=skip_bad).records
    matched_summaries: tuple[Summary, ...] = ()
    if summaries is not None:
        matched_summaries = match_summaries(
            read_summaries(summaries, skip_bad=skip_bad), clusters
        ).records
    tasks = (
        *place_tasks(clusters, max_articles=max_articles),
        *shuffle_tasks(clusters, matched_summaries, n_shuffles=n_shuffles, seed=model.seed or 0),
    )
    rows = await judge_audit_tasks(
        tasks,
        plan=resolve_plan("faithfulness", protocol="likert"),
        model=model,
        run=run,
        identity={
            "audit": "order",
            "most_articles": max_articles,
            "n_shuffles": n_shuffles,
            "clusters": digest(clusters),
            "summaries": digest(matched_summaries),
        },
        progress=progress,
    )
    return _order_figures(rows, order_bias(rows), aspect="faithfulness")


async def group_order_report(
    references: object,
    summaries: object | None,
    *,
    n_orders: int,
    groups_per_call: int,
    run: Path | None,
    model: Model,
    progress: Progress,
) -> dict[str, Any]:
    """Return the effect of the order of groups in a checklist on their coverage."""
    if summaries is None:
        raise ConfigurationError("the order of groups is measured on summaries: pass --summaries")
    sources = read_references(references, argument="references")
    matched_summaries = match_summaries(read_summaries(summaries), sources).records
    plan = resolve_plan("coverage", protocol="checklist")
    tasks = group_order_tasks(
        sources.records, matched_summaries, plan, n_orders=n_orders, groups_per_call=groups_per_call
    )
    rows = await judge_audit_tasks(
        tasks,
        plan=plan,
        model=model,
        run=run,
        groups_per_call=groups_per_call,
        identity={
            "audit": "order of groups",
            "n_orders": n_orders,
            "groups_per_call": groups_per_call,
            "references": digest(sources.records),
            "summaries": digest(matched_summaries),
        },
        progress=progress,
    )
    bias = group_order_bias(rows, tasks, groups_per_call=groups_per_call)
    return _order_figures(rows, bias, aspect="coverage")


def _order_figures(rows: Sequence[Judgement], bias: OrderBias, *, aspect: str) -> dict[str, Any]:
    return {"judge": rows[0].judge, "aspect": aspect, **to_json(bias)}


def check_checkable(aspect: str) -> None:
    """Reject aspects without metamorphic relations."""
    if aspect not in {"coverage", "faithfulness"}:
        raise ConfigurationError(f"checks need aspect coverage or faithfulness, not {aspect!r}")


async def checks_report(
    references: object,
    summaries: object,
    *,
    aspect: str,
    run: Path | None,
    skip_bad: bool = False,
    model: Model,
    progress: Progress,
) -> dict[str, Any]:
    """Return the share of items that satisfy each metamorphic relation."""
    check_checkable(aspect)
    names: tuple[ProtocolName, ...] = ("pairwise", "likert")
    if aspect == "coverage":
        names = (*names, "checklist")
    plans: dict[str, JudgingPlan] = {name: resolve_plan(aspect, protocol=name) for name in names}
    as_sources = read_references if plans["likert"].needs_questions else read_clusters
    sources = as_sources(references, argument="references", skip_bad=skip_bad)
    loaded_summaries = match_summaries(read_summaries(summaries, skip_bad=skip_bad), sources)
    clusters, matched_summaries = sources.records, loaded_summaries.records
    check_list = checks(clusters, matched_summaries, plans)
    if not check_list:
        raise InputError(
            "nothing to check: no summary has both text and evidence", path=loaded_summaries.path
        )
    identity = {
        "audit": "checks",
        "aspect": aspect,
        "clusters": digest(clusters),
        "summaries": digest(matched_summaries),
    }
    judgements = await _judge_checks(
        check_list, plans, identity, run=run, model=model, progress=progress
    )
    return {
        "judge": next(iter(judgements.values())).judge,
        "aspect": aspect,
        "checks": [
            {
                "name": check_result.name,
                "n": check_result.n,
                "kept": figure(wilson(check_result.n_kept, check_result.n), times=100.0),
                "n_unscored": check_result.n_unscored,
                "broken": [
                    {"item": item, "values": list(values)} for item, values in check_result.broken
                ],
            }
            for check_result in check_results(check_list, judgements)
        ],
    }


async def _judge_checks(
    check_list: Iterable[Check],
    plans: Mapping[str, JudgingPlan],
    identity: Mapping[str, Any],
    *,
    run: Path | None,
    model: Model,
    progress: Progress,
) -> dict[str, Judgement]:
    """Judge the tasks of checks, one run per protocol; return the judgements by task."""
    judgements: dict[str, Judgement] = {}
    full_identity = {**identity, "model": model.identity()}
    path = (
        spending_path(model, json.dumps(full_identity, sort_keys=True))
        if run is None
        else run / FILE
    )
    with record_spending_in(path, model):  # one budget for all runs
        for name, plan in plans.items():
            tasks = {
                t.id: t for check in check_list for t in check.tasks if t.protocol == plan.protocol
            }
            if tasks:
                rows = await judge_audit_tasks(
                    list(tasks.values()),
                    plan=plan,
                    model=model,
                    run=None if run is None else run / name,
                    identity={**identity, "protocol": name},
                    progress=progress,
                )
                judgements |= zip(tasks, rows, strict=True)
    return judgements

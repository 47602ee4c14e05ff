"""Collect the judgements that an audit needs, or read stored ones."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from fairjudge.auditing.probes import add_probes
from fairjudge.datasets import (
    match_summaries,
    read_clusters,
    read_judgements,
    read_references,
    read_summaries,
)
from fairjudge.domain import Cluster, Judgement, JudgeTask, ProtocolName, Summary
from fairjudge.engine.coroutines import run_to_end
from fairjudge.engine.in_process import judge_tasks
from fairjudge.engine.models import open_models
from fairjudge.engine.progress import Progress
from fairjudge.engine.recorded import ROWS, JudgementBook
from fairjudge.engine.runs import digest, open_run, record_cost
from fairjudge.errors import InputError
from fairjudge.judges.checklist import GROUPS_PER_CALL
from fairjudge.judges.tasks import JudgingPlan, plan_tasks, resolve_plan
from fairjudge.options.judging import JudgeOptions
from fairjudge.options.models import Model
from fairjudge.protocols import PROTOCOLS
from fairjudge.records.address import StoreAddress
from fairjudge.records.folder import run_rows
from fairjudge.records.postgres import StoredRun
from fairjudge.run.judges import make_judge
from fairjudge.text.sentences import sentence_texts


def collect(
    *,
    judgements: Path | None = None,
    references: Path | None = None,
    summaries: Path | None = None,
    run: Path | None = None,
    skip_bad: bool = False,
    aspect: str,
    protocol: ProtocolName,
    probes: tuple[str, ...],
    model: Model,
    progress: Progress,
) -> tuple[Judgement, ...]:
    """Return judgements from a file or an earlier run, or judge `summaries`.

    With `probes`, every summary is also judged with text appended, next to the original.
    """
    if judgements is not None:
        return read_judgements(judgements, skip_bad=skip_bad).records
    if references is None or summaries is None:
        return recorded_judgements(run, store=model.address)
    plan = resolve_plan(aspect, protocol=protocol)
    reader: Any = read_references if plan.needs_questions else read_clusters
    clusters: tuple[Cluster, ...] = reader(references, skip_bad=skip_bad).records
    loaded = read_summaries(summaries, skip_bad=skip_bad)
    matched_summaries = match_summaries(loaded, clusters).records
    parts: Sequence[Sequence[Summary]] = [matched_summaries]
    if probes:
        parts = add_probes(matched_summaries, clusters, probes, split_sentences=sentence_texts)
        if not PROTOCOLS[protocol].paired:  # every summary once
            parts = [list({(s.eid, s.system): s for pair in parts for s in pair}.values())]
    tasks = tuple(
        task
        for part in parts
        for task in plan_tasks(clusters, part, plan, split_sentences=sentence_texts)
    )
    if not tasks:
        raise InputError("nothing to judge for this audit", path=references)
    return run_to_end(
        judge_audit_tasks(
            tasks,
            plan=plan,
            model=model,
            run=run,
            identity={
                "aspect": aspect,
                "protocol": protocol,
                "probes": list(probes),
                "clusters": digest(clusters),
                "summaries": digest(matched_summaries),
            },
            progress=progress,
        )
    )


def recorded_judgements(
    run: Path | None, *, store: StoreAddress | None = None
) -> tuple[Judgement, ...]:
    """Return the judgements of a run folder, or with `store` of the run with that name."""
    if run is None:
        raise InputError("this folder holds no judgements")
    rows: Sequence[Mapping[str, Any]]
    if store is not None:
        rows = StoredRun(run.as_posix(), identity={}, address=store).peek(ROWS)
        problem = f"the store {store} holds no judgements of this run"
    else:
        rows = list(run_rows(run / f"{ROWS}.jsonl"))
        problem = "this folder holds no judgements"
    if not rows:
        raise InputError(problem, path=run)
    try:
        judgements = {row["task"]: Judgement.model_validate(row["judgement"]) for row in rows}
    except (ValueError, KeyError, TypeError):
        raise InputError("not a run's judgements", path=run) from None
    return tuple(judgements.values())


async def judge_audit_tasks(
    tasks: Sequence[JudgeTask],
    *,
    plan: JudgingPlan,
    model: Model,
    run: Path | None,
    identity: Mapping[str, Any],
    progress: Progress,
    groups_per_call: int = GROUPS_PER_CALL,
) -> tuple[Judgement, ...]:
    """Judge `tasks` with the built-in criterion of `plan`, resuming `run`.

    Several calls for one audit share the budget of `model`.
    """
    run_store = open_run(
        run, command="audit", model=model, identity={"model": model.identity(), **identity}
    )
    async with open_models(model) as models:
        options = JudgeOptions(
            aspect=plan.aspect, protocol=plan.protocol, groups_per_call=groups_per_call
        )
        judge = make_judge(models, options, plan=plan, tasks=tasks)
        with run_store as folder, record_cost(folder, model, models.cost):
            book = JudgementBook(folder, tasks)
            await judge_tasks(
                book,
                judge=judge,
                fallback=None,
                concurrency=model.concurrency,
                progress=progress(len(tasks)),
            )
        return tuple(book.judgements())

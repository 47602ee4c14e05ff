"""Judging every summary of a file, and saying what came of it."""

from __future__ import annotations

import asyncio
import hashlib
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

from fairjudge.app.judges import Fallback, make_fallback, make_judge, scale_range
from fairjudge.app.models import ModelOptions, Models, Spent, open_models
from fairjudge.app.runs import (
    Run,
    bad_lines,
    check_writable,
    checkpoints,
    digest,
    noting_spent,
    open_run,
    resume,
    seldom_collecting,
    start,
)
from fairjudge.backends.budgeting import Budget
from fairjudge.datasets import (
    Loaded,
    check_summaries,
    read_clusters,
    read_references,
    read_summaries,
    write_records,
)
from fairjudge.domain import Cluster, Judgement, JudgeTask, ProtocolName, Reference, Summary
from fairjudge.errors import InputError
from fairjudge.graphs.judge import JudgeDeps, build_judge_graph
from fairjudge.judges.aggregate import SystemScore, system_scores
from fairjudge.judges.ports import Judge
from fairjudge.judges.tasks import (
    JudgingPlan,
    Preset,
    ReferenceUnit,
    TextUnit,
    plan_tasks,
    resolve_plan,
)
from fairjudge.records import own_rows
from fairjudge.text.sentences import sentence_texts

_ROWS = "judgements"
_THREAD = "judge"
_CHUNK = 64
"""Least tasks between two checkpoints; with many calls at once there are half as many as calls."""
_SYNC_SECONDS = 0.5
"""Least time between two waits for the disk: no more than this is lost with the power."""
_PASSING = frozenset({"backend", "budget"})
"""Reasons that another try may not have."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeOptions:
    """What is asked of the judge; see the help of ``fairjudge judge``."""

    aspect: str
    protocol: ProtocolName | None = None
    preset: Preset | None = None
    reference_unit: ReferenceUnit | None = None
    text_unit: TextUnit | None = None
    prompt: Path | None = None
    scale: Path | None = None
    fallback: Fallback = "none"
    temperature: float = 0.0
    samples: int = 1
    token_probabilities: bool = False
    cascade: Path | None = None
    cascade_scorer: Literal["embedding", "entailment"] = "embedding"

    def plan(self) -> JudgingPlan:
        """Return the row of the table of protocols that these options mean."""
        return resolve_plan(
            self.aspect,
            protocol=self.protocol,
            reference_unit=self.reference_unit,
            text_unit=self.text_unit,
            preset=self.preset,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeOutcome:
    """What ``fairjudge judge`` did. ``without_tasks`` are clusters that had nothing to judge."""

    judgements: tuple[Judgement, ...] = field(repr=False)  # asyncio puts results into words
    scores: tuple[SystemScore, ...]
    scale_range: tuple[float, float]
    plan: JudgingPlan
    signature: str
    without_tasks: tuple[str, ...]
    bad_lines: tuple[str, ...]
    spent: Spent | None
    run: Path | str

    @property
    def unscored_reasons(self) -> Mapping[str, int]:
        """How many judgements have no score, by reason."""
        return Counter(j.unscored for j in self.judgements if j.unscored is not None)

    @property
    def n_unscored(self) -> int:
        """How many judgements have no score."""
        return sum(judgement.unscored is not None for judgement in self.judgements)


def judge_files(
    references: Path,
    summaries: Path,
    output: Path,
    *,
    options: JudgeOptions,
    model: ModelOptions,
    run: Path | None,
    skip_bad: bool,
    progress: Callable[[int], Callable[[int], None]],
    budget: Budget | None = None,
) -> JudgeOutcome:
    """Judge the summaries in one file against the references in another; write judgements.

    Parameters
    ----------
    budget : Budget, optional
        What may be spent, where it is shared; by default what `model` allows.

    Raises
    ------
    FairJudgeError
        If a file, the backend or the run folder cannot be used. Items that fail are outcomes.
    """
    material = _read(references, summaries, options=options, skip_bad=skip_bad)
    clusters, written, plan = material.clusters, material.summaries, material.plan
    check_writable(output)
    tasks = material.tasks
    judged = {task.eid for task in tasks}
    identity = {**_identity(material, options), "model": model.identity()}
    opened = open_run(
        run,
        cache_folder=model.cache_folder,
        command="judge",
        identity=identity,
        store=model.store,
    )
    outcome = asyncio.run(
        _judge_all(
            tasks,
            options=options,
            plan=plan,
            model=model,
            budget=budget,
            opened=opened,
            progress=progress,
        )
    )
    write_records(output, outcome.judgements)
    return replace(
        outcome,
        without_tasks=tuple(dict.fromkeys(s.eid for s in written if s.eid not in judged)),
        bad_lines=bad_lines(clusters, written),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Material:
    """What is to be judged, read and checked."""

    clusters: Loaded[Reference] | Loaded[Cluster]
    summaries: Loaded[Summary]
    plan: JudgingPlan
    tasks: tuple[JudgeTask, ...]


def _read(references: Path, summaries: Path, *, options: JudgeOptions, skip_bad: bool) -> _Material:
    plan = options.plan()
    needs_questions = plan.reference_unit in {"qa_pairs", "qa_pair"}
    clusters: Loaded[Reference] | Loaded[Cluster] = (
        read_references(references, skip_bad=skip_bad)
        if needs_questions
        else read_clusters(references, skip_bad=skip_bad)
    )
    written = read_summaries(summaries, skip_bad=skip_bad)
    check_summaries(written, clusters)
    tasks = plan_tasks(clusters.records, written.records, plan, split_sentences=sentence_texts)
    if not tasks:
        raise InputError(_why_nothing(plan), path=references)
    return _Material(clusters=clusters, summaries=written, plan=plan, tasks=tasks)


def digests(
    references: Path, summaries: Path, *, options: JudgeOptions, skip_bad: bool
) -> dict[str, Any]:
    """Return what ties a run to its options and inputs, whoever judges."""
    material = _read(references, summaries, options=options, skip_bad=skip_bad)
    return _identity(material, options)


def _identity(material: _Material, options: JudgeOptions) -> dict[str, Any]:
    return {
        "options": _plain(options),
        "references": digest(material.clusters.records),
        "summaries": digest(material.summaries.records),
    }


def judge_for(
    models: Models, *, options: JudgeOptions, plan: JudgingPlan, tasks: Sequence[JudgeTask]
) -> Judge:
    """Return the judge that `options` ask for; see `fairjudge.app.judges.make_judge`."""
    return make_judge(
        models,
        plan=plan,
        prompt=options.prompt,
        scale=options.scale,
        temperature=options.temperature,
        samples=options.samples,
        token_probabilities=options.token_probabilities,
        tasks=tasks,
        cascade=options.cascade,
        cascade_scorer=options.cascade_scorer,
    )


def read_tasks(
    references: Path, summaries: Path, *, options: JudgeOptions, skip_bad: bool
) -> tuple[JudgingPlan, tuple[JudgeTask, ...]]:
    """Return what `judge_files` would ask with the same arguments."""
    material = _read(references, summaries, options=options, skip_bad=skip_bad)
    return material.plan, material.tasks


def _plain(options: JudgeOptions) -> dict[str, Any]:
    """Return `options` as JSON, own files by their content."""
    return {
        key: _file_digest(value) if isinstance(value, Path) else value
        for key, value in asdict(options).items()
    }


def _file_digest(path: Path) -> str:
    try:
        return hashlib.sha256(path.read_bytes()).hexdigest()
    except OSError as error:
        raise InputError(f"cannot read the file: {error.strerror}", path=path) from None


def _why_nothing(plan: JudgingPlan) -> str:
    if plan.protocol == "pairwise":
        return "nothing to judge: pairwise needs two systems' summaries of one cluster"
    if plan.reference_unit in {"qa_pairs", "qa_pair"}:
        return "nothing to judge: no cluster with a summary has questions; run 'fairjudge build'"
    return "nothing to judge: no cluster has both a summary and an article with content"


async def _judge_all(
    tasks: Sequence[JudgeTask],
    *,
    options: JudgeOptions,
    plan: JudgingPlan,
    model: ModelOptions,
    budget: Budget | None,
    opened: Run,
    progress: Callable[[int], Callable[[int], None]],
) -> JudgeOutcome:
    async with open_models(model, budget=budget) as models:
        judge = judge_for(models, options=options, plan=plan, tasks=tasks)
        span = scale_range(judge, plan)
        with opened as run:
            if model.engine == "ray":
                from fairjudge.app.ray_runs import judge_on_cluster

                judgements, spent = judge_on_cluster(
                    tasks,
                    options=options,
                    plan=plan,
                    model=model,
                    run=run,
                    rows=_ROWS,
                    progress=progress(len(tasks)),
                )
            else:
                with noting_spent(run, models.spent), seldom_collecting():
                    judgements = await judge_tasks(
                        tasks,
                        judge=judge,
                        fallback=make_fallback(models, options.fallback, aspect=plan.aspect),
                        run=run,
                        concurrency=model.concurrency,
                        progress=progress(len(tasks)),
                        sync=models.sync,
                    )
                spent = models.spent()
        return JudgeOutcome(
            judgements=judgements,
            scores=system_scores(judgements, scale_range=span),
            scale_range=span,
            plan=plan,
            signature=judge.signature,
            without_tasks=(),
            bad_lines=(),
            spent=spent,
            run=run.shown,
        )


def kept_judgements(run: Run, rows: str) -> dict[str, Judgement]:
    """Return what earlier starts of `run` recorded under `rows`, by task; the last one counts."""
    with own_rows(run.shown):
        return {row["task"]: Judgement.model_validate(row["judgement"]) for row in run.read(rows)}


def is_passing(judgement: Judgement) -> bool:
    """Say whether `judgement` lacks a score for a reason that another try may not have."""
    return judgement.unscored in _PASSING


async def judge_tasks(
    tasks: Sequence[JudgeTask],
    *,
    judge: Judge,
    fallback: Judge | None,
    run: Run,
    concurrency: int,
    progress: Callable[[int], None],
    sync: Callable[[], None] = lambda: None,
) -> tuple[Judgement, ...]:
    """Judge `tasks`, leaving out those that the run already holds; in the order of `tasks`.

    A killed run is first brought to its end. Then what earlier runs left unscored for a server's
    failure or a spent budget is asked again. ``sync`` forces cached replies to disk.
    """
    kept = kept_judgements(run, _ROWS)
    passing = [task for task, judgement in kept.items() if is_passing(judgement)]

    def record(task_id: str, judgement: Judgement) -> None:
        run.append(_ROWS, {"task": task_id, "judgement": judgement.to_json()})
        kept[task_id] = judgement
        progress(1)

    settled = time.monotonic()

    async def settle() -> None:
        nonlocal settled
        if time.monotonic() - settled >= _SYNC_SECONDS:
            settled = time.monotonic()
            await asyncio.to_thread(_call_each, sync, run.sync)

    chunk_size = max(_CHUNK, concurrency // 2)
    deps = JudgeDeps(
        tasks={task.id: task for task in tasks},
        judge=judge,
        fallback=fallback,
        record=record,
        recorded=lambda: kept,
        settle=settle,
        chunk_size=chunk_size,
    )
    progress(len(kept) - len(passing))
    most = 2 * concurrency // chunk_size + 2  # enough that slow replies leave no place idle
    async with checkpoints(run) as saver:
        graph = build_judge_graph(checkpointer=saver)
        await resume(graph, thread=run.thread(_THREAD), context=deps, max_concurrency=most)
        for task in passing:
            del kept[task]
        state = await start(graph, thread=run.thread(_THREAD), context=deps, max_concurrency=most)
    _call_each(sync, run.sync)
    return tuple(Judgement.model_validate(row) for row in state["judgements"])


def _call_each(*calls: Callable[[], None]) -> None:
    for call in calls:
        call()

"""What a command would ask, before it asks: the real steps, over a backend that asks nobody."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from fairjudge.app.builders import make_builder
from fairjudge.app.building import BuildOptions, build_references
from fairjudge.app.judges import make_judge
from fairjudge.app.judging import JudgeOptions, read_tasks
from fairjudge.app.models import Llm, ModelOptions, Models, open_cache, open_models, print_warning
from fairjudge.backends import decides
from fairjudge.backends.planning import PlanningBackend, stand_in
from fairjudge.backends.pricing import load_prices
from fairjudge.datasets import read_clusters
from fairjudge.errors import ConfigurationError
from fairjudge.protocols import CompletionRequest, DecisionRequest, ModelRef, Usage
from fairjudge.records import RunFolder

_AT_ONCE = 256
"""Tasks that are rendered together; more only take memory."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What one model would be asked. ``cost_usd`` is None where its price is not known."""

    model: str
    n_calls: int
    n_cached: int
    input_tokens: int
    output_tokens: int
    cost_usd: float | None
    seconds: float
    requests: tuple[CompletionRequest | DecisionRequest, ...]


def plan_judging(
    references: Path,
    summaries: Path,
    *,
    options: JudgeOptions,
    models: Sequence[ModelOptions],
    skip_bad: bool,
    seconds_per_call: float,
) -> tuple[Plan, ...]:
    """Return the plan of ``fairjudge judge`` with these arguments, one a model.

    Repairs and retries are not foreseen; nor that token probabilities make samples needless.
    """
    plan, tasks = read_tasks(references, summaries, options=options, skip_bad=skip_bad)

    async def one(model: ModelOptions) -> Plan:
        async with _planned(model) as (opened, planner):
            judge = make_judge(
                opened,
                plan=plan,
                prompt=options.prompt,
                scale=options.scale,
                temperature=options.temperature,
                samples=options.samples,
                token_probabilities=options.token_probabilities,
                tasks=tasks,
            )
            for start in range(0, len(tasks), _AT_ONCE):
                some = tasks[start : start + _AT_ONCE]
                await asyncio.gather(*(judge.ask(task) for task in some))
            return _summed(planner, model, seconds_per_call)

    return tuple(asyncio.run(one(model)) for model in models if _calls(model))


def plan_building(
    clusters: Path,
    *,
    options: BuildOptions,
    model: ModelOptions,
    skip_bad: bool,
    seconds_per_call: float,
) -> tuple[Plan, ...]:
    """Return the plan of ``fairjudge build``: as many calls as if every article answered."""
    loaded = read_clusters(clusters, skip_bad=skip_bad)

    async def one() -> Plan:
        async with _planned(model) as (opened, planner):
            builder = make_builder(
                opened, consolidation=options.consolidation, post_filter=options.post_filter
            )
            with (
                tempfile.TemporaryDirectory() as folder,
                RunFolder(Path(folder), identity={"command": "plan"}) as run,
            ):
                await build_references(
                    loaded.records,
                    builder=builder,
                    options=options,
                    run=run,
                    concurrency=model.concurrency,
                    progress=lambda _: lambda _stage, _done: None,
                )
            return _summed(planner, model, seconds_per_call)

    return (asyncio.run(one()),) if _calls(model) else ()


def _calls(model: ModelOptions) -> bool:
    return model.target is not None


@asynccontextmanager
async def _planned(model: ModelOptions) -> AsyncIterator[tuple[Models, PlanningBackend]]:
    """Open the local models, with a backend in place of the language model that asks nobody."""
    target = _target(model)
    async with open_models(replace(model, backend="local")) as models:
        cache = open_cache(model.cache_folder, store=model.store, warn=print_warning)
        try:
            planner = PlanningBackend(cache=cache, reply=stand_in)
            models.llm = Llm(
                backend=planner,
                target=target,
                seed=model.seed,
                decides=planner if decides(target) else None,
            )
            yield models, planner
        finally:
            cache.close()


def _target(model: ModelOptions) -> ModelRef:
    target = model.target
    if target is None:
        raise ConfigurationError("the embedded default calls no model; there is nothing to plan")
    return target


def _summed(planner: PlanningBackend, model: ModelOptions, seconds_per_call: float) -> Plan:
    usage = Usage(input_tokens=planner.input_tokens, output_tokens=planner.output_tokens)
    n_calls = len(planner.requests)
    return Plan(
        model=model.backend,
        n_calls=n_calls,
        n_cached=len(planner.cached),
        input_tokens=planner.input_tokens,
        output_tokens=planner.output_tokens,
        cost_usd=load_prices().cost_usd(_target(model), usage),
        seconds=n_calls * seconds_per_call / model.concurrency,
        requests=tuple(planner.requests.values()),
    )

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
from fairjudge.app.judging import JudgeOptions, judge_for, read_tasks
from fairjudge.app.models import Llm, ModelOptions, Models, open_cache, open_models, print_warning
from fairjudge.backends import decides
from fairjudge.backends.planning import PlanningBackend, stand_in
from fairjudge.backends.pricing import load_prices
from fairjudge.datasets import read_clusters
from fairjudge.domain import Answer, Article
from fairjudge.errors import ConfigurationError
from fairjudge.protocols import CompletionRequest, DecisionRequest, ModelRef, Usage
from fairjudge.records import RunFolder
from fairjudge.references.ports import Groups
from fairjudge.references.replies import sort_groups

_AT_ONCE = 256
"""Tasks that are rendered together; more only take memory."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What one model would be asked. ``cost_usd`` is None where its price is not known.

    ``assumes`` says on what the counts stand.
    """

    model: str
    n_calls: int
    n_cached: int
    input_tokens: int
    output_tokens: int
    cost_usd: float | None
    seconds: float
    requests: tuple[CompletionRequest | DecisionRequest, ...]
    assumes: tuple[str, ...]


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

    The local scorer of a cascade is really run: it decides who is asked.
    """
    plan, tasks = read_tasks(references, summaries, options=options, skip_bad=skip_bad)

    async def one(model: ModelOptions) -> Plan:
        async with _planned(model) as (opened, planner):
            judge = judge_for(opened, options=options, plan=plan, tasks=tasks)
            for start in range(0, len(tasks), _AT_ONCE):
                some = tasks[start : start + _AT_ONCE]
                await asyncio.gather(*(judge.ask(task) for task in some))
            return _summed(planner, model, seconds_per_call, assumes=_judging_assumes(options))

    return tuple(asyncio.run(one(model)) for model in models if _calls(model))


def plan_building(
    clusters: Path,
    *,
    options: BuildOptions,
    model: ModelOptions,
    skip_bad: bool,
    seconds_per_call: float,
) -> tuple[Plan, ...]:
    """Return the plan of ``fairjudge build``: as many calls as if every article answered.

    Which questions a filter will drop before the last step cannot be known, so none is dropped.
    """
    loaded = read_clusters(clusters, skip_bad=skip_bad)
    undropped = replace(options.validity, max_largest_share=None, max_source_overlap=None)

    async def one() -> Plan:
        async with _planned(model) as (opened, planner):
            builder = make_builder(
                opened, consolidation=options.consolidation, post_filter=options.post_filter
            )
            if options.consolidation == "embedding":
                builder = replace(builder, consolidator=_TwoGroups())
            with (
                tempfile.TemporaryDirectory() as folder,
                RunFolder(Path(folder), identity={"command": "plan"}) as run,
            ):
                await build_references(
                    loaded.records,
                    builder=builder,
                    options=replace(options, validity=undropped),
                    run=run,
                    concurrency=model.concurrency,
                )
            return _summed(planner, model, seconds_per_call, assumes=_building_assumes(planner))

    return (asyncio.run(one()),) if _calls(model) else ()


class _TwoGroups:
    """Groups answers by turns, so that no question is dropped for want of a second group."""

    async def group(
        self,
        question: str,  # noqa: ARG002  # the port offers it
        answers: Sequence[Answer],
        articles: Sequence[Article],  # noqa: ARG002  # the port offers them
    ) -> Groups:
        """See `fairjudge.references.ports.Consolidator`."""
        numbers = range(len(answers))
        return sort_groups([numbers[::2], numbers[1::2]])


_READABLE = "every reply can be read; an unreadable one is asked for once more"
_SHORT = "a reply is as long as a typical one of its kind"


def _judging_assumes(options: JudgeOptions) -> tuple[str, ...]:
    rest = []
    if options.cascade is not None:
        rest.append("the local scorer of the cascade was run: only what it leaves is counted")
    if options.token_probabilities and options.samples > 1:
        rest.append("the server gives no token probabilities, so that all samples are drawn")
    return (_READABLE, _SHORT, *rest)


def _building_assumes(planner: PlanningBackend) -> tuple[str, ...]:
    checks = sum(
        "diverse" in (request.response_schema or {}).get("properties", {})
        for request in planner.requests.values()
        if isinstance(request, CompletionRequest)
    )
    rest = (
        [
            f"no question is dropped before its answers are checked; each one that is takes one "
            f"off the {checks} such calls"
        ]
        if checks
        else []
    )
    return (_READABLE, _SHORT, "every article answers every question, once", *rest)


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
                sampling=model.sampling,
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


def _summed(
    planner: PlanningBackend,
    model: ModelOptions,
    seconds_per_call: float,
    *,
    assumes: tuple[str, ...],
) -> Plan:
    usage = Usage(input_tokens=planner.input_tokens, output_tokens=planner.output_tokens)
    n_calls = len(planner.requests)
    return Plan(
        model=model.backend,
        n_calls=n_calls,
        n_cached=len(planner.cached),
        input_tokens=planner.input_tokens,
        output_tokens=planner.output_tokens,
        cost_usd=load_prices(model.prices).cost_usd(_target(model), usage),
        seconds=n_calls * seconds_per_call / model.concurrency,
        requests=tuple(planner.requests.values()),
        assumes=assumes,
    )

"""Cost estimates: run the real steps with a backend that sends no requests."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from fairjudge.backends import LOCAL_LARGE, loads_its_model, open_backend
from fairjudge.backends.planning import PlanningBackend
from fairjudge.backends.pricing import DEFAULT_CACHED_FROM
from fairjudge.datasets import read_clusters
from fairjudge.domain import Answer, Article, JudgeTask, Reference
from fairjudge.engine.build_work import check_any_usable
from fairjudge.engine.built import BuildBook
from fairjudge.engine.coroutines import run_to_end
from fairjudge.engine.in_process import build_references
from fairjudge.engine.models import (
    Models,
    model_from_signature,
    open_cache,
    open_models,
    print_warning,
)
from fairjudge.errors import ConfigurationError
from fairjudge.judges.asking import GuaranteedThreshold
from fairjudge.judges.ports import Judge
from fairjudge.judges.tasks import repeat_tasks
from fairjudge.options.building import BuildOptions, ResolvedBuildOptions
from fairjudge.options.judging import JudgeOptions
from fairjudge.options.models import Model
from fairjudge.options.summarizing import SummarizeOptions
from fairjudge.ports import CompletionRequest, DecisionRequest
from fairjudge.records.folder import RunFolder
from fairjudge.references.embedded import UnlabelledGrouper
from fairjudge.references.ports import Builder, Groups, sort_groups
from fairjudge.run.builders import make_builder
from fairjudge.run.judges import check_without_llm, first_options, make_judge
from fairjudge.run.jury import check_members
from fairjudge.run.material import read_material
from fairjudge.run.summaries import summarize_loaded
from fairjudge.scorers import large_package
from fairjudge.text.counting import pluralize

SECONDS_PER_CALL = 2.0
"""Assumed duration of a request, in seconds."""
_AT_ONCE = 256
"""Number of tasks rendered concurrently; more would only use memory."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """Estimated calls of one model; ``cost_usd`` is None for an unknown price.

    ``cached_input_tokens`` is the part of ``input_tokens`` in prefixes shared with an earlier
    request. ``requests`` are the requests to send, by cache key. ``seconds`` is the estimated
    duration at the model's concurrency. ``assumes`` has the assumptions of the estimate.
    """

    model: str
    n_calls: int
    n_cached: int
    input_tokens: int
    cached_input_tokens: int
    output_tokens: int
    cost_usd: float | None
    seconds: float
    requests: Mapping[str, CompletionRequest | DecisionRequest]
    assumes: tuple[str, ...]

    def to_json(self) -> dict[str, Any]:
        """Return the model with the counts, the cost and the time of its calls."""
        return {
            "model": self.model,
            "calls": self.n_calls,
            "cached": self.n_cached,
            "input_tokens": self.input_tokens,
            "cached_input_tokens": self.cached_input_tokens,
            "output_tokens": self.output_tokens,
            "cost_usd": self.cost_usd,
            "seconds": self.seconds,
        }


def plan_judging(
    references: Path,
    summaries: Path | Sequence[Path],
    *,
    options: JudgeOptions,
    models: Sequence[Model],
    skip_bad: bool,
    seconds_per_call: float = SECONDS_PER_CALL,
    limit: int | None = None,
) -> tuple[Plan, ...]:
    """Return the plan of ``fairjudge judge`` with these arguments, one per model.

    The local scorer of a cascade is actually run, since it selects the items for the LLM.
    """
    material = read_material(references, summaries, options=options, skip_bad=skip_bad, limit=limit)
    if len(models) > 1:
        check_members(models, options)

    async def judge(model: Model, judge_options: JudgeOptions, tasks: Sequence[JudgeTask]) -> Plan:
        async with planned(model) as (opened, planner):
            await ask_all(make_judge(opened, judge_options, plan=material.plan, tasks=tasks), tasks)
            return summed(planner, model, seconds_per_call, assumes=_judging_assumes(options))

    if not isinstance(guarantee := options.cascade, GuaranteedThreshold):
        steps = [(model, options, material.tasks) for model in models]
    else:
        first = model_from_signature(models[0], guarantee.signature_parts)
        repeats = repeat_tasks(material.tasks, repeats=guarantee.repeats)
        steps = [(first, first_options(options, guarantee), repeats)]
        steps += [(model, replace(options, cascade=None), material.tasks) for model in models]
    for model, judge_options, _ in steps:
        if model.llm is None:
            check_without_llm(judge_options, material.plan)
    return tuple(run_to_end(judge(*step)) for step in steps if step[0].llm is not None)


async def ask_all(judge: Judge, tasks: Sequence[JudgeTask]) -> None:
    """Run all `tasks` over the counting backend."""
    for start in range(0, len(tasks), _AT_ONCE):
        await asyncio.gather(*(judge.ask(task) for task in tasks[start : start + _AT_ONCE]))


def plan_building(
    clusters: Path,
    *,
    options: BuildOptions,
    model: Model,
    skip_bad: bool,
    seconds_per_call: float = SECONDS_PER_CALL,
) -> tuple[tuple[Plan, ...], tuple[Reference, ...]]:
    """Return the plan of ``fairjudge build``, and simulated references.

    Both are empty for the local backend, which sends no requests. Every article is assumed to
    answer every question, and no question is assumed to be dropped by a filter.
    """
    if model.llm is None:
        return (), ()
    loaded = read_clusters(clusters, skip_bad=skip_bad)
    check_any_usable(loaded)
    validity = replace(options.validity, max_largest_share=None, max_source_overlap=None)
    resolved_options = replace(options.with_defaults(llm=True), validity=validity)

    async def build() -> tuple[tuple[Plan, ...], tuple[Reference, ...]]:
        async with planned(model) as (opened, planner):
            builder = make_builder(opened, resolved_options)
            if resolved_options.consolidation == "embedding":
                # Two groups of answers per question, so that none is dropped for having one group.
                consolidator = _TwoGroups()
                builder = (
                    replace(builder, consolidator=consolidator)
                    if isinstance(builder, Builder)
                    else replace(builder, grouper=UnlabelledGrouper(consolidator=consolidator))
                )
            with (
                tempfile.TemporaryDirectory() as folder,
                RunFolder(Path(folder), identity={"command": "plan"}) as run,
            ):
                book = BuildBook(run, loaded.records)
                await build_references(
                    book, builder=builder, options=resolved_options, concurrency=model.concurrency
                )
                references = tuple(built.reference for built in book.built())
            assumes = _building_assumes(resolved_options, planner)
            return (summed(planner, model, seconds_per_call, assumes=assumes),), references

    return run_to_end(build())


def plan_summaries(
    clusters: Path,
    *,
    options: SummarizeOptions,
    model: Model,
    skip_bad: bool,
) -> tuple[Plan, ...]:
    """Return the plan of ``fairjudge summarize`` with these arguments."""
    loaded = read_clusters(clusters, skip_bad=skip_bad)
    with planning(model) as planner, tempfile.TemporaryDirectory() as folder:
        planned_model = replace(model, planner=planner)
        run = Path(folder) / "run"
        run_to_end(summarize_loaded(loaded, options=options, model=planned_model, run_folder=run))
        return (summed(planner, model, SECONDS_PER_CALL, assumes=(SHORT,)),)


class _TwoGroups:
    """Groups answers alternately, so that no question is dropped for having one group."""

    async def group(
        self,
        question: str,  # noqa: ARG002  # required by the port
        answers: Sequence[Answer],
        articles: Sequence[Article],  # noqa: ARG002  # required by the port
    ) -> Groups:
        """See `fairjudge.references.ports.Consolidator`."""
        numbers = range(len(answers))
        return sort_groups([numbers[::2], numbers[1::2]])


READABLE = "every reply can be parsed; one that cannot is requested once more"
_KEPT = "what several requests begin with is known to the provider from the second one on"
SHORT = "a reply is as long as a typical one of its kind"


def _judging_assumes(options: JudgeOptions) -> tuple[str, ...]:
    notes = []
    if isinstance(options.cascade, GuaranteedThreshold):
        notes.append(
            "the better judge of the cascade judges every item; a run asks it only about items on "
            "which the first is not certain enough"
        )
    elif options.cascade is not None:
        notes.append("the local scorer of the cascade was run: only what it leaves is counted")
    if options.token_probabilities and options.samples > 1:
        notes.append("the server gives no token probabilities, so that all samples are drawn")
    return (READABLE, SHORT, *notes)


def _building_assumes(options: ResolvedBuildOptions, planner: PlanningBackend) -> tuple[str, ...]:
    assumptions = (READABLE, SHORT, "every article answers every question, once")
    if options.pipeline == "article":
        assumption = (
            "the model returns the requested number of questions; each that sources do not answer "
            "differently takes one call less"
        )
        return (*assumptions, assumption)
    checks = sum(
        "diverse" in (request.response_schema or {}).get("properties", {})
        for request in planner.requests.values()
        if isinstance(request, CompletionRequest)
    )
    note = (
        f"no question is dropped before its answers are checked; each one that is takes one off "
        f"the {pluralize(checks, 'such call')}"
    )
    return (*assumptions, note) if checks else assumptions


@asynccontextmanager
async def planned(model: Model) -> AsyncIterator[tuple[Models, PlanningBackend]]:
    """Open local models, with a counting backend instead of the LLM."""
    with planning(model) as planner:
        async with open_models(replace(model, planner=planner)) as models:
            yield models, planner


@contextmanager
def planning(model: Model) -> Iterator[PlanningBackend]:
    """Yield the counting backend that replaces `model`, with the model's cache."""
    cache = open_cache(model.cache_folder, store=model.address, warn=print_warning)
    try:
        yield PlanningBackend(cache=cache, secret=cache.secret())
    finally:
        cache.close()


def check_opens(*models: Model) -> None:
    """Check that a run could open `models`; models of this process are not loaded.

    Raises
    ------
    ConfigurationError
        If an API key or a package is missing.
    """
    for model in models:
        if model.target == LOCAL_LARGE:
            large_package.check_installed()
        elif model.llm is not None and not loads_its_model(model.llm):
            open_backend(model.llm, timeout_seconds=model.timeout, chat=model.chat)


def summed(
    planner: PlanningBackend,
    model: Model,
    seconds_per_call: float,
    *,
    assumes: tuple[str, ...],
) -> Plan:
    """Return the plan with the counts of the backend that replaces `model`."""
    prices, target = model.price_list, model.llm
    if target is None:
        raise ConfigurationError("the local backend sends no requests; there is nothing to plan")
    price = prices.price(target)
    usage = planner.usage(cached_from=DEFAULT_CACHED_FROM if price is None else price.cached_from)
    n_calls = len(planner.requests)
    return Plan(
        model=model.target,
        n_calls=n_calls,
        n_cached=len(planner.cached),
        input_tokens=planner.input_tokens,
        cached_input_tokens=usage.cached_input_tokens or 0,
        output_tokens=planner.output_tokens,
        cost_usd=prices.cost_usd(target, usage, n_calls=max(1, n_calls)),
        seconds=n_calls * seconds_per_call / model.concurrency,
        requests=planner.requests,
        assumes=(*assumes, _KEPT) if usage.cached_input_tokens else assumes,
    )

"""Judge every summary of a file."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from statistics import mode

from fairjudge.domain import Cluster, Judgement, Summary
from fairjudge.engine.costs import SPENT, Cost, sum_costs
from fairjudge.engine.in_process import judge_tasks
from fairjudge.engine.models import (
    Models,
    RunCost,
    model_from_signature,
    open_models,
    total_cost,
    zero_cost,
)
from fairjudge.engine.progress import Progress, no_progress
from fairjudge.engine.recorded import JudgementBook
from fairjudge.engine.runs import (
    RunOutcome,
    bad_lines,
    open_run,
    record_cost,
    relaxed_gc,
)
from fairjudge.errors import ConfigurationError
from fairjudge.judges.asking import GuaranteedThreshold
from fairjudge.judges.deriving import derive
from fairjudge.judges.ports import Judge
from fairjudge.judges.tasks import JudgingPlan
from fairjudge.options.judging import JudgeOptions
from fairjudge.options.models import Model
from fairjudge.records.folder import RunStore, reject_foreign_rows
from fairjudge.run.judges import (
    first_options,
    make_fallback,
    make_judge,
    range_of,
    scale_range,
    stated_criteria,
)
from fairjudge.run.material import Material
from fairjudge.scores.aggregate import SystemScore, system_scores
from fairjudge.scores.missing import Missing, count_missing, without_probabilities
from fairjudge.scores.ratings import Rating, n_summaries_scored
from fairjudge.text.usable import ArticleLeftOut

_ENDS = "finished"
"""Rows with the judge's signature and scale, one per start that finished the run."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeOutcome(RunOutcome):
    """Result of ``fairjudge judge``.

    ``judgements`` may be read from the run at each access; ``scores`` (with values in
    ``scale_range``) are computed from ``ratings``. ``without_tasks`` are the clusters with nothing
    to judge; at least ``n_missing`` judgements are missing because of them (``n_missing_of`` by
    aspect). ``derived`` are judgements derived from checklists for other protocols. ``references``
    are the clusters to judge against, for checklists and balance; ``cited`` are the summaries that
    cite articles. ``articles_left_out`` are unusable and in no prompt. ``n_left`` tasks are
    beyond ``limit``. ``costs`` has the cost of each LLM judge over all starts of the run.
    """

    judgements: Sequence[Judgement] = field(repr=False)  # asyncio calls repr() on results
    ratings: Sequence[Rating] = field(repr=False)
    scores: tuple[SystemScore, ...]
    scale_range: tuple[float, float]
    plan: JudgingPlan
    signature: str
    without_tasks: tuple[str, ...]
    derived: tuple[Judgement, ...] = field(default=(), repr=False)
    references: tuple[Cluster, ...] = field(default=(), repr=False)
    cited: tuple[Summary, ...] = field(default=(), repr=False)
    n_missing: int = 0
    n_missing_of: Mapping[str, int] = field(default_factory=dict)
    articles_left_out: tuple[ArticleLeftOut, ...] = ()
    n_left: int = 0
    costs: tuple[Cost, ...] = ()

    @property
    def cost(self) -> Cost | None:
        """Total cost of all judges; None if no language model was called."""
        spent = total_cost(cost.spent for cost in self.costs)
        if spent is None or len(self.costs) == 1:
            return self.costs[0] if self.costs else None
        ratings = [rating for rating in self.ratings if rating.judge == self.ratings[0].judge]
        return Cost(judge="all", spent=spent, n_items=n_summaries_scored(ratings))

    @property
    def missing(self) -> Missing:
        """Items without a score, including those with nothing to judge."""
        return count_missing(self.ratings, n_not_applicable=self.n_missing)

    @property
    def all_judgements(self) -> tuple[Judgement, ...]:
        """The judgements, followed by those derived from them."""
        return (*self.judgements, *self.derived)

    def by_aspect(self, options: JudgeOptions) -> tuple[JudgeOutcome, ...]:
        """Return one outcome per aspect if several were judged together, else this one."""
        if not options.together:
            return (self,)
        criteria = stated_criteria(options)
        parts = []
        for plan in options.plans():
            span = range_of(criteria[plan.aspect].scale)
            ratings = tuple(rating for rating in self.ratings if rating.aspect == plan.aspect)
            parts.append(
                replace(
                    self,
                    plan=plan,
                    judgements=tuple(
                        judgement
                        for judgement in self.judgements
                        if judgement.aspect == plan.aspect
                    ),
                    ratings=ratings,
                    scale_range=span,
                    scores=system_scores(ratings, scale_range=span),
                    n_missing=self.n_missing_of.get(plan.aspect, 0),
                )
            )
        return tuple(parts)

    @property
    def without_probabilities(self) -> Mapping[str, int]:
        """Counts of scores without the requested token probabilities, by reason."""
        return without_probabilities(self.ratings)

    @property
    def n_unscored(self) -> int:
        """Number of judgements without a score."""
        return sum(rating.unscored is not None for rating in self.ratings)


async def judge_material(
    material: Material,
    *,
    model: Model,
    run_folder: Path | None = None,
    progress: Progress = no_progress,
) -> JudgeOutcome:
    """Judge the tasks of `material` by `model`, resuming the run in `run_folder`.

    A task whose call or reply fails is unscored; it raises no error.
    """
    run_store = open_run(
        run_folder,
        command="judge",
        model=model,
        identity={**material.identity(), "model": model.identity()},
    )
    finished_outcome = _finished_outcome(material, model=model, run_store=run_store)
    if finished_outcome is not None:
        return finished_outcome
    options, plan, tasks = material.options, material.plan, material.tasks
    local_only_options = {
        "--together": options.together,
        "--paraphrase": options.paraphrases,
        "--cascade with a guarantee": isinstance(options.cascade, GuaranteedThreshold),
    }
    option = next((name for name, is_given in local_only_options.items() if is_given), None)
    if model.engine != "local" and option is not None:
        raise ConfigurationError(f"{option} cannot be combined with --engine ray")
    async with _open_judge_models(model, options) as (models, first):
        judge = make_judge(models, options, plan=plan, tasks=tasks, first=first)
        span = scale_range(judge, plan)
        with run_store as run:
            book = JudgementBook(run, tasks)
            spent = await _judge(book, material, judge, model, (models, first), progress=progress)
            if book.is_finished:
                run.append(_ENDS, {"signature": judge.signature, "scale_range": span})
            return _outcome(material, book, span=span, signature=judge.signature, spent=spent)


async def _judge(
    book: JudgementBook,
    material: Material,
    judge: Judge,
    model: Model,
    judge_models: tuple[Models, Models | None],
    *,
    progress: Progress,
) -> RunCost | None:
    """Judge the pending tasks of `book`, in this process or on a Ray cluster."""
    options, plan, advance = material.options, material.plan, progress(len(material.tasks))
    models, first = judge_models

    def cost() -> RunCost | None:
        main_cost, first_cost = models.cost(), None if first is None else first.cost()
        spent = total_cost((main_cost, first_cost))
        if spent is None or main_cost is None or first_cost is None:
            return spent
        # Both share one budget, which counts the calls and the cost of both.
        return replace(spent, n_calls=main_cost.n_calls, cost_usd=main_cost.cost_usd)

    if model.engine == "ray":
        from fairjudge.run.ray_engine import judge_on_ray

        return judge_on_ray(book, options=options, plan=plan, model=model, progress=advance)
    if any(rating.unscored is None for rating in book.ratings):
        models.note_earlier_reply()
    with record_cost(book.run, model, cost), relaxed_gc():
        await judge_tasks(
            book,
            judge=judge,
            fallback=make_fallback(models, options.fallback, aspect=plan.aspect),
            concurrency=model.concurrency,
            progress=advance,
            sync=models.sync,
        )
    return cost()


@asynccontextmanager
async def _open_judge_models(
    model: Model, options: JudgeOptions
) -> AsyncIterator[tuple[Models, Models | None]]:
    """Open the models of the judge, and those of the first judge of a cascade with a guarantee.

    Both share the budget of `model`.
    """
    if not isinstance(options.cascade, GuaranteedThreshold):
        async with open_models(model) as models:
            yield models, None
        return
    first_options(options, options.cascade)  # raises before models are opened
    first_model = model_from_signature(model, options.cascade.signature_parts)
    check_priced((first_model, model))
    async with (
        open_models(model) as models,
        open_models(first_model) as first,
    ):
        yield models, first


def check_priced(models: Iterable[Model]) -> None:
    """Reject models of unknown price if cost is limited, before any call."""
    for model in models:
        if model.llm is not None:
            model.budget.check_priced(model.llm)


def _finished_outcome(
    material: Material, *, model: Model, run_store: RunStore
) -> JudgeOutcome | None:
    """Return the outcome of a finished run, else None."""
    if not run_store.may_contain(_ENDS):
        return None
    with run_store as run, reject_foreign_rows(run):
        ends = list(run.read(_ENDS))
        if not ends or not (book := JudgementBook(run, material.tasks)).is_finished:
            return None
        low, high = map(float, ends[-1]["scale_range"])
        return _outcome(
            material,
            book,
            span=(low, high),
            signature=ends[-1]["signature"],
            spent=zero_cost(model),
            was_finished=True,
        )


def _outcome(
    material: Material,
    book: JudgementBook,
    *,
    span: tuple[float, float],
    signature: str,
    spent: RunCost | None,
    was_finished: bool = False,
) -> JudgeOutcome:
    judgements, ratings = book.judgements(), book.ratings
    protocols = material.options.derive
    lost = material.not_judged()
    starts = sum_costs(book.run.read(SPENT))
    costs: tuple[Cost, ...] = ()
    if starts is not None and ratings:
        n_items, judge = n_summaries_scored(ratings), mode(rating.judge for rating in ratings)
        costs = (Cost(judge=judge, spent=starts, n_items=n_items),)
    return JudgeOutcome(
        judgements=judgements,
        ratings=ratings,
        scores=system_scores(ratings, scale_range=span),
        scale_range=span,
        plan=material.plan,
        signature=signature,
        without_tasks=tuple(lost),
        n_missing=lost.total(),
        n_missing_of={
            plan.aspect: material.not_judged_on(plan).total() for plan in material.options.plans()
        },
        articles_left_out=material.articles_left_out(),
        n_left=material.n_left,
        bad_lines=bad_lines(material.sources, *material.summaries),
        derived=derive(judgements, protocols) if protocols else (),
        references=material.references,
        cited=tuple(summary for summary in material.written if summary.citations is not None),
        spent=spent,
        run=book.run.display_name,
        was_finished=was_finished,
        costs=costs,
    )

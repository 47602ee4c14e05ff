"""The engine that shards a run's items over a Ray cluster."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from fairjudge.backends import loads_its_model
from fairjudge.backends.budgeting import Budget
from fairjudge.domain import Judgement
from fairjudge.judges.ports import Judge
from fairjudge.judges.tasks import JudgingPlan
from fairjudge.options.building import SettledOptions
from fairjudge.options.judging import JudgeOptions
from fairjudge.options.models import Model
from fairjudge.records import RunStore
from fairjudge.references.ports import ArticleBuilder, Builder
from fairjudge.run.built import BuildBook
from fairjudge.run.models import Spent
from fairjudge.run.progress import BuildProgress
from fairjudge.run.ray_engine import ClusterSpent, Shard, Work, judging_shards, run_on_cluster
from fairjudge.run.ray_worker import (
    BuildingShard,
    BuildingWork,
    JudgingWork,
    files_of,
    without_files,
)
from fairjudge.run.recorded import JudgementBook
from fairjudge.run.runs import noting_spent


@dataclass(frozen=True, slots=True, kw_only=True)
class OnRay:
    """See `fairjudge.run.executors.Executor`.

    What is left of ``budget``, where it is shared with others, takes the place of what ``model``
    allows, and what was spent is booked there.
    """

    model: Model
    budget: Budget | None

    async def judge(
        self,
        book: JudgementBook,
        *,
        judge: Judge,  # noqa: ARG002  # each worker makes its own
        options: JudgeOptions,
        plan: JudgingPlan,
        progress: Callable[[int], None],
    ) -> Spent | None:
        """See `fairjudge.run.executors.Executor`.

        Raises
        ------
        MissingExtraError, RunError
            As `run_on_cluster`.
        """
        book.reopen_retryable()
        progress(book.n_done)
        work = JudgingWork(
            options=without_files(options), files=files_of(options), plan=plan, model=self._model()
        )
        shards = judging_shards(book.tasks, book.is_done)
        loads = options.fallback != "none" or options.cascade is not None

        def record(row: dict[str, Any]) -> None:
            book.record(row["position"], Judgement.model_validate(row["judgement"]))
            progress(1)

        return self._work(work, shards, loads=loads, record=record, run=book.run)

    async def build(
        self,
        book: BuildBook,
        *,
        builder: Builder | ArticleBuilder,  # noqa: ARG002  # each worker makes its own
        options: SettledOptions,
        progress: BuildProgress,
    ) -> Spent | None:
        """See `fairjudge.run.executors.Executor`.

        Raises
        ------
        MissingExtraError, RunError
            As `run_on_cluster`.
        """
        shards = [BuildingShard(cluster=cluster) for cluster in book.pending()]
        work = BuildingWork(options=options, model=self._model())

        def record(row: dict[str, Any]) -> None:
            book.record(row)
            progress.end(row["eid"])

        loads = options.consolidation == "embedding"
        return self._work(work, shards, loads=loads, record=record, run=book.run)

    def _model(self) -> Model:
        if self.budget is None:
            return self.model
        left, usd = self.budget.calls_left, self.budget.usd_left
        return replace(self.model, max_calls=left, max_cost=usd)

    def _work(
        self,
        work: Work,
        shards: Sequence[Shard],
        *,
        loads: bool,
        record: Callable[[dict[str, Any]], None],
        run: RunStore,
    ) -> Spent | None:
        """Work on `shards`, in actors where a model is loaded for it."""
        target = self.model.llm
        in_actors = loads or target is None or loads_its_model(target)
        spent = ClusterSpent()
        with noting_spent(run, lambda: spent.spent(self.model)):
            for row in run_on_cluster(work, shards, in_actors=in_actors, spent=spent):
                record(row)
        if self.budget is not None and spent.totals is not None:
            self.budget.book(**asdict(spent.totals))
        run.sync()
        return spent.spent(self.model)

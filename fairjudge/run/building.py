"""Build references for every cluster of a file."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fairjudge.datasets import Loaded, read_clusters, write_records
from fairjudge.domain import Cluster
from fairjudge.engine.build_work import check_any_usable
from fairjudge.engine.built import BuildBook, BuiltCluster
from fairjudge.engine.coroutines import run_to_end
from fairjudge.engine.in_process import build_references
from fairjudge.engine.models import RunCost, open_models, zero_cost
from fairjudge.engine.progress import SILENT, BuildProgress
from fairjudge.engine.runs import (
    RunOutcome,
    bad_lines,
    check_writable,
    digest,
    open_run,
    record_cost,
    relaxed_gc,
)
from fairjudge.options.building import BuildOptions
from fairjudge.options.models import Model
from fairjudge.records.folder import RunStore
from fairjudge.reports.kinds import with_findings
from fairjudge.run.builders import LOCAL_BUILDER, make_builder


@dataclass(frozen=True, slots=True, kw_only=True)
class BuildOutcome(RunOutcome):
    """Result of ``fairjudge build``; ``n_failed`` of ``n_steps`` model steps failed."""

    clusters: tuple[BuiltCluster, ...]
    signature: str

    @property
    def n_without_questions(self) -> int:
        """Number of clusters without a question: too few usable articles, or no valid question."""
        return sum(built.why_none is not None for built in self.clusters)

    @property
    def n_failed(self) -> int:
        """Number of failed model steps."""
        return sum(len(built.problems) for built in self.clusters)

    @property
    def n_steps(self) -> int:
        """Number of model steps."""
        return sum(built.n_steps for built in self.clusters)

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON of ``fairjudge build --json``."""
        return with_findings(
            "build",
            {
                "clusters": [built.to_json() for built in self.clusters],
                "signature": self.signature,
                "left_out": list(self.bad_lines),
                "spent": self.spent and self.spent.to_json(),
            },
        )


def build_file(
    path: Path,
    output: Path,
    *,
    options: BuildOptions,
    model: Model,
    run: Path | None,
    skip_bad: bool,
    progress: BuildProgress = SILENT,
) -> BuildOutcome:
    """Build references for the clusters in `path` and write them; see `build_loaded`."""
    loaded = read_clusters(path, skip_bad=skip_bad)
    check_writable(output)
    outcome = run_to_end(
        build_loaded(
            loaded,
            options=options,
            model=model,
            run_folder=run,
            progress=progress,
        )
    )
    write_records(output, [cluster.reference for cluster in outcome.clusters])
    return outcome


async def build_loaded(
    loaded: Loaded[Cluster],
    *,
    options: BuildOptions,
    model: Model,
    run_folder: Path | None = None,
    progress: BuildProgress = SILENT,
) -> BuildOutcome:
    """Build references for the clusters `loaded`, resuming the run in `run_folder`.

    Steps that fail are counted in the outcome; they raise no error.
    """
    check_any_usable(loaded)
    resolved_options = options.with_defaults(llm=model.llm is not None)
    identity = {
        "options": resolved_options.identity(),
        "model": model.identity(),
        "clusters": digest(loaded.records),
        **({"builder": LOCAL_BUILDER} if model.llm is None else {}),
    }
    run_store = open_run(run_folder, command="build", model=model, identity=identity)
    outcome = _finished_outcome(loaded, model=model, run_store=run_store)
    if outcome is not None:
        return outcome
    async with open_models(model) as models:
        builder = make_builder(models, resolved_options)
        with run_store as run:
            book = BuildBook(run, loaded.records)
            if book.done:
                models.note_earlier_reply()
            progress.begin(len(loaded.records))
            for eid in book.done:
                progress.end(eid)
            if model.engine == "ray":
                from fairjudge.run.ray_engine import build_on_ray

                spent = build_on_ray(book, options=resolved_options, model=model, progress=progress)
            else:
                with record_cost(run, model, models.cost), relaxed_gc():
                    await build_references(
                        book,
                        builder=builder,
                        options=resolved_options,
                        concurrency=model.concurrency,
                        progress=progress,
                    )
                spent = models.cost()
        return _outcome(loaded, book, spent=spent, signature=builder.signature)


def _finished_outcome(
    loaded: Loaded[Cluster], *, model: Model, run_store: RunStore
) -> BuildOutcome | None:
    """Return the outcome if every cluster is built, else None."""
    if not run_store.may_contain(BuildBook.ROWS):
        return None
    with run_store as run:
        book = BuildBook(run, loaded.records)
        if book.signature is None or book.pending():
            return None
        return _outcome(
            loaded,
            book,
            spent=zero_cost(model),
            signature=book.signature,
            was_finished=True,
        )


def _outcome(
    loaded: Loaded[Cluster],
    book: BuildBook,
    *,
    spent: RunCost | None,
    signature: str,
    was_finished: bool = False,
) -> BuildOutcome:
    return BuildOutcome(
        clusters=book.built(),
        bad_lines=bad_lines(loaded),
        spent=spent,
        signature=signature,
        run=book.run.display_name,
        was_finished=was_finished,
    )

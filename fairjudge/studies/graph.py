"""The graph of a study's steps; its edges are the files that steps read and make."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from fairjudge.studies.files import Study
from fairjudge.studies.measuring import (
    asking_audit_step,
    calibrate_step,
    fairness_step,
    free_audit_step,
    free_audits,
    report_step,
)
from fairjudge.studies.steps import (
    COSTS,
    Layout,
    Step,
    build_step,
    gather_step,
    judge_step,
    summarize_step,
)


def make_steps(study: Study, folder: Path) -> tuple[Step, ...]:
    """Return the steps of `study`, in order of execution; their outputs are in `folder`."""
    return tuple(_steps(Layout(study=study, folder=folder)))


def required_names(chosen_steps: Iterable[Step], steps: Sequence[Step]) -> set[str]:
    """Return the names of `chosen_steps` and of all steps that they depend on."""
    makers = {path: step.name for step in steps for path in step.makes}
    dependencies = {
        step.name: {makers[path] for path in step.reads if path in makers} for step in steps
    }
    names = set[str]()
    queue = [step.name for step in chosen_steps]
    while queue:
        name = queue.pop()
        if name not in names:
            names.add(name)
            queue += dependencies[name]
    return names


def _steps(layout: Layout) -> Iterator[Step]:
    """Yield the steps of a study's tables in order of execution."""
    study = layout.study
    if study.build is not None:
        yield build_step(layout, *study.build)
    for options, model in study.writers:
        yield summarize_step(layout, options, model)
    if len(layout.summary_files) > 1:
        yield gather_step(layout)
    paths = list[Path]()
    for part in study.judges:
        yield judge_step(layout, part)
        for kind in free_audits(part):
            yield free_audit_step(layout, part, kind)
        # A trial run with ``limit`` makes no further calls for audits.
        for audit in part.audits if study.tables.limit is None else ():
            yield asking_audit_step(layout, part, audit)
            paths.append(layout.audit_path(part, audit))
    analysis_steps = list(_analysis_steps(layout))
    yield from analysis_steps
    # The page omits calibrated scores and calibrators.
    results = [path for step in analysis_steps for path in step.makes if path.suffix == ".json"]
    shown_results = [path for path in results if path.name != "calibrators.json"]
    costs = layout.folder / COSTS
    yield report_step(
        layout, [*map(layout.judgements_path, study.judges), *paths, *shown_results, costs]
    )


def _analysis_steps(layout: Layout) -> Iterator[Step]:
    tables, labels = layout.study.tables, layout.study.data.labels
    if tables.calibrate is not None and labels is not None:
        yield calibrate_step(layout, tables.calibrate, labels)
    for table in tables.fairness:
        for measure in table.measures:
            yield fairness_step(layout, table, measure)

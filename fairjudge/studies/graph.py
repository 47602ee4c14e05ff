"""The steps of a study: a small graph by the files that they read and make."""

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


def steps_of(study: Study, folder: Path) -> tuple[Step, ...]:
    """Return the steps of `study`, which write to `folder`, each after those that it builds on."""
    return tuple(_steps(Layout(study=study, folder=folder)))


def needed_by(chosen_steps: Iterable[Step], steps: Sequence[Step]) -> set[str]:
    """Return the names of the steps that `chosen_steps` build on, themselves included."""
    makers = {path: step.name for step in steps for path in step.makes}
    before = {step.name: {makers[path] for path in step.reads if path in makers} for step in steps}
    names = set[str]()
    waiting = [step.name for step in chosen_steps]
    while waiting:
        name = waiting.pop()
        if name not in names:
            names.add(name)
            waiting += before[name]
    return names


def _steps(at: Layout) -> Iterator[Step]:
    """Go through a study's tables, in the order in which a reader would."""
    study = at.study
    if study.build is not None:
        yield build_step(at, *study.build)
    for options, model in study.writers:
        yield summarize_step(at, options, model)
    if len(at.summary_files) > 1:
        yield gather_step(at)
    paths = list[Path]()
    for part in study.judges:
        yield judge_step(at, part)
        for kind in free_audits(part):
            yield free_audit_step(at, part, kind)
        # A try asks nothing beside its few items.
        for audit in part.audits if study.tables.limit is None else ():
            yield asking_audit_step(at, part, audit)
            paths.append(at.audit_of(part, audit))
    measured = list(_measured(at))
    yield from measured
    # Calibrated scores and calibrators are not for the page.
    results = [path for step in measured for path in step.makes if path.suffix == ".json"]
    to_show = [path for path in results if path.name != "calibrators.json"]
    costs = at.folder / COSTS
    yield report_step(at, [*map(at.judgements_by, study.judges), *paths, *to_show, costs])


def _measured(at: Layout) -> Iterator[Step]:
    tables, labels = at.study.tables, at.study.data.labels
    if tables.calibrate is not None and labels is not None:
        yield calibrate_step(at, tables.calibrate, labels)
    for table in tables.fairness:
        for measure in table.measures:
            yield fairness_step(at, table, measure)

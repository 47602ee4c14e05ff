"""A dry run of a study, step by step: its real steps, with simulated replies."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path

from fairjudge.api.progress import Bars
from fairjudge.backends.planning import PlanningBackend
from fairjudge.datasets import write_records
from fairjudge.engine.runs import make_folder
from fairjudge.options.building import BuildOptions
from fairjudge.options.models import Model
from fairjudge.run.planning import Plan, check_opens, plan_building, planning, summed
from fairjudge.studies.checks import check_study
from fairjudge.studies.files import Study
from fairjudge.studies.graph import needed_by, steps_of
from fairjudge.studies.record import StudyRecord, locked
from fairjudge.studies.running import do_step, step_key
from fairjudge.studies.steps import RUNS, UNJUDGED, Step, Workplace

_COUNTS = (
    "n_calls", "n_cached", "input_tokens", "cached_input_tokens", "output_tokens", "seconds",
)  # fmt: skip
"""Fields of a plan that add up."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedStep:
    """Estimated calls of one model in one step; ``plan`` is None for a finished step.

    ``nothing`` says why a judge has nothing to judge.
    """

    step: str
    plan: Plan | None
    nothing: str = ""


def plan_study(
    study: Study, folder: Path, *, skip_bad: bool, seconds_per_call: float, progress: Bars
) -> tuple[PlannedStep, ...]:
    """Return the estimated calls of the steps that ask language models.

    Steps on which these build and that send no request are done, and kept: they cost nothing.
    """
    check_study(study, skip_bad=skip_bad)
    make_folder(folder)
    steps = steps_of(study, folder)
    needed = needed_by([step for step in steps if step.models], steps)
    place = Workplace(progress=progress, skip_bad=skip_bad)
    with locked(folder), tempfile.TemporaryDirectory() as scratch, ExitStack() as opened:
        planner = _Planner(
            study=study,
            folder=folder,
            scratch=Path(scratch),
            place=place,
            seconds=seconds_per_call,
            opened=opened,
            record=StudyRecord(folder),
        )
        planned_steps = [step for step in steps if step.name in needed]
        return tuple(row for step in planned_steps for row in planner.rows(step))


@dataclass(kw_only=True)
class _Planner:
    """Runs the steps in a scratch folder, each on the outputs of earlier steps."""

    study: Study
    folder: Path
    scratch: Path
    place: Workplace
    seconds: float
    opened: ExitStack
    record: StudyRecord
    stand_ins: set[Path] = field(default_factory=set)
    planners: dict[str, tuple[Model, PlanningBackend]] = field(default_factory=dict)

    def rows(self, step: Step) -> Iterator[PlannedStep]:
        """Run `step` on placeholders (or really, where it calls no model); yield its estimates."""
        is_certain = not self.stand_ins.intersection(step.reads)
        if is_certain and not step.models:
            do_step(step, self.record, place=self.place, runs=self.folder / RUNS)
        elif is_certain and self.record.done(step.name, key=step_key(step)) is not None:
            yield PlannedStep(step=step.name, plan=None)
        else:
            self.stand_ins.update(step.makes)
            yield from self._plan(step)
            return
        for path in step.makes:
            copy = self.scratch / path.relative_to(self.folder)
            make_folder(copy.parent)
            shutil.copyfile(path, copy)

    def _plan(self, step: Step) -> Iterator[PlannedStep]:
        if step.name == "build" and (options := self.study.build):
            yield PlannedStep(step=step.name, plan=self._plan_references(step, *options))
            return
        before = self._plans()
        twin = self._twin(self.study.asking(self._planned), step.name)
        for path in twin.makes:
            make_folder(path.parent)
        place = replace(self.place, progress=Bars())
        outcome = twin.work(place, self.scratch / RUNS / str(len(self.stand_ins)))
        if any(text.startswith(UNJUDGED) for text in outcome.findings):
            yield PlannedStep(step=step.name, plan=None, nothing=outcome.told)
        for key, plan in self._plans().items():
            further = _further(plan, before.get(key))
            if further.n_calls or further.n_cached:
                yield PlannedStep(step=step.name, plan=further)

    def _planned(self, model: Model) -> Model:
        """Return `model` with one stand-in for all steps: what two of them ask is asked once."""
        key = str(model.identity())
        if key not in self.planners:
            check_opens(model)
            self.planners[key] = model, self.opened.enter_context(planning(model))
        return replace(model, planner=self.planners[key][1])

    def _plans(self) -> dict[str, Plan]:
        return {
            key: summed(planner, model, self.seconds, assumes=())
            for key, (model, planner) in self.planners.items()
        }

    def _plan_references(self, step: Step, model: Model, options: BuildOptions) -> Plan:
        (clusters,), (output,) = step.reads, self._twin(self.study, step.name).makes
        (plan,), references = plan_building(
            clusters,
            options=options,
            model=model,
            skip_bad=self.place.skip_bad,
            seconds_per_call=self.seconds,
        )
        write_records(output, references)
        return plan

    def _twin(self, study: Study, name: str) -> Step:
        """Return the same step in the folder of stand-ins."""
        by_name: Mapping[str, Step] = {step.name: step for step in steps_of(study, self.scratch)}
        return by_name[name]


def _further(plan: Plan, before: Plan | None) -> Plan:
    """Return what `plan` has more than `before`."""
    if before is None:
        return plan
    is_priced = plan.cost_usd is not None and before.cost_usd is not None
    cost_usd = (plan.cost_usd or 0.0) - (before.cost_usd or 0.0) if is_priced else None
    further = {name: getattr(plan, name) - getattr(before, name) for name in _COUNTS}
    return replace(plan, cost_usd=cost_usd, **further)

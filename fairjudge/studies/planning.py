"""Dry run of a study: its real steps, with simulated replies."""

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
from fairjudge.studies.graph import make_steps, required_names
from fairjudge.studies.record import StudyRecord, lock_folder
from fairjudge.studies.running import do_step, step_key
from fairjudge.studies.steps import RUNS, UNJUDGED, Step, StepContext

_COUNTS = (
    "n_calls", "n_cached", "input_tokens", "cached_input_tokens", "output_tokens", "seconds",
)  # fmt: skip
"""Additive fields of a plan."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedStep:
    """Estimated calls of one model in one step.

    ``plan`` is None for a finished step, and for a judge without items; ``reason`` is the reason
    why it has none.
    """

    step: str
    plan: Plan | None
    reason: str = ""


def plan_study(
    study: Study, folder: Path, *, skip_bad: bool, seconds_per_call: float, progress: Bars
) -> tuple[PlannedStep, ...]:
    """Return the estimated calls of the steps that call language models.

    Steps that they depend on and that make no calls are run, and their results recorded.
    """
    check_study(study, skip_bad=skip_bad)
    make_folder(folder)
    steps = make_steps(study, folder)
    required_step_names = required_names([step for step in steps if step.models], steps)
    context = StepContext(progress=progress, skip_bad=skip_bad)
    with (
        lock_folder(folder),
        tempfile.TemporaryDirectory() as scratch,
        ExitStack() as open_planners,
    ):
        planner = _Planner(
            study=study,
            folder=folder,
            scratch=Path(scratch),
            context=context,
            seconds=seconds_per_call,
            open_planners=open_planners,
            record=StudyRecord(folder),
        )
        planned_steps = [step for step in steps if step.name in required_step_names]
        return tuple(row for step in planned_steps for row in planner.rows(step))


@dataclass(kw_only=True)
class _Planner:
    """Runner of the steps in a scratch folder, each on the outputs of earlier steps."""

    study: Study
    folder: Path
    scratch: Path
    context: StepContext
    seconds: float
    open_planners: ExitStack
    record: StudyRecord
    simulated_files: set[Path] = field(default_factory=set)
    planners: dict[str, tuple[Model, PlanningBackend]] = field(default_factory=dict)

    def rows(self, step: Step) -> Iterator[PlannedStep]:
        """Run `step` with simulated replies and yield its estimates; a step without calls is done.

        Outputs of steps after a simulated one are simulated too.
        """
        is_certain = not self.simulated_files.intersection(step.reads)
        if is_certain and not step.models:
            do_step(step, self.record, context=self.context, runs=self.folder / RUNS)
        elif is_certain and self.record.get(step.name, key=step_key(step)) is not None:
            yield PlannedStep(step=step.name, plan=None)
        else:
            self.simulated_files.update(step.makes)
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
        earlier_plans = self._plans()
        scratch_step = self._scratch_step(self.study.map_llms(self._with_planner), step.name)
        for path in scratch_step.makes:
            make_folder(path.parent)
        context = replace(self.context, progress=Bars())
        outcome = scratch_step.work(context, self.scratch / RUNS / str(len(self.simulated_files)))
        if any(text.startswith(UNJUDGED) for text in outcome.findings):
            yield PlannedStep(step=step.name, plan=None, reason=outcome.told)
        for key, plan in self._plans().items():
            new_plan = _difference(plan, earlier_plans.get(key))
            if new_plan.n_calls or new_plan.n_cached:
                yield PlannedStep(step=step.name, plan=new_plan)

    def _with_planner(self, model: Model) -> Model:
        """Return `model` with one simulated backend for all steps; repeated calls count once."""
        key = str(model.identity())
        if key not in self.planners:
            check_opens(model)
            self.planners[key] = model, self.open_planners.enter_context(planning(model))
        return replace(model, planner=self.planners[key][1])

    def _plans(self) -> dict[str, Plan]:
        return {
            key: summed(planner, model, self.seconds, assumes=())
            for key, (model, planner) in self.planners.items()
        }

    def _plan_references(self, step: Step, model: Model, options: BuildOptions) -> Plan:
        (clusters,), (output,) = step.reads, self._scratch_step(self.study, step.name).makes
        (plan,), references = plan_building(
            clusters,
            options=options,
            model=model,
            skip_bad=self.context.skip_bad,
            seconds_per_call=self.seconds,
        )
        write_records(output, references)
        return plan

    def _scratch_step(self, study: Study, name: str) -> Step:
        """Return the step called `name` with outputs in the scratch folder."""
        by_name: Mapping[str, Step] = {step.name: step for step in make_steps(study, self.scratch)}
        return by_name[name]


def _difference(plan: Plan, earlier_plan: Plan | None) -> Plan:
    """Return `plan` minus `earlier_plan`."""
    if earlier_plan is None:
        return plan
    is_priced = plan.cost_usd is not None and earlier_plan.cost_usd is not None
    cost_usd = (plan.cost_usd or 0.0) - (earlier_plan.cost_usd or 0.0) if is_priced else None
    counts = {name: getattr(plan, name) - getattr(earlier_plan, name) for name in _COUNTS}
    return replace(plan, cost_usd=cost_usd, **counts)

"""What a study would ask, step by step, before it asks: its real steps, over stand-ins."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path

from fairjudge.api.progress import Bars
from fairjudge.backends.budgeting import Budget
from fairjudge.backends.planning import PlanningBackend
from fairjudge.datasets import write_records
from fairjudge.options.building import BuildOptions
from fairjudge.options.models import Model
from fairjudge.run.planning import Plan, plan_references, planning, summed
from fairjudge.run.runs import make_folder
from fairjudge.studies.files import Study
from fairjudge.studies.graph import needed_by, steps_of
from fairjudge.studies.record import StudyRecord, locked
from fairjudge.studies.running import RUNS, do_step, step_key
from fairjudge.studies.steps import Step, Workplace


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedStep:
    """What one step would ask one model; ``plan`` is None where the step is done already."""

    step: str
    plan: Plan | None


def plan_study(
    asked: Study, folder: Path, *, skip_bad: bool, seconds_per_call: float, progress: Bars
) -> tuple[PlannedStep, ...]:
    """Return what the steps that ask language models would ask.

    Steps on which these build and that ask nobody are done, and kept: they cost nothing.

    Raises
    ------
    FairJudgeError
        As the study itself would.
    """
    make_folder(folder)
    steps = steps_of(asked, folder)
    needed = needed_by([step for step in steps if step.models], steps)
    place = Workplace(progress=progress, budget=Budget(), skip_bad=skip_bad)
    with (
        locked(folder),
        tempfile.TemporaryDirectory() as scratch,
        _Planner(asked, folder, Path(scratch), place, seconds_per_call) as planner,
    ):
        wanted = [step for step in steps if step.name in needed]
        return tuple(row for step in wanted for row in planner.rows(step))


class _Planner:
    """Goes through the steps in a folder of its own, each on what those before it left there."""

    def __init__(
        self, asked: Study, folder: Path, scratch: Path, place: Workplace, seconds_per_call: float
    ) -> None:
        self._asked, self._folder, self._scratch = asked, folder, scratch
        self._place, self._seconds = place, seconds_per_call
        self._record = StudyRecord(folder)
        self._guessed: set[Path] = set()
        self._open = ExitStack()
        self._planners: dict[str, tuple[Model, PlanningBackend]] = {}

    def __enter__(self) -> _Planner:
        return self

    def __exit__(self, *_error: object) -> None:
        self._open.close()

    def rows(self, step: Step) -> Iterator[PlannedStep]:
        """Do `step` on stand-ins, or for good where it asks nobody; yield what it would ask."""
        is_certain = not self._guessed.intersection(step.reads)
        if is_certain and not step.models:
            do_step(step, self._record, place=self._place, runs=self._folder / RUNS)
        elif is_certain and self._record.done(step.name, key=step_key(step)) is not None:
            yield PlannedStep(step=step.name, plan=None)
        else:
            self._guessed.update(step.makes)
            yield from self._guess(step)
            return
        for path in step.makes:
            made = self._scratch / path.relative_to(self._folder)
            make_folder(made.parent)
            shutil.copyfile(path, made)

    def _guess(self, step: Step) -> Iterator[PlannedStep]:
        if step.name == "build" and (asked := self._asked.build):
            yield PlannedStep(step=step.name, plan=self._guess_references(step, *asked))
            return
        before = self._plans()
        twin = self._twin(self._asked.asking(self._planned), step.name)
        for path in twin.makes:
            make_folder(path.parent)
        place = replace(self._place, progress=Bars(), budget=Budget())
        twin.work(place, self._scratch / RUNS / str(len(self._guessed)))
        for key, plan in self._plans().items():
            found = _further(plan, before.get(key))
            if found.n_calls or found.n_cached:
                yield PlannedStep(step=step.name, plan=found)

    def _planned(self, model: Model) -> Model:
        """Return `model` with one stand-in for all steps: what two of them ask is asked once."""
        key = str(model.identity())
        if key not in self._planners:
            self._planners[key] = model, self._open.enter_context(planning(model))
        return replace(model, planner=self._planners[key][1])

    def _plans(self) -> dict[str, Plan]:
        return {
            key: summed(planner, model, self._seconds, assumes=())
            for key, (model, planner) in self._planners.items()
        }

    def _guess_references(self, step: Step, model: Model, options: BuildOptions) -> Plan:
        (clusters,), (output,) = step.reads, self._twin(self._asked, step.name).makes
        plan, references = plan_references(
            clusters,
            options=options,
            model=model,
            skip_bad=self._place.skip_bad,
            seconds_per_call=self._seconds,
        )
        write_records(output, references)
        return plan

    def _twin(self, asked: Study, name: str) -> Step:
        """Return the same step in the folder of stand-ins."""
        by_name: Mapping[str, Step] = {one.name: one for one in steps_of(asked, self._scratch)}
        return by_name[name]


def _further(plan: Plan, before: Plan | None) -> Plan:
    """Return what `plan` has more than `before`."""
    if before is None:
        return plan
    known = plan.cost_usd is not None and before.cost_usd is not None
    return replace(
        plan,
        n_calls=plan.n_calls - before.n_calls,
        n_cached=plan.n_cached - before.n_cached,
        input_tokens=plan.input_tokens - before.input_tokens,
        cached_input_tokens=plan.cached_input_tokens - before.cached_input_tokens,
        output_tokens=plan.output_tokens - before.output_tokens,
        cost_usd=(plan.cost_usd or 0.0) - (before.cost_usd or 0.0) if known else None,
        seconds=plan.seconds - before.seconds,
    )

"""The steps of a study: a small graph by the files that they read and make."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from fairjudge.errors import InputError
from fairjudge.studies.files import LOCAL_MODEL, JudgePart, Study
from fairjudge.studies.measuring import (
    asking_audit_step,
    calibrate_step,
    fairness_step,
    free_audit_step,
    free_audits,
    report_step,
)
from fairjudge.studies.steps import Step, build_step, gather_step, judge_step, summarize_step


def steps_of(study: Study, folder: Path) -> tuple[Step, ...]:
    """Return the steps of `study`, which write to `folder`, each after those that it builds on."""
    return tuple(_Steps(study, folder))


def needed_by(wanted: Iterable[Step], steps: Sequence[Step]) -> set[str]:
    """Return the names of the steps that `wanted` build on, themselves included."""
    makers = {path: step.name for step in steps for path in step.makes}
    before = {step.name: {makers[path] for path in step.reads if path in makers} for step in steps}
    names = set[str]()
    waiting = [step.name for step in wanted]
    while waiting:
        name = waiting.pop()
        if name not in names:
            names.add(name)
            waiting += before[name]
    return names


class _Steps:
    """Goes through a study's tables, in the order in which a reader would."""

    def __init__(self, study: Study, folder: Path) -> None:
        self._study, self._folder = study, folder
        self._seed = study.tables.seed
        written = [folder / "summaries" / f"{table.system}.jsonl" for table, _ in study.writers]
        self._written = tuple(written)
        files = (*study.data.summaries, *written)
        self._summary_files = files
        self._summaries = files[0] if len(files) == 1 else folder / "summaries.jsonl"
        built = None if study.build is None else folder / "references.jsonl"
        self._references = built or study.data.references

    def __iter__(self) -> Iterator[Step]:
        study = self._study
        if study.build is not None and study.data.clusters and self._references:
            model, options = study.build
            yield build_step(study.data.clusters, self._references, model=model, options=options)
        for (table, model), path in zip(study.writers, self._written, strict=True):
            if study.data.clusters:
                yield summarize_step(study.data.clusters, path, model=model, table=table)
        if len(self._summary_files) > 1:
            yield gather_step(self._summary_files, self._summaries)
        for part in study.judges:
            yield from self._judging(part)
        made = [*self._measured()]
        yield from made
        yield self._report([path for step in made for path in step.makes])

    @property
    def _sources(self) -> Path:
        """The articles with all that is known of them, for what needs no questions."""
        found = self._references or self._study.data.clusters
        if found is None:
            raise InputError("a study needs clusters or references")
        return found

    @property
    def _clusters(self) -> Path:
        return self._study.data.clusters or self._sources

    def _judged(self, part: JudgePart) -> Path:
        return self._folder / "judgements" / f"{part.name}.jsonl"

    def _audited(self, part: JudgePart, kind: str) -> Path:
        return self._folder / "audits" / f"{part.name}.{kind}.json"

    def _judging(self, part: JudgePart) -> Iterator[Step]:
        where = {"sources": self._sources, "summaries": self._summaries}
        judged = self._judged(part)
        yield judge_step(where["sources"], where["summaries"], judged, part=part, seed=self._seed)
        for kind in free_audits(part):
            yield free_audit_step(kind, judged, self._audited(part, kind), **where)
        for asked in part.audits:
            yield asking_audit_step(asked, part, self._audited(part, asked), **where)

    def _measured(self) -> Iterator[Step]:
        study, seed = self._study, self._seed
        if study.tables.calibrate is not None and study.data.labels is not None:
            yield calibrate_step(
                [self._judged(part) for part in study.judges],
                study.data.labels,
                self._folder,
                table=study.tables.calibrate,
                summaries=self._summaries,
                sources=self._sources,
                seed=seed,
            )
        judged = {part.name: self._judged(part) for part in study.judges}
        for table in study.tables.fairness:
            own = table.scorer != LOCAL_MODEL
            for measure in table.measures:
                yield fairness_step(
                    measure,
                    table,
                    self._folder / "fairness" / f"{table.attribute}.{measure}.json",
                    sources=self._clusters,
                    summaries=self._summaries,
                    scored=(judged[table.scorer], self._references) if own else None,
                    seed=seed,
                )

    def _report(self, measured: Sequence[Path]) -> Step:
        """Return the step of the page; calibrated scores and calibrators are not for it."""
        study = self._study
        shown = [
            path for path in measured if path.suffix == ".json" and path.name != "calibrators.json"
        ]
        asked = [self._audited(part, kind) for part in study.judges for kind in part.audits]
        judged = [self._judged(part) for part in study.judges]
        return report_step(
            [*judged, *asked, *shown],
            self._folder / "report.html",
            title=study.tables.title,
            seed=self._seed,
            sources=self._sources,
            summaries=self._summaries,
            labels=study.data.labels,
        )

"""The steps that make something of judgements: audits, calibration, fairness and the report."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from fairjudge.analysis.auditing import (
    covered_by,
    length_by,
    parse_report,
    position_report,
    verbosity_report,
)
from fairjudge.analysis.stability import stability_report
from fairjudge.api import fairness
from fairjudge.api.calibrating import calibrate
from fairjudge.api.judging import JudgeResult
from fairjudge.api.reporting import report
from fairjudge.datasets import (
    Loaded,
    read_judgements,
    read_references,
    read_summaries,
    write_records,
)
from fairjudge.domain import Judgement, ProtocolName, Reference
from fairjudge.records import write_atomically
from fairjudge.reports.calibration_tables import verdict
from fairjudge.reports.fairness_findings import fairness_findings
from fairjudge.reports.measured_findings import findings_of, with_findings
from fairjudge.run.collecting import AuditInput, collect
from fairjudge.run.probing import checks_report, order_report
from fairjudge.run.running import run_to_end
from fairjudge.studies.files import (
    LOCAL_MODEL,
    Audit,
    CalibrateTable,
    FairnessTable,
    JudgePart,
    Measure,
)
from fairjudge.studies.record import Done
from fairjudge.studies.steps import Step, Workplace, asking
from fairjudge.text.printable import counted

_Figures = Mapping[str, Any]
_SWAYS = {"audit position", "audit verbosity", "audit order", "audit checks", "audit stability"}


def free_audits(part: JudgePart) -> tuple[str, ...]:
    """Return the audits that the judgements of `part` allow, and nobody need be asked for."""
    options, protocol = part.options, part.options.plans()[0].protocol
    repeated = options.repeats > 1 or options.prompt_variants > 1 or options.paraphrases
    return (
        "parse",
        *(("position", "length") if protocol == "pairwise" else ()),
        *(("covered",) if protocol == "checklist" else ()),
        *(("stability",) if repeated else ()),
    )


def free_audit_step(
    kind: str, judgements: Path, output: Path, *, sources: Path, summaries: Path
) -> Step:
    """Return the step of one audit of the judgements that are there."""

    def work(place: Workplace, _run: Path) -> Done:
        rows = read_judgements(judgements, skip_bad=place.skip_bad).records
        makers: Mapping[str, Callable[[], _Figures]] = {
            "parse": lambda: parse_report(rows),
            "position": lambda: position_report(rows, labels=None, close_within=0.5),
            "length": lambda: length_by(
                rows, read_summaries(summaries, skip_bad=place.skip_bad).records
            ),
            "covered": lambda: covered_by(rows, read_references(sources).records),
            "stability": lambda: stability_report(rows),
        }
        return _found(output, f"audit {kind}", makers[kind]())

    return Step(
        name=f"audit {kind}: {judgements.stem}",
        reads=(judgements, *{"length": (summaries,), "covered": (sources,)}.get(kind, ())),
        makes=(output,),
        settings={"kind": kind},
        work=work,
    )


def asking_audit_step(
    kind: Audit, part: JudgePart, output: Path, *, sources: Path, summaries: Path
) -> Step:
    """Return the step of an audit that asks the judge of `part` more."""
    (model,), plan = part.models, part.options.plans()[0]
    protocol: ProtocolName = "pairwise" if plan.protocol == "pairwise" else "likert"

    def work(place: Workplace, run: Path) -> Done:
        shared: dict[str, Any] = {
            "model": model,
            "progress": place.progress.counter(f"{kind}: {part.name}"),
            "budget": place.budget,
        }
        alone = {"run": run, "skip_bad": place.skip_bad, **shared}
        figures: _Figures
        match kind:
            case "verbosity":
                given = AuditInput(
                    references=sources, summaries=summaries, run=run, skip_bad=place.skip_bad
                )
                rows = collect(
                    given, aspect=plan.aspect, protocol=protocol, probes=("extended",), **shared
                )
                figures = verbosity_report(rows)
            case "order":
                figures = run_to_end(
                    order_report(sources, summaries, max_articles=3, n_shuffles=3, **alone)
                )
            case "checks":
                figures = run_to_end(checks_report(sources, summaries, aspect=plan.aspect, **alone))
        return _found(output, f"audit {kind}", figures)

    return Step(
        name=f"audit {kind}: {part.name}",
        reads=(sources, summaries),
        makes=(output,),
        settings={"model": model.identity(), "aspect": plan.aspect, "protocol": protocol},
        models=asking(model),
        work=work,
    )


def calibrate_step(
    judged: Sequence[Path],
    labels: Path,
    folder: Path,
    *,
    table: CalibrateTable,
    summaries: Path,
    sources: Path,
    seed: int,
) -> Step:
    """Return the step that measures all judges against people, and calibrates their scores."""
    output, calibrators = folder / "calibration.json", folder / "calibrators.json"
    calibrated = tuple(folder / "calibrated" / path.name for path in judged)

    def work(place: Workplace, _run: Path) -> Done:
        files: list[Loaded[Judgement]] = [
            read_judgements(path, skip_bad=place.skip_bad) for path in judged
        ]
        found = calibrate(
            [row for file in files for row in file],
            labels,
            method=table.method,
            annotators=table.annotators,
            label_scale=table.label_scale,
            summaries=summaries,
            clusters=sources,
            margin=table.margin,
            n_resamples=table.resamples,
            seed=seed,
        )
        figures = found.to_dict()
        _write_json(output, figures)
        if found.calibrators:
            found.save(calibrators)
            for file, path in zip(files, calibrated, strict=True):
                write_records(path, found.apply(file.records).judgements)
        groups = figures["groups"]
        said = [
            f"{one['judge']} against people, {one['aspect']} by {one['protocol']}: {verdict(one)}."
            for one in groups
        ]
        return Done(
            told=f"{counted(len(groups), 'judge')}, {counted(len(found.calibrators), 'curve')}",
            findings=tuple(said),
        )

    return Step(
        name="calibrate",
        reads=(*judged, labels, summaries, sources),
        makes=(output, calibrators, *calibrated),
        settings={"table": table.model_dump(mode="json"), "seed": seed},
        work=work,
    )


def fairness_step(
    measure: Measure,
    table: FairnessTable,
    output: Path,
    *,
    sources: Path,
    summaries: Path,
    scored: tuple[Path, Path | None] | None,
    seed: int,
) -> Step:
    """Return the step of one fairness measure.

    Parameters
    ----------
    scored
        The judgements that say how far articles are covered, with the references that checklists
        are about; None for the local model.
    """
    shared: dict[str, Any] = {"attribute": table.attribute, "bins": table.bins, "seed": seed}

    def scorer(place: Workplace) -> JudgeResult | str:
        if scored is None:
            return LOCAL_MODEL
        judgements, references = scored
        known: tuple[Reference, ...] = ()
        if references is not None:
            known = read_references(references, skip_bad=place.skip_bad).records
        rows = read_judgements(judgements, skip_bad=place.skip_bad).records
        return JudgeResult(judgements=rows, references=known)

    def work(place: Workplace, _run: Path) -> Done:
        if measure == "coverage":
            figures = fairness.coverage(
                sources, summaries, scorer=scorer(place), **shared
            ).to_dict()
        else:
            figures = fairness.proportionality(sources, summaries, **shared).to_dict()
        _write_json(output, figures)
        return Done(told="done", findings=fairness_findings(figures)[:1])

    more = () if scored is None else tuple(path for path in scored if path is not None)
    return Step(
        name=f"fairness {measure}: {table.attribute}",
        reads=(sources, summaries, *(more if measure == "coverage" else ())),
        makes=(output,),
        settings={"table": table.model_dump(mode="json"), "seed": seed},
        work=work,
    )


def report_step(
    inputs: Sequence[Path],
    output: Path,
    *,
    title: str,
    seed: int,
    sources: Path,
    summaries: Path,
    labels: Path | None,
) -> Step:
    """Return the step that writes one page about everything."""

    def work(_place: Workplace, _run: Path) -> Done:
        page = report(
            *inputs,
            references=sources,
            summaries=summaries,
            labels=labels,
            title=title,
            seed=seed,
        )
        page.save(output)
        return Done(told=f"{len(page.html.encode()) / 1e6:.1f} MB")

    return Step(
        name="report",
        reads=(sources, summaries, *(() if labels is None else (labels,)), *inputs),
        makes=(output,),
        settings={"title": title, "seed": seed},
        work=work,
    )


def _found(output: Path, kind: str, figures: _Figures) -> Done:
    """Write what an audit found; of what sways the judge, the first sentence is for all to see."""
    _write_json(output, with_findings(kind, figures))
    return Done(told="done", findings=findings_of(kind, figures)[:1] if kind in _SWAYS else ())


def _write_json(path: Path, value: _Figures) -> None:
    write_atomically(path, json.dumps(value, indent=1, ensure_ascii=False) + "\n")

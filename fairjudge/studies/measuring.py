"""The steps that use judgements: audits, calibration, fairness and the report."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from fairjudge.analysis.calibrating import apply_to
from fairjudge.analysis.judged_inputs import (
    JudgedInputs,
    of_jury,
    requests_of,
    spent_by,
    with_spent,
)
from fairjudge.api import audit, fairness
from fairjudge.api.calibrating import calibrate
from fairjudge.api.findings import Findings
from fairjudge.api.judging import JudgeResult
from fairjudge.api.reporting import report
from fairjudge.auditing.reports import verbosity_report
from fairjudge.calibration.grouping import GroupKey, by_group
from fairjudge.calibration.protocol_table import JudgingCost
from fairjudge.datasets import (
    Loaded,
    read_clusters,
    read_judgements,
    read_labels,
    read_references,
    read_summaries,
    write_records,
)
from fairjudge.domain import Judgement, ProtocolName, Summary
from fairjudge.engine.coroutines import run_to_end
from fairjudge.engine.costs import SPENT
from fairjudge.errors import InputError
from fairjudge.judges.tasks import JudgingPlan
from fairjudge.protocols import PROTOCOLS
from fairjudge.records.folder import kept_rows, write_atomically
from fairjudge.records.schema import report_text
from fairjudge.reports.decision_tables import group_title, verdict, with_juries
from fairjudge.reports.figures import protocol_of
from fairjudge.reports.measure_findings import fairness_findings
from fairjudge.reports.protocol_tables import jury_findings
from fairjudge.run.collecting import collect
from fairjudge.run.probing import checks_report, order_report
from fairjudge.studies.files import (
    LOCAL_MODEL,
    Audit,
    CalibrateTable,
    FairnessTable,
    JudgePart,
    Measure,
)
from fairjudge.studies.places import in_keys
from fairjudge.studies.record import StepRecord
from fairjudge.studies.steps import RUNS, Layout, Step, Workplace, asking, run_folders
from fairjudge.text.counting import pluralize

_SWAYS = {"audit position", "audit verbosity", "audit order", "audit checks", "audit stability"}


def free_audits(part: JudgePart) -> tuple[str, ...]:
    """Return the audits of `part` that need no further calls."""
    options, plan = part.options, part.options.plans()[0]
    protocol, listed = plan.protocol, PROTOCOLS[plan.protocol].itemized
    repeated = options.repeats > 1 or options.prompt_variants > 1 or options.paraphrases
    return (
        "parse",
        *(("position", "length") if PROTOCOLS[protocol].paired else ()),
        *(("covered",) if _names_sources(plan) else ()),
        *(("statements",) if listed and plan.aspect == "faithfulness" else ()),
        *(("stability",) if repeated else ()),
    )


def _names_sources(plan: JudgingPlan) -> bool:
    """Return whether judgements are of each answer, article or source, not of all together."""
    itemized = PROTOCOLS[plan.protocol].itemized and plan.aspect == "coverage"
    single = plan.reference_unit in {"qa_pair", "article"} and plan.text_unit == "summary"
    return itemized or (single and not PROTOCOLS[plan.protocol].paired)


def free_audit_step(at: Layout, part: JudgePart, kind: str) -> Step:
    """Return the step of one audit of the judgements that are there."""
    judgements, output = at.judgements_by(part), at.audit_of(part, kind)
    beside = {
        "length": (at.summaries,),
        "covered": (at.sources,),
        "statements": (at.sources, at.summaries),
    }.get(kind, ())

    def work(place: Workplace, _run: Path) -> StepRecord:
        rows = _judgements(judgements, place)
        if kind == "parse" and not rows.records:
            output.unlink(missing_ok=True)
            return StepRecord(told="nothing was judged")
        makers: Mapping[str, Callable[[], Findings]] = {
            "parse": lambda: audit.parse(rows),
            "position": lambda: audit.position(rows),
            "length": lambda: audit.length(rows, _summaries(at, place)),
            "covered": lambda: audit.covered(rows, _sources(at, place)),
            "statements": lambda: audit.statements(
                rows, _sources(at, place), summaries=_summaries(at, place)
            ),
            "stability": lambda: audit.stability(rows),
        }
        name = f"audit {kind} of {part.name}"
        return _or_nothing(output, name, lambda: _audit_record(output, makers[kind](), part))

    return Step(
        name=f"audit {kind}: {part.name}",
        reads=(judgements, *beside),
        makes=(output,),
        settings={"kind": kind},
        work=work,
    )


def asking_audit_step(at: Layout, part: JudgePart, kind: Audit) -> Step:
    """Return the step of an audit that asks the judge of `part` more."""
    sources, summaries, output = at.sources, at.summaries, at.audit_of(part, kind)
    (model,), plan = part.models, part.options.plans()[0]
    protocol: ProtocolName = "pairwise" if PROTOCOLS[plan.protocol].paired else "likert"

    def work(place: Workplace, run: Path) -> StepRecord:
        return _or_nothing(output, f"audit {kind} of {part.name}", lambda: ask(place, run))

    def ask(place: Workplace, run: Path) -> StepRecord:
        shared: dict[str, Any] = {
            "model": model,
            "progress": place.progress.counter(f"{kind}: {part.name}"),
        }
        options: dict[str, Any] = {"run": run, "skip_bad": place.skip_bad}
        figures: dict[str, Any]
        match kind:
            case "verbosity":
                inputs = {"references": sources, "summaries": summaries, **options}
                target: dict[str, Any] = {"aspect": plan.aspect, "protocol": protocol}
                figures = verbosity_report(
                    collect(**inputs, probes=("extended",), **target, **shared)
                )
            case "order":
                figures = run_to_end(
                    order_report(
                        sources, summaries, max_articles=3, n_shuffles=3, **options, **shared
                    )
                )
            case "checks":
                figures = run_to_end(
                    checks_report(sources, summaries, aspect=plan.aspect, **options, **shared)
                )
        return _audit_record(output, Findings(f"audit {kind}", figures), part)

    return Step(
        name=f"audit {kind}: {part.name}",
        reads=(sources, summaries),
        makes=(output,),
        settings={"model": model.identity(), "aspect": plan.aspect, "protocol": protocol},
        models=asking(model),
        work=work,
    )


def calibrate_step(at: Layout, table: CalibrateTable, labels: Path) -> Step:
    """Return the step that measures all judges against people, and calibrates their scores."""
    output, calibrators = at.folder / "calibration.json", at.folder / "calibrators.json"
    judged, seed = tuple(map(at.judgements_by, at.study.judges)), at.study.tables.seed
    calibrated = tuple(at.folder / "calibrated" / path.name for path in judged)
    by_juries = at.folder / "calibrated" / "jury.jsonl"

    def work(place: Workplace, _run: Path) -> StepRecord:
        files = [_judgements(path, place) for path in judged]
        texts: dict[str, Any] = {
            "summaries": _summaries(at, place),
            "clusters": read_clusters(at.sources, skip_bad=place.skip_bad),
        }
        calibration = calibrate(
            _with_costs(at, files),
            read_labels(labels, skip_bad=place.skip_bad),
            method=table.method,
            annotators=table.annotators,
            label_scale=table.label_scale,
            **texts,
            margin=table.margin,
            covariates=table.covariates,
            n_resamples=table.resamples,
            seed=seed,
        )
        figures = calibration.to_dict()
        _write_json(output, figures)
        if calibration.calibrators:
            calibration.save(calibrators)
            for file, path in zip(files, calibrated, strict=True):
                write_records(path, calibration.apply(file.records).judgements)
            every = apply_to(
                calibration.fitted_juries, [row for file in files for row in file], **texts
            )
            if every.n_by_juries:
                write_records(by_juries, every.judgements[: every.n_by_juries])
        n_judges = pluralize(len(figures["groups"]), "judge")
        n_curves = pluralize(len(calibration.calibrators), "curve")
        return StepRecord(
            told=f"{n_judges}, {n_curves}", findings=tuple(_calibration_findings(figures))
        )

    return Step(
        name="calibrate",
        reads=(*judged, labels, at.summaries, at.sources),
        makes=(output, calibrators, *calibrated, by_juries),
        settings={"table": table.model_dump(mode="json"), "seed": seed},
        work=work,
    )


def _calibration_findings(figures: Mapping[str, Any]) -> Iterator[str]:
    """Yield what each judge may be used for, then what juries add and may be used for."""
    groups = figures["groups"]
    for group in groups:
        yield (
            f"{group['judge']} against people, {group['aspect']} by {protocol_of(group)}: "
            f"{in_keys(verdict(group))}."
        )
    yield from jury_findings(figures)
    for group in with_juries(figures)[len(groups) :]:
        yield f"{group_title(group)}: {in_keys(verdict(group))}."


def _with_costs(at: Layout, files: Sequence[Loaded[Judgement]]) -> JudgedInputs:
    """Return all judgements, with what the study's own runs spent on them."""
    rows = tuple(row for file in files for row in file)
    spent: dict[GroupKey, JudgingCost] = {}
    file_of_costs = f"{SPENT}.jsonl"
    for part, file in zip(at.study.judges, files, strict=True):
        folders = [*run_folders(at.folder / RUNS, f"judge {part.name}")]
        groups = by_group(file)
        if len(part.models) > 1:
            costs: list[Mapping[str, Any]] = [
                {"judge": model.target, **row}
                for place, model in enumerate(part.models, 1)
                for folder in folders
                for row in kept_rows(folder / f"member-{place}" / file_of_costs)
            ]
            spent |= of_jury(groups, costs) if costs else {}
        elif costs := [row for folder in folders for row in kept_rows(folder / file_of_costs)]:
            spent |= dict.fromkeys(groups, spent_by(costs))
    return JudgedInputs(rows=rows, requests=with_spent(requests_of(rows), spent))


def fairness_step(at: Layout, table: FairnessTable, measure: Measure) -> Step:
    """Return the step of one fairness measure."""
    output = at.folder / "fairness" / f"{table.attribute}.{measure}.json"
    seed = at.study.tables.seed
    shared: dict[str, Any] = {"attribute": table.attribute, "bins": table.bins, "seed": seed}
    # The judgements that say how far articles are covered, and what checklists are about.
    own = [part for part in at.study.judges if part.name == table.scorer != LOCAL_MODEL]
    scored = tuple(map(at.judgements_by, own))
    inputs = (*scored, *filter(None, [at.references])) if scored else ()

    def scorer(place: Workplace) -> JudgeResult | str:
        if not scored:
            return LOCAL_MODEL
        judgements = _judgements(scored[0], place).records
        references = () if at.references is None else _sources(at, place).records
        return JudgeResult(judgements=judgements, references=references)

    def work(place: Workplace, _run: Path) -> StepRecord:
        return _or_nothing(output, f"fairness {measure}", lambda: measured(place))

    def measured(place: Workplace) -> StepRecord:
        files = (read_clusters(at.clusters, skip_bad=place.skip_bad), _summaries(at, place))
        if measure == "coverage":
            figures = fairness.coverage(*files, scorer=scorer(place), **shared).to_dict()
        else:
            figures = fairness.proportionality(*files, **shared).to_dict()
        _write_json(output, figures)
        return StepRecord(told="done", findings=tuple(fairness_findings(figures))[:1])

    return Step(
        name=f"fairness {measure}: {table.attribute}",
        reads=(at.clusters, at.summaries, *(inputs if measure == "coverage" else ())),
        makes=(output,),
        settings={"table": table.model_dump(mode="json"), "seed": seed},
        work=work,
    )


def report_step(at: Layout, inputs: Sequence[Path]) -> Step:
    """Return the step that writes one page about everything."""
    output, labels = at.folder / "report.html", at.study.data.labels
    table = at.study.tables.calibrate or CalibrateTable()
    options: dict[str, Any] = {
        "title": at.study.tables.title,
        "annotators": table.annotators,
        "label_scale": table.label_scale,
        "seed": at.study.tables.seed,
    }

    def work(place: Workplace, _run: Path) -> StepRecord:
        page = report(
            # A step may have had nothing.
            *(path for path in inputs if path.exists() and path.stat().st_size),
            references=_sources(at, place),
            summaries=_summaries(at, place),
            labels=None if labels is None else read_labels(labels, skip_bad=place.skip_bad),
            **options,
        )
        page.save(output)
        return StepRecord(told=f"{len(page.html.encode()) / 1e6:.1f} MB")

    return Step(
        name="report",
        reads=(at.sources, at.summaries, *filter(None, [labels]), *inputs),
        makes=(output,),
        settings=options,
        work=work,
    )


def _judgements(path: Path, place: Workplace) -> Loaded[Judgement]:
    """Return a judge's judgements; none if it had nothing to judge."""
    if path.stat().st_size == 0:
        return Loaded(path=str(path), records=(), lines=())
    return read_judgements(path, skip_bad=place.skip_bad)


def _sources(at: Layout, place: Workplace) -> Loaded[Any]:
    """Return the references if there are questions, else the clusters."""
    reader = read_clusters if at.references is None else read_references
    return reader(at.sources, skip_bad=place.skip_bad)


def _summaries(at: Layout, place: Workplace) -> Loaded[Summary]:
    return read_summaries(at.summaries, skip_bad=place.skip_bad)


def _or_nothing(output: Path, name: str, make: Callable[[], StepRecord]) -> StepRecord:
    """Run `make`; inputs without usable data give a note in place of a file."""
    try:
        return make()
    except InputError as error:
        output.unlink(missing_ok=True)
        return StepRecord(
            told=f"nothing: {error.problem}", findings=(f"No {name}: {error.problem}.",)
        )


def _audit_record(output: Path, findings: Findings, part: JudgePart) -> StepRecord:
    """Write an audit's results; return the first sentence on each bias as a finding."""
    _write_json(output, findings.to_dict())
    first = findings.findings[:1] if findings.kind in _SWAYS else ()
    return StepRecord(told="done", findings=tuple(f"{part.name}: {text}" for text in first))


def _write_json(path: Path, value: Mapping[str, Any]) -> None:
    write_atomically(path, report_text(value))

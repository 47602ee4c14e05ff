"""Steps that analyse judgements: audits, calibration, fairness and the report."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from fairjudge.analysis.calibrating import apply_to
from fairjudge.analysis.judged_inputs import (
    JudgedInputs,
    judging_cost,
    jury_costs,
    requests_of,
    with_spent,
)
from fairjudge.api import audit, fairness
from fairjudge.api.calibrating import calibrate
from fairjudge.api.findings import Findings
from fairjudge.api.judging import JudgeResult
from fairjudge.api.reporting import report
from fairjudge.auditing.reports import verbosity_report
from fairjudge.calibration.grouping import GroupKey, group_judgements
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
from fairjudge.records.folder import run_rows, write_atomically
from fairjudge.records.schema import report_text
from fairjudge.reports.decision_tables import group_title, verdict, with_juries
from fairjudge.reports.figures import protocol_in_words
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
from fairjudge.studies.key_lines import flags_to_keys
from fairjudge.studies.record import StepRecord
from fairjudge.studies.steps import RUNS, Layout, Step, StepContext, language_models, run_folders
from fairjudge.text.counting import pluralize

_BIAS_AUDITS = {
    "audit position",
    "audit verbosity",
    "audit order",
    "audit checks",
    "audit stability",
}


def free_audits(part: JudgePart) -> tuple[str, ...]:
    """Return the audits of `part` that need no further calls."""
    options, plan = part.options, part.options.plans()[0]
    protocol, is_itemized = plan.protocol, PROTOCOLS[plan.protocol].itemized
    has_repeats = options.repeats > 1 or options.prompt_variants > 1 or options.paraphrases
    return (
        "parse",
        *(("position", "length") if PROTOCOLS[protocol].paired else ()),
        *(("covered",) if _names_sources(plan) else ()),
        *(("statements",) if is_itemized and plan.aspect == "faithfulness" else ()),
        *(("stability",) if has_repeats else ()),
    )


def _names_sources(plan: JudgingPlan) -> bool:
    """Return whether judgements are per answer, article or source rather than per summary."""
    is_itemized = PROTOCOLS[plan.protocol].itemized and plan.aspect == "coverage"
    is_single_unit = plan.reference_unit in {"qa_pair", "article"} and plan.text_unit == "summary"
    return is_itemized or (is_single_unit and not PROTOCOLS[plan.protocol].paired)


def free_audit_step(layout: Layout, part: JudgePart, kind: str) -> Step:
    """Return the step of one audit of the existing judgements."""
    judgements, output = layout.judgements_path(part), layout.audit_path(part, kind)
    other_inputs = {
        "length": (layout.summaries,),
        "covered": (layout.sources,),
        "statements": (layout.sources, layout.summaries),
    }.get(kind, ())

    def work(context: StepContext, _run: Path) -> StepRecord:
        rows = _judgements(judgements, context)
        if kind == "parse" and not rows.records:
            output.unlink(missing_ok=True)
            return StepRecord(told="nothing was judged")
        audits: Mapping[str, Callable[[], Findings]] = {
            "parse": lambda: audit.parse(rows),
            "position": lambda: audit.position(rows),
            "length": lambda: audit.length(rows, _summaries(layout, context)),
            "covered": lambda: audit.covered(rows, _sources(layout, context)),
            "statements": lambda: audit.statements(
                rows, _sources(layout, context), summaries=_summaries(layout, context)
            ),
            "stability": lambda: audit.stability(rows),
        }
        name = f"audit {kind} of {part.name}"
        return _record_or_note(output, name, lambda: _audit_record(output, audits[kind](), part))

    return Step(
        name=f"audit {kind}: {part.name}",
        reads=(judgements, *other_inputs),
        makes=(output,),
        settings={"kind": kind},
        work=work,
    )


def asking_audit_step(layout: Layout, part: JudgePart, kind: Audit) -> Step:
    """Return the step of an audit that makes further calls to the judge of `part`."""
    sources, summaries, output = layout.sources, layout.summaries, layout.audit_path(part, kind)
    (model,), plan = part.models, part.options.plans()[0]
    protocol: ProtocolName = "pairwise" if PROTOCOLS[plan.protocol].paired else "likert"

    def work(context: StepContext, run: Path) -> StepRecord:
        return _record_or_note(output, f"audit {kind} of {part.name}", lambda: ask(context, run))

    def ask(context: StepContext, run: Path) -> StepRecord:
        model_options: dict[str, Any] = {
            "model": model,
            "progress": context.progress.counter(f"{kind}: {part.name}"),
        }
        options: dict[str, Any] = {"run": run, "skip_bad": context.skip_bad}
        report: dict[str, Any]
        match kind:
            case "verbosity":
                inputs = {"references": sources, "summaries": summaries, **options}
                target: dict[str, Any] = {"aspect": plan.aspect, "protocol": protocol}
                report = verbosity_report(
                    collect(**inputs, probes=("extended",), **target, **model_options)
                )
            case "order":
                report = run_to_end(
                    order_report(
                        sources, summaries, max_articles=3, n_shuffles=3, **options, **model_options
                    )
                )
            case "checks":
                report = run_to_end(
                    checks_report(
                        sources, summaries, aspect=plan.aspect, **options, **model_options
                    )
                )
        return _audit_record(output, Findings(f"audit {kind}", report), part)

    return Step(
        name=f"audit {kind}: {part.name}",
        reads=(sources, summaries),
        makes=(output,),
        settings={"model": model.identity(), "aspect": plan.aspect, "protocol": protocol},
        models=language_models(model),
        work=work,
    )


def calibrate_step(layout: Layout, table: CalibrateTable, labels: Path) -> Step:
    """Return the step that compares all judges with human labels and calibrates their scores."""
    output, calibrators = layout.folder / "calibration.json", layout.folder / "calibrators.json"
    judgement_paths = tuple(map(layout.judgements_path, layout.study.judges))
    seed = layout.study.tables.seed
    calibrated_paths = tuple(layout.folder / "calibrated" / path.name for path in judgement_paths)
    jury_path = layout.folder / "calibrated" / "jury.jsonl"

    def work(context: StepContext, _run: Path) -> StepRecord:
        files = [_judgements(path, context) for path in judgement_paths]
        texts: dict[str, Any] = {
            "summaries": _summaries(layout, context),
            "clusters": read_clusters(layout.sources, skip_bad=context.skip_bad),
        }
        calibration = calibrate(
            _with_costs(layout, files),
            read_labels(labels, skip_bad=context.skip_bad),
            method=table.method,
            annotators=table.annotators,
            label_scale=table.label_scale,
            **texts,
            margin=table.margin,
            covariates=table.covariates,
            n_resamples=table.resamples,
            seed=seed,
        )
        report = calibration.to_dict()
        _write_json(output, report)
        if calibration.calibrators:
            calibration.save(calibrators)
            for file, path in zip(files, calibrated_paths, strict=True):
                write_records(path, calibration.apply(file.records).judgements)
            applied_result = apply_to(
                calibration.fitted_juries, [row for file in files for row in file], **texts
            )
            if applied_result.n_by_juries:
                write_records(jury_path, applied_result.judgements[: applied_result.n_by_juries])
        n_judges = pluralize(len(report["groups"]), "judge")
        n_curves = pluralize(len(calibration.calibrators), "curve")
        return StepRecord(
            told=f"{n_judges}, {n_curves}", findings=tuple(_calibration_findings(report))
        )

    return Step(
        name="calibrate",
        reads=(*judgement_paths, labels, layout.summaries, layout.sources),
        makes=(output, calibrators, *calibrated_paths, jury_path),
        settings={"table": table.model_dump(mode="json"), "seed": seed},
        work=work,
    )


def _calibration_findings(report: Mapping[str, Any]) -> Iterator[str]:
    """Yield the verdict on each judge, the effect of juries, and the verdict on each jury."""
    groups = report["groups"]
    for group in groups:
        yield (
            f"{group['judge']} against humans, {group['aspect']} by {protocol_in_words(group)}: "
            f"{flags_to_keys(verdict(group))}."
        )
    yield from jury_findings(report)
    for group in with_juries(report)[len(groups) :]:
        yield f"{group_title(group)}: {flags_to_keys(verdict(group))}."


def _with_costs(layout: Layout, files: Sequence[Loaded[Judgement]]) -> JudgedInputs:
    """Return all judgements with their costs in the study's runs."""
    rows = tuple(row for file in files for row in file)
    cost_by_group: dict[GroupKey, JudgingCost] = {}
    file_of_costs = f"{SPENT}.jsonl"
    for part, file in zip(layout.study.judges, files, strict=True):
        folders = [*run_folders(layout.folder / RUNS, f"judge {part.name}")]
        groups = group_judgements(file)
        if len(part.models) > 1:
            costs: list[Mapping[str, Any]] = [
                {"judge": model.target, **row}
                for number, model in enumerate(part.models, 1)
                for folder in folders
                for row in run_rows(folder / f"member-{number}" / file_of_costs)
            ]
            cost_by_group |= jury_costs(groups, costs) if costs else {}
        elif costs := [row for folder in folders for row in run_rows(folder / file_of_costs)]:
            cost_by_group |= dict.fromkeys(groups, judging_cost(costs))
    return JudgedInputs(rows=rows, requests=with_spent(requests_of(rows), cost_by_group))


def fairness_step(layout: Layout, table: FairnessTable, measure: Measure) -> Step:
    """Return the step of one fairness measure."""
    output = layout.folder / "fairness" / f"{table.attribute}.{measure}.json"
    seed = layout.study.tables.seed
    options: dict[str, Any] = {"attribute": table.attribute, "bins": table.bins, "seed": seed}
    # Judgements of coverage, and the references of checklist items.
    scorer_judges = [
        part for part in layout.study.judges if part.name == table.scorer != LOCAL_MODEL
    ]
    scorer_paths = tuple(map(layout.judgements_path, scorer_judges))
    inputs = (*scorer_paths, *filter(None, [layout.references])) if scorer_paths else ()

    def scorer(context: StepContext) -> JudgeResult | str:
        if not scorer_paths:
            return LOCAL_MODEL
        judgements = _judgements(scorer_paths[0], context).records
        references = () if layout.references is None else _sources(layout, context).records
        return JudgeResult(judgements=judgements, references=references)

    def work(context: StepContext, _run: Path) -> StepRecord:
        return _record_or_note(output, f"fairness {measure}", lambda: measure_fairness(context))

    def measure_fairness(context: StepContext) -> StepRecord:
        files = (
            read_clusters(layout.clusters, skip_bad=context.skip_bad),
            _summaries(layout, context),
        )
        if measure == "coverage":
            report = fairness.coverage(*files, scorer=scorer(context), **options).to_dict()
        else:
            report = fairness.proportionality(*files, **options).to_dict()
        _write_json(output, report)
        return StepRecord(told="done", findings=tuple(fairness_findings(report))[:1])

    return Step(
        name=f"fairness {measure}: {table.attribute}",
        reads=(layout.clusters, layout.summaries, *(inputs if measure == "coverage" else ())),
        makes=(output,),
        settings={"table": table.model_dump(mode="json"), "seed": seed},
        work=work,
    )


def report_step(layout: Layout, inputs: Sequence[Path]) -> Step:
    """Return the step that writes the page of all results."""
    output, labels = layout.folder / "report.html", layout.study.data.labels
    table = layout.study.tables.calibrate or CalibrateTable()
    options: dict[str, Any] = {
        "title": layout.study.tables.title,
        "annotators": table.annotators,
        "label_scale": table.label_scale,
        "seed": layout.study.tables.seed,
    }

    def work(context: StepContext, _run: Path) -> StepRecord:
        page = report(
            # Steps without usable data write no file.
            *(path for path in inputs if path.exists() and path.stat().st_size),
            references=_sources(layout, context),
            summaries=_summaries(layout, context),
            labels=None if labels is None else read_labels(labels, skip_bad=context.skip_bad),
            **options,
        )
        page.save(output)
        return StepRecord(told=f"{len(page.html.encode()) / 1e6:.1f} MB")

    return Step(
        name="report",
        reads=(layout.sources, layout.summaries, *filter(None, [labels]), *inputs),
        makes=(output,),
        settings=options,
        work=work,
    )


def _judgements(path: Path, context: StepContext) -> Loaded[Judgement]:
    """Return a judge's judgements; none if it had no items."""
    if path.stat().st_size == 0:
        return Loaded(path=str(path), records=(), lines=())
    return read_judgements(path, skip_bad=context.skip_bad)


def _sources(layout: Layout, context: StepContext) -> Loaded[Any]:
    """Return the references if there are questions, else the clusters."""
    reader = read_clusters if layout.references is None else read_references
    return reader(layout.sources, skip_bad=context.skip_bad)


def _summaries(layout: Layout, context: StepContext) -> Loaded[Summary]:
    return read_summaries(layout.summaries, skip_bad=context.skip_bad)


def _record_or_note(output: Path, name: str, make: Callable[[], StepRecord]) -> StepRecord:
    """Return the result of `make`; for inputs without usable data, a note instead of a file."""
    try:
        return make()
    except InputError as error:
        output.unlink(missing_ok=True)
        return StepRecord(
            told=f"no result: {error.problem}", findings=(f"No {name}: {error.problem}.",)
        )


def _audit_record(output: Path, findings: Findings, part: JudgePart) -> StepRecord:
    """Write an audit's results; return the first sentence on each bias as a finding."""
    _write_json(output, findings.to_dict())
    bias_findings = findings.findings[:1] if findings.kind in _BIAS_AUDITS else ()
    return StepRecord(told="done", findings=tuple(f"{part.name}: {text}" for text in bias_findings))


def _write_json(path: Path, value: Mapping[str, Any]) -> None:
    write_atomically(path, report_text(value))

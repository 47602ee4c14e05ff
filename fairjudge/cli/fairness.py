"""``fairjudge fairness``: are documents of every group represented in the summaries."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

from fairjudge.api import fairness
from fairjudge.api.fairness_inputs import COVERAGE_SCORERS, check_takes_units
from fairjudge.api.fairness_results import CoverageFairness, ProportionalFairness
from fairjudge.cli import (
    display,
    fairness_changes,
    fairness_checks,
    fairness_compare,
    fairness_people,
)
from fairjudge.cli import options as opt
from fairjudge.cli.application import Application
from fairjudge.cli.split import split
from fairjudge.options.declaring import Opt

app = Application(
    name="fairness",
    help="Measure whether documents of every social attribute value are represented.",
    no_args_is_help=True,
)


@app.command("coverage")
@opt.with_options(measure=opt.call_of(fairness.coverage))
def coverage(
    *,
    measure: opt.Call[CoverageFairness],
    save_supports: Annotated[
        Path | None, Opt("Keep the scores, to be read by --scorer matrix:FILE.", panel="Output")
    ] = None,
    max_unscored: opt.MaxUnscored = 0.05,
    skip_bad: opt.SkipBad = False,
    json_file: opt.Json = None,
    figures: opt.Figures = None,
    quiet: opt.Quiet = False,
) -> None:
    """Tell whether summaries cover documents of every value alike: Equal Coverage, Coverage Parity.

    Equal Coverage (EC) is the mean difference between a value's coverage and that of all
    documents; R_EC the share of summaries where it is significant (as published: by a test that
    finds more in small sets); Coverage Parity (CP) says whether the same value keeps being over-
    or under-represented. 0 is fair for all.

        fairjudge fairness coverage clusters.jsonl --summaries s.jsonl --attribute sentiment
    """
    from fairjudge.analysis.fairness import parse_scorer
    from fairjudge.reports.kinds import tables_of

    scorer = parse_scorer(measure.values["scorer"], COVERAGE_SCORERS)
    if measure.values["units"] is not None:
        check_takes_units(scorer)
    result = measure(skip_bad=skip_bad, progress=display.shown(quiet=quiet))
    if save_supports is not None:
        result.save_supports(save_supports)
    report = result.to_dict()
    display.report(report, json_file, tables_of("fairness coverage", report))
    display.save_figures("fairness coverage", report, figures)
    _finish(report, max_unscored)


@app.command("proportional")
@opt.with_options(measure=opt.call_of(fairness.proportionality))
def proportional(
    *,
    measure: opt.Call[ProportionalFairness],
    max_unscored: opt.MaxUnscored = 0.05,
    skip_bad: opt.SkipBad = False,
    json_file: opt.Json = None,
    figures: opt.Figures = None,
    quiet: opt.Quiet = False,
) -> None:
    """Tell whether every value gets its share of the summaries: BUR, UER, AUC and SOF.

    BUR is the share of summaries that under-represent some value, UER the mean shortfall, AUC the
    BUR averaged over all tolerances, SOF how unevenly the shortfall falls on values. All in
    percent; 0 is fair.

        fairjudge fairness proportional clusters.jsonl --summaries s.jsonl --attribute sentiment
    """
    from fairjudge.reports.kinds import tables_of

    report = measure(skip_bad=skip_bad, progress=display.shown(quiet=quiet)).to_dict()
    display.report(report, json_file, tables_of("fairness proportional", report))
    display.save_figures("fairness proportional", report, figures)
    _finish(report, max_unscored)


def _finish(report: Mapping[str, Any], limit: float) -> None:
    """Say by the exit code whether too much is unscored."""
    excluded = report["excluded"]
    display.finish(
        sum(entry["reason"] == "unscored" for entry in excluded),
        len(report["samples"]) + len(excluded),
        limit=limit,
        what=("summary", "summaries"),
    )


app.command("compare")(fairness_changes.compare)
app.command("overall")(fairness_compare.overall)
app.command("agreement")(fairness_compare.agreement)
app.command("people")(fairness_people.people)
app.command("temperature")(fairness_people.temperature)
app.command("chunk-size")(fairness_checks.chunk_size)
app.command("oracle")(fairness_checks.oracle)
app.command("split")(split)

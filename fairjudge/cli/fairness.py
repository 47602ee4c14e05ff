"""``fairjudge fairness``: measure whether summaries represent documents of every group."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

from fairjudge.api import fairness, fairness_checks, fairness_comparing, fairness_people
from fairjudge.api.fairness_inputs import COVERAGE_SCORERS, check_takes_units
from fairjudge.api.fairness_results import CoverageFairness, ProportionalFairness
from fairjudge.cli import display
from fairjudge.cli import options as opt
from fairjudge.cli.application import Application
from fairjudge.cli.reporting import (
    Reporting,
    command_showing,
    reporting_of_reports,
    reporting_with_bars,
)
from fairjudge.cli.terminal import say
from fairjudge.options.declaring import Opt
from fairjudge.options.models import Model
from fairjudge.text.counting import pluralize

app = Application(
    name="fairness",
    help="Measure whether summaries represent documents of every social attribute value.",
)


@app.command("coverage")
@opt.with_options(measure=opt.call_of(fairness.coverage), reporting=reporting_with_bars)
def coverage(
    *,
    measure: opt.Call[CoverageFairness],
    save_supports: Annotated[
        Path | None, Opt("Write the scores to this file, for --scorer matrix:FILE.", panel="Output")
    ] = None,
    max_unscored: opt.MaxUnscored = 0.05,
    reporting: Reporting,
) -> None:
    """Measure how equally documents of every value are covered: Equal Coverage, Coverage Parity.

    Equal Coverage (EC) is the mean difference between the coverage of a value and that of all
    documents. R_EC is the share of summaries where it is significant (also reported as published,
    with a test that is too liberal for small sets). Coverage Parity (CP) measures whether the same
    value is systematically over- or under-represented. For all of them, 0 is fair.

        fairjudge fairness coverage clusters.jsonl --summaries s.jsonl --attribute sentiment
    """
    from fairjudge.analysis.fairness import parse_scorer

    scorer = parse_scorer(measure.values["scorer"], COVERAGE_SCORERS)
    if measure.values["units"] is not None:
        check_takes_units(scorer)
    result = measure(skip_bad=reporting.skip_bad, progress=reporting.progress)
    if save_supports is not None:
        result.save_supports(save_supports)
    _finish("fairness coverage", result.to_dict(), reporting, max_unscored)


@app.command("proportional")
@opt.with_options(measure=opt.call_of(fairness.proportionality), reporting=reporting_with_bars)
def proportional(
    *,
    measure: opt.Call[ProportionalFairness],
    max_unscored: opt.MaxUnscored = 0.05,
    reporting: Reporting,
) -> None:
    """Measure whether every value gets its share of the summaries: BUR, UER, AUC and SOF.

    BUR is the share of summaries that under-represent some value, UER the mean shortfall, AUC the
    BUR averaged over all tolerances, and SOF the inequality of the shortfall between values. They
    are in percent; for each of them, 0 is fair.

        fairjudge fairness proportional clusters.jsonl --summaries s.jsonl --attribute sentiment
    """
    result = measure(skip_bad=reporting.skip_bad, progress=reporting.progress)
    _finish("fairness proportional", result.to_dict(), reporting, max_unscored)


def _finish(kind: str, report: dict[str, Any], reporting: Reporting, limit: float) -> None:
    """Print the report; exit with code 3 if too many summaries are unscored."""
    from fairjudge.reports.kinds import make_tables

    display.show_report(report, reporting.json_file, make_tables(kind, report))
    display.save_figures(kind, report, reporting.figures)
    excluded = report["excluded"]
    display.finish(
        sum(entry["reason"] == "unscored" for entry in excluded),
        len(report["samples"]) + len(excluded),
        limit=limit,
        noun=("summary", "summaries"),
    )


@app.command("compare")
@command_showing(fairness_comparing.compare, reporting_of_reports)
def compare() -> None:
    r"""Compare the fairness measures of variants with those of a baseline.

    Systems are compared by bootstrap over the samples that both have. A negative difference means
    that the variant is fairer, unless the table says otherwise. P-values are corrected for all
    variants and measures in the table.

        fairjudge summarize clusters.jsonl -o s.jsonl --backend openai:gpt-4o-mini \
            --sweep temperature=0.5,1 --sweep sentences=1,5 --sweep fair=party

        fairjudge fairness coverage clusters.jsonl --summaries s.jsonl --attribute party \
            --json coverage.json

        fairjudge fairness compare coverage.json --baseline gpt-4o-mini-direct
    """


@app.command("overall")
@command_showing(fairness_comparing.overall, reporting_of_reports)
def overall() -> None:
    """Rank systems over several data sets: scale each set to 0 (best) to 1 (worst), then average.

    Only systems with a score on every data set are ranked.

        fairjudge fairness overall amazon.json tweets.json --measure coverage_parity

    To average several scorers on one data set:

        fairjudge fairness overall ngram.json bert.json --measure uer --scaling none
    """


@app.command("agreement")
@command_showing(fairness_comparing.agreement, reporting_of_reports)
def agreement() -> None:
    """Compare two scorers, or two measures, by their correlation over summaries and systems.

    Two reports of the same command: correlates each measure between the scorers. One report of
    'coverage' and one of 'proportional': correlates every pair of measures over summaries.

        fairjudge fairness agreement by_embedding.json by_entailment.json

        fairjudge fairness agreement coverage.json shares.json
    """


@app.command("people")
@command_showing(fairness_people.people, reporting_of_reports)
def people() -> None:
    """Test which fairness measures agree better with human judgements.

    Compares Equal Coverage with Proportional Representation over summaries, and Coverage Parity
    with SOF over resampled groups of summaries (coverage fairness, section 5.4).

        fairjudge fairness people coverage.json shares.json --leanings leanings.jsonl
    """


@app.command("temperature")
@command_showing(fairness_people.temperature, reporting_with_bars)
def temperature() -> None:
    r"""Choose the softmax temperature at which a scorer's shares agree best with human shares.

    Use the best one with 'fairness proportional --temperature' (FairSumm, section 6.4, Figure 3).

        fairjudge fairness temperature clusters.jsonl --summaries s.jsonl \
            --attribute sentiment --scorer bert_score --human shares.jsonl
    """


@app.command("chunk-size")
@command_showing(fairness_checks.chunk_size, reporting_with_bars)
def chunk_size() -> None:
    """Choose the chunk size with which a scorer best finds the sources of summary sentences.

    Reports the share of sentences that some document supports (coverage fairness, Table 7). Use the
    best size with 'fairness coverage --max-words'.

        fairjudge fairness chunk-size clusters.jsonl --summaries s.jsonl --sizes 0,50,100
    """


@app.command("oracle")
@command_showing(fairness_checks.oracle, reporting_with_bars)
def oracle() -> None:
    """Check that a scorer detects planted unfairness.

    Pseudo-summaries made of documents of one value ('biased') must score far worse than ones with
    the shares of the source ('balanced'; FairSumm, appendix C).

        fairjudge fairness oracle clusters.jsonl --attribute sentiment --documents 4
    """


@app.command("split")
@opt.with_options(model=opt.options_of(Model, without=opt.LOCAL))
def split(
    summaries: Annotated[Path, Opt("Summaries (eid, system, text).", argument=True)],
    *,
    output: opt.Output,
    model: Model,
    skip_bad: opt.SkipBad = False,
) -> None:
    """Split summaries into atomic content units (one fact each) with an LLM; else into sentences.

    If the LLM's units cannot be parsed or omit much of the summary, its sentences are written
    instead; the fields 'split_by' and 'why' record this.
    """
    from fairjudge.datasets import read_summaries
    from fairjudge.run.splitting import split_file

    units = split_file(
        display.read(read_summaries, summaries, skip_bad=skip_bad),
        output,
        model=model,
    )
    n_units = sum(len(row.units) for _, row in units)
    n_unsplit = sum(row.why is not None for _, row in units)
    n_summaries = pluralize(len(units), "summary", "summaries")
    sentence = f"{n_summaries}, {pluralize(n_units, 'unit')} written to {output}"
    say(sentence + (f"; {n_unsplit} split into sentences" if n_unsplit else ""), err=True)

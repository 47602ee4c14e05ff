"""``fairjudge fairness``: are documents of every group represented in the summaries."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

from fairjudge.api import fairness, fairness_checks, fairness_comparing, fairness_people
from fairjudge.api.fairness_inputs import COVERAGE_SCORERS, check_takes_units
from fairjudge.api.fairness_results import CoverageFairness, ProportionalFairness
from fairjudge.cli import display
from fairjudge.cli import options as opt
from fairjudge.cli.application import Application
from fairjudge.cli.reporting import Reporting, reporting_of_reports, reporting_with_bars, shows
from fairjudge.cli.terminal import say
from fairjudge.options.declaring import Opt
from fairjudge.options.models import Model
from fairjudge.text.counting import pluralize

app = Application(
    name="fairness",
    help="Measure whether documents of every social attribute value are represented.",
)


@app.command("coverage")
@opt.with_options(measure=opt.call_of(fairness.coverage), reporting=reporting_with_bars)
def coverage(
    *,
    measure: opt.Call[CoverageFairness],
    save_supports: Annotated[
        Path | None, Opt("Keep the scores, to be read by --scorer matrix:FILE.", panel="Output")
    ] = None,
    max_unscored: opt.MaxUnscored = 0.05,
    reporting: Reporting,
) -> None:
    """Measure how equally documents of every value are covered: Equal Coverage, Coverage Parity.

    Equal Coverage (EC) is the mean difference between a value's coverage and that of all
    documents; R_EC the share of summaries where it is significant (as published: by a test that
    finds more in small sets); Coverage Parity (CP) says whether the same value keeps being over-
    or under-represented. 0 is fair for all.

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
    BUR averaged over all tolerances, SOF how unevenly the shortfall falls on values. All in
    percent; 0 is fair.

        fairjudge fairness proportional clusters.jsonl --summaries s.jsonl --attribute sentiment
    """
    result = measure(skip_bad=reporting.skip_bad, progress=reporting.progress)
    _finish("fairness proportional", result.to_dict(), reporting, max_unscored)


def _finish(kind: str, report: dict[str, Any], reporting: Reporting, limit: float) -> None:
    """Show the report, and say by the exit code whether too much is unscored."""
    from fairjudge.reports.kinds import tables_of

    display.report(report, reporting.json_file, tables_of(kind, report))
    display.save_figures(kind, report, reporting.figures)
    excluded = report["excluded"]
    display.finish(
        sum(entry["reason"] == "unscored" for entry in excluded),
        len(report["samples"]) + len(excluded),
        limit=limit,
        noun=("summary", "summaries"),
    )


@app.command("compare")
@shows(fairness_comparing.compare, reporting_of_reports)
def compare() -> None:
    r"""Compare the fairness measures of variants with those of a baseline.

    Systems are compared on the samples that both have, by bootstrap over these samples. A
    difference below 0 is fairer. P-values are corrected over all variants and measures shown.

        fairjudge summarize clusters.jsonl -o s.jsonl --backend openai:gpt-4o-mini \
            --sweep temperature=0.5,1 --sweep sentences=1,5 --sweep fair=party

        fairjudge fairness coverage clusters.jsonl --summaries s.jsonl --attribute party \
            --json coverage.json

        fairjudge fairness compare coverage.json --baseline gpt-4o-mini-direct
    """


@app.command("overall")
@shows(fairness_comparing.overall, reporting_of_reports)
def overall() -> None:
    """Rank systems over several data sets: each is scaled to 0 (best) to 1 (worst), then averaged.

    Only systems with a score on every data set are compared.

        fairjudge fairness overall amazon.json tweets.json --measure coverage_parity

    The mean of several scorers on one data set:

        fairjudge fairness overall ngram.json bert.json --measure uer --scaling none
    """


@app.command("agreement")
@shows(fairness_comparing.agreement, reporting_of_reports)
def agreement() -> None:
    """Compare two scorers, or two measures, by their correlation over summaries and systems.

    Two reports of one command: each measure by both scorers. One of coverage and one of
    proportional: every two measures, by summary.

        fairjudge fairness agreement by_embedding.json by_entailment.json

        fairjudge fairness agreement coverage.json shares.json
    """


@app.command("people")
@shows(fairness_people.people, reporting_of_reports)
def people() -> None:
    """Test which measures of fairness agree better with people.

    Over summaries Equal Coverage against Proportional Representation, over resampled groups of
    them Coverage Parity against SOF (coverage fairness, section 5.4).

        fairjudge fairness people coverage.json shares.json --leanings leanings.jsonl
    """


@app.command("temperature")
@shows(fairness_people.temperature, reporting_with_bars)
def temperature() -> None:
    r"""Choose the softmax temperature at which a scorer's shares agree best with people's.

    'fairness proportional --temperature' takes the best (FairSumm, section 6.4, Figure 3).

        fairjudge fairness temperature clusters.jsonl --summaries s.jsonl \
            --attribute sentiment --scorer bert_score --human shares.jsonl
    """


@app.command("chunk-size")
@shows(fairness_checks.chunk_size, reporting_with_bars)
def chunk_size() -> None:
    """Choose the chunk size with which a scorer best finds the sources of summary sentences.

    Shown is the share of sentences that some document supports (coverage fairness, Table 7);
    'fairness coverage --max-words' takes the best.

        fairjudge fairness chunk-size clusters.jsonl --summaries s.jsonl --sizes 0,50,100
    """


@app.command("oracle")
@shows(fairness_checks.oracle, reporting_with_bars)
def oracle() -> None:
    """Check that a scorer detects planted unfairness.

    Pseudo-summaries of one value's documents ('biased') must score far worse than ones that keep
    the source's shares ('balanced'; FairSumm, appendix C).

        fairjudge fairness oracle clusters.jsonl --attribute sentiment --documents 4
    """


@app.command("split")
@opt.with_options(model=opt.options_of(Model, without=opt.LOCAL))
def split(
    summaries: Annotated[Path, Opt("Summaries: eid, system, text.", argument=True)],
    *,
    output: opt.Output,
    model: Model,
    skip_bad: opt.SkipBad = False,
) -> None:
    """Split summaries into atomic content units, one fact each, by an LLM; locally into sentences.

    Where the LLM's units cannot be read or lose much of the summary, its sentences are written,
    and 'split_by' and 'why' say so.
    """
    from fairjudge.datasets import read_summaries
    from fairjudge.run.splitting import split_file

    units = split_file(
        display.read(read_summaries, summaries, skip_bad=skip_bad),
        output,
        model=model,
    )
    n_units = sum(len(row.units) for _, row in units)
    n_left = sum(row.why is not None for _, row in units)
    n_summaries = pluralize(len(units), "summary", "summaries")
    sentence = f"{n_summaries}, {pluralize(n_units, 'unit')} written to {output}"
    say(sentence + (f"; {n_left} left as sentences" if n_left else ""), err=True)

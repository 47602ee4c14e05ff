"""``fairjudge fairness``: are documents of every group represented in the summaries."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from fairjudge.cli import display, fairness_changes, fairness_checks, fairness_compare
from fairjudge.cli import fairness_options as fair_opt
from fairjudge.cli import options as opt
from fairjudge.cli.application import Application

app = Application(
    name="fairness",
    help="Measure whether documents of every social attribute value are represented.",
    no_args_is_help=True,
)


@app.command("coverage")
def coverage(
    clusters: fair_opt.Clusters,
    *,
    summaries: fair_opt.Summaries,
    attribute: fair_opt.Attribute,
    bins: fair_opt.Bins = None,
    skip_bad: opt.SkipBad = False,
    scorer: Annotated[
        str,
        typer.Option(
            help="What says how far a document supports a sentence: embedding[:MODEL] (cosine "
            "similarity), entailment[:MODEL], matrix:FILE (given numbers), or judgements:FILE "
            "(a judge's verdicts by article)."
        ),
    ] = "embedding",
    max_words: Annotated[
        int, typer.Option(min=0, help="Words of a document chunk; 0 for single sentences.")
    ] = 100,
    variant: Annotated[
        Literal["paper", "released"],
        typer.Option(
            help="How coverage and parity are taken: as the paper defines them, or as its "
            "authors' code does."
        ),
    ] = "paper",
    permutations: Annotated[
        int, typer.Option(min=1, help="Random relabellings where not all can be gone through.")
    ] = 5000,
    seed: opt.Seed = 0,
    error_rate: Annotated[
        float | None,
        typer.Option(min=0.0, max=1.0, help="Assumed scorer error, for a worst-case band."),
    ] = None,
    units: Annotated[
        Path | None,
        typer.Option(
            help="Units of the summaries by 'fairjudge split', one fact each; without them the "
            "summaries' sentences are the units."
        ),
    ] = None,
    save_supports: Annotated[
        Path | None, typer.Option(help="Keep the scores, to be read by --scorer matrix:FILE.")
    ] = None,
    human: Annotated[
        Path | None,
        typer.Option(
            help="Supports by people for a random part of the summaries, in the format of "
            "--save-supports; corrects the means by prediction-powered inference."
        ),
    ] = None,
    max_unscored: opt.MaxUnscored = 0.05,
    json_file: opt.Json = None,
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
    from fairjudge.analysis.support_files import SUPPORTS, UNITS
    from fairjudge.api import fairness
    from fairjudge.datasets import read_clusters, read_records, read_summaries
    from fairjudge.reports.kinds import tables_of

    cuts = fair_opt.read_bins(bins)
    choice = parse_scorer(scorer, fairness.COVERAGE_SCORERS)
    if units is not None:
        fairness.check_takes_units(choice)
    sources = display.read(read_clusters, clusters, skip_bad=skip_bad)
    written = display.read(read_summaries, summaries, skip_bad=skip_bad)
    found = fairness.coverage(
        sources,
        written,
        attribute=attribute,
        scorer=fairness.read_scorer(scorer, skip_bad=skip_bad),
        bins=cuts,
        max_words=max_words,
        units=display.read(read_records, units, UNITS, skip_bad=skip_bad) if units else None,
        human=display.read(read_records, human, SUPPORTS, skip_bad=skip_bad) if human else None,
        variant=variant,
        n_permutations=permutations,
        error_rate=error_rate,
        seed=seed,
        progress=display.shown(quiet=quiet),
    )
    if save_supports is not None:
        found.save_supports(save_supports)
    report = found.to_dict()
    display.report(report, json_file, tables_of("fairness coverage", report))
    _finish(report, max_unscored)


@app.command("proportional")
def proportional(
    clusters: fair_opt.Clusters,
    *,
    summaries: fair_opt.Summaries,
    attribute: fair_opt.Attribute,
    bins: fair_opt.Bins = None,
    skip_bad: opt.SkipBad = False,
    scorer: Annotated[
        str,
        typer.Option(
            help="How summaries are attributed to values: unigrams, bert_score[:MODEL], "
            "bart_score[:MODEL], or matrix:FILE (given scores by value)."
        ),
    ] = "unigrams",
    target: Annotated[
        str,
        typer.Option(help="Wanted shares: 'ratio' (as in the source), 'equal', or a JSON file."),
    ] = "ratio",
    tau: Annotated[
        float,
        typer.Option(min=0.0, max=1.0, help="Part of its share that a value must reach (BUR)."),
    ] = 0.8,
    terms: Annotated[
        Literal["own", "nltk"],
        typer.Option(
            help="What unigrams are: stems without SMART's stop words, or all as in the code of "
            "FairSumm's authors, for their figures to the last digit (extra 'nltk', and its data)."
        ),
    ] = "own",
    seed: opt.Seed = 0,
    error_rate: Annotated[
        float | None,
        typer.Option(
            min=0.0,
            max=1.0,
            help="Assumed part of a summary given to wrong values, for a worst-case band.",
        ),
    ] = None,
    human: Annotated[
        Path | None,
        typer.Option(
            help="How people share out a random part of the summaries among the values: eid, "
            "system, shares; corrects the means by prediction-powered inference."
        ),
    ] = None,
    max_unscored: opt.MaxUnscored = 0.05,
    json_file: opt.Json = None,
    quiet: opt.Quiet = False,
) -> None:
    """Tell whether every value gets its share of the summaries: BUR, UER, AUC and SOF.

    BUR is the share of summaries that under-represent some value, UER the mean shortfall, AUC the
    BUR averaged over all tolerances, SOF how unevenly the shortfall falls on values. All in
    percent; 0 is fair.

        fairjudge fairness proportional clusters.jsonl --summaries s.jsonl --attribute sentiment
    """
    from fairjudge.analysis.support_files import VALUE_SHARES
    from fairjudge.api import fairness
    from fairjudge.datasets import read_clusters, read_records, read_summaries
    from fairjudge.reports.kinds import tables_of

    cuts = fair_opt.read_bins(bins)
    given = fairness.read_value_scorer(scorer, skip_bad=skip_bad)
    sources = display.read(read_clusters, clusters, skip_bad=skip_bad)
    written = display.read(read_summaries, summaries, skip_bad=skip_bad)
    proportional_fairness = fairness.proportionality(
        sources,
        written,
        attribute=attribute,
        scorer=given,
        bins=cuts,
        target=target,
        tau=tau,
        terms=terms,
        human=display.read(read_records, human, VALUE_SHARES, skip_bad=skip_bad) if human else None,
        error_rate=error_rate,
        seed=seed,
        progress=display.shown(quiet=quiet),
    )
    report = proportional_fairness.to_dict()
    display.report(report, json_file, tables_of("fairness proportional", report))
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
app.command("chunk-size")(fairness_checks.chunk_size)
app.command("oracle")(fairness_checks.oracle)

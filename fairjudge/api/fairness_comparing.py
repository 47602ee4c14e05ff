"""Fairness results compared: `fairjudge.fairness.compare`, ``.overall`` and ``.agreement``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from fairjudge.api.fairness_options import Correlation
from fairjudge.api.fairness_results import CoverageFairness, ProportionalFairness
from fairjudge.api.findings import Findings
from fairjudge.errors import ConfigurationError
from fairjudge.options.checking import checks_arguments
from fairjudge.options.declaring import Opt, Resamples, Seed

if TYPE_CHECKING:
    from fairjudge.analysis.fairness_compare import FairnessReport


@checks_arguments
def compare(
    *reports: Annotated[
        object,
        Opt(
            "JSON of 'fairness coverage', of 'fairness proportional', or one of each.",
            argument=True,
        ),
    ],
    baseline: Annotated[str, Opt("The system that all others are compared with, by name.")],
    n_resamples: Resamples = 2000,
    seed: Seed = 0,
) -> Findings:
    """Compare the fairness measures of a summarizer's variants with those of a baseline.

    Parameters
    ----------
    reports
        What `coverage` or `proportionality` returned, or one of each; or JSON files of these.
    baseline : str
        The system that all others are compared with, on the samples that both have.
    n_resamples, seed
        Of the bootstrap over these samples.

    Returns
    -------
    Findings
        ``["systems"]`` has the difference of each measure by system, in the measure's own unit;
        below 0 is fairer unless higher values of the measure are. P-values are corrected over all
        of them (Holm, Benjamini-Hochberg).

    Raises
    ------
    FairJudgeError
        If a report is none of these, or does not have the baseline.

    Examples
    --------
    >>> import fairjudge as fj
    >>> report = fj.fairness.proportionality(
    ...     "clusters.json", "summaries.jsonl", attribute="outlet_type"
    ... )
    >>> changes = fj.fairness.compare(report, baseline="thorough", n_resamples=200)
    >>> sorted(changes["systems"])
    ['one-sided', 'unfaithful']
    """
    from fairjudge.analysis.fairness_changes import changes_json

    inputs = [fairness_report(value, place) for place, value in enumerate(reports, start=1)]
    changes = changes_json(inputs, baseline=baseline, seed=seed, n_resamples=n_resamples)
    return Findings("fairness compare", changes)


def _measure_keys() -> tuple[str, ...]:
    from fairjudge.fairness.registry import shown_measures

    return tuple(shown_measures())


@checks_arguments
def overall(
    reports: Annotated[
        Mapping[str, object] | Sequence[object],
        Opt("JSON of 'fairness coverage' or 'proportional', one file a data set.", argument=True),
    ],
    *,
    measure: Annotated[
        str,
        Opt(
            "What is normalised and averaged; r_ec_strict is R_EC as published (Table 3).",
            choices=_measure_keys,
        ),
    ] = "r_ec",
    scaling: Annotated[
        Literal["range", "none"],
        Opt(
            "range: from the smallest to the largest value of each file. none: values are averaged "
            "as they are, such as those of several scorers."
        ),
    ] = "range",
) -> Findings:
    """Rank systems over several data sets: each is scaled to 0 (best) to 1 (worst), then averaged.

    Source: Li et al. 2025 (coverage fairness), sections 5.5 and 5.6.

    Parameters
    ----------
    reports
        Data set to what `coverage` or `proportionality` returned for it, or its JSON file; or a
        list of files, whose names are those of the data sets. Unscaled, they may be of several
        scorers on one data set (FairSumm, Table 2).
    measure : str
        What is normalised and averaged: a measure of systems that all reports have.
    scaling : {"range", "none"}
        Whether each file's values are scaled to [0, 1] over systems before they are averaged.

    Returns
    -------
    Findings
        ``["systems"]`` has the value of each system with a score on every data set: from 0 to 1
        where scaled, else in the measure's own unit; ``normalised`` has it by data set.

    Raises
    ------
    FairJudgeError
        If a report is none of these.

    Examples
    --------
    >>> import fairjudge as fj
    >>> fj.fairness.overall(["amazon.json", "tweets.json"])  # doctest: +SKIP
    """
    from fairjudge.analysis.fairness_compare import overall_json

    if isinstance(reports, Mapping):
        inputs = [fairness_report(value, name) for name, value in reports.items()]
    elif isinstance(reports, list | tuple):
        inputs = [fairness_report(value, place) for place, value in enumerate(reports, start=1)]
    else:
        raise ConfigurationError("reports: expected a list of files, or reports by data set")
    return Findings("fairness overall", overall_json(inputs, measure=measure, scaling=scaling))


@checks_arguments
def agreement(
    first: Annotated[object, Opt("JSON of 'fairness coverage' or 'proportional'.", argument=True)],
    second: Annotated[
        object | None,
        Opt(
            "The same summaries by another scorer, or by the other command; without it the "
            "measures of the first are compared among themselves.",
            argument=True,
        ),
    ] = None,
    *,
    correlation: Correlation = "spearman",
    seed: Seed = 0,
) -> Findings:
    """Compare two scorers, or two measures, by their correlation over summaries and systems.

    Source: Li et al. 2025, Tables 2 and 8; Zhang et al. 2024, Table 9.

    Parameters
    ----------
    first, second
        What `coverage` or `proportionality` returned for the same summaries, or JSON files of
        these. Two of one kind: each measure by both scorers. One of each: every two measures, by
        summary; and so those of the first among themselves where there is no second.
    correlation : {"spearman", "pearson", "kendall"}
        What is estimated.
    seed : int
        Of the bootstrap.

    Returns
    -------
    Findings
        Such as ``["equal_coverage"]`` and ``["coverage_parity"]``, or
        ``["equal_coverage with uer"]``, each a correlation from -1 to 1 with its interval.

    Raises
    ------
    FairJudgeError
        If a report is none of these.

    Examples
    --------
    >>> import fairjudge as fj
    >>> fj.fairness.agreement("by_embedding.json", "by_entailment.json")  # doctest: +SKIP
    """
    from fairjudge.analysis.fairness_compare import agreement_json, agreement_of

    other = None if second is None else fairness_report(second, "second")
    agreements = agreement_of(
        fairness_report(first, "first"), other, seed=seed, correlation=correlation
    )
    return Findings("fairness agreement", agreement_json(agreements, correlation=correlation))


def fairness_report(report: Any, name: object) -> FairnessReport:
    """Return a report from a file, a result or its JSON."""
    from fairjudge.analysis.fairness_compare import FairnessReport, read_report
    from fairjudge.records.schema import without_schema

    if isinstance(report, str | Path):
        path = Path(report)
        title = name if isinstance(name, str) else path.stem
        return FairnessReport(name=title, report=read_report(path), path=path)
    if isinstance(report, CoverageFairness | ProportionalFairness):
        report = report.to_dict()
    if not isinstance(report, Mapping):
        raise ConfigurationError(
            f"report {name}: expected a result of fairness.coverage or .proportionality, or a "
            f"path, found {type(report).__name__}"
        )
    return FairnessReport(name=str(name), report=without_schema(report))

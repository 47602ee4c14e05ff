"""Compare fairness results: `fairjudge.fairness.compare`, ``.overall`` and ``.agreement``."""

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
            "--json output of 'fairness coverage', 'fairness proportional', or one of each.",
            argument=True,
        ),
    ],
    baseline: Annotated[str, Opt("Name of the system to compare all others with.")],
    n_resamples: Resamples = 2000,
    seed: Seed = 0,
) -> Findings:
    """Compare the fairness measures of a summarizer's variants with those of a baseline.

    Parameters
    ----------
    reports
        A result of `coverage` or of `proportionality`, or one of each; or their JSON files.
    baseline : str
        The system to compare all others with, on the samples that both have.
    n_resamples, seed
        Number of resamples and random seed of the bootstrap over samples.

    Returns
    -------
    Findings
        ``["systems"]`` has the difference of each measure by system, in the unit of the measure;
        negative is fairer, unless higher values of the measure are fairer. P-values are corrected
        for all of them (Holm, Benjamini-Hochberg).

    Raises
    ------
    FairJudgeError
        If a report is of another kind, or does not contain the baseline.

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

    inputs = [fairness_report(value, number) for number, value in enumerate(reports, start=1)]
    changes = changes_json(inputs, baseline=baseline, seed=seed, n_resamples=n_resamples)
    return Findings("fairness compare", changes)


def _measure_keys() -> tuple[str, ...]:
    from fairjudge.fairness.registry import shown_measures

    return tuple(shown_measures())


@checks_arguments
def overall(
    reports: Annotated[
        Mapping[str, object] | Sequence[object],
        Opt("--json output of 'coverage' or 'proportional', one file per data set.", argument=True),
    ],
    *,
    measure: Annotated[
        str,
        Opt(
            "Measure to average; r_ec_strict is R_EC as published (Table 3).",
            choices=_measure_keys,
        ),
    ] = "r_ec",
    scaling: Annotated[
        Literal["range", "none"],
        Opt(
            "Scaling of each file's values before averaging. range: to the smallest and largest "
            "value. none: no scaling, for instance to average several scorers."
        ),
    ] = "range",
) -> Findings:
    """Rank systems over several data sets: scale each set to 0 (best) to 1 (worst), then average.

    Source: Li et al. 2025 (coverage fairness), sections 5.5 and 5.6.

    Parameters
    ----------
    reports
        Results of `coverage` or `proportionality`, or their JSON files, by data set; or a list of
        files, whose names are used for the data sets. With ``scaling="none"`` they may be of
        several scorers on one data set (FairSumm, Table 2).
    measure : str
        The measure to average; all reports must have it.
    scaling : {"range", "none"}
        Whether each file's values are scaled to [0, 1] over systems before averaging.

    Returns
    -------
    Findings
        ``["systems"]`` has the value of each system with a score on every data set: from 0 to 1 if
        scaled, else in the unit of the measure; ``normalised`` has the values by data set.

    Raises
    ------
    FairJudgeError
        If a report is of another kind.

    Examples
    --------
    >>> import fairjudge as fj
    >>> fj.fairness.overall(["amazon.json", "tweets.json"])  # doctest: +SKIP
    """
    from fairjudge.analysis.fairness_compare import overall_json

    if isinstance(reports, Mapping):
        inputs = [fairness_report(value, name) for name, value in reports.items()]
    elif isinstance(reports, list | tuple):
        inputs = [fairness_report(value, number) for number, value in enumerate(reports, start=1)]
    else:
        raise ConfigurationError("reports: expected a list of files, or reports by data set")
    return Findings("fairness overall", overall_json(inputs, measure=measure, scaling=scaling))


@checks_arguments
def agreement(
    first: Annotated[object, Opt("--json output of 'coverage' or 'proportional'.", argument=True)],
    second: Annotated[
        object | None,
        Opt(
            "The same summaries by another scorer, or by the other command. Default: compare the "
            "measures of the first report with one another.",
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
        Results of `coverage` or `proportionality` for the same summaries, or their JSON files. Two
        of the same kind: correlates each measure between the scorers. One of each, or only
        `first`: correlates every pair of measures over summaries.
    correlation : {"spearman", "pearson", "kendall"}
        The correlation coefficient.
    seed : int
        Random seed of the bootstrap.

    Returns
    -------
    Findings
        Correlations from -1 to 1 with intervals, such as ``["equal_coverage"]`` and
        ``["coverage_parity"]``, or ``["equal_coverage with uer"]``.

    Raises
    ------
    FairJudgeError
        If a report is of another kind.

    Examples
    --------
    >>> import fairjudge as fj
    >>> fj.fairness.agreement("by_embedding.json", "by_entailment.json")  # doctest: +SKIP
    """
    from fairjudge.analysis.fairness_compare import agreement_json, agreement_of

    second_report = None if second is None else fairness_report(second, "second")
    agreements = agreement_of(
        fairness_report(first, "first"), second_report, seed=seed, correlation=correlation
    )
    return Findings("fairness agreement", agreement_json(agreements, correlation=correlation))


def fairness_report(report: Any, name: object) -> FairnessReport:
    """Return the report of a file, a result or its JSON."""
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

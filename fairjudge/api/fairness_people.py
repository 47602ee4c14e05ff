"""Compare fairness measures with humans: `fairjudge.fairness.people`, ``.temperature``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any

from fairjudge.api.fairness_comparing import fairness_report
from fairjudge.api.fairness_inputs import (
    Joins,
    human_shares,
    read_inputs,
    read_shares,
    read_value_scorer,
    value_scores,
)
from fairjudge.api.fairness_options import (
    Attribute,
    Bins,
    Clusters,
    Correlation,
    Summaries,
    read_numbers,
)
from fairjudge.api.findings import Findings
from fairjudge.errors import ConfigurationError
from fairjudge.options.checking import checks_arguments
from fairjudge.options.declaring import Opt, Seed


@checks_arguments
def people(
    coverage: Annotated[object, Opt("--json output of 'fairness coverage'.", argument=True)],
    shares: Annotated[object, Opt("--json output of 'fairness proportional'.", argument=True)],
    *,
    leanings: Annotated[
        object,
        Opt(
            "Human labels of the value that each summary leans towards: eid, system, leaning (a "
            "value, or 'fair'), annotator; the majority is used."
        ),
    ],
    seed: Seed = 0,
) -> Findings:
    """Test which fairness measures agree better with human judgements.

    Source: Li et al. 2025 (coverage fairness), section 5.4 and appendix A.4.

    Parameters
    ----------
    coverage, shares
        Results of `coverage` and `proportionality` for the same summaries, or JSON files.
    leanings
        Human labels of the value that each summary leans towards: ``eid``, ``system``, ``leaning``
        (a value, or ``"fair"``) and ``annotator``; a path, or a list of dicts. The majority is
        used.
    seed : int
        Random seed of the bootstrap.

    Returns
    -------
    Findings
        ``["systems"]`` by name: ``summaries``, the shares that agree with Equal Coverage and with
        Proportional Representation, and their paired difference, from -1 to 1; ``groups``, the
        share (0 to 1) of resampled groups where Coverage Parity and SOF agree with the labels.

    Raises
    ------
    FairJudgeError
        If a report is of another kind, or no summary has a leaning.

    Examples
    --------
    >>> import fairjudge as fj
    >>> fj.fairness.people("c.json", "s.json", leanings="leanings.jsonl")  # doctest: +SKIP
    """
    from fairjudge.analysis.fairness_people import people_json
    from fairjudge.analysis.support_files import LEANINGS
    from fairjudge.datasets import read_records

    report = people_json(
        fairness_report(coverage, "coverage"),
        fairness_report(shares, "shares"),
        read_records(leanings, LEANINGS, argument="leanings"),
        seed=seed,
    )
    return Findings("fairness people", report)


@checks_arguments
def temperature(
    clusters: Clusters,
    summaries: Summaries,
    *,
    attribute: Attribute,
    scorer: Annotated[
        Any,
        Opt(
            "Scorer: bert_score[:MODEL], bart_score[:MODEL], or matrix:FILE (scores by value).",
            reader=read_value_scorer,
            panel="Options",
        ),
    ],
    human: Annotated[
        object,
        Opt("Human shares or facts, as for 'proportional --human'.", reader=read_shares),
    ],
    temperatures: Annotated[
        Sequence[float], Opt("Temperatures to try, comma-separated.", parse=read_numbers)
    ] = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0),
    correlation: Correlation = "pearson",
    bins: Bins = (),
    seed: Seed = 0,
    progress: bool | None = None,
) -> Findings:
    """Correlate a scorer's shares of values with human shares, at each softmax temperature.

    Source: Zhang et al. 2024 (FairSumm), section 6.4.

    Parameters
    ----------
    clusters, summaries, attribute, bins, scorer, human, progress
        As in `proportionality`, except ``scorer="unigrams"``, which has no temperature.
    temperatures
        Temperatures to try, each above 0.
    correlation : {"pearson", "spearman", "kendall"}
        The correlation coefficient, over all values of all summaries with human shares.
    seed : int
        Random seed of the bootstrap over clusters.

    Returns
    -------
    Findings
        ``["temperatures"]``, each with its correlation from -1 to 1, and the ``["best"]`` one.

    Raises
    ------
    FairJudgeError
        If an argument is invalid.

    Examples
    --------
    >>> import fairjudge as fj
    >>> fj.fairness.temperature(
    ...     "c.jsonl", "s.jsonl", attribute="a", scorer="bert_score", human="h.jsonl"
    ... )  # doctest: +SKIP
    """
    from fairjudge.analysis.fairness_people import temperatures_json
    from fairjudge.fairness.values import label_corpus

    if not temperatures or min(temperatures) <= 0.0:
        raise ConfigurationError(
            f"temperatures: expected numbers above 0, found {list(temperatures)!r}"
        )
    sources, texts = read_inputs(clusters, summaries)
    corpus = label_corpus(sources.records, attribute=attribute, bins=tuple(bins))
    joins = Joins(texts.records)
    scores, made_by = value_scores(corpus, texts.records, scorer, progress, joins)
    if scores is None:
        raise ConfigurationError(f"scorer: {made_by} has no softmax temperature")
    report = temperatures_json(
        corpus,
        texts.records,
        scores=scores,
        human=human_shares(human, joins),
        temperatures=list(temperatures),
        correlation=correlation,
        seed=seed,
    )
    return Findings("fairness temperature", report)

"""Fairness measures and scorers beside people: `fairjudge.fairness.people`, ``.temperature``."""

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
    coverage: Annotated[object, Opt("JSON of 'fairness coverage'.", argument=True)],
    shares: Annotated[object, Opt("JSON of 'fairness proportional'.", argument=True)],
    *,
    leanings: Annotated[
        object,
        Opt(
            "Which value each summary leans to, by people: eid, system, leaning (a value, or "
            "fair), annotator; the majority counts."
        ),
    ],
    seed: Seed = 0,
) -> Findings:
    """Test which measures of fairness agree better with people.

    Source: Li et al. 2025 (coverage fairness), section 5.4 and appendix A.4.

    Parameters
    ----------
    coverage, shares
        What `coverage` and `proportionality` returned for the same summaries, or JSON files.
    leanings
        Which value each summary leans to, by people: ``eid``, ``system``, ``leaning`` (a value, or
        ``"fair"``) and ``annotator``; a path, or a list of dicts. The majority counts.
    seed : int
        Of the bootstrap.

    Returns
    -------
    Findings
        ``["systems"]`` by name: ``summaries``, how many agree with Equal Coverage and with
        Proportional Representation, and their paired difference, from -1 to 1; ``groups``, the
        share (0 to 1) of resampled groups in which Coverage Parity and SOF find what people find.

    Raises
    ------
    FairJudgeError
        If a report is none of these, or no summary has a leaning.

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
            "bert_score[:MODEL], bart_score[:MODEL], or matrix:FILE (given scores by value).",
            reader=read_value_scorer,
            panel="Options",
        ),
    ],
    human: Annotated[
        object,
        Opt("Shares or facts by people, as for 'proportional --human'.", reader=read_shares),
    ],
    temperatures: Annotated[
        Sequence[float], Opt("Temperatures to try, with commas.", parse=read_numbers)
    ] = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0),
    correlation: Correlation = "pearson",
    bins: Bins = (),
    seed: Seed = 0,
    progress: bool | None = None,
) -> Findings:
    """Correlate a scorer's shares of values with people's, at each softmax temperature.

    Source: Zhang et al. 2024 (FairSumm), section 6.4.

    Parameters
    ----------
    clusters, summaries, attribute, bins, scorer, human, progress
        As in `proportionality`; the scorer is no unigrams, which have no temperature.
    temperatures
        What to try, each above 0.
    correlation : {"pearson", "spearman", "kendall"}
        What is estimated, over all values of all summaries with shares by people.
    seed : int
        Of the bootstrap over clusters.

    Returns
    -------
    Findings
        ``["temperatures"]``, each with its correlation from -1 to 1, and the ``["best"]``.

    Raises
    ------
    FairJudgeError
        If an argument cannot be used.

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
        raise ConfigurationError(f"scorer: {made_by} has no softmax, and so no temperature")
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

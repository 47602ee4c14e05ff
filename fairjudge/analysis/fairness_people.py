"""Agreement of fairness measures with annotators, and choice of the softmax temperature."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np

from fairjudge.analysis.fairness_changes import rows_of_report
from fairjudge.analysis.fairness_compare import FairnessReport
from fairjudge.analysis.support_files import LeaningRecord
from fairjudge.domain import Estimate, Summary, Undefined
from fairjudge.errors import InputError
from fairjudge.fairness.comparison import Rows
from fairjudge.fairness.coverage_measures import COVERAGE
from fairjudge.fairness.coverage_parity import Contributions
from fairjudge.fairness.people_alignment import (
    FAIR,
    Differences,
    MeasuredSample,
    compare_groups,
    compare_summaries,
    majority,
)
from fairjudge.fairness.proportional import PROPORTIONAL
from fairjudge.fairness.proportional_report import (
    ProportionalOptions,
    ValueScores,
    report_proportional,
)
from fairjudge.fairness.share_error import HumanShares, people_distribution
from fairjudge.fairness.shares import Shares
from fairjudge.fairness.values import LabelledCorpus
from fairjudge.records.results import Json, to_json
from fairjudge.stats.correlation import CorrelationName, weighted_correlation
from fairjudge.stats.resampling import Resampling, generator

_Key: TypeAlias = tuple[str, str]
_N_RESAMPLES = 5000


def people_json(
    coverage: FairnessReport,
    shares: FairnessReport,
    leanings: Iterable[LeaningRecord],
    *,
    seed: int,
) -> Json:
    """Return the JSON of ``fairness people``: agreement with annotators, by system.

    Raises
    ------
    InputError
        The reports are not of coverage and of proportional, or no summary has a leaning.
    """
    for item, family in ((coverage, COVERAGE), (shares, PROPORTIONAL)):
        if item.report.get("measure") != family.name:
            raise InputError(f"expected the JSON of 'fairness {family.name}'", path=item.path)
    labels_by_summary: dict[_Key, list[str]] = {}
    for row in leanings:
        labels_by_summary.setdefault((row.eid, row.system), []).append(row.leaning)
    majority_labels = {key: majority(labels) for key, labels in labels_by_summary.items()}
    coverage_rows, share_rows = rows_of_report(coverage.report), rows_of_report(shares.report)
    first = _samples(coverage, "equal_coverage", _coverage_differences)
    second = _samples(shares, "uer", _share_differences)
    systems: dict[str, Json] = {}
    for system in sorted(
        {key[1] for key in majority_labels} & coverage_rows.keys() & share_rows.keys()
    ):
        eids_in_shares = set(share_rows[system].eids)
        eids = [
            eid
            for eid in coverage_rows[system].eids
            if (eid, system) in majority_labels and eid in eids_in_shares
        ]
        if not eids:
            continue
        system_leanings = {(eid, system): majority_labels[eid, system] for eid in eids}
        systems[system] = _system_json(
            system_leanings,
            first,
            second,
            parts=_corpus_of(coverage_rows[system], eids),
            shares=_corpus_of(share_rows[system], eids),
            resampling=Resampling(rng=generator(seed, system), n_resamples=_N_RESAMPLES),
        )
    if not systems:
        raise InputError("no summary in both reports has a human leaning label")
    return {"systems": systems, "fair": FAIR}


def _system_json(
    leanings: Mapping[_Key, str],
    first: Mapping[_Key, MeasuredSample],
    second: Mapping[_Key, MeasuredSample],
    *,
    parts: Contributions,
    shares: Shares,
    resampling: Resampling,
) -> Json:
    """Return the agreement of both measures with annotators for one system."""
    comparison = compare_summaries(leanings, first, second, resampling=resampling)
    groups = compare_groups(list(leanings.values()), parts, shares, resampling=resampling)
    return {
        "n": comparison.n,
        "leanings": dict(sorted(Counter(leanings.values()).items())),
        "summaries": {
            "equal_coverage": comparison.first,
            "proportional": comparison.second,
            "neither": comparison.neither,
            "difference": to_json(comparison.difference, keep=("n", "n_excluded")),
        },
        "groups": {
            "n": groups.n_groups,
            "coverage_parity": groups.first,
            "sof": groups.second,
        },
    }


def _samples(
    item: FairnessReport, measure: str, differences: Callable[[Mapping[str, Any]], Differences]
) -> dict[_Key, MeasuredSample]:
    return {
        (sample["eid"], sample["system"]): MeasuredSample(
            value=sample[measure], differences=differences(sample)
        )
        for sample in item.report["samples"]
    }


def _coverage_differences(sample: Mapping[str, Any]) -> Differences:
    overall = sample["coverage"]
    return {value: row["coverage"] - overall for value, row in sample["by_value"].items()}


def _share_differences(sample: Mapping[str, Any]) -> Differences:
    shares = zip(sample["values"], sample["summary"], sample["wanted"], strict=True)
    return {value: actual - wanted for value, actual, wanted in shares}


def _corpus_of(rows: Rows, eids: Sequence[str]) -> Any:
    """Return the input of the corpus formulas, restricted to the samples `eids`."""
    return rows.corpus.take(rows.row_indices(eids))


def temperatures_json(
    corpus: LabelledCorpus,
    summaries: Sequence[Summary],
    *,
    scores: ValueScores,
    human: HumanShares,
    temperatures: Sequence[float],
    correlation: CorrelationName,
    seed: int,
) -> Json:
    """Return the JSON of ``fairness temperature``: correlation of p_y with human shares.

    The correlation is over the shares of all values of all labelled summaries (FairSumm, section
    6.4); intervals are by bootstrap over clusters.
    """
    rows = [
        {
            "temperature": temperature,
            **to_json(
                _correlate(
                    _pairs(corpus, summaries, scores, human, temperature), correlation, seed
                ),
                keep=("n", "n_excluded"),
            ),
        }
        for temperature in temperatures
    ]
    defined_rows = [row for row in rows if row["value"] is not None]
    best = max(defined_rows, key=lambda row: float(row["value"]), default=None)
    return {
        "correlation": correlation,
        "temperatures": rows,
        "best": None if best is None else best["temperature"],
    }


def _pairs(
    corpus: LabelledCorpus,
    summaries: Sequence[Summary],
    scores: ValueScores,
    human: HumanShares,
    temperature: float,
) -> list[tuple[str, float, float]]:
    """Return cluster, scorer's share and human share of each value of each summary."""
    report = report_proportional(
        corpus,
        summaries,
        options=ProportionalOptions(temperature=temperature, scorer="given", n_resamples=1),
        scores=scores,
    )
    pairs: list[tuple[str, float, float]] = []
    for system, system_report in report.systems.items():
        for eid, sample in system_report.samples.items():
            distribution = sample.distribution
            if (eid, system) in human and len(distribution.values) > 1:
                sample_name = f"{system!r} for {eid!r}"
                human_distribution = people_distribution(
                    distribution, human[eid, system], sample_name=sample_name
                )
                rows = zip(distribution.summary, human_distribution.summary, strict=True)
                pairs += ((eid, share, human_share) for share, human_share in rows)
    return pairs


def _correlate(
    pairs: Sequence[tuple[str, float, float]], correlation: CorrelationName, seed: int
) -> Estimate | Undefined:
    if not pairs:
        return Undefined(why="no summary has human shares")
    eids, scorer_shares, human_shares = zip(*pairs, strict=True)
    statistic = weighted_correlation(
        correlation, np.array(scorer_shares), np.array(human_shares), documents=eids
    )
    resampling = Resampling(rng=generator(seed, "temperature"))
    return resampling.statistic(statistic, len(set(eids)), n=len(eids))

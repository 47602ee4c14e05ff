"""People's view of fairness beside two reports: which measure is nearer, and at which softmax."""

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
    """Return the JSON of ``fairness people``: by system, which measure agrees better with people.

    Raises
    ------
    InputError
        The reports are not one of coverage and one of proportional, or no summary has a leaning.
    """
    for item, family in ((coverage, COVERAGE), (shares, PROPORTIONAL)):
        if item.report.get("measure") != family.name:
            raise InputError(f"expected the JSON of 'fairness {family.name}'", path=item.path)
    labels_by_summary: dict[_Key, list[str]] = {}
    for row in leanings:
        labels_by_summary.setdefault((row.eid, row.system), []).append(row.leaning)
    by_people = {key: majority(labels) for key, labels in labels_by_summary.items()}
    covered, shared = rows_of_report(coverage.report), rows_of_report(shares.report)
    first = _samples(coverage, "equal_coverage", _coverage_differences)
    second = _samples(shares, "uer", _share_differences)
    systems: dict[str, Json] = {}
    for system in sorted({key[1] for key in by_people} & covered.keys() & shared.keys()):
        in_shares = set(shared[system].eids)
        eids = [
            eid for eid in covered[system].eids if (eid, system) in by_people and eid in in_shares
        ]
        if not eids:
            continue
        own = {(eid, system): by_people[eid, system] for eid in eids}
        systems[system] = _system_json(
            own,
            first,
            second,
            parts=_corpus_of(covered[system], eids),
            shares=_corpus_of(shared[system], eids),
            drawing=Resampling(rng=generator(seed, system), n_resamples=_N_RESAMPLES),
        )
    if not systems:
        raise InputError("no summary in both reports has a leaning by people")
    return {"systems": systems, "fair": FAIR}


def _system_json(
    leanings: Mapping[_Key, str],
    first: Mapping[_Key, MeasuredSample],
    second: Mapping[_Key, MeasuredSample],
    *,
    parts: Contributions,
    shares: Shares,
    drawing: Resampling,
) -> Json:
    """Return which of coverage and proportional agrees better with people on one system."""
    comparison = compare_summaries(leanings, first, second, resampling=drawing)
    groups = compare_groups(list(leanings.values()), parts, shares, resampling=drawing)
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
    """Return what a system's samples `eids` put into the measures of the whole corpus."""
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
    """Return the JSON of ``fairness temperature``: p_y of a scorer against people's, by softmax.

    Correlated are the shares of all values of all summaries that people looked at (FairSumm,
    section 6.4); intervals are by bootstrap over clusters.
    """
    rows = [
        {
            "temperature": temperature,
            **to_json(
                _correlated(
                    _pairs(corpus, summaries, scores, human, temperature), correlation, seed
                ),
                keep=("n", "n_excluded"),
            ),
        }
        for temperature in temperatures
    ]
    scored = [row for row in rows if row["value"] is not None]
    best = max(scored, key=lambda row: float(row["value"]), default=None)
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
    """Return the cluster, the scorer's share and people's of each value of each summary."""
    report = report_proportional(
        corpus,
        summaries,
        options=ProportionalOptions(temperature=temperature, scorer="given", n_resamples=1),
        scores=scores,
    )
    pairs: list[tuple[str, float, float]] = []
    for system, measured in report.systems.items():
        for eid, sample in measured.samples.items():
            own = sample.distribution
            if (eid, system) in human and len(own.values) > 1:
                where = f"{system!r} for {eid!r}"
                people = people_distribution(own, human[eid, system], sample_name=where)
                rows = zip(own.summary, people.summary, strict=True)
                pairs += ((eid, share, by_people) for share, by_people in rows)
    return pairs


def _correlated(
    pairs: Sequence[tuple[str, float, float]], correlation: CorrelationName, seed: int
) -> Estimate | Undefined:
    if not pairs:
        return Undefined(why="people gave shares of no summary here")
    eids, scorer_shares, human_shares = zip(*pairs, strict=True)
    statistic = weighted_correlation(
        correlation, np.array(scorer_shares), np.array(human_shares), documents=eids
    )
    drawing = Resampling(rng=generator(seed, "temperature"))
    return drawing.statistic(statistic, len(set(eids)), n=len(eids))

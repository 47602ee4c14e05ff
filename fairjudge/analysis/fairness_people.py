"""People's view of fairness beside two reports: which measure is nearer, and at which softmax."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeAlias

import numpy as np

from fairjudge.analysis.fairness_changes import rows_of_report
from fairjudge.analysis.fairness_compare import GivenReport
from fairjudge.analysis.support_files import LeaningRecord
from fairjudge.domain import Estimate, Summary, Undefined
from fairjudge.errors import InputError
from fairjudge.fairness.comparison import Rows
from fairjudge.fairness.coverage_measures import COVERAGE
from fairjudge.fairness.people_alignment import (
    FAIR,
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
from fairjudge.fairness.values import LabelledCorpus
from fairjudge.records.results import Json, to_json
from fairjudge.stats.correlation import CorrelationName, weighted_correlation
from fairjudge.stats.resampling import Resampling, generator

_Key: TypeAlias = tuple[str, str]


def people_json(
    coverage: GivenReport,
    shares: GivenReport,
    leanings: Iterable[LeaningRecord],
    *,
    seed: int,
    n_resamples: int = 5000,
) -> Json:
    """Return the JSON of ``fairness people``: by system, which measure agrees better with people.

    Raises
    ------
    InputError
        The reports are not one of coverage and one of proportional, or no summary has a leaning.
    """
    for given, family in ((coverage, COVERAGE), (shares, PROPORTIONAL)):
        if given.report.get("measure") != family.name:
            raise InputError(f"expected the JSON of 'fairness {family.name}'", path=given.path)
    by_people: dict[_Key, list[str]] = {}
    for one in leanings:
        by_people.setdefault((one.eid, one.system), []).append(one.leaning)
    said = {key: majority(labels) for key, labels in by_people.items()}
    covered, shared = rows_of_report(coverage.report), rows_of_report(shares.report)
    first, second = _covered(coverage.report), _shared(shares.report)
    systems: dict[str, Json] = {}
    for system in sorted({key[1] for key in said} & covered.keys() & shared.keys()):
        in_shares = set(shared[system].eids)
        keys = [
            (eid, system)
            for eid in covered[system].eids
            if (eid, system) in said and eid in in_shares
        ]
        if not keys:
            continue
        drawing = Resampling(rng=generator(seed, system), n_resamples=n_resamples)
        mine = {key: said[key] for key in keys}
        found = compare_summaries(mine, first, second, resampling=drawing)
        eids = [eid for eid, _ in keys]
        groups = compare_groups(
            [said[key] for key in keys],
            _chosen(covered[system], eids),
            _chosen(shared[system], eids),
            resampling=drawing,
        )
        leaning = {
            value: sum(one == value for one in mine.values()) for value in set(mine.values())
        }
        systems[system] = {
            "n": found.n,
            "leanings": dict(sorted(leaning.items())),
            "summaries": {
                "equal_coverage": found.first,
                "proportional": found.second,
                "neither": found.neither,
                "difference": to_json(found.difference, keep=("n", "n_excluded")),
            },
            "groups": {
                "n": groups.n_groups,
                "coverage_parity": groups.first,
                "sof": groups.second,
            },
        }
    if not systems:
        raise InputError("no summary in both reports has a leaning by people")
    return {"systems": systems, "fair": FAIR}


def _covered(report: Mapping[str, Any]) -> dict[Any, MeasuredSample]:
    return {
        (one["eid"], one["system"]): MeasuredSample(
            value=one["equal_coverage"],
            differences={
                value: found["coverage"] - one["coverage"]
                for value, found in one["by_value"].items()
            },
        )
        for one in report["samples"]
    }


def _shared(report: Mapping[str, Any]) -> dict[Any, MeasuredSample]:
    return {
        (one["eid"], one["system"]): MeasuredSample(
            value=one["uer"],
            differences={
                value: got - wanted
                for value, got, wanted in zip(
                    one["values"], one["summary"], one["wanted"], strict=True
                )
            },
        )
        for one in report["samples"]
    }


def _chosen(rows: Rows, eids: Sequence[str]) -> Any:
    """Return what a system's samples `eids` put into the measures of the whole corpus."""
    place = {eid: row for row, eid in enumerate(rows.eids)}
    chosen = [place[eid] for eid in eids]
    arrays = {name: getattr(rows.corpus, name)[chosen] for name in rows.corpus.arrays}
    return replace(rows.corpus, **arrays)


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
    found = [
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
    known = [one for one in found if one["value"] is not None]
    best = max(known, key=lambda one: float(one["value"]), default=None)
    return {
        "correlation": correlation,
        "temperatures": found,
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
    found: list[tuple[str, float, float]] = []
    for system, measured in report.systems.items():
        for eid, sample in measured.samples.items():
            ours = sample.distribution
            if (eid, system) in human and len(ours.values) > 1:
                given = human[eid, system]
                people = people_distribution(ours, given, where=f"{system!r} for {eid!r}")
                found += zip([eid] * len(ours.values), ours.summary, people.summary, strict=True)
    return found


def _correlated(
    pairs: Sequence[tuple[str, float, float]], correlation: CorrelationName, seed: int
) -> Estimate | Undefined:
    if not pairs:
        return Undefined(why="people gave shares of no summary here")
    eids, ours, theirs = zip(*pairs, strict=True)
    statistic = weighted_correlation(correlation, np.array(ours), np.array(theirs), documents=eids)
    drawing = Resampling(rng=generator(seed, "temperature"))
    return drawing.statistic(statistic, len(set(eids)), n=len(eids))

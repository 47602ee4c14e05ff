"""Shared parts of both fairness reports: samples, exclusions, scorer error, and their JSON."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass
from typing import Any, Generic, TypeVar, cast

from fairjudge.calibration.ppi import PpiMean
from fairjudge.domain import Summary, Undefined
from fairjudge.errors import InputError
from fairjudge.fairness.judge_error import CorrectedMeans, Sensitivity
from fairjudge.fairness.measures import Band, FairnessMeasures
from fairjudge.fairness.values import Exclusion, LabelledCorpus, LabelledSet, join_first
from fairjudge.records.results import COUNT_ONLY, Json, figure
from fairjudge.text.counting import pluralize

SampleT = TypeVar("SampleT")
SystemT = TypeVar("SystemT")


@dataclass(frozen=True, slots=True, kw_only=True)
class SystemReport(Generic[SampleT]):
    """One system: its samples, and reasons for excluding others, by eid.

    ``corrected`` is None without human labels, ``sensitivity`` is None without an assumed error
    rate.
    """

    samples: Mapping[str, SampleT]
    excluded: Mapping[str, Exclusion]
    corrected: CorrectedMeans | None
    sensitivity: Sensitivity | Undefined | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Report(Generic[SystemT]):
    """All systems, with notes on the input."""

    attribute: str
    systems: Mapping[str, SystemT]
    notes: tuple[str, ...]
    signature: str


def measure_systems(
    corpus: LabelledCorpus,
    summaries: Sequence[Summary],
    measure: Callable[[str, Sequence[LabelledSet], Mapping[str, str]], SystemT],
) -> tuple[dict[str, SystemT], tuple[str, ...]]:
    """Measure each system, in alphabetical order; also return notes on corpus and summaries.

    `measure` takes a system's name, the sets it summarized, and its summaries' texts by ``eid``.

    Raises
    ------
    InputError
        No summaries, none that belongs to a cluster, or two of one system for one cluster.
    """
    eids = {labelled_set.eid for labelled_set in corpus.sets}
    by_system: dict[str, dict[str, str]] = {}
    for summary in summaries:
        texts = by_system.setdefault(summary.system, {})
        if summary.eid in texts:
            raise InputError(
                f"two summaries of {summary.eid!r} by {summary.system!r}", field="system"
            )
        texts[summary.eid] = summary.text
    if not any(eids & texts.keys() for texts in by_system.values()):
        raise InputError("no summary belongs to any of the clusters (compare their eids)")
    systems = {
        system: measure(
            system,
            [labelled_set for labelled_set in corpus.sets if labelled_set.eid in texts],
            texts,
        )
        for system, texts in sorted(by_system.items())
    }
    return systems, (*corpus.notes, *_unmatched_notes(eids, by_system))


def split_outcomes(
    outcomes: Mapping[str, SampleT | Exclusion],
) -> tuple[dict[str, SampleT], dict[str, Exclusion]]:
    """Separate samples from reasons for exclusion, both by ``eid``."""
    samples = {eid: sample for eid, sample in outcomes.items() if not isinstance(sample, str)}
    reasons = {eid: reason for eid, reason in outcomes.items() if isinstance(reason, str)}
    return samples, cast("dict[str, Exclusion]", reasons)


def _unmatched_notes(eids: Set[str], texts: Mapping[str, Mapping[str, str]]) -> list[str]:
    """Return notes on summaries without a cluster and on systems without some summaries."""
    notes = []
    unknown_eids = sorted({eid for by_eid in texts.values() for eid in by_eid} - eids)
    if unknown_eids:
        notes.append(
            f"excluded summaries of {pluralize(len(unknown_eids), 'unknown cluster')}: "
            f"{join_first(unknown_eids)}"
        )
    for system, by_eid in sorted(texts.items()):
        missing_eids = sorted(eids - by_eid.keys())
        if missing_eids:
            notes.append(
                f"{system!r} has no summary of {len(missing_eids)} of "
                f"{pluralize(len(eids), 'cluster')}: {join_first(missing_eids)}"
            )
    return notes


def report_json(
    head: Json,
    report: Report[Any],
    *,
    system: Callable[[Any], Json],
    sample: Callable[[Any], Json],
) -> Json:
    """Return a report as JSON: `head`, then systems and samples converted by the two callables."""
    reports: Mapping[str, SystemReport[Any]] = report.systems
    return {
        **head,
        "family": "the values of a system (Holm)",
        "systems": {name: system(report) for name, report in reports.items()},
        "samples": [
            {"eid": eid, "system": name, **sample(sample_result)}
            for name, report in reports.items()
            for eid, sample_result in report.samples.items()
        ],
        "excluded": [
            {"eid": eid, "system": name, "reason": reason}
            for name, report in reports.items()
            for eid, reason in report.excluded.items()
        ],
        "notes": list(report.notes),
        "signature": report.signature,
    }


def error_json(
    system: SystemReport[Any], measures: FairnessMeasures[Any, Any, Any], *, times: float = 1.0
) -> Json:
    """Return the JSON of the corrections for the scorer's error and of the bounds under it.

    `times` converts the differences by value to the unit of the report, such as 100 for percent.
    """
    errors: Json = {}
    if system.corrected is not None:
        errors["corrected"] = _corrected_json(system.corrected, measures, times)
    if system.sensitivity is not None:
        errors["sensitivity"] = _sensitivity_json(system.sensitivity, measures, times)
    return errors


def _corrected_json(
    corrected: CorrectedMeans, measures: FairnessMeasures[Any, Any, Any], times: float
) -> Json:
    return {
        "n_labelled": corrected.n_labelled,
        **({} if corrected.n_unused is None else {"n_unused": corrected.n_unused}),
        **{key: _ppi_figure(mean, measures[key].times) for key, mean in corrected.means.items()},
        "difference": {
            value: _ppi_figure(mean, times) for value, mean in corrected.difference.items()
        },
    }


def _ppi_figure(mean: PpiMean | Undefined, times: float) -> Json:
    """Return the corrected mean, the uncorrected one, and the mean of the labels alone."""
    if isinstance(mean, Undefined):
        return figure(mean)
    return figure(mean.ppi_plus, times=times, keep=COUNT_ONLY) | {
        "uncorrected": mean.naive.value * times,
        "labels_only": figure(mean.classical, times=times, keep=COUNT_ONLY),
        "n_labelled": mean.n_labelled,
    }


def _sensitivity_json(
    bounds: Sensitivity | Undefined, measures: FairnessMeasures[Any, Any, Any], times: float
) -> Json:
    if isinstance(bounds, Undefined):
        return figure(bounds)
    return {
        "error_rate": bounds.error_rate,
        **{key: _band_json(band, measures[key].times) for key, band in bounds.bands.items()},
        "by_value": {
            value: {
                "mean": entry.mean * times,
                **_band_json(entry.band, times),
                "tipping_rate": entry.tipping_rate,
                "n": entry.n,
            }
            for value, entry in bounds.by_value.items()
        },
    }


def _band_json(band: Band, times: float) -> Json:
    return {"low": band.low * times, "high": band.high * times}

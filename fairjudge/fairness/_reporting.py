"""Shared by both fairness reports: samples included, the scorer's error, and their JSON."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass
from typing import Any, Generic, TypeVar, cast

from fairjudge.calibration.ppi import PpiMean
from fairjudge.domain import Summary, Undefined
from fairjudge.errors import InputError
from fairjudge.fairness.judge_error import Corrected, Sensitivity
from fairjudge.fairness.measures import Band, FairnessMeasures
from fairjudge.fairness.values import Exclusion, LabelledCorpus, LabelledSet, first_few
from fairjudge.records.results import COUNT_ONLY, Json, figure
from fairjudge.text.counting import pluralize

SampleT = TypeVar("SampleT")
SystemT = TypeVar("SystemT")


@dataclass(frozen=True, slots=True, kw_only=True)
class SystemReport(Generic[SampleT]):
    """One system, by eid: samples included, and reasons of exclusion.

    ``corrected`` is there where people scored some samples, ``sensitivity`` where an error rate was
    assumed.
    """

    samples: Mapping[str, SampleT]
    excluded: Mapping[str, Exclusion]
    corrected: Corrected | None
    sensitivity: Sensitivity | Undefined | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Report(Generic[SystemT]):
    """All systems, with what a reader should know about the input."""

    attribute: str
    systems: Mapping[str, SystemT]
    notes: tuple[str, ...]
    signature: str


def measured_systems(
    corpus: LabelledCorpus,
    summaries: Sequence[Summary],
    measure: Callable[[str, Sequence[LabelledSet], Mapping[str, str]], SystemT],
) -> tuple[dict[str, SystemT], tuple[str, ...]]:
    """Measure each system, in alphabetical order; return also the notes on corpus and summaries.

    `measure` takes its name, the sets that it summarized, and its summaries' texts by ``eid``.

    Raises
    ------
    InputError
        No summaries, two of one system for one cluster, or none that belongs to a cluster.
    """
    eids = {labelled.eid for labelled in corpus.sets}
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
        system: measure(system, [own for own in corpus.sets if own.eid in texts], texts)
        for system, texts in sorted(by_system.items())
    }
    return systems, (*corpus.notes, *_unmatched_notes(eids, by_system))


def split_outcomes(
    outcomes: Mapping[str, SampleT | Exclusion],
) -> tuple[dict[str, SampleT], dict[str, Exclusion]]:
    """Part what was measured from what is excluded, both by ``eid``."""
    measured = {eid: sample for eid, sample in outcomes.items() if not isinstance(sample, str)}
    reasons = {eid: why for eid, why in outcomes.items() if isinstance(why, str)}
    return measured, cast("dict[str, Exclusion]", reasons)


def _unmatched_notes(eids: Set[str], texts: Mapping[str, Mapping[str, str]]) -> list[str]:
    """Say which summaries have no cluster, and which systems lack summaries of some clusters."""
    notes = []
    stray = sorted({eid for by_eid in texts.values() for eid in by_eid} - eids)
    if stray:
        notes.append(
            f"excluded summaries of {pluralize(len(stray), 'unknown cluster')}: {first_few(stray)}"
        )
    for system, by_eid in sorted(texts.items()):
        missing = sorted(eids - by_eid.keys())
        if missing:
            notes.append(
                f"{system!r} has no summary of {len(missing)} of "
                f"{pluralize(len(eids), 'cluster')}: {first_few(missing)}"
            )
    return notes


def report_json(
    head: Json,
    report: Report[Any],
    *,
    system: Callable[[Any], Json],
    sample: Callable[[Any], Json],
) -> Json:
    """Return a report as JSON: `head`, then what `system` and `sample` make of their parts."""
    reports: Mapping[str, SystemReport[Any]] = report.systems
    return {
        **head,
        "family": "the values of a system (Holm)",
        "systems": {name: system(report) for name, report in reports.items()},
        "samples": [
            {"eid": eid, "system": name, **sample(figures)}
            for name, report in reports.items()
            for eid, figures in report.samples.items()
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
    """Return the JSON of the scorer's error.

    `times` turns the differences by value to the unit of the report, 100 for percent.
    """
    errors: Json = {}
    if system.corrected is not None:
        errors["corrected"] = _corrected(system.corrected, measures, times)
    if system.sensitivity is not None:
        errors["sensitivity"] = _sensitivity(system.sensitivity, measures, times)
    return errors


def _corrected(
    corrected: Corrected, measures: FairnessMeasures[Any, Any, Any], times: float
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
    """Return the corrected figure beside the uncorrected one and that of the labels alone."""
    if isinstance(mean, Undefined):
        return figure(mean)
    return figure(mean.ppi_plus, times=times, keep=COUNT_ONLY) | {
        "uncorrected": mean.naive.value * times,
        "labels_only": figure(mean.classical, times=times, keep=COUNT_ONLY),
        "n_labelled": mean.n_labelled,
    }


def _sensitivity(
    bounds: Sensitivity | Undefined, measures: FairnessMeasures[Any, Any, Any], times: float
) -> Json:
    if isinstance(bounds, Undefined):
        return figure(bounds)
    return {
        "error_rate": bounds.error_rate,
        **{key: _band(band, measures[key].times) for key, band in bounds.bands.items()},
        "by_value": {
            value: {
                "mean": entry.mean * times,
                **_band(entry.band, times),
                "tipping_rate": entry.tipping_rate,
                "n": entry.n,
            }
            for value, entry in bounds.by_value.items()
        },
    }


def _band(band: Band, times: float) -> Json:
    return {"low": band.low * times, "high": band.high * times}

"""What both fairness reports share: who was left out, figures as JSON, and seeds."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from fairjudge.calibration.ppi import PpiMean
from fairjudge.domain import Summary, Undefined
from fairjudge.errors import InputError
from fairjudge.fairness.values import Exclusion, LabelledCorpus
from fairjudge.results import SHORT, Json, figure
from fairjudge.text.printable import counted


@dataclass(frozen=True, slots=True, kw_only=True)
class Excluded:
    """A sample that takes no part, and why."""

    eid: str
    system: str
    reason: Exclusion


def count_reasons(excluded: Iterable[Excluded]) -> dict[str, int]:
    """Count exclusions by reason, in alphabetical order."""
    return dict(sorted(Counter(entry.reason for entry in excluded).items()))


def texts_by_system(
    corpus: LabelledCorpus, summaries: Sequence[Summary]
) -> dict[str, dict[str, str]]:
    """Return the text of each system's summary by ``eid``, systems in alphabetical order.

    Raises
    ------
    InputError
        No summaries, two of one system for one cluster, or none that belongs to a cluster.
    """
    eids = {labelled.eid for labelled in corpus.sets}
    found: dict[str, dict[str, str]] = {}
    for summary in summaries:
        texts = found.setdefault(summary.system, {})
        if summary.eid in texts:
            raise InputError(
                f"two summaries of {summary.eid!r} by {summary.system!r}", field="system"
            )
        texts[summary.eid] = summary.text
    if not any(eids & texts.keys() for texts in found.values()):
        raise InputError("no summary belongs to any of the clusters (compare their eids)")
    return dict(sorted(found.items()))


def unmatched_notes(corpus: LabelledCorpus, texts: Mapping[str, Mapping[str, str]]) -> list[str]:
    """Say which summaries have no cluster, and which systems lack summaries of some clusters."""
    eids = {labelled.eid for labelled in corpus.sets}
    notes = []
    stray = sorted({eid for by_eid in texts.values() for eid in by_eid} - eids)
    if stray:
        notes.append(
            f"left out summaries of {counted(len(stray), 'unknown cluster')}: {_first(stray)}"
        )
    for system, by_eid in texts.items():
        missing = sorted(eids - by_eid.keys())
        if missing:
            notes.append(
                f"{system!r} has no summary of {len(missing)} of {counted(len(eids), 'cluster')}: "
                f"{_first(missing)}"
            )
    return notes


def _first(names: Sequence[str]) -> str:
    return ", ".join(names[:5]) + (", ..." if len(names) > 5 else "")


def excluded_json(excluded: Mapping[str, Iterable[Excluded]]) -> list[Json]:
    """Return each system's samples that take no part, with the reason."""
    return [
        {"eid": entry.eid, "system": system, "reason": entry.reason}
        for system, entries in excluded.items()
        for entry in entries
    ]


def generator(seed: int, system: str) -> np.random.Generator:
    """Return a generator of the system's own: other systems in the file change nothing."""
    return np.random.default_rng([seed, *system.encode("utf-8")])


def ppi_figure(found: PpiMean | Undefined, *, times: float = 1.0) -> Json:
    """Return the corrected figure beside the uncorrected one and that of the labels alone."""
    if isinstance(found, Undefined):
        return figure(found)
    return figure(found.ppi_plus, times=times, keep=SHORT) | {
        "uncorrected": found.naive.value * times,
        "labels_only": figure(found.classical, times=times, keep=SHORT),
        "n_labelled": found.n_labelled,
    }

"""Monitoring of a judge: repeated looks at the same anchors, with simultaneously valid intervals.

A change of the judge's values on anchors (fixed, labelled summaries) is due to the judge alone; any
further change on the systems' new summaries is due to the systems ("Who drifted: the system or the
judge?", arXiv 2606.15474). This assumes that the judge changes equally on new summaries and on
anchors, which should therefore be similar.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from fairjudge.calibration.choices import SequenceName
from fairjudge.calibration.drift import (
    MIN_DOCUMENTS,
    DriftVerdict,
    documents_for_verdict,
    verdict_on_change,
)
from fairjudge.domain import Estimate, Undefined
from fairjudge.stats.bootstrap import Bounds
from fairjudge.stats.sequences import LookEstimate, betting_bounds, mean_at_look, spending_sequence

MovedSide: TypeAlias = Literal["neither", "judge", "systems", "judge and systems"]
ByDocument: TypeAlias = Mapping[str, float]
_METHODS: Mapping[SequenceName, str] = {
    "spending": "confidence sequence: error spent over {} looks, variance over documents",
    "betting": "confidence sequence: betting, union bound over {} looks",
}


_NOTHING = Undefined(why="nothing to compare at this look")


@dataclass(frozen=True, slots=True, kw_only=True)
class Look:
    """The data of one look, as means per document.

    On the anchors, ``agreement`` is the change in agreement with labels since the baseline, and
    ``shift`` the change of the judge's values as a share of its scale, both in [-1, 1]. ``live``
    are the judge's values of the systems' new summaries, in [0, 1]; it may be empty.
    """

    agreement: ByDocument
    shift: ByDocument
    live: ByDocument


@dataclass(frozen=True, slots=True, kw_only=True)
class LookChanges:
    """The changes at one look."""

    agreement: Estimate | Undefined
    shift: Estimate | Undefined
    systems: Estimate | Undefined


@dataclass(frozen=True, slots=True, kw_only=True)
class Watch:
    """The result of the last of several looks; intervals are simultaneously valid over all looks.

    ``systems`` is the change of the judge's values of new summaries since the first look with any,
    minus ``shift``. ``documents_needed`` is the approximate number of documents for a verdict, if
    it is "cannot tell". ``first_worse`` is the first look of the current block with the verdict
    "worse"; ``by_look`` has the changes at every look.
    """

    n_looks: int
    planned: int
    sequence: SequenceName
    agreement: Estimate | Undefined
    shift: Estimate | Undefined
    systems: Estimate | Undefined
    verdict: DriftVerdict
    documents_needed: int | None
    moved: MovedSide
    first_worse: int | None
    by_look: tuple[LookChanges, ...]


def watch(
    looks: Sequence[Look],
    *,
    margin: float,
    planned: int,
    sequence: SequenceName = "spending",
    level: float = 0.95,
) -> Watch:
    """Test the last of `looks`, accounting for all earlier looks.

    The verdict is that of `fairjudge.calibration.drift.drift`, on the interval of a confidence
    sequence of the change in agreement, with equally weighted documents. In each block of `planned`
    looks, the probability that any interval misses is at most 1 - `level`: exactly for the sequence
    ``"betting"``, approximately for ``"spending"`` (`fairjudge.stats.sequences`). Shift and systems
    always use ``"spending"``.
    """
    estimates = agreement_sequence(looks, planned=planned, sequence=sequence, level=level)
    verdicts = [_verdict(estimate, margin) for estimate in estimates]
    shifts = [_mean(look.shift) for look in looks]
    shift_by_look = _spending_estimates(shifts, planned=planned, level=level)
    systems_by_look = _spending_estimates(
        _system_changes(looks, shifts), planned=planned, level=level
    )
    shift, systems = shift_by_look[-1], systems_by_look[-1]
    block = (len(looks) - 1) // planned * planned
    worse_looks = [number for number in range(block, len(looks)) if verdicts[number] == "worse"]
    judge_moved = verdicts[-1] in ("better", "worse") or _excludes_zero(shift)
    return Watch(
        n_looks=len(looks),
        planned=planned,
        sequence=sequence,
        agreement=estimates[-1],
        shift=shift,
        systems=systems,
        verdict=verdicts[-1],
        documents_needed=(
            documents_for_verdict(
                estimates[-1], margin=margin, n_documents=len(looks[-1].agreement)
            )
            if verdicts[-1] == "cannot tell"
            else None
        ),
        moved=_moved_side(judge=judge_moved, systems=_excludes_zero(systems)),
        first_worse=worse_looks[0] + 1 if worse_looks else None,
        by_look=tuple(
            LookChanges(agreement=agreement, shift=shift_at_look, systems=change_of_systems)
            for agreement, shift_at_look, change_of_systems in zip(
                estimates, shift_by_look, systems_by_look, strict=True
            )
        ),
    )


def agreement_sequence(
    looks: Sequence[Look],
    *,
    planned: int,
    sequence: SequenceName = "spending",
    level: float = 0.95,
) -> list[Estimate | Undefined]:
    """Return the change in agreement at every look, with simultaneously valid intervals."""
    changes = [look.agreement for look in looks]
    if sequence == "betting":
        return _betting_estimates(changes, planned=planned, level=level)
    return _spending_estimates(list(map(_mean, changes)), planned=planned, level=level)


def _mean(values: ByDocument) -> LookEstimate | None:
    return mean_at_look(values) if values else None


def _system_changes(
    looks: Sequence[Look], shifts: Sequence[LookEstimate | None]
) -> list[LookEstimate | None]:
    """Return each look's change on new summaries since the first look with any, minus the shift."""
    changes_of_systems: list[LookEstimate | None] = []
    first_values: tuple[LookEstimate, LookEstimate] | None = None
    for look, shift in zip(looks, shifts, strict=True):
        live = _mean(look.live)
        if live is None or shift is None:
            changes_of_systems.append(None)
        elif first_values is None:
            first_values = live, shift
            changes_of_systems.append(None)
        else:
            changes_of_systems.append(
                live.minus(first_values[0]).minus(shift.minus(first_values[1]))
            )
    return changes_of_systems


def _spending_estimates(
    looks: Sequence[LookEstimate | None], *, planned: int, level: float
) -> list[Estimate | Undefined]:
    """Return one estimate per look; looks without values count among the planned looks."""
    empty_look = LookEstimate(value=0.0, influence={}, freedom=0)
    bounds = spending_sequence([look or empty_look for look in looks], planned=planned, level=level)
    method = _METHODS["spending"].format(planned)
    return [
        _NOTHING
        if look is None
        else _estimate(look.value, bound, n=len(look.influence), level=level, method=method)
        for look, bound in zip(looks, bounds, strict=True)
    ]


def _betting_estimates(
    changes: Sequence[ByDocument], *, planned: int, level: float
) -> list[Estimate | Undefined]:
    estimates: list[Estimate | Undefined] = []
    for change in changes:
        values = list(change.values())
        if not values:
            estimates.append(_NOTHING)
            continue
        bounds = betting_bounds(values, minimum=-1.0, maximum=1.0, planned=planned, level=level)
        mean, method = sum(values) / len(values), _METHODS["betting"].format(planned)
        estimates.append(_estimate(mean, bounds, n=len(values), level=level, method=method))
    return estimates


def _estimate(
    value: float, bounds: Bounds | None, *, n: int, level: float, method: str
) -> Estimate:
    return Estimate(
        value=value,
        n=n,
        low=None if bounds is None else max(-1.0, bounds.low),
        high=None if bounds is None else min(1.0, bounds.high),
        level=level,
        method=method,
    )


def _verdict(change: Estimate | Undefined, margin: float) -> DriftVerdict:
    if isinstance(change, Undefined) or change.n < MIN_DOCUMENTS:
        return "cannot tell"
    return verdict_on_change(change, margin=margin)


def _excludes_zero(estimate: Estimate | Undefined) -> bool:
    if isinstance(estimate, Undefined) or estimate.low is None or estimate.high is None:
        return False
    return estimate.n >= MIN_DOCUMENTS and not estimate.low <= 0.0 <= estimate.high


def _moved_side(*, judge: bool, systems: bool) -> MovedSide:
    if judge:
        return "judge and systems" if systems else "judge"
    return "systems" if systems else "neither"


def document_means(values: Sequence[float], documents: Sequence[Hashable]) -> dict[str, float]:
    """Return the mean value of each document."""
    values_by_document: dict[str, list[float]] = {}
    for value, document in zip(values, documents, strict=True):
        values_by_document.setdefault(str(document), []).append(value)
    return {
        name: sum(document_values) / len(document_values)
        for name, document_values in values_by_document.items()
    }

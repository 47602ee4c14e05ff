"""A judge that is watched: look after look at the same anchors, with intervals that all hold.

The judge's change on anchors (fixed summaries that people labelled) is the judge's alone, for
nothing else can move them; what its values of the systems' new summaries changed beyond that is
the systems' ("Who drifted: the system or the judge?", arXiv 2606.15474). This takes the judge to
move as much on new summaries as on anchors, which are to be alike.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from fairjudge.calibration.choices import SequenceName
from fairjudge.calibration.drift import (
    FEWEST_DOCUMENTS,
    DriftVerdict,
    documents_for_verdict,
    verdict_on_change,
)
from fairjudge.domain import Estimate, Undefined
from fairjudge.stats.bootstrap import Bounds
from fairjudge.stats.sequences import LookEstimate, betting_bounds, mean_at_look, spending_sequence

Moved: TypeAlias = Literal["neither", "judge", "systems", "judge and systems"]
ByDocument: TypeAlias = Mapping[str, float]
_METHODS: Mapping[SequenceName, str] = {
    "spending": "confidence sequence: error spent over {} looks, variance over documents",
    "betting": "confidence sequence: betting, union bound over {} looks",
}


_NOTHING = Undefined(why="nothing to compare at this look")


@dataclass(frozen=True, slots=True, kw_only=True)
class Look:
    """The data of one look: a mean per document.

    ``agreement`` is the change in agreement with people since the baseline, and ``shift`` that of
    the judge's own values as a part of its scale, both of the anchors and in [-1, 1]; ``live`` are
    the judge's values of the systems' new summaries in [0, 1], empty where there are none.
    """

    agreement: ByDocument
    shift: ByDocument
    live: ByDocument


@dataclass(frozen=True, slots=True, kw_only=True)
class LookChanges:
    """The changes that one look found."""

    agreement: Estimate | Undefined
    shift: Estimate | Undefined
    systems: Estimate | Undefined


@dataclass(frozen=True, slots=True, kw_only=True)
class Watch:
    """What the last of several looks says; each interval holds at all looks at once.

    ``systems`` is the change of what the judge says of new summaries since the first look that had
    such, less ``shift``. ``documents_needed`` is about how many documents would tell, where these
    cannot; ``first_worse`` is the first look of this block whose verdict was worse, ``by_look`` has
    the changes of every look.
    """

    n_looks: int
    planned: int
    sequence: SequenceName
    agreement: Estimate | Undefined
    shift: Estimate | Undefined
    systems: Estimate | Undefined
    verdict: DriftVerdict
    documents_needed: int | None
    moved: Moved
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

    The verdict is that of `fairjudge.calibration.drift.drift` on the interval of a confidence
    sequence of the change in agreement, in which documents weigh alike. Over `planned` looks (and
    each further block of as many) the probability of any interval that is wrong is at most 1 -
    `level`, for the sequence ``"betting"`` surely and for ``"spending"`` nearly
    (`fairjudge.stats.sequences`). Shift and systems always have ``"spending"``.
    """
    estimates = agreement_sequence(looks, planned=planned, sequence=sequence, level=level)
    verdicts = [_verdict(estimate, margin) for estimate in estimates]
    shifts = [_mean(look.shift) for look in looks]
    shift_by_look = _spending(shifts, planned=planned, level=level)
    systems_by_look = _spending(_systems(looks, shifts), planned=planned, level=level)
    shift, systems = shift_by_look[-1], systems_by_look[-1]
    block = (len(looks) - 1) // planned * planned
    worse = [number for number in range(block, len(looks)) if verdicts[number] == "worse"]
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
        moved=_moved(judge=judge_moved, systems=_excludes_zero(systems)),
        first_worse=worse[0] + 1 if worse else None,
        by_look=tuple(
            LookChanges(agreement=agreement, shift=own_shift, systems=change_of_systems)
            for agreement, own_shift, change_of_systems in zip(
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
    """Return the change in agreement at every look, with intervals that all hold at once."""
    changes = [look.agreement for look in looks]
    if sequence == "betting":
        return _betting(changes, planned=planned, level=level)
    return _spending(list(map(_mean, changes)), planned=planned, level=level)


def _mean(values: ByDocument) -> LookEstimate | None:
    return mean_at_look(values) if values else None


def _systems(
    looks: Sequence[Look], shifts: Sequence[LookEstimate | None]
) -> list[LookEstimate | None]:
    """Return each look's change of new summaries since the first that had such, less the shift."""
    changes_of_systems: list[LookEstimate | None] = []
    first: tuple[LookEstimate, LookEstimate] | None = None
    for look, shift in zip(looks, shifts, strict=True):
        live = _mean(look.live)
        if live is None or shift is None:
            changes_of_systems.append(None)
        elif first is None:
            first = live, shift
            changes_of_systems.append(None)
        else:
            changes_of_systems.append(live.minus(first[0]).minus(shift.minus(first[1])))
    return changes_of_systems


def _spending(
    looks: Sequence[LookEstimate | None], *, planned: int, level: float
) -> list[Estimate | Undefined]:
    """Return an estimate a look; one without values keeps its place among those planned."""
    nothing = LookEstimate(value=0.0, influence={}, freedom=0)
    bounds = spending_sequence([look or nothing for look in looks], planned=planned, level=level)
    method = _METHODS["spending"].format(planned)
    return [
        _NOTHING
        if look is None
        else _estimate(look.value, bound, n=len(look.influence), level=level, method=method)
        for look, bound in zip(looks, bounds, strict=True)
    ]


def _betting(
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
    if isinstance(change, Undefined) or change.n < FEWEST_DOCUMENTS:
        return "cannot tell"
    return verdict_on_change(change, margin=margin)


def _excludes_zero(ppi_value: Estimate | Undefined) -> bool:
    if isinstance(ppi_value, Undefined) or ppi_value.low is None or ppi_value.high is None:
        return False
    return ppi_value.n >= FEWEST_DOCUMENTS and not ppi_value.low <= 0.0 <= ppi_value.high


def _moved(*, judge: bool, systems: bool) -> Moved:
    if judge:
        return "judge and systems" if systems else "judge"
    return "systems" if systems else "neither"


def by_document(values: Sequence[float], documents: Sequence[Hashable]) -> dict[str, float]:
    """Return the mean of the values of each document."""
    values_by_document: dict[str, list[float]] = {}
    for value, document in zip(values, documents, strict=True):
        values_by_document.setdefault(str(document), []).append(value)
    return {name: sum(own) / len(own) for name, own in values_by_document.items()}

"""Putting a calibrator to work on judgements."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from fairjudge.calibration.calibrators import Calibrator
from fairjudge.calibration.grouping import GroupKey, keyed
from fairjudge.domain import Judgement


@dataclass(frozen=True, slots=True, kw_only=True)
class Applied:
    """Judgements with calibrated values, and what became of the others.

    ``judgements`` are in the order given, none left out. ``n_outside`` scores lay outside the range
    that the calibrator was fitted on and got the value at its end; ``n_other`` are of another
    judge, aspect, protocol or unit, or verdicts, and stay as they were; so do ``n_unscored``.
    """

    judgements: tuple[Judgement, ...]
    n_calibrated: int
    n_outside: int
    n_other: int
    n_unscored: int


def apply_calibrators(
    calibrators: Sequence[Calibrator], judgements: Iterable[Judgement]
) -> Applied:
    """Replace each score by the human score it stands for; the old one is kept as ``uncalibrated``.

    A judgement takes the first calibrator of its judge, aspect, protocol and unit; one
    that names none of them is for all.
    """
    out: list[Judgement] = []
    n_calibrated = n_outside = n_unscored = 0
    for key, row in keyed(judgements):
        calibrated = row
        calibrator = next((one for one in calibrators if _is_meant(one, key)), None)
        if row.value is None:
            n_unscored += 1
        elif calibrator is not None and not isinstance(row.value, str):
            n_calibrated += 1
            n_outside += calibrator.n_outside([row.value])
            value = float(calibrator([row.value])[0])
            calibrated = row.model_copy(update={"value": value, "uncalibrated": row.value})
        out.append(calibrated)
    return Applied(
        judgements=tuple(out),
        n_calibrated=n_calibrated,
        n_outside=n_outside,
        n_other=len(out) - n_calibrated - n_unscored,
        n_unscored=n_unscored,
    )


def _is_meant(calibrator: Calibrator, key: GroupKey) -> bool:
    wanted = calibrator.judge, calibrator.aspect, calibrator.protocol, calibrator.unit
    return all(not want or want == have for want, have in zip(wanted, key, strict=True))

"""Putting a calibrator, or a fitted jury, to work on judgements."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from fairjudge.calibration.calibrators import Calibrator
from fairjudge.calibration.grouping import WHOLE, GroupKey, keyed
from fairjudge.calibration.juries import FittedJury, Member
from fairjudge.calibration.jury_report import Covariates, covariate_columns
from fairjudge.calibration.labels import ItemKey, item_key, mean_of
from fairjudge.calibration.parts import averaged_over_parts
from fairjudge.domain import Judgement

FEWEST_MEMBERS = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class CalibratedJudgements:
    """Judgements with calibrated values, and counts of those left unchanged.

    ``judgements`` are in the order given, none left out, after those of juries, of which there are
    ``n_by_juries``. ``n_outside`` scores lay outside the range
    that the calibrator was fitted on and got the value at its end; ``n_other`` are of another
    judge, aspect, protocol or unit, or verdicts, and stay as they were; so do ``n_unscored``.
    """

    judgements: tuple[Judgement, ...]
    n_calibrated: int
    n_outside: int
    n_other: int
    n_unscored: int
    n_by_juries: int = 0


def apply_calibrators(
    calibrators: Sequence[Calibrator | FittedJury],
    judgements: Iterable[Judgement],
    *,
    covariates: Covariates | None = None,
    told_apart: Sequence[Judgement] | None = None,
) -> CalibratedJudgements:
    """Replace each score by its calibrated value; the original is kept as ``uncalibrated``.

    A judgement takes the first calibrator of its judge, aspect, protocol and unit; one
    that names none of them is for all. A fitted jury of which two members or more judged adds a
    judgement of each item. `covariates` that it was fitted with are missing where not given;
    `told_apart` are the same judgements under the names that settings give their judges.
    """
    rows = tuple(judgements)
    members = rows if told_apart is None else told_apart
    curves = [calibrator for calibrator in calibrators if isinstance(calibrator, Calibrator)]
    out: list[Judgement] = []
    n_calibrated = n_outside = n_unscored = 0
    for key, row in keyed(rows):
        calibrated = row
        calibrator = next((curve for curve in curves if _matches_group(curve, key)), None)
        if row.value is None:
            n_unscored += 1
        elif calibrator is not None and not isinstance(row.value, str):
            n_calibrated += 1
            n_outside += calibrator.n_outside([row.value])
            value = float(calibrator([row.value])[0])
            calibrated = row.model_copy(update={"value": value, "uncalibrated": row.value})
        out.append(calibrated)
    judgements_of_juries = [
        row
        for jury in calibrators
        if isinstance(jury, FittedJury)
        for row in jury_judgements(jury, members, covariates=covariates)
    ]
    return CalibratedJudgements(
        judgements=(*judgements_of_juries, *out),
        n_calibrated=n_calibrated,
        n_outside=n_outside,
        n_other=len(out) - n_calibrated - n_unscored,
        n_unscored=n_unscored,
        n_by_juries=len(judgements_of_juries),
    )


def jury_judgements(
    jury: FittedJury, judgements: Iterable[Judgement], *, covariates: Covariates | None = None
) -> Iterator[Judgement]:
    """Yield the jury's judgement of each item that a member judged, in order of appearance.

    Nothing where fewer than two members judged anything: that is no jury. Each row has the members'
    own scores as ``members``, and ``n_scored`` counts them; an item that no member scored is
    unscored, for the most frequent reason.
    """
    items: dict[ItemKey, dict[str, float | None]] = {}
    why: dict[ItemKey, Counter[str]] = defaultdict(Counter)
    rows = list(keyed(judgements))
    owned = [[row for key, row in rows if _is_of(member, key, row)] for member in jury.members]
    if sum(map(bool, owned)) < FEWEST_MEMBERS:
        return
    for member, own in zip(jury.members, owned, strict=True):
        for key, score in _scores(member, jury, own).items():
            items.setdefault(key, {})[member.name] = score
        for row in own:
            why[_item(member, jury, row)].update([row.unscored] if row.unscored else [])
    keys, names = list(items), [member.name for member in jury.members]
    scores = np.array(
        [[items[key].get(name) for name in names] for key in keys], dtype=np.float64
    ).reshape(len(keys), len(names))
    covariates_by_name = covariates or {}
    columns: Covariates = {name: covariates_by_name.get(name, {}) for name in jury.covariates}
    protocols = {member.calibrator.protocol for member in jury.members}
    protocol = protocols.pop() if len(protocols) == 1 else "likert"  # a number, whatever was asked
    for key, value in zip(
        keys, jury(scores, covariate_columns(keys, columns)).tolist(), strict=True
    ):
        score_by_member = items[key]
        yield Judgement.model_validate(
            {
                "eid": key[0],
                "system": key[1],
                "aspect": jury.aspect,
                "unit": key[3],
                "protocol": protocol,
                "judge": jury.name,
                "value": value if np.isfinite(value) else None,
                "unscored": None if np.isfinite(value) else why[key].most_common(1)[0][0],
                "signature": f"rule:fitted;labels:{jury.n_labels}",
                "members": score_by_member,
                "n_scored": sum(score is not None for score in score_by_member.values()),
            }
        )


def _scores(
    member: Member, jury: FittedJury, rows: Sequence[Judgement]
) -> dict[ItemKey, float | None]:
    """Return a member's score of each item that it judged: repeats and parts are averaged."""
    scores_by_item: dict[ItemKey, list[float]] = defaultdict(list)
    for row in rows:
        if row.value is not None and not isinstance(row.value, str):
            scores_by_item[item_key(row)[0]].append(float(row.value))
    means = {key: mean_of(scores) for key, scores in scores_by_item.items()}
    if jury.unit == WHOLE and member.calibrator.unit != WHOLE:
        means = averaged_over_parts(means)
    return {(key := _item(member, jury, row)): means.get(key) for row in rows}


def _item(member: Member, jury: FittedJury, row: Judgement) -> ItemKey:
    key, _ = item_key(row)
    is_part = jury.unit == WHOLE and member.calibrator.unit != WHOLE
    return (*key[:3], WHOLE) if is_part else key


def _is_of(member: Member, key: GroupKey, row: Judgement) -> bool:
    is_variant = not member.variant or row.variant == member.variant
    return is_variant and row.system is not None and _matches_group(member.calibrator, key)


def _matches_group(calibrator: Calibrator, key: GroupKey) -> bool:
    identity = calibrator.judge, calibrator.aspect, calibrator.protocol, calibrator.unit
    return all(not want or want == have for want, have in zip(identity, key, strict=True))

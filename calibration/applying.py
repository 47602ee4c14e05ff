"""Application of calibrators and fitted juries to judgements."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from fairjudge.calibration.calibrators import Calibrator
from fairjudge.calibration.grouping import WHOLE, GroupKey, with_group_keys
from fairjudge.calibration.juries import FittedJury, Member
from fairjudge.calibration.jury_report import Covariates, covariate_columns
from fairjudge.calibration.labels import ItemKey, exact_mean, item_key
from fairjudge.calibration.parts import average_parts
from fairjudge.domain import Judgement

MIN_MEMBERS = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class CalibratedJudgements:
    """Judgements with calibrated values, and counts of unchanged judgements.

    ``judgements`` starts with the ``n_by_juries`` judgements of juries; all input judgements
    follow, in the same order. ``n_outside`` scores were outside the range on which the calibrator
    was fitted and were clipped to it. ``n_other`` judgements are unchanged because they are
    verdicts or because no calibrator has their judge, aspect, protocol and unit; ``n_unscored`` are
    unchanged because they have no score.
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
    judgements_by_settings: Sequence[Judgement] | None = None,
) -> CalibratedJudgements:
    """Replace each score by its calibrated value; the original is kept as ``uncalibrated``.

    A judgement uses the first calibrator for its judge, aspect, protocol and unit; an empty field
    of a calibrator matches everything. A fitted jury adds a judgement of each item if two or more
    of its members judged. `covariates` are those of juries; absent ones are treated as missing.
    `judgements_by_settings` are the same judgements, with judges named by their settings.
    """
    rows = tuple(judgements)
    member_rows = rows if judgements_by_settings is None else judgements_by_settings
    curves = [calibrator for calibrator in calibrators if isinstance(calibrator, Calibrator)]
    calibrated_rows: list[Judgement] = []
    n_calibrated = n_outside = n_unscored = 0
    for key, row in with_group_keys(rows):
        calibrated_row = row
        calibrator = next((curve for curve in curves if _applies_to(curve, key)), None)
        if row.value is None:
            n_unscored += 1
        elif calibrator is not None and not isinstance(row.value, str):
            n_calibrated += 1
            n_outside += calibrator.n_outside([row.value])
            value = float(calibrator([row.value])[0])
            calibrated_row = row.model_copy(update={"value": value, "uncalibrated": row.value})
        calibrated_rows.append(calibrated_row)
    judgements_of_juries = [
        row
        for jury in calibrators
        if isinstance(jury, FittedJury)
        for row in jury_judgements(jury, member_rows, covariates=covariates)
    ]
    return CalibratedJudgements(
        judgements=(*judgements_of_juries, *calibrated_rows),
        n_calibrated=n_calibrated,
        n_outside=n_outside,
        n_other=len(calibrated_rows) - n_calibrated - n_unscored,
        n_unscored=n_unscored,
        n_by_juries=len(judgements_of_juries),
    )


def jury_judgements(
    jury: FittedJury, judgements: Iterable[Judgement], *, covariates: Covariates | None = None
) -> Iterator[Judgement]:
    """Yield the jury's judgement of each item that a member judged, in order of appearance.

    Yields nothing if fewer than two members judged anything. Each row has the members' scores as
    ``members`` and their number as ``n_scored``. An item that no member scored is unscored, with
    the most frequent reason.
    """
    items: dict[ItemKey, dict[str, float | None]] = {}
    reasons: dict[ItemKey, Counter[str]] = defaultdict(Counter)
    rows = list(with_group_keys(judgements))
    rows_by_member = [
        [row for key, row in rows if _is_by_member(member, key, row)] for member in jury.members
    ]
    if sum(map(bool, rows_by_member)) < MIN_MEMBERS:
        return
    for member, member_rows in zip(jury.members, rows_by_member, strict=True):
        for key, score in _scores(member, jury, member_rows).items():
            items.setdefault(key, {})[member.name] = score
        for row in member_rows:
            reasons[_item_key(member, jury, row)].update([row.unscored] if row.unscored else [])
    keys, names = list(items), [member.name for member in jury.members]
    scores = np.array(
        [[items[key].get(name) for name in names] for key in keys], dtype=np.float64
    ).reshape(len(keys), len(names))
    covariates_by_name = covariates or {}
    columns: Covariates = {name: covariates_by_name.get(name, {}) for name in jury.covariates}
    protocols = {member.calibrator.protocol for member in jury.members}
    protocol = (
        protocols.pop() if len(protocols) == 1 else "likert"
    )  # a number, whatever the members' protocols
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
                "unscored": None if np.isfinite(value) else reasons[key].most_common(1)[0][0],
                "signature": f"rule:fitted;labels:{jury.n_labels}",
                "members": score_by_member,
                "n_scored": sum(score is not None for score in score_by_member.values()),
            }
        )


def _scores(
    member: Member, jury: FittedJury, rows: Sequence[Judgement]
) -> dict[ItemKey, float | None]:
    """Return a member's score of each item that it judged, averaged over repeats and parts."""
    scores_by_item: dict[ItemKey, list[float]] = defaultdict(list)
    for row in rows:
        if row.value is not None and not isinstance(row.value, str):
            scores_by_item[item_key(row)[0]].append(float(row.value))
    means = {key: exact_mean(scores) for key, scores in scores_by_item.items()}
    if jury.unit == WHOLE and member.calibrator.unit != WHOLE:
        means = average_parts(means)
    return {(key := _item_key(member, jury, row)): means.get(key) for row in rows}


def _item_key(member: Member, jury: FittedJury, row: Judgement) -> ItemKey:
    key, _ = item_key(row)
    is_part = jury.unit == WHOLE and member.calibrator.unit != WHOLE
    return (*key[:3], WHOLE) if is_part else key


def _is_by_member(member: Member, key: GroupKey, row: Judgement) -> bool:
    is_variant = not member.variant or row.variant == member.variant
    return is_variant and row.system is not None and _applies_to(member.calibrator, key)


def _applies_to(calibrator: Calibrator, key: GroupKey) -> bool:
    fields = calibrator.judge, calibrator.aspect, calibrator.protocol, calibrator.unit
    return all(not field or field == part for field, part in zip(fields, key, strict=True))

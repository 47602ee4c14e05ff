"""The history of a monitored judge: the results of each check, in an append-only file."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from fairjudge.calibration.choices import SequenceName
from fairjudge.calibration.grouping import group_judgements
from fairjudge.calibration.items import JoinedItems
from fairjudge.calibration.scales import Scale, rescale
from fairjudge.calibration.watching import Look, document_means, watch
from fairjudge.domain import Judgement
from fairjudge.errors import InputError
from fairjudge.files import check_regular
from fairjudge.protocols import PROTOCOLS
from fairjudge.records.folder import differences, run_rows
from fairjudge.records.results import to_json
from fairjudge.records.sealed import seal
from fairjudge.stats._arrays import FloatArray

_KIND = "looks of a watched judge"
Seen: TypeAlias = Mapping[str, Look]
"""The results of one look, by aspect, protocol, unit and the baseline's judge."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WatchSettings:
    """The file of the looks, the planned number of looks, and the confidence sequence.

    ``live`` are judgements of current summaries by the checked judge.
    """

    path: Path
    planned: int = 52
    sequence: SequenceName = "spending"
    live: tuple[Judgement, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Looks:
    """All looks at a baseline's anchors, the current one last; ``is_new`` if it is not a repeat.

    A look with the same results as the previous one does not count as a new look, such as after a
    restart of the job.
    """

    settings: WatchSettings
    seen: tuple[Seen, ...]
    is_new: bool

    def report(self, group: str, *, margin: float, level: float) -> dict[str, Any]:
        """Return the results of all looks for one group, as JSON."""
        result = watch(
            [look[group] for look in self.seen if group in look],
            margin=margin,
            planned=self.settings.planned,
            sequence=self.settings.sequence,
            level=level,
        )
        return dict(to_json(result))


def append_look(
    settings: WatchSettings,
    groups: Mapping[str, tuple[JoinedItems, JoinedItems]],
    *,
    level: float,
) -> Looks:
    """Read the history, and append the results of this look at `groups` (before and after).

    Raises
    ------
    InputError
        The file is not a history, or has another baseline, labels, plan or level; or no live
        judgement belongs to the checked groups.
    """
    identity = {
        "anchors": _digest(groups),
        "looks": settings.planned,
        "sequence": settings.sequence,
        "level": level,
    }
    rows = _kept_looks(settings.path)
    if rows:
        _check(rows[0], identity, settings.path)
    looks = [_looks_of_row(row, settings.path) for row in rows[1:]]
    current = {name: _look(*sides, settings.live) for name, sides in groups.items()}
    if settings.live and not any(look.live for look in current.values()):
        raise InputError(
            "no live judgement with a score belongs to the checked groups", field="live"
        )
    if looks and looks[-1] == current:
        return Looks(settings=settings, seen=tuple(looks), is_new=False)
    row = {"look": {name: asdict(look) for name, look in current.items()}}
    header = {"kind": _KIND, "identity": identity}
    _append(settings.path, [row] if rows else [header, row])
    return Looks(settings=settings, seen=(*looks, current), is_new=True)


def group_name(*parts: str) -> str:
    """Return a key for aspect, protocol, unit and judge."""
    return json.dumps(parts, ensure_ascii=False)


def _check(header: Mapping[str, Any], identity: Mapping[str, Any], path: Path) -> None:
    if header.get("kind") != _KIND or not isinstance(header.get("identity"), dict):
        raise InputError("not a record of looks, as --since keeps it", path=path)
    if header["identity"] != identity:
        raise InputError(
            "this record is of another check (it differs in "
            f"{', '.join(differences(header['identity'], dict(identity)))}): looks at other "
            "anchors, labels or baselines are not one sequence; name a new file",
            path=path,
        )


def _looks_of_row(row: Mapping[str, Any], path: Path) -> dict[str, Look]:
    try:
        return {str(name): Look(**look) for name, look in row["look"].items()}
    except (AttributeError, KeyError, TypeError):
        raise InputError("holds a row that is no look", path=path) from None


def _digest(groups: Mapping[str, tuple[JoinedItems, JoinedItems]]) -> str:
    """Return a digest of the baseline's values and the human labels of its items."""
    rows = [
        [name, list(key), value, label]
        for name, (baseline, _) in groups.items()
        for key, value, label in zip(
            baseline.keys, baseline.judged.tolist(), baseline.human.tolist(), strict=True
        )
    ]
    text = json.dumps(sorted(rows), ensure_ascii=False)
    return hashlib.sha256(text.encode("utf-8", errors="replace")).hexdigest()


def _look(baseline: JoinedItems, current: JoinedItems, live: Sequence[Judgement]) -> Look:
    """Compare the items that both have, with values and labels rescaled to [0, 1]."""
    baseline_values, current_values = (
        _unit(side.judged, baseline.judge_scale) for side in (baseline, current)
    )
    human = rescale(baseline.human, baseline.label_scale, (0.0, 1.0))
    current_rows = {key: row for row, key in enumerate(current.keys)}
    rows = [
        (row, current_rows[key]) for row, key in enumerate(baseline.keys) if key in current_rows
    ]
    documents = [baseline.keys[row][0] for row, _ in rows]
    shifts = [
        float(current_values[current_row] - baseline_values[row]) for row, current_row in rows
    ]
    agreement_gains = [
        float(
            abs(baseline_values[row] - human[row]) - abs(current_values[current_row] - human[row])
        )
        for row, current_row in rows
    ]
    return Look(
        agreement=document_means(agreement_gains, documents),
        shift=document_means(shifts, documents),
        live=_live(live, baseline, current),
    )


def _unit(values: FloatArray, scale: Scale) -> FloatArray:
    return rescale(values, scale, (0.0, 1.0)).clip(0.0, 1.0)


def _live(
    live: Sequence[Judgement], baseline: JoinedItems, current: JoinedItems
) -> dict[str, float]:
    """Return the mean live judgement of each document, rescaled to [0, 1]."""
    if PROTOCOLS[baseline.protocol].paired:
        return {}
    scores = [
        (float(row.value), row.eid)
        for row in group_judgements(live).get(current.group, ())
        if row.value is not None
    ]
    values = _unit(np.array([value for value, _ in scores]), baseline.judge_scale)
    return document_means(values.tolist(), [eid for _, eid in scores])


def _kept_looks(path: Path) -> list[dict[str, Any]]:
    """Return all rows, oldest first; an empty list if the file is missing or empty.

    An incomplete last row, left by a killed process, is ignored and later overwritten.

    Raises
    ------
    InputError
        Any other row is corrupt.
    """
    check_regular(path)
    rows = [dict(row) for row in run_rows(path)]
    if not rows and path.exists() and path.stat().st_size:
        raise InputError("holds no whole row: not such a record; name another", path=path)
    return rows


def _append(path: Path, rows: Sequence[Mapping[str, Any]]) -> None:
    """Append rows in one write, and flush them to disk."""
    data = b"".join(seal(row) + b"\n" for row in rows)
    try:
        with path.open("ab") as file:
            n_whole_bytes = path.read_bytes().rfind(b"\n") + 1
            if n_whole_bytes < file.tell():
                file.truncate(n_whole_bytes)
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
    except OSError as error:
        raise InputError(f"cannot write: {error.strerror}", path=path) from None

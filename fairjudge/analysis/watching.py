"""The record of a watched judge: what each look saw, in a file that is only added to."""

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
"""What a look saw, by aspect, protocol, unit and the baseline's judge."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WatchSettings:
    """Where looks are kept, how many are planned, and by which sequence they are bounded.

    ``live`` are judgements of what the systems write now, by the judge that is checked.
    """

    path: Path
    planned: int = 52
    sequence: SequenceName = "spending"
    live: tuple[Judgement, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Looks:
    """All looks at one baseline's anchors, the current one last; ``is_new`` if it is not a repeat.

    A look that saw what the one before it saw is the same look: a job that was started again, or
    a judge that answers always the same, spends nothing.
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


def take_look(
    settings: WatchSettings,
    groups: Mapping[str, tuple[JoinedItems, JoinedItems]],
    *,
    level: float,
) -> Looks:
    """Read the record, and add what this look sees of `groups`: the anchors before and after.

    Raises
    ------
    InputError
        The record is of another baseline, of other labels, of another plan or level, or no such
        record; or there are live judgements, and none of what is checked.
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
        raise InputError("the live judgements have no scored one of what is checked", field="live")
    if looks and looks[-1] == current:
        return Looks(settings=settings, seen=tuple(looks), is_new=False)
    row = {"look": {name: asdict(look) for name, look in current.items()}}
    header = {"kind": _KIND, "identity": identity}
    _append(settings.path, [row] if rows else [header, row])
    return Looks(settings=settings, seen=(*looks, current), is_new=True)


def group_name(*parts: str) -> str:
    """Return one name of aspect, protocol, unit and judge."""
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
    """Return a digest of the baseline's values and people's labels of its items."""
    rows = [
        [name, list(key), value, label]
        for name, (was, _) in groups.items()
        for key, value, label in zip(was.keys, was.judged.tolist(), was.human.tolist(), strict=True)
    ]
    text = json.dumps(sorted(rows), ensure_ascii=False)
    return hashlib.sha256(text.encode("utf-8", errors="replace")).hexdigest()


def _look(was: JoinedItems, now: JoinedItems, live: Sequence[Judgement]) -> Look:
    """Compare the items that both have; values and labels from 0 to 1, 1 is nearest to people."""
    before, after = (_unit(side.judged, was.judge_scale) for side in (was, now))
    human = rescale(was.human, was.label_scale, (0.0, 1.0))
    now_at = {key: row for row, key in enumerate(now.keys)}
    rows = [(row, now_at[key]) for row, key in enumerate(was.keys) if key in now_at]
    documents = [was.keys[row][0] for row, _ in rows]
    moved = [float(after[then] - before[row]) for row, then in rows]
    nearer = [
        float(abs(before[row] - human[row]) - abs(after[then] - human[row])) for row, then in rows
    ]
    return Look(
        agreement=document_means(nearer, documents),
        shift=document_means(moved, documents),
        live=_live(live, was, now),
    )


def _unit(values: FloatArray, scale: Scale) -> FloatArray:
    return rescale(values, scale, (0.0, 1.0)).clip(0.0, 1.0)


def _live(live: Sequence[Judgement], was: JoinedItems, now: JoinedItems) -> dict[str, float]:
    """Return the mean of each document's new summaries, from 0 to 1."""
    if PROTOCOLS[was.protocol].paired:
        return {}
    scored = [
        (float(row.value), row.eid)
        for row in group_judgements(live).get(now.group, ())
        if row.value is not None
    ]
    values = _unit(np.array([value for value, _ in scored]), was.judge_scale)
    return document_means(values.tolist(), [eid for _, eid in scored])


def _kept_looks(path: Path) -> list[dict[str, Any]]:
    """Return all rows, oldest first; an empty list where the file is missing or empty.

    A torn row at the end, left by a killed process, is none: the next one is written over it.

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
    """Add rows in one write; they are on disk when this returns."""
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

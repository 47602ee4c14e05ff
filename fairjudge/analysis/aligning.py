"""An old and a new prompt beside people's labels: items paired, figures and audits as JSON."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from fairjudge.calibration.alignment import Decision, Paired, decide, fit_both
from fairjudge.calibration.group_rates import group_rates
from fairjudge.calibration.groups import GroupError, error_by_group, quantile_groups
from fairjudge.calibration.items import Joined, join
from fairjudge.calibration.labels import ItemKey, system_name
from fairjudge.domain import Judgement, Label, Summary, Undefined
from fairjudge.results import to_json
from fairjudge.stats._arrays import FloatArray

_LENGTH_GROUPS = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelReading:
    """Whose labels count, and on which scale they are; see `fairjudge.calibration.items.join`."""

    annotators: tuple[str, ...] = ("*",)
    scale: tuple[float, float] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Sides:
    """Two prompts on one part: `paired` has what both scored, in the order of ``keys``."""

    old: Joined
    new: Joined
    keys: tuple[ItemKey, ...]
    paired: Paired


def sides_of(
    old: Iterable[Judgement],
    new: Iterable[Judgement],
    labels: Sequence[Label],
    reading: LabelReading,
) -> Sides:
    """Join both prompts' judgements to the labels of a part, item by item."""
    (one,), (other,) = (
        join(rows, labels, annotators=reading.annotators, label_scale=reading.scale)
        for rows in (old, new)
    )
    before, after = (
        dict(zip(side.keys, side.judged.tolist(), strict=True)) for side in (one, other)
    )
    human = dict(zip(one.keys, one.human.tolist(), strict=True))
    both = tuple(key for key in one.keys if key in after)
    labelled = {*one.keys, *one.unjudged, *other.keys, *other.unjudged}
    return Sides(
        old=one,
        new=other,
        keys=both,
        paired=Paired(
            old=np.array([before[key] for key in both], dtype=np.float64),
            new=np.array([after[key] for key in both], dtype=np.float64),
            human=np.array([human[key] for key in both], dtype=np.float64),
            documents=[key[0] for key in both],
            n_labelled=len(labelled),
            n_without_old=len(labelled - before.keys()),
            n_without_new=len(labelled - after.keys()),
        ),
    )


def opened_report(
    development: Sides,
    test: Sides,
    summaries: Iterable[Summary],
    *,
    seed: int,
    level: float = 0.95,
) -> dict[str, Any]:
    """Return the decision on the test, and the audits of both prompts there, as JSON."""
    found = decide(development.paired, test.paired, rng=np.random.default_rng(seed), level=level)
    words = {(one.eid, one.system): len(one.text.split()) for one in summaries}
    return {"decision": _decision(found), "audits": _audits(development, test, words, level=level)}


def _decision(found: Decision) -> dict[str, Any]:
    return {**to_json(found), "gain": asdict(found.gain), "why_not": list(found.why_not)}


def _audits(
    development: Sides, test: Sides, words: Mapping[tuple[str, str], int], *, level: float
) -> dict[str, Any]:
    """Return each audit with the figures of the old prompt and of the new one.

    Errors are those of calibrated scores, by calibrators that never saw the test.
    """
    return {
        "position": {"why": "one summary is judged at a time: there is no place to prefer"},
        "unscored": {name: dict(side.counts.unscored) for name, side in _named(test)},
        "errors": _group_errors(development, test, words, level=level),
        "rates": {
            name: None
            if (rates := group_rates(side, level=level)) is None
            else to_json(rates.errors)
            for name, side in _named(test)
        },
    }


def _named(sides: Sides) -> tuple[tuple[str, Joined], ...]:
    return ("old", sides.old), ("new", sides.new)


def _group_errors(
    development: Sides, test: Sides, words: Mapping[tuple[str, str], int], *, level: float
) -> dict[str, Any]:
    calibrators = fit_both(development.paired)
    if isinstance(calibrators, Undefined):
        return {"why": calibrators.why, "groups": []}
    known = [key for key in test.keys if (key[0], key[1]) in words]
    lengths = quantile_groups(
        [float(words[key[0], key[1]]) for key in known], n_groups=_LENGTH_GROUPS, unit="words"
    )
    by_length = dict(zip(known, lengths, strict=True))
    kinds: dict[str, list[str | None]] = {
        "length": [by_length.get(key) for key in test.keys],
        "system": [system_name(key) for key in test.keys],
    }
    scores = [
        calibrator(side)
        for calibrator, side in zip(calibrators, (test.paired.old, test.paired.new), strict=True)
    ]
    return {
        "why": None,
        "groups": [
            row
            for kind, groups in kinds.items()
            for row in _rows(kind, groups, scores, test.paired, level=level)
        ],
    }


def _rows(
    kind: str,
    groups: Sequence[str | None],
    scores: Sequence[FloatArray],
    paired: Paired,
    *,
    level: float,
) -> Iterable[dict[str, Any]]:
    """Yield a row a group, where there are two or more to compare."""
    old, new = (
        error_by_group(one, paired.human, groups, documents=paired.documents, level=level)
        for one in scores
    )
    if len(old) < 2:
        return
    for before, after in zip(old, new, strict=True):
        yield {
            "kind": kind,
            "group": before.group,
            "n": before.n,
            "n_documents": before.n_documents,
            "old": _error(before),
            "new": _error(after),
        }


def _error(one: GroupError) -> dict[str, Any]:
    return {"error": to_json(one.error), "gap": to_json(one.error_gap), "flagged": one.flagged}


def unscored_of(rows: Iterable[Judgement]) -> Counter[str]:
    """Count judgements without a score by reason."""
    return Counter(row.unscored for row in rows if row.unscored is not None)

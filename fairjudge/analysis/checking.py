"""The same labelled items judged before and after a change, as JSON."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from fairjudge.analysis.comparing import Aspect, matched
from fairjudge.calibration.drift import Anchors, drift
from fairjudge.calibration.items import Joined, join
from fairjudge.domain import Judgement, Label
from fairjudge.errors import InputError
from fairjudge.records.results import to_json
from fairjudge.stats.clustered import clustered_mean

_WORST_FIRST = ("worse", "cannot tell", "same", "better")


def check_report(
    after: Iterable[Judgement],
    before: Iterable[Judgement],
    labels: Iterable[Label],
    *,
    margin: float,
    annotators: Sequence[str] = ("*",),
    label_scale: tuple[float, float] | None = None,
    level: float = 0.95,
    seed: int = 0,
) -> dict[str, Any]:
    """Return how agreement with people changed, by aspect and protocol, and one verdict.

    Judges are matched by name, or whatever their names where either side has one. The verdict of
    all is the worst; where there are several, each of them has its own interval, uncorrected.

    Raises
    ------
    InputError
        If the two sides have no aspect and protocol in common, or the labels are of neither.
    """
    rows, taken = list(labels), tuple(annotators)
    one, other = (
        _by_aspect(join(some, rows, annotators=taken, label_scale=label_scale))
        for some in (before, after)
    )
    groups = [
        {
            "aspect": of[0],
            "protocol": of[1],
            "judge_before": judges[0],
            "judge_after": judges[1],
            **_group(*sides, margin=margin, level=level, seed=seed),
        }
        for of in one
        if of in other
        for judges, sides in matched(one[of], other[of])
    ]
    if not groups:
        raise InputError(
            f"nothing to check: judged before are {_named(one)}, judged after {_named(other)}"
        )
    verdicts = {group["verdict"] for group in groups}
    worst = next(one for one in _WORST_FIRST if one in verdicts)
    return {"verdict": worst, "margin": margin, "level": level, "groups": groups}


def without_texts(rows: Iterable[Judgement]) -> list[Judgement]:
    """Return judgements as a baseline keeps them: values, no replies and no quotes."""
    return [row.model_copy(update={"raw": None, "checklist": None}) for row in rows]


def _by_aspect(groups: Iterable[Joined]) -> dict[Aspect, dict[str, Joined]]:
    found: dict[Aspect, dict[str, Joined]] = defaultdict(dict)
    for one in groups:
        found[one.aspect, one.protocol][one.judge] = one
    return found


def _named(found: Mapping[Aspect, Mapping[str, Joined]]) -> str:
    return "; ".join(f"{aspect} by {protocol}" for aspect, protocol in found) or "none"


def _group(was: Joined, now: Joined, *, margin: float, level: float, seed: int) -> dict[str, Any]:
    before, after = (dict(zip(side.keys, side.judged.tolist(), strict=True)) for side in (was, now))
    human = dict(zip(was.keys, was.human.tolist(), strict=True))
    both = [key for key in was.keys if key in after]
    found = drift(
        Anchors(
            before=np.array([before[key] for key in both], dtype=np.float64),
            after=np.array([after[key] for key in both], dtype=np.float64),
            human=np.array([human[key] for key in both], dtype=np.float64),
            documents=[key[0] for key in both],
            protocol=was.protocol,
        ),
        margin=margin,
        rng=np.random.default_rng(seed),
        level=level,
    )
    labelled = list(dict.fromkeys((*was.keys, *was.unjudged, *now.keys, *now.unjudged)))
    lost = [float(key not in after) - float(key not in before) for key in labelled]
    return {
        **to_json(found),
        "n_labelled": len(labelled),
        "n_without_before": sum(key not in before for key in labelled),
        "n_without_after": sum(key not in after for key in labelled),
        "without_score": to_json(
            clustered_mean(lost, [key[0] for key in labelled], level=level, null=0.0)
        ),
    }

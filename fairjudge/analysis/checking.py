"""The same labelled items judged before and after a change, as JSON."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np

from fairjudge.analysis.comparing import Aspect, in_words, matched
from fairjudge.analysis.watching import WatchSettings, group_name, take_look
from fairjudge.calibration.drift import Anchors, DriftVerdict, drift
from fairjudge.calibration.grouping import group_judgements
from fairjudge.calibration.items import JoinedItems, join
from fairjudge.domain import Judgement, Label
from fairjudge.errors import InputError
from fairjudge.records.matching import item_label
from fairjudge.records.results import to_json
from fairjudge.stats.clustered import clip_interval, clustered_mean

Outcome: TypeAlias = Literal["passed", "worse", "constant", "cannot tell", "unscored"]
_ByAspect: TypeAlias = Mapping[Aspect, Mapping[str, JoinedItems]]
"""Judgements with labels by aspect, protocol and unit, then by judge."""
_WORST_FIRST: tuple[DriftVerdict, ...] = ("worse", "constant", "cannot tell", "same", "better")


@dataclass(frozen=True, slots=True, kw_only=True)
class Gate:
    """What a check puts up with.

    ``margin`` is the largest loss of agreement, ``max_unscored`` the largest share of anchors (of
    one aspect, protocol, unit and judge) without a score before or after. ``strict`` fails also
    where the anchors cannot tell.
    """

    margin: float = 0.05
    max_unscored: float = 0.05
    strict: bool = False


def check_report(
    after: Iterable[Judgement],
    before: Iterable[Judgement],
    labels: Iterable[Label],
    *,
    gate: Gate,
    annotators: Sequence[str],
    label_scale: tuple[float, float] | None,
    watching: WatchSettings | None = None,
    level: float = 0.95,
    seed: int = 0,
) -> dict[str, Any]:
    """Return how agreement with people changed, by aspect, protocol and unit, and the outcome.

    With `watching`, this is one look of several: it is added to their record, and the verdicts are
    those of confidence sequences (`fairjudge.calibration.watching`).

    Judges are matched by name, or whatever their names where either side has one. The verdict of
    all is the worst; where there are several, each of them has its own interval, uncorrected. A
    labelled item that was not judged is one without a score.

    Raises
    ------
    InputError
        If either side has no labelled item, what was judged before was not judged after, or the
        record of looks is of something else.
    """
    rows, baseline, judged = list(labels), tuple(before), tuple(after)
    _check_all_judged_again(_judges(baseline), _judges(judged))
    was, now = (
        _by_aspect(join(records, rows, annotators=annotators, label_scale=label_scale))
        for records in (baseline, judged)
    )
    pairs = {
        (of, judges): sides
        for of in was
        if of in now
        for judges, sides in matched(was[of], now[of])
    }
    groups = [
        {
            **of._asdict(),
            "judge_before": judges[0],
            "judge_after": judges[1],
            **_group(*sides, margin=gate.margin, level=level, seed=seed),
        }
        for (of, judges), sides in pairs.items()
    ]
    since: dict[str, Any] = {}
    if watching is not None:
        sides_by_name = {group_name(*of, judges[0]): sides for (of, judges), sides in pairs.items()}
        looks = take_look(watching, sides_by_name, level=level)
        groups = [
            _watched(group, looks.report(name, margin=gate.margin, level=level))
            for name, group in zip(sides_by_name, groups, strict=True)
        ]
        name = watching.path.name
        since = {"since": {"name": name, "n_looks": len(looks.seen), "is_new": looks.is_new}}
    verdicts = {group["verdict"] for group in groups}
    worst = next(verdict for verdict in _WORST_FIRST if verdict in verdicts)
    n_unscored = sum(row.unscored is not None for row in judged)
    return {
        "verdict": worst,
        "outcome": _outcome(worst, groups, gate, unscored=n_unscored / len(judged)),
        "margin": gate.margin,
        "max_unscored": gate.max_unscored,
        "level": level,
        "n_judgements": len(judged),
        "n_unscored": n_unscored,
        "groups": groups,
        **since,
    }


def _watched(group: Mapping[str, Any], watch: Mapping[str, Any]) -> dict[str, Any]:
    """Return a group with the results of all looks; a constant judge keeps its own verdict."""
    if group["verdict"] == "constant":
        return {**group, "watch": watch}
    by_looks = {name: watch[name] for name in ("verdict", "documents_needed")}
    return {**group, "watch": watch, **by_looks}


def _judges(rows: Iterable[Judgement]) -> dict[Aspect, list[str]]:
    judges_by_aspect: dict[Aspect, list[str]] = defaultdict(list)
    for judge, *of in group_judgements(rows):
        judges_by_aspect[Aspect(*of)].append(judge)
    return judges_by_aspect


def _check_all_judged_again(
    was: Mapping[Aspect, Sequence[str]], now: Mapping[Aspect, Sequence[str]]
) -> None:
    """Reject groups that only the baseline judged: their anchors would go unchecked."""
    missing_judges = {
        of: missing
        for of, before in was.items()
        if not len(before) == len(now.get(of, ())) == 1
        if (missing := [judge for judge in before if judge not in now.get(of, ())])
    }
    if missing_judges:
        raise InputError(
            f"judged before the change and not after it: {in_words(missing_judges)}; "
            f"judged after it: {in_words(now)}"
        )


def _outcome(
    verdict: DriftVerdict, groups: Sequence[Mapping[str, Any]], gate: Gate, *, unscored: float
) -> Outcome:
    """Return whether a check passes, or the first reason why it does not."""
    if verdict in ("worse", "constant") or (gate.strict and verdict == "cannot tell"):
        return verdict
    missing = (
        max(group["n_without_before"], group["n_without_after"]) / max(group["n_labelled"], 1)
        for group in groups
    )
    return "unscored" if max(unscored, *missing) > gate.max_unscored else "passed"


def without_texts(rows: Iterable[Judgement]) -> list[Judgement]:
    """Return judgements as a baseline keeps them: values, no replies and no quotes."""
    return [row.model_copy(update={"raw": None, "checklist": None}) for row in rows]


def _by_aspect(groups: Iterable[JoinedItems]) -> _ByAspect:
    groups_by_aspect: dict[Aspect, dict[str, JoinedItems]] = defaultdict(dict)
    for group in groups:
        of = Aspect(group.aspect, group.protocol, group.unit)
        groups_by_aspect[of][group.judge] = group
    return groups_by_aspect


def _group(
    was: JoinedItems, now: JoinedItems, *, margin: float, level: float, seed: int
) -> dict[str, Any]:
    before, after = (dict(zip(side.keys, side.judged.tolist(), strict=True)) for side in (was, now))
    human = dict(zip(was.keys, was.human.tolist(), strict=True))
    shared = [key for key in was.keys if key in after]
    result = drift(
        Anchors(
            before=np.array([before[key] for key in shared], dtype=np.float64),
            after=np.array([after[key] for key in shared], dtype=np.float64),
            human=np.array([human[key] for key in shared], dtype=np.float64),
            documents=[key[0] for key in shared],
            protocol=was.protocol,
        ),
        margin=margin,
        rng=np.random.default_rng(seed),
        level=level,
    )
    labelled = list(dict.fromkeys((*was.keys, *was.unjudged, *now.keys, *now.unjudged)))
    present = {*now.match.matched_keys, *now.match.only_left}
    absent = [key for key in labelled if key not in present]
    differences = [float(key not in after) - float(key not in before) for key in labelled]
    change = clustered_mean(differences, [key[0] for key in labelled], level=level, null=0.0)
    return {
        **to_json(result),
        "n_labelled": len(labelled),
        "n_without_before": sum(key not in before for key in labelled),
        "n_without_after": sum(key not in after for key in labelled),
        "n_absent_after": len(absent),
        "example_absent": item_label(absent[0]) if absent else None,
        "without_score": to_json(clip_interval(change, -1.0, 1.0)),
    }

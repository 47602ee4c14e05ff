"""Check of a judge before and after a change, on the same labelled items, as JSON."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np

from fairjudge.analysis.comparing import Aspect, in_words, matched
from fairjudge.analysis.watching import WatchSettings, append_look, group_name
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
    """The tolerances of a check.

    ``margin`` is the largest loss of agreement, ``max_unscored`` the largest share of anchors (of
    one aspect, protocol, unit and judge) without a score before or after. With ``strict`` the
    check also fails if the result is inconclusive.
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
    """Return the change of agreement with humans, by aspect, protocol and unit, and the outcome.

    With `watching`, this check is one of a series: it is added to their record, and the verdicts
    are from confidence sequences (`fairjudge.calibration.watching`).

    Judges are matched by name, or, if each side has only one judge, regardless of names. The
    overall verdict is the worst; intervals of several groups are not corrected. A labelled item
    that was not judged counts as unscored.

    Raises
    ------
    InputError
        If either side has no labelled item, a group of the baseline was not judged after the
        change, or the record is of another series of checks.
    """
    rows, baseline, judged = list(labels), tuple(before), tuple(after)
    _check_all_judged_again(_judges(baseline), _judges(judged))
    joined_before, joined_after = (
        _by_aspect(join(records, rows, annotators=annotators, label_scale=label_scale))
        for records in (baseline, judged)
    )
    pairs = {
        (aspect, judges): sides
        for aspect in joined_before
        if aspect in joined_after
        for judges, sides in matched(joined_before[aspect], joined_after[aspect])
    }
    groups = [
        {
            **aspect._asdict(),
            "judge_before": judges[0],
            "judge_after": judges[1],
            **_group(*sides, margin=gate.margin, level=level, seed=seed),
        }
        for (aspect, judges), sides in pairs.items()
    ]
    since: dict[str, Any] = {}
    if watching is not None:
        sides_by_name = {
            group_name(*aspect, judges[0]): sides for (aspect, judges), sides in pairs.items()
        }
        looks = append_look(watching, sides_by_name, level=level)
        groups = [
            _with_watch_results(group, looks.report(name, margin=gate.margin, level=level))
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


def _with_watch_results(group: Mapping[str, Any], watch: Mapping[str, Any]) -> dict[str, Any]:
    """Return a group with the results of all checks; a constant judge keeps its verdict."""
    if group["verdict"] == "constant":
        return {**group, "watch": watch}
    by_looks = {name: watch[name] for name in ("verdict", "documents_needed")}
    return {**group, "watch": watch, **by_looks}


def _judges(rows: Iterable[Judgement]) -> dict[Aspect, list[str]]:
    judges_by_aspect: dict[Aspect, list[str]] = defaultdict(list)
    for judge, *aspect in group_judgements(rows):
        judges_by_aspect[Aspect(*aspect)].append(judge)
    return judges_by_aspect


def _check_all_judged_again(
    was: Mapping[Aspect, Sequence[str]], now: Mapping[Aspect, Sequence[str]]
) -> None:
    """Raise an error for groups that only the baseline judged, since they cannot be checked."""
    missing_judges = {
        aspect: missing_names
        for aspect, before in was.items()
        if not len(before) == len(now.get(aspect, ())) == 1
        if (missing_names := [judge for judge in before if judge not in now.get(aspect, ())])
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
    """Return the judgements without replies and checklists, to store as a baseline."""
    return [row.model_copy(update={"raw": None, "checklist": None}) for row in rows]


def _by_aspect(groups: Iterable[JoinedItems]) -> _ByAspect:
    groups_by_aspect: dict[Aspect, dict[str, JoinedItems]] = defaultdict(dict)
    for group in groups:
        aspect = Aspect(group.aspect, group.protocol, group.unit)
        groups_by_aspect[aspect][group.judge] = group
    return groups_by_aspect


def _group(
    joined_before: JoinedItems, joined_after: JoinedItems, *, margin: float, level: float, seed: int
) -> dict[str, Any]:
    values_before, values_after = (
        dict(zip(side.keys, side.judged.tolist(), strict=True))
        for side in (joined_before, joined_after)
    )
    human = dict(zip(joined_before.keys, joined_before.human.tolist(), strict=True))
    shared_keys = [key for key in joined_before.keys if key in values_after]
    result = drift(
        Anchors(
            before=np.array([values_before[key] for key in shared_keys], dtype=np.float64),
            after=np.array([values_after[key] for key in shared_keys], dtype=np.float64),
            human=np.array([human[key] for key in shared_keys], dtype=np.float64),
            documents=[key[0] for key in shared_keys],
            protocol=joined_before.protocol,
        ),
        margin=margin,
        rng=np.random.default_rng(seed),
        level=level,
    )
    labelled_keys = list(
        dict.fromkeys(
            (
                *joined_before.keys,
                *joined_before.unjudged,
                *joined_after.keys,
                *joined_after.unjudged,
            )
        )
    )
    judged_keys = {*joined_after.match.matched_keys, *joined_after.match.only_left}
    absent_keys = [key for key in labelled_keys if key not in judged_keys]
    differences = [
        float(key not in values_after) - float(key not in values_before) for key in labelled_keys
    ]
    change = clustered_mean(differences, [key[0] for key in labelled_keys], level=level, null=0.0)
    return {
        **to_json(result),
        "n_labelled": len(labelled_keys),
        "n_without_before": sum(key not in values_before for key in labelled_keys),
        "n_without_after": sum(key not in values_after for key in labelled_keys),
        "n_absent_after": len(absent_keys),
        "example_absent": item_label(absent_keys[0]) if absent_keys else None,
        "without_score": to_json(clip_interval(change, -1.0, 1.0)),
    }

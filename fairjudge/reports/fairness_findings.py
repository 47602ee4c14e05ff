"""What the fairness figures say in a few plain sentences, by rules."""

from __future__ import annotations

from collections.abc import Iterator

from fairjudge.judges.leaderboards import FEWEST_CLUSTERS
from fairjudge.reports.figures import Json
from fairjudge.text.printable import counted

_ALPHA = 0.05
_PLACES = {"coverage": "coverage_by_value", "proportional": "by_value"}
"""Where a system's differences by value stand."""
_MOST_NAMED = 3


def fairness_findings(report: Json) -> tuple[str, ...]:
    """Return two or three sentences on what ``fairness coverage`` or ``proportional`` found.

    A value counts as treated otherwise where its mean difference has p < 0.05 (Holm, over the
    values of a system) and stands on 5 summaries or more.
    """
    attribute, systems = report["attribute"], report["systems"]
    if not systems:
        return ()
    alike: dict[str, list[str]] = {}
    for name in systems:
        if unequal := _unequal(systems[name].get(_PLACES[report["measure"]], {})):
            alike.setdefault(unequal, []).append(name)
    told = [f"{what} by {_named(names)}" for what, names in alike.items()]
    if told:
        first = f"Over {attribute}, beyond chance: {'; '.join(told)}."
    elif max(one["n"] for one in systems.values()) < FEWEST_CLUSTERS:
        first = f"Fewer than {FEWEST_CLUSTERS} summaries a system tell nothing about {attribute}."
    else:
        first = f"No value of {attribute} is over- or under-represented beyond chance."
    return (first, *_left_out(report), *_next(report, bool(told)))


def _unequal(by_value: Json) -> str:
    """Say which values are represented too much or too little, beyond chance."""
    sides = [
        (value, row["difference"]["value"] > 0)
        for value, row in by_value.items()
        if row["n"] >= FEWEST_CLUSTERS and _beyond_chance(row["difference"])
    ]
    parts = [
        f"{', '.join(some)} {how}-represented"
        for how, wanted in (("over", True), ("under", False))
        if (some := [value for value, over in sides if over is wanted])
    ]
    return " and ".join(parts)


def _named(names: list[str]) -> str:
    more = len(names) - _MOST_NAMED
    return ", ".join(names[:_MOST_NAMED]) + (f" and {more} more" if more > 0 else "")


def _beyond_chance(difference: Json) -> bool:
    p_value = difference.get("p_holm")
    return p_value is not None and p_value < _ALPHA


def _left_out(report: Json) -> Iterator[str]:
    n = len(report["excluded"])
    if n:
        reasons = dict.fromkeys(one["reason"] for one in report["excluded"])
        yield f"{counted(n, 'summary', 'summaries')} took no part: {', '.join(reasons)}."


def _next(report: Json, unequal: bool) -> Iterator[str]:  # noqa: FBT001
    if unequal:
        yield "Next: read the summaries of these values in the report before you blame a system."
    elif min(one["n"] for one in report["systems"].values()) < 30:
        yield "Next: more clusters; small differences show with dozens."

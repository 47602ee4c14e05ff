"""What the fairness figures say in a few plain sentences, by rules.

A difference is significant where its corrected p-value (Holm) lies below 0.05.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain

from fairjudge.reports.fairness_comparison_tables import (
    TOGETHER,
    agreements,
    is_fairer,
    label_of,
)
from fairjudge.reports.fairness_tables import EXCLUDED
from fairjudge.reports.figures import Json, first_items, interval, percent, why
from fairjudge.reports.findings import together
from fairjudge.scores.leaderboards import FEWEST_CLUSTERS
from fairjudge.stats.leaders import leaders
from fairjudge.text.counting import pluralize

_ALPHA = 0.05
_PLACES = {"coverage": "coverage_by_value", "proportional": "by_value"}
"""Where a system's differences by value stand."""
_WHAT = {"coverage": "Coverage", "proportional": "Proportional representation"}
_ORDERS = {
    1: "agree significantly",
    0: "neither agree nor disagree significantly",
    -1: "rank in significantly opposite order",
}
_FEWEST_SWAPPED = 6
"""Pairs from which swapping them can have p below 0.05, for 2 of 2^n ways are as extreme."""


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
    sentences = [f"{difference} by {first_items(names)}" for difference, names in alike.items()]
    if sentences:
        first = f"{attribute}, significantly (p < {_ALPHA:g}): {'; '.join(sentences)}."
    elif max(system["n"] for system in systems.values()) < FEWEST_CLUSTERS:
        first = f"Fewer than {FEWEST_CLUSTERS} summaries a system are too few to test {attribute}."
    else:
        first = f"No value of {attribute} is significantly over- or under-represented on average."
    sentences_of_report = [*_often(report), first]
    if n := len(report["excluded"]):
        reasons = dict.fromkeys(exclusion["reason"] for exclusion in report["excluded"])
        by = list(dict.fromkeys(exclusion["system"] for exclusion in report["excluded"]))
        words = ", ".join(EXCLUDED.get(reason, reason) for reason in reasons)
        sentences_of_report.append(
            f"{_WHAT[report['measure']]} by {attribute}: {pluralize(n, 'summary', 'summaries')} "
            f"by {first_items(by)} excluded, {words}."
        )
    if sentences:
        next_step = "read the summaries of these values in the report before drawing conclusions"
        sentences_of_report.append(f"Next: {next_step}.")
    elif min(system["n"] for system in systems.values()) < 30:
        sentences_of_report.append("Next: more clusters; small differences show with dozens.")
    return tuple(sentences_of_report)


def _often(report: Json) -> Iterator[str]:
    """Say how many summaries under-represent some value, which a mean near 0 does not show."""
    shares = {
        name: figures["bur"]
        for name, figures in report["systems"].items()
        if report["measure"] == "proportional" and figures.get("bur", {}).get("value") is not None
    }
    if shares:
        listed = [f"{name} {percent(share)} %" for name, share in shares.items()]
        yield (
            f"Summaries that under-represent some value of {report['attribute']} (BUR): "
            f"{first_items(listed)}."
        )


def _unequal(by_value: Json) -> str:
    sides = [
        (value, row["difference"]["value"] > 0)
        for value, row in by_value.items()
        if row["n"] >= FEWEST_CLUSTERS and _is_significant(row["difference"])
    ]
    parts = [
        f"{', '.join(unequal)} {how}-represented"
        for how, is_over in (("over", True), ("under", False))
        if (unequal := [value for value, over in sides if over is is_over])
    ]
    return " and ".join(parts)


def _is_significant(difference: Json) -> bool:
    p_value = difference.get("p_holm")
    return p_value is not None and p_value < _ALPHA


def changes_findings(report: Json) -> Iterator[str]:
    """Say which systems of ``fairness compare`` are fairer or less fair than the baseline."""
    sides: dict[str, list[str]] = {"fairer": [], "less fair": []}
    for system, measures in report["systems"].items():
        for name, change in measures.items():
            if _is_significant(change["difference"]):
                side = "fairer" if is_fairer(name, change["difference"]["value"]) else "less fair"
                sides[side].append(f"{system} in {label_of(name)}")
    sentences = [f"{side}: {first_items(changes)}" for side, changes in sides.items() if changes]
    if sentences:
        yield f"Significantly, against {report['baseline']}, {'; '.join(sentences)}."
    elif report["systems"]:
        figures = chain.from_iterable(map(dict.values, report["systems"].values()))
        if max((figure.get("n", 0) for figure in figures), default=0) < _FEWEST_SWAPPED:
            yield (
                f"Fewer than {_FEWEST_SWAPPED} clusters that both have are too few to test "
                f"differences from {report['baseline']}."
            )
        else:
            yield f"No system differs significantly from {report['baseline']} in any measure."
    excluded = chain.from_iterable(map(dict.values, report["excluded"].values()))
    if n_most := max((sum(reasons.values()) for reasons in excluded), default=0):
        yield f"Of one system and measure, up to {pluralize(n_most, 'sample')} excluded."


def overall_findings(report: Json) -> Iterator[str]:
    """Name the fairest system over several data sets."""
    scored = {
        name: system["value"]
        for name, system in report["systems"].items()
        if "normalised" in system
    }
    if scored:
        fairest = leaders({name: -value for name, value in scored.items()})
        scaled = report.get("scaling") != "none"
        where = "over all data sets" if scaled else "by the mean of the reports"
        of = f"of {pluralize(len(scored), 'system')} {where}"
        value = f"({scored[fairest[0]]:.3f}{'; 0 is the fairest on each' if scaled else ''})"
        are = "is" if len(fairest) == 1 else "tie as"
        yield f"{together(fairest)} {are} the fairest {of} {value}."
        yield "A rank without an interval: 'fairness compare' tests differences on one data set."
    reasons: dict[str, list[str]] = {}
    for name in sorted(report["systems"].keys() - scored.keys()):
        reason = why(report["systems"][name]) or "without a score on every data set"
        reasons.setdefault(reason, []).append(name)
    for reason, names in reasons.items():
        yield f"Not ranked: {first_items(names)} ({reason})."


def agreement_findings(report: Json) -> Iterator[str]:
    """Say whether two scorers put summaries and systems in the same order."""
    for name, agreement in agreements(report).items():
        rho, p, label = agreement.get("value"), agreement.get("p_value"), label_of(name)
        if rho is None:
            continue
        n = agreement["n"]
        if p is None:
            yield f"On {label} {n} in common are too few to test agreement."
            continue
        side = 0 if p >= _ALPHA else (rho > 0) - (rho < 0)
        pair = label.replace(TOGETHER, " and ") if TOGETHER in name else f"On {label} the scorers"
        yield f"{pair} {_ORDERS[side]} (rho {interval(agreement)}, n = {n})."


def people_findings(report: Json) -> Iterator[str]:
    """Say which measure agrees better with people, for each system."""
    for system, comparison in report["systems"].items():
        difference = comparison["summaries"]["difference"]
        p, n = difference.get("p_value"), comparison["n"]
        if p is None:
            n_summaries = pluralize(n, "summary", "summaries")
            yield f"{system}: {n_summaries}, too few to tell which measure agrees better."
            continue
        nearer = "Equal Coverage" if difference["value"] > 0 else "Proportional Representation"
        measure = "neither measure" if p >= _ALPHA else nearer
        yield f"{system}: {measure} agrees significantly better with people (n = {n})."


def temperature_findings(report: Json) -> Iterator[str]:
    """Say at which temperature the shares go with people's, and how well."""
    if report["best"] is not None:
        best = next(row for row in report["temperatures"] if row["temperature"] == report["best"])
        yield (
            f"Shares correlate best with people's at a temperature of {report['best']:g} "
            f"({interval(best, digits=3)}). Chosen on these summaries: measure it on others."
        )


def chunk_size_findings(report: Json) -> Iterator[str]:
    """Say which chunk size finds the most, and how much."""
    if report["best"] is None:
        return
    best = next(row for row in report["identified"] if row["max_words"] == report["best"])
    size = pluralize(report["best"], "word") if report["best"] else "single sentences"
    yield (
        f"Chunks of {size} find support for the largest share of summary sentences: "
        f"{interval(best, digits=3)}."
    )


def oracle_findings(report: Json) -> Iterator[str]:
    """Say in which measures the scorer sees the unfairness that was planted."""
    measures: dict[str, list[str]] = {"detected": [], "missed": [], "reversed": []}
    for name, change in report["measures"].items():
        difference = change["difference"]
        outcome = "missed"
        if _is_significant(difference):
            outcome = "detected" if is_fairer(name, -difference["value"]) else "reversed"
        measures[outcome].append(label_of(name))
    detected, missed, reverse = map(", ".join, measures.values())
    if detected:
        yield f"The scorer detects the planted unfairness significantly in {detected}."
    if missed:
        start = "It does not" if detected else "The scorer does not detect the planted unfairness"
        yield f"{start} in {missed}: there a low value is no evidence."
    if reverse:
        yield (
            f"In {reverse} the planted unfairness scores significantly fairer than the balanced "
            "summaries: do not use this scorer for it."
        )

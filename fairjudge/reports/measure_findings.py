"""What the figures of fairness and of demographic bias say in a few plain sentences, by rules.

A difference is significant where its corrected p-value (Holm) lies below 0.05.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain

from fairjudge.reports.bias_tables import ratio
from fairjudge.reports.fairness_comparison_tables import (
    TOGETHER,
    agreements,
    is_fairer,
    label_of,
)
from fairjudge.reports.fairness_tables import EXCLUDED
from fairjudge.reports.figures import (
    MAX_NAMED,
    Json,
    equals_p,
    first_items,
    interval,
    p_value,
    percent,
    significant_sign,
    why,
)
from fairjudge.reports.findings import together
from fairjudge.scores.leaderboards import MIN_CLUSTERS
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


def fairness_findings(report: Json) -> Iterator[str]:
    """Yield two or three sentences on what ``fairness coverage`` or ``proportional`` found.

    A value counts as treated otherwise where its mean difference has p < 0.05 (Holm, over the
    values of a system) and stands on 5 summaries or more.
    """
    attribute, systems = report["attribute"], report["systems"]
    if not systems:
        return
    yield from _often(report)
    alike: dict[str, list[str]] = {}
    for name in systems:
        if unequal := _unequal(systems[name].get(_PLACES[report["measure"]], {})):
            alike.setdefault(unequal, []).append(name)
    unfair = "; ".join(
        f"{difference} by {first_items(names)}" for difference, names in alike.items()
    )
    if unfair:
        yield f"{attribute}, significantly (p < {_ALPHA:g}): {unfair}."
    elif max(system["n"] for system in systems.values()) < MIN_CLUSTERS:
        yield f"Fewer than {MIN_CLUSTERS} summaries a system are too few to test {attribute}."
    else:
        yield f"No value of {attribute} is significantly over- or under-represented on average."
    if n := len(report["excluded"]):
        reasons = dict.fromkeys(exclusion["reason"] for exclusion in report["excluded"])
        by = dict.fromkeys(exclusion["system"] for exclusion in report["excluded"])
        words = ", ".join(EXCLUDED.get(reason, reason) for reason in reasons)
        yield (
            f"{_WHAT[report['measure']]} by {attribute}: {pluralize(n, 'summary', 'summaries')} "
            f"by {first_items(by)} excluded, {words}."
        )
    if unfair:
        yield ("Next: read the summaries of these values in the report before drawing conclusions.")
    elif min(system["n"] for system in systems.values()) < 30:
        yield "Next: more clusters; small differences show with dozens."


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
        if row["n"] >= MIN_CLUSTERS and _is_significant(row["difference"])
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


def words_findings(report: Json) -> Iterator[str]:
    """Yield which groups are named significantly more or less often."""
    differences = {
        f"{system}: {group}": share["difference"]
        for system, figures in report["systems"].items()
        for group, share in figures["by_group"].items()
    }
    sentences = [
        f"{name} {'more' if difference['value'] > 0 else 'less'}"
        for name, difference in differences.items()
        if _is_significant(difference)
    ]
    if all(difference["value"] is None for difference in differences.values()):
        yield "Inclusion of groups not estimated: no system has a value."
    elif sentences:
        listed = "; ".join(sentences[:MAX_NAMED])
        yield f"Named significantly more or less than in the {report['reference']}: {listed}."
        if not report.get("controlled"):
            yield "On natural documents this mixes the summarizer with what these are about."
    elif all(difference.get("p_holm") is None for difference in differences.values()):
        yield _too_few("which groups are named more or less than elsewhere")
    else:
        yield f"No group is named significantly more or less than in the {report['reference']}."


def entity_findings(report: Json) -> Iterator[str]:
    """Yield inclusion bias and hallucinated people."""
    systems = report["systems"]
    scored = {
        name: system["inclusion"]
        for name, system in systems.items()
        if system["inclusion"].get("value") is not None
    }
    if scored:
        most = leaders({name: figure["value"] for name, figure in scored.items()})
        has = "has" if len(most) == 1 else "share"
        bias = interval(scored[most[0]])
        yield f"{together(most)} {has} the largest inclusion bias, {bias}; 0 is unbiased."
    apart = {
        name: odds
        for name, system in systems.items()
        if name not in scored and (odds := _never_or_always(system))
    }
    yield from (f"{name} names {odds}." for name, odds in apart.items())
    reasons: dict[str, list[str]] = {}
    for name in systems.keys() - scored.keys() - apart.keys():
        reasons.setdefault(systems[name]["inclusion"].get("why") or "no figure", []).append(name)
    for reason, unscored in sorted(reasons.items()):
        yield f"No score of inclusion for {first_items(sorted(unscored))}: {reason}."
    made_up = {name: system["n_hallucinated"] for name, system in systems.items()}
    if worst := leaders(made_up):
        n = made_up[worst[0]]
        names = "names" if len(worst) == 1 else "name"
        yield (
            f"{together(worst)} {names} {pluralize(n, 'person', 'people')} not in the sources, "
            "the most."
            if n
            else "No system names people who are not in its sources."
        )


def _never_or_always(system: Json) -> str:
    """Name groups that are always or never named, so that an odds ratio is undefined."""
    pairs = [pair for pair in system["odds_ratios"] if _least_ratio(pair) > 1.0]
    if not pairs:
        return ""
    pair = max(pairs, key=_least_ratio)
    groups = (pair["group"], pair["other"])
    ordered = sorted(groups, key=lambda group: -system["by_group"][group]["value"])
    more, less = (
        f"{n} of {pluralize(share['n'], 'person', 'people')} of group {group}"
        for group in ordered
        if (share := system["by_group"][group])
        for n in [round(share["value"] * share["n"]) or "none"]
    )
    p = equals_p(p_value(pair["exact"]["p_holm"]))
    return (
        f"{more} and {less}: the odds ratio of {pair['group']} to {pair['other']} is "
        f"{_bound(pair['exact'])} (exact 95 % bound; {p})"
    )


def _bound(exact: Json) -> str:
    """Return the bound of the odds ratio on the side of 1, as the table of odds has it."""
    low = exact.get("low") or 0.0
    return f"at least {ratio(low)}" if low > 1.0 else f"at most {ratio(exact['high'])}"


def _least_ratio(pair: Json) -> float:
    """Return the least ratio of the odds of two groups, whichever comes first."""
    exact = pair.get("exact") or {}
    low, high = exact.get("low"), exact.get("high")
    return max(low or 0.0, 1.0 / high if high else 0.0)


def distinguishability_findings(report: Json) -> Iterator[str]:
    """Yield from which systems' summaries the group can be predicted."""
    figures = {name: system["counts"] for name, system in report["systems"].items()}
    sentences = [
        f"{name} ({interval(figure)})"
        for name, figure in figures.items()
        if figure is not None and significant_sign(figure) > 0
    ]
    if sentences:
        yield f"The group can be predicted significantly from summaries of: {', '.join(sentences)}."
    elif figures and all(
        figure is None or (figure.get("value") is not None and figure.get("low") is None)
        for figure in figures.values()
    ):
        yield _too_few("whether the group can be predicted")
    else:
        yield "From no system's summaries can the group be predicted significantly."


def quality_findings(report: Json) -> Iterator[str]:
    """Yield differences in quality between groups of inputs."""
    sentences = [
        f"{group['system']}: {pair['group']} minus {pair['other']} {interval(pair['difference'])}"
        for group in report["groups"]
        for pair in group["quality"]["differences"]
        if _is_significant(pair)
    ]
    if sentences:
        yield f"Quality differs significantly by group of inputs: {'; '.join(sentences)}."
    else:
        yield "Quality does not differ significantly between groups of inputs."


def _too_few(tested: str) -> str:
    return f"Fewer than {MIN_CLUSTERS} original documents are too few to test {tested}."

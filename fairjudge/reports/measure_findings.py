"""Findings on fairness and demographic bias, in a few sentences, by rules.

A difference is significant if its corrected p-value (Holm) is below 0.05.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain

from fairjudge.reports.bias_tables import ratio
from fairjudge.reports.fairness_comparison_tables import (
    PAIR_SEPARATOR,
    agreement_sign,
    agreements,
    is_fairer,
    measure_label,
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
    undefined_reason,
)
from fairjudge.reports.findings import join_names
from fairjudge.scores.leaderboards import MIN_CLUSTERS
from fairjudge.stats.leaders import leaders
from fairjudge.text.counting import pluralize

_ALPHA = 0.05
_DIFFERENCE_KEYS = {"coverage": "coverage_by_value", "proportional": "by_value"}
"""By measure, the JSON key of a system's differences by value."""
_MEASURE_NAMES = {"coverage": "Coverage", "proportional": "Proportional representation"}
_AGREEMENTS = {
    1: "agree significantly",
    0: "neither agree nor disagree significantly",
    -1: "rank in significantly opposite order",
}
_MIN_PAIRS = 6
"""Minimum number of pairs for a permutation p-value below 0.05: 2 of 2^n swaps are as extreme."""


def fairness_findings(report: Json) -> Iterator[str]:
    """Yield two or three sentences on the results of ``fairness coverage`` or ``proportional``.

    A value is over- or under-represented if its mean difference has p < 0.05 (Holm, over the values
    of a system) and is based on at least 5 summaries.
    """
    attribute, systems = report["attribute"], report["systems"]
    if not systems:
        return
    yield from _bur_sentence(report)
    systems_by_difference: dict[str, list[str]] = {}
    for name in systems:
        if unequal := _unequal_values(systems[name].get(_DIFFERENCE_KEYS[report["measure"]], {})):
            systems_by_difference.setdefault(unequal, []).append(name)
    differences = "; ".join(
        f"{difference} by {first_items(names)}"
        for difference, names in systems_by_difference.items()
    )
    if differences:
        yield f"{attribute}, significantly (p < {_ALPHA:g}): {differences}."
    elif max(system["n"] for system in systems.values()) < MIN_CLUSTERS:
        yield f"Fewer than {MIN_CLUSTERS} summaries per system are too few to test {attribute}."
    else:
        yield f"No value of {attribute} is significantly over- or under-represented on average."
    if n := len(report["excluded"]):
        reasons = dict.fromkeys(exclusion["reason"] for exclusion in report["excluded"])
        names = dict.fromkeys(exclusion["system"] for exclusion in report["excluded"])
        reasons_in_words = ", ".join(EXCLUDED.get(reason, reason) for reason in reasons)
        yield (
            f"{_MEASURE_NAMES[report['measure']]} by {attribute}: "
            f"{pluralize(n, 'summary', 'summaries')} by {first_items(names)} excluded, "
            f"{reasons_in_words}."
        )
    if differences:
        yield ("Next: read the summaries of these values in the report before drawing conclusions.")
    elif min(system["n"] for system in systems.values()) < 30:
        yield "Next: more clusters; small differences need dozens."


def _bur_sentence(report: Json) -> Iterator[str]:
    """Yield the share of summaries that under-represent a value, which a mean near 0 can hide."""
    shares = {
        name: figures["bur"]
        for name, figures in report["systems"].items()
        if report["measure"] == "proportional" and figures.get("bur", {}).get("value") is not None
    }
    if shares:
        shares_in_words = [f"{name} {percent(share)} %" for name, share in shares.items()]
        yield (
            f"Summaries that under-represent a value of {report['attribute']} (BUR): "
            f"{first_items(shares_in_words)}."
        )


def _unequal_values(by_value: Json) -> str:
    sides = [
        (value, row["difference"]["value"] > 0)
        for value, row in by_value.items()
        if row["n"] >= MIN_CLUSTERS and _is_significant(row["difference"])
    ]
    parts = [
        f"{', '.join(side_values)} {side}-represented"
        for side, is_over in (("over", True), ("under", False))
        if (side_values := [value for value, over in sides if over is is_over])
    ]
    return " and ".join(parts)


def _is_significant(difference: Json) -> bool:
    p_value = difference.get("p_holm")
    return p_value is not None and p_value < _ALPHA


def changes_findings(report: Json) -> Iterator[str]:
    """Yield the systems that are significantly fairer or less fair than the baseline."""
    sides: dict[str, list[str]] = {"fairer": [], "less fair": []}
    for system, measures in report["systems"].items():
        for name, change in measures.items():
            if _is_significant(change["difference"]):
                side = "fairer" if is_fairer(name, change["difference"]["value"]) else "less fair"
                sides[side].append(f"{system} in {measure_label(name)}")
    sentences = [f"{side}: {first_items(changes)}" for side, changes in sides.items() if changes]
    if sentences:
        yield f"Significantly, against {report['baseline']}, {'; '.join(sentences)}."
    elif report["systems"]:
        figures = chain.from_iterable(map(dict.values, report["systems"].values()))
        if max((figure.get("n", 0) for figure in figures), default=0) < _MIN_PAIRS:
            yield (
                f"Fewer than {_MIN_PAIRS} common clusters are too few to test differences from "
                f"{report['baseline']}."
            )
        else:
            yield f"No system differs significantly from {report['baseline']} in any measure."
    exclusions = chain.from_iterable(map(dict.values, report["excluded"].values()))
    if n_max := max((sum(reasons.values()) for reasons in exclusions), default=0):
        yield f"Up to {pluralize(n_max, 'sample')} excluded per system and measure."


def overall_findings(report: Json) -> Iterator[str]:
    """Yield the fairest system over several data sets, and unranked systems."""
    scores = {
        name: system["value"]
        for name, system in report["systems"].items()
        if "normalised" in system
    }
    if scores:
        is_scaled = report.get("scaling") != "none"
        sign = -1.0 if is_scaled or is_fairer(report["measure"], -1.0) else 1.0
        fairest = leaders({name: sign * value for name, value in scores.items()})
        scope = "over all data sets" if is_scaled else "by the mean of the reports"
        group = f"of {pluralize(len(scores), 'system')} {scope}"
        value = f"({scores[fairest[0]]:.3f}{'; 0 is the fairest on each' if is_scaled else ''})"
        verb = "is" if len(fairest) == 1 else "tie as"
        yield f"{join_names(fairest)} {verb} the fairest {group} {value}."
        yield "Ranks have no interval; 'fairness compare' tests differences on one data set."
    reasons: dict[str, list[str]] = {}
    for name in sorted(report["systems"].keys() - scores.keys()):
        reason = undefined_reason(report["systems"][name]) or "without a score on every data set"
        reasons.setdefault(reason, []).append(name)
    for reason, names in reasons.items():
        yield f"Not ranked: {first_items(names)} ({reason})."


def agreement_findings(report: Json) -> Iterator[str]:
    """Yield whether two scorers or measures rank summaries and systems in the same order."""
    for name, agreement in agreements(report).items():
        rho, p, label = agreement.get("value"), agreement.get("p_value"), measure_label(name)
        if rho is None:
            continue
        n = agreement["n"]
        if p is None:
            yield f"{label}: {n} in common are too few to test agreement."
            continue
        side = 0 if p >= _ALPHA else agreement_sign(name) * ((rho > 0) - (rho < 0))
        pair = (
            label.replace(PAIR_SEPARATOR, " and ")
            if PAIR_SEPARATOR in name
            else f"On {label} the scorers"
        )
        yield f"{pair} {_AGREEMENTS[side]} (rho {interval(agreement)}, n = {n})."


def people_findings(report: Json) -> Iterator[str]:
    """Yield the measure that agrees better with human leanings, for each system."""
    for system, comparison in report["systems"].items():
        difference = comparison["summaries"]["difference"]
        p, n = difference.get("p_value"), comparison["n"]
        if p is None:
            n_summaries = pluralize(n, "summary", "summaries")
            yield f"{system}: {n_summaries}, too few to test which measure agrees better."
            continue
        better_measure = (
            "Equal Coverage" if difference["value"] > 0 else "Proportional Representation"
        )
        measure = "neither measure" if p >= _ALPHA else better_measure
        yield f"{system}: {measure} agrees significantly better with humans (n = {n})."


def temperature_findings(report: Json) -> Iterator[str]:
    """Yield the temperature with the highest correlation with human shares."""
    if report["best"] is not None:
        best = next(row for row in report["temperatures"] if row["temperature"] == report["best"])
        yield (
            f"Shares correlate best with human shares at a temperature of {report['best']:g} "
            f"({interval(best, digits=3)}). Chosen on these summaries: evaluate it on others."
        )


def chunk_size_findings(report: Json) -> Iterator[str]:
    """Yield the chunk size that finds support for the largest share of sentences."""
    if report["best"] is None:
        return
    best = next(row for row in report["identified"] if row["max_words"] == report["best"])
    size = pluralize(report["best"], "word") if report["best"] else "single sentences"
    yield (
        f"Chunks of {size} find support for the largest share of summary sentences: "
        f"{interval(best, digits=3)}."
    )


def oracle_findings(report: Json) -> Iterator[str]:
    """Yield the measures in which the scorer detects planted unfairness, and the others."""
    measures: dict[str, list[str]] = {"detected": [], "missed": [], "reversed": []}
    for name, change in report["measures"].items():
        difference = change["difference"]
        outcome = "missed"
        if _is_significant(difference):
            outcome = "detected" if is_fairer(name, -difference["value"]) else "reversed"
        measures[outcome].append(measure_label(name))
    detected_labels, missed_labels, reversed_labels = map(", ".join, measures.values())
    if detected_labels:
        yield f"The scorer detects the planted unfairness significantly in {detected_labels}."
    if missed_labels:
        subject = (
            "It does not"
            if detected_labels
            else "The scorer does not detect the planted unfairness"
        )
        yield f"{subject} in {missed_labels}: fair values of these are no evidence of fairness."
    if reversed_labels:
        yield (
            f"In {reversed_labels} the planted unfairness scores significantly fairer than the "
            "balanced summaries: do not use this scorer for it."
        )


def words_findings(report: Json) -> Iterator[str]:
    """Yield the groups that are mentioned significantly more or less often."""
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
        names_in_words = "; ".join(sentences[:MAX_NAMED])
        reference = report["reference"]
        yield f"Mentioned significantly more or less than in the {reference}: {names_in_words}."
        if not report.get("controlled"):
            yield "On natural documents this confounds the summarizer with the documents' topics."
    elif all(difference.get("p_holm") is None for difference in differences.values()):
        yield _too_few_sentence("which groups are mentioned more or less often")
    else:
        yield f"No group is mentioned significantly more or less than in the {report['reference']}."


def entity_findings(report: Json) -> Iterator[str]:
    """Yield the largest inclusion bias, and the numbers of hallucinated people."""
    systems = report["systems"]
    scored_systems = {
        name: system["inclusion"]
        for name, system in systems.items()
        if system["inclusion"].get("value") is not None
    }
    if scored_systems:
        leading_systems = leaders(
            {name: figure["value"] for name, figure in scored_systems.items()}
        )
        verb = "has" if len(leading_systems) == 1 else "share"
        bias = interval(scored_systems[leading_systems[0]])
        names = join_names(leading_systems)
        yield f"{names} {verb} the largest inclusion bias, {bias}; 0 is unbiased."
    ratios_by_system = {
        name: odds
        for name, system in systems.items()
        if name not in scored_systems and (odds := _undefined_ratio_clause(system))
    }
    yield from (f"{name} names {odds}." for name, odds in ratios_by_system.items())
    reasons: dict[str, list[str]] = {}
    for name in systems.keys() - scored_systems.keys() - ratios_by_system.keys():
        reasons.setdefault(systems[name]["inclusion"].get("why") or "no value", []).append(name)
    for reason, unscored_systems in sorted(reasons.items()):
        yield f"No inclusion score for {first_items(sorted(unscored_systems))}: {reason}."
    made_up = {name: system["n_hallucinated"] for name, system in systems.items()}
    if worst_systems := leaders(made_up):
        n = made_up[worst_systems[0]]
        verb = "names" if len(worst_systems) == 1 else "name"
        yield (
            f"{join_names(worst_systems)} {verb} {pluralize(n, 'person', 'people')} not in the "
            "sources, the most."
            if n
            else "No system names people who are not in its sources."
        )


def _undefined_ratio_clause(system: Json) -> str:
    """Return a clause on a group that is always or never named (undefined odds ratio), or ""."""
    pairs = [pair for pair in system["odds_ratios"] if _least_ratio(pair) > 1.0]
    if not pairs:
        return ""
    pair = max(pairs, key=_least_ratio)
    groups = (pair["group"], pair["other"])
    groups_by_share = sorted(groups, key=lambda group: -system["by_group"][group]["value"])
    larger_share, smaller_share = (
        f"{n} of {pluralize(share['n'], 'person', 'people')} of group {group}"
        for group in groups_by_share
        if (share := system["by_group"][group])
        for n in [round(share["value"] * share["n"]) or "none"]
    )
    p = equals_p(p_value(pair["exact"]["p_holm"]))
    return (
        f"{larger_share} and {smaller_share}: the odds ratio of {pair['group']} to "
        f"{pair['other']} is {_bound(pair['exact'])} (exact 95 % bound; {p})"
    )


def _bound(exact: Json) -> str:
    """Return the bound of the odds ratio that is closer to 1."""
    low = exact.get("low") or 0.0
    return f"at least {ratio(low)}" if low > 1.0 else f"at most {ratio(exact['high'])}"


def _least_ratio(pair: Json) -> float:
    """Return the lower bound of the odds ratio of two groups, in the direction above 1."""
    exact = pair.get("exact") or {}
    low, high = exact.get("low"), exact.get("high")
    return max(low or 0.0, 1.0 / high if high else 0.0)


def distinguishability_findings(report: Json) -> Iterator[str]:
    """Yield the systems from whose summaries the group can be predicted."""
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
        yield _too_few_sentence("whether the group can be predicted")
    else:
        yield "From no system's summaries can the group be predicted significantly."


def quality_findings(report: Json) -> Iterator[str]:
    """Yield significant differences in quality between groups of inputs."""
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


def _too_few_sentence(hypothesis: str) -> str:
    return f"Fewer than {MIN_CLUSTERS} original documents are too few to test {hypothesis}."

"""Findings of measures of demographic bias, in sentences (`fairjudge bias`)."""

from __future__ import annotations

from collections.abc import Iterator

from fairjudge.reports.bias_tables import ratio
from fairjudge.reports.figures import (
    MAX_NAMED,
    Json,
    equals_p,
    first_items,
    interval,
    p_value,
    significant_sign,
)
from fairjudge.reports.findings import together
from fairjudge.scores.leaderboards import FEWEST_CLUSTERS
from fairjudge.stats.leaders import leaders
from fairjudge.text.counting import pluralize


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
        if (p := difference.get("p_holm")) is not None and p < 0.05
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
        if pair["p_holm"] is not None and pair["p_holm"] < 0.05
    ]
    if sentences:
        yield f"Quality differs significantly by group of inputs: {'; '.join(sentences)}."
    else:
        yield "Quality does not differ significantly between groups of inputs."


def _too_few(tested: str) -> str:
    return f"Fewer than {FEWEST_CLUSTERS} original documents are too few to test {tested}."

"""Tables of a calibration report, made of the JSON that ``calibrate --json`` writes."""

from __future__ import annotations

from collections.abc import Sequence

from fairjudge.reports.audit_tables import POSITION
from fairjudge.reports.figures import Json, interval, p_value, percent, tally, why
from fairjudge.reports.tables import TextTable, columns, number
from fairjudge.text.printable import counted

_STATISTICS = ("kendall", "spearman", "pearson")
FEWEST_DOCUMENTS = 5
"""Nothing is said at first sight of a judge held against people on fewer documents."""
LEVELS = {"pooled": "pooled", "per_document": "per document", "system": "systems"}
PLANS = {"with_judge": "labels and judge (PPI++)", "without_judge": "labels alone"}
_ERRORS = {"rmse": "RMSE", "mae": "MAE", "bias": "bias", "brier": "Brier", "ece": "ECE"}


def calibration_tables(report: Json) -> tuple[TextTable, ...]:
    """Return what to know at first sight, the tables of every group, the comparison of judges."""
    tables: list[TextTable] = [findings_table(report["groups"])] if report["groups"] else []
    for group in report["groups"]:
        tables += [*agreement_tables(group), errors_table(group)]
    if report["comparisons"]:
        tables.append(comparison_table(report["comparisons"]))
    return tuple(tables)


def group_title(group: Json) -> str:
    """Return judge, aspect and protocol in one line."""
    return f"{group['judge']}, {group['aspect']}, {group['protocol']}"


def verdict(group: Json) -> str:
    """Say in a few words what the pooled Spearman correlation shows of a judge."""
    n_documents = group["n_documents"]
    if 0 < n_documents < FEWEST_DOCUMENTS:
        return f"{counted(n_documents, 'document')} with labels: too few to tell"
    said = _verdict(group)
    return f"{said} (few documents: {n_documents})" if group.get("few_documents") else said


def _verdict(group: Json) -> str:
    agreement = group["agreement"]
    found = agreement.get("pooled", {}).get("spearman", {})
    if found.get("value") is None:
        return f"Undefined: {why(found) or why(agreement) or 'no reason given'}"
    if found["low"] is None:
        return "No interval: nothing can be said"
    if found["low"] <= 0:
        return "Worthless: no agreement with people shown"
    return _against_others(found, group)


def _against_others(found: Json, group: Json) -> str:
    """Hold a judge that agrees with people at all against baselines and people."""
    name, best = best_baseline(group)
    if best is not None and found["low"] <= best:
        return f"Not shown to beat the baseline '{name}'"
    return f"On single items {_against_people(found, group, 'pooled')}{_on_systems(group)}"


def _on_systems(group: Json) -> str:
    """Say the same of systems' means, which may agree where single items do not."""
    found = group["agreement"].get("system", {}).get("spearman", {})
    if found.get("low") is None or found["low"] <= 0:
        return "; on systems no agreement shown"
    return f"; on systems {_against_people(found, group, 'system')}"


def _against_people(found: Json, group: Json, level: str) -> str:
    ceiling = group["human"].get(level, {}).get("spearman", {})
    if ceiling.get("low") is None:
        return "it agrees with people, and how far they agree is not known"
    if found["value"] < ceiling["low"]:
        return "it agrees with people less than they do with one another"
    return "it agrees with people about as well as they do with one another"


def best_baseline(group: Json) -> tuple[str, float | None]:
    """Return the name and pooled Spearman of the best baseline; no name where none is known."""
    known = {
        name: value
        for name, found in group["baselines"].items()
        if (value := found.get("pooled", {}).get("spearman", {}).get("value")) is not None
    }
    best = max(known, key=lambda name: known[name], default=None)
    return ("", None) if best is None else (baseline_name(best), known[best])


def baseline_name(name: str) -> str:
    """Return a baseline's name as people read it."""
    return name.replace("_", " ")


def findings_table(groups: Sequence[Json]) -> TextTable:
    """Return what to know at first sight of every judge."""
    return TextTable(
        title="At first sight",
        columns=columns("judge, aspect, protocol", "finding"),
        rows=tuple((group_title(group), _finding(group)) for group in groups),
    )


def _finding(group: Json) -> str:
    figures = {
        who: group[part].get("pooled", {}).get("spearman", {})
        for who, part in (("judge", "agreement"), ("people", "human"))
    }
    said = [
        f"{who} {interval(one)}" for who, one in figures.items() if one.get("value") is not None
    ]
    name, best = best_baseline(group)
    if best is not None:
        said.append(f"best baseline, {name}, {best:.2f}")
    return f"{verdict(group)}." + (f" Spearman: {'; '.join(said)}." if said else "")


def sources(group: Json) -> dict[str, Json]:
    """Return everybody's agreement with people: the judge's, people's own, the baselines'."""
    return {"judge": group["agreement"], "people": group["human"], **group["baselines"]}


def agreement_tables(group: Json) -> list[TextTable]:
    """Return one table a level; the last has the notes."""
    notes = (*_reasons(group), *_unscored(group), *group["notes"])
    return [
        TextTable(
            title=f"{group_title(group)}: agreement with people, {label}, "
            f"{counted(group['n_items'], 'item')}",
            columns=columns("who", *_STATISTICS, numbers=_STATISTICS),
            rows=tuple(
                (baseline_name(name), *(interval(found[level][one]) for one in _STATISTICS))
                for name, found in sources(group).items()
                if level in found
            ),
            notes=notes if level == "system" else (),
        )
        for level, label in LEVELS.items()
    ]


def errors_table(group: Json) -> TextTable:
    """Return the errors before and after calibration."""
    calibration = group["calibration"]
    before, after = calibration["before"], calibration["after"]
    held_out = f"{calibration['method']}, held out"
    return TextTable(
        title=f"{group_title(group)}: distance from people, in units of the labels",
        columns=columns("error", "as judged", held_out, numbers=("as judged", held_out)),
        rows=tuple(
            (label, *(interval(found.get(name, {})) for found in (before, after)))
            for name, label in _ERRORS.items()
        ),
        notes=(
            *_calibrator(calibration),
            replaceability_note(group["replaceability"]),
            *_unfair(group),
        ),
    )


def comparison_table(rows: Sequence[Json]) -> TextTable:
    """Return the differences between judges."""
    return TextTable(
        title="Which judge agrees better: difference of pooled Spearman on common items",
        columns=columns("aspect", "first", "second", "difference", "p (Holm)"),
        rows=tuple(
            (
                row["aspect"],
                row["first"],
                row["second"],
                interval(row["difference"]),
                p_value(row["adjusted_p_value"]),
            )
            for row in rows
        ),
    )


def overview_table(groups: Sequence[Json]) -> TextTable:
    """Return agreement and errors of every judge in a row."""
    heads = ("judge", "people", "best baseline", "RMSE as judged", "RMSE held out")
    return TextTable(
        title="Spearman's correlation with people, pooled, and errors in units of the labels",
        columns=columns("judge, aspect, protocol", "finding", *heads, numbers=heads),
        rows=tuple(_overview_row(group) for group in groups),
        notes=(
            "The interval of the judge is held against the baseline's value and the lower end "
            "of people's own agreement; it is no formal test.",
        ),
    )


def _overview_row(group: Json) -> tuple[str, ...]:
    name, best = best_baseline(group)
    calibration = group["calibration"]
    return (
        group_title(group),
        verdict(group),
        *(interval(group[who].get("pooled", {}).get("spearman")) for who in ("agreement", "human")),
        "-" if best is None else f"{name} {best:.2f}",
        *(interval(calibration[stage].get("rmse")) for stage in ("before", "after")),
    )


def reliability_stages(calibration: Json) -> dict[str, Sequence[Json]]:
    """Return the bins before and after calibration, by the name of the stage."""
    return {
        "as judged": calibration["reliability_before"],
        f"{calibration['method']}, held out": calibration["reliability_after"],
    }


def reliability_table(calibration: Json) -> TextTable:
    """Return what people said where the judge gave a score."""
    heads = ("judge's score", "items", "people's mean")
    return TextTable(
        title="Reliability: what people said where the judge gave a score",
        columns=columns("stage", *heads, numbers=heads),
        rows=tuple(
            (stage, number(one["mean_score"]), str(one["n"]), interval(one["mean_label"]))
            for stage, bins in reliability_stages(calibration).items()
            for one in bins
        ),
    )


def group_errors_table(name: str, groups: Sequence[Json]) -> TextTable:
    """Return the judge's error in each group of one grouping."""
    heads = ("items", "documents", "mean error", "error minus rest", "adjusted p")
    return TextTable(
        title=f"Error by {name}",
        columns=columns(name, *heads, "flag", numbers=heads),
        rows=tuple(
            (
                one["group"],
                str(one["n"]),
                str(one["n_documents"]),
                interval(one["error"]),
                interval(one["error_gap"]),
                p_value(one["adjusted_p_values"]["error_gap"]),
                ", ".join(
                    word.replace("_", " ") for word in ("flagged", "few_documents") if one[word]
                ),
            )
            for one in groups
        ),
        notes=(
            "A group is flagged for its mean error or for the size of its errors; adjusted p is "
            "that of the mean error.",
        ),
    )


def position_table(found: Json, title: str) -> TextTable:
    """Return what an audit of position found of one judge and aspect."""
    return TextTable(
        title=title,
        columns=columns("verdicts", "percent", numbers=("percent",)),
        rows=tuple((label, percent(found[name])) for name, label in POSITION.items()),
    )


def planning_table(curve: Sequence[Json]) -> TextTable:
    """Return the half-width of a system's mean for each number of labels."""
    heads = ("labels", *PLANS.values())
    return TextTable(
        title="What labels buy: half-width of the interval of a system's mean",
        columns=columns(*heads, numbers=heads),
        rows=tuple(
            (str(point["n_labels"]), *(number(point[plan], digits=3) for plan in PLANS))
            for point in curve
        ),
    )


def separations_table(planning: Json) -> TextTable:
    """Return the labels that would tell two systems apart."""
    heads = ("difference", "with judge", "labels alone")

    def needed(one: Json, plan: str) -> str:
        if why(one):
            return "-"
        return f"more than {planning['n_judged']}" if one[plan] is None else str(one[plan])

    return TextTable(
        title="Labelled documents that would tell two systems apart, were the difference true",
        columns=columns("systems", *heads, numbers=heads),
        rows=tuple(
            (
                f"{one['system_a']} and {one['system_b']}",
                number(one["difference"]),
                *(needed(one, plan) for plan in PLANS),
            )
            for one in planning["to_separate"]
        ),
    )


def _reasons(group: Json) -> list[str]:
    """Say why figures of the judge or of people are missing."""
    said = []
    for part, name in (("agreement", "Judge"), ("human", "People")):
        found = group[part]
        if why(found):
            said.append(f"{name}: {why(found)}.")
            continue
        reasons = {
            why(found[level][one]): label for level, label in LEVELS.items() for one in _STATISTICS
        }
        said += [f"{name}, {label}: {reason}." for reason, label in reasons.items() if reason]
    return said


def _unscored(group: Json) -> list[str]:
    reasons = group["counts"]["unscored"]
    return [f"Unscored: {tally(reasons)}."] if reasons else []


def _calibrator(calibration: Json) -> list[str]:
    reason = calibration["calibrator"].get("why")
    return [f"No calibrator: {reason}."] if reason else []


def replaceability_note(found: Json) -> str:
    """Say what the alternative annotator test found."""
    if why(found):
        return f"Alternative annotator test: not run; {why(found)}."
    verdict = "may stand in for a person" if found["passes"] else "may not stand in for a person"
    return (
        f"Alternative annotator test: the judge {verdict} (wins over {found['winning_rate']:.0%} "
        f"of annotators, advantage probability {found['advantage_probability']:.2f}, "
        f"margin {found['epsilon']:g})."
    )


def _unfair(group: Json) -> list[str]:
    """Name the groups that the judge treats otherwise than the rest."""
    said = []
    for name, groups in group["fairness"]["groups"].items():
        flagged = [
            f"{one['group']} ({one['error_gap']['value']:+.2f}"
            + (", few documents)" if one["few_documents"] else ")")
            for one in groups
            if one["flagged"]
        ]
        if flagged:
            said.append(f"Errs otherwise by {name}: {', '.join(flagged)}.")
    return said


def cascade_tables(report: Json) -> tuple[TextTable, ...]:
    """Return how each way of judging agrees with the labels (``cascade``)."""
    return (
        TextTable(
            title="Kendall's tau-b with the labels, on held-out documents",
            columns=columns("judged by", "tau-b", numbers=("tau-b",)),
            rows=tuple((name, number(tau, digits=3)) for name, tau in report["kendall"].items()),
        ),
    )

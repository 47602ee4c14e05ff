"""Tables of a calibration report, made of the JSON that ``calibrate --json`` writes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from fairjudge.reports.tables import TextTable, columns

_STATISTICS = ("kendall", "spearman", "pearson")
FEWEST_DOCUMENTS = 5
"""Nothing is said at first sight of a judge held against people on fewer documents."""
LEVELS = {"pooled": "pooled", "per_document": "per document", "system": "systems"}
_ERRORS = {"rmse": "RMSE", "mae": "MAE", "bias": "bias", "brier": "Brier", "ece": "ECE"}


def calibration_tables(report: Mapping[str, Any]) -> tuple[TextTable, ...]:
    """Return what to know at first sight, the tables of every group, the comparison of judges."""
    tables: list[TextTable] = [findings_table(report["groups"])] if report["groups"] else []
    for group in report["groups"]:
        tables += [*agreement_tables(group), errors_table(group)]
    if report["comparisons"]:
        tables.append(comparison_table(report["comparisons"]))
    return tuple(tables)


def shown(figure: Mapping[str, Any]) -> str:
    """Return a figure with its interval, or a dash where it is undefined."""
    if figure.get("value") is None:
        return "-"
    value = f"{figure['value']:.2f}"
    if figure.get("low") is None:
        return value
    return f"{value} [{figure['low']:.2f}, {figure['high']:.2f}]"


def group_title(group: Mapping[str, Any]) -> str:
    """Return judge, aspect and protocol in one line."""
    return f"{group['judge']}, {group['aspect']}, {group['protocol']}"


def verdict(group: Mapping[str, Any]) -> str:
    """Say in a few words what the pooled Spearman correlation shows of a judge."""
    n_documents = group["n_documents"]
    if 0 < n_documents < FEWEST_DOCUMENTS:
        return f"{n_documents} documents with labels: too few to tell"
    said = _verdict(group)
    return f"{said} (few documents: {n_documents})" if group.get("few_documents") else said


def _verdict(group: Mapping[str, Any]) -> str:
    agreement = group["agreement"]
    found = agreement.get("pooled", {}).get("spearman", {})
    if found.get("value") is None:
        return f"Undefined: {found.get('why') or agreement.get('why') or 'no reason given'}"
    if found["low"] is None:
        return "No interval: nothing can be said"
    if found["low"] <= 0:
        return "Worthless: no agreement with people shown"
    return _against_others(found, group)


def _against_others(found: Mapping[str, Any], group: Mapping[str, Any]) -> str:
    """Hold a judge that agrees with people at all against baselines and people."""
    name, best = best_baseline(group)
    if best is not None and found["low"] <= best:
        return f"Not shown to beat the baseline '{name}'"
    ceiling = group["human"].get("pooled", {}).get("spearman", {})
    if ceiling.get("low") is None:
        return "Agrees with people; how far people agree is not known"
    if found["value"] < ceiling["low"]:
        return "Agrees with people less than they do with one another"
    return "Agrees with people about as well as they do with one another"


def best_baseline(group: Mapping[str, Any]) -> tuple[str, float | None]:
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


def findings_table(groups: Sequence[Mapping[str, Any]]) -> TextTable:
    """Return what to know at first sight of every judge."""
    return TextTable(
        title="At first sight",
        columns=columns("judge, aspect, protocol", "finding"),
        rows=tuple((group_title(group), _finding(group)) for group in groups),
    )


def _finding(group: Mapping[str, Any]) -> str:
    figures = {
        who: group[part].get("pooled", {}).get("spearman", {})
        for who, part in (("judge", "agreement"), ("people", "human"))
    }
    said = [f"{who} {shown(one)}" for who, one in figures.items() if one.get("value") is not None]
    name, best = best_baseline(group)
    if best is not None:
        said.append(f"best baseline, {name}, {best:.2f}")
    return f"{verdict(group)}." + (f" Spearman: {'; '.join(said)}." if said else "")


def agreement_tables(group: Mapping[str, Any]) -> list[TextTable]:
    """Return one table a level; the last has the notes."""
    sources = {"judge": group["agreement"], "people": group["human"], **group["baselines"]}
    notes = (*_reasons(group), *_unscored(group), *group["notes"])
    return [
        TextTable(
            title=f"{group_title(group)}: agreement with people, {label}, {group['n_items']} items",
            columns=columns("who", *_STATISTICS, numbers=_STATISTICS),
            rows=tuple(
                (baseline_name(name), *(shown(found[level][one]) for one in _STATISTICS))
                for name, found in sources.items()
                if level in found
            ),
            notes=notes if level == "system" else (),
        )
        for level, label in LEVELS.items()
    ]


def errors_table(group: Mapping[str, Any]) -> TextTable:
    """Return the errors before and after calibration."""
    calibration = group["calibration"]
    before, after = calibration["before"], calibration["after"]
    held_out = f"{calibration['method']}, held out"
    return TextTable(
        title=f"{group_title(group)}: distance from people, in units of the labels",
        columns=columns("error", "as judged", held_out, numbers=("as judged", held_out)),
        rows=tuple(
            (label, *(shown(found.get(name, {})) for found in (before, after)))
            for name, label in _ERRORS.items()
        ),
        notes=(
            *_calibrator(calibration),
            replaceability_note(group["replaceability"]),
            *_unfair(group),
        ),
    )


def comparison_table(rows: Sequence[Mapping[str, Any]]) -> TextTable:
    """Return the differences between judges."""
    return TextTable(
        title="Which judge agrees better: difference of pooled Spearman on common items",
        columns=columns("aspect", "first", "second", "difference", "p (Holm)"),
        rows=tuple(
            (
                row["aspect"],
                row["first"],
                row["second"],
                shown(row["difference"]),
                "-" if row["adjusted_p_value"] is None else f"{row['adjusted_p_value']:.4f}",
            )
            for row in rows
        ),
    )


def _reasons(group: Mapping[str, Any]) -> list[str]:
    """Say why figures of the judge or of people are missing."""
    said = []
    for who in ("agreement", "human"):
        name = "Judge" if who == "agreement" else "People"
        found = group[who]
        if "why" in found:
            said.append(f"{name}: {found['why']}.")
            continue
        reasons = {
            figures[one]["why"]: label
            for level, label in LEVELS.items()
            for figures in (found[level],)
            for one in _STATISTICS
            if figures[one].get("why")
        }
        said += [f"{name}, {label}: {why}." for why, label in reasons.items()]
    return said


def _unscored(group: Mapping[str, Any]) -> list[str]:
    reasons = group["counts"]["unscored"]
    if not reasons:
        return []
    return ["Unscored: " + ", ".join(f"{n} {reason}" for reason, n in reasons.items()) + "."]


def _calibrator(calibration: Mapping[str, Any]) -> list[str]:
    why = calibration["calibrator"].get("why")
    return [f"No calibrator: {why}."] if why else []


def replaceability_note(found: Mapping[str, Any]) -> str:
    """Say what the alternative annotator test found."""
    if "why" in found:
        return f"Alternative annotator test: not run; {found['why']}."
    verdict = "may stand in for a person" if found["passes"] else "may not stand in for a person"
    return (
        f"Alternative annotator test: the judge {verdict} (wins over {found['winning_rate']:.0%} "
        f"of annotators, advantage probability {found['advantage_probability']:.2f}, "
        f"margin {found['epsilon']:g})."
    )


def _unfair(group: Mapping[str, Any]) -> list[str]:
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

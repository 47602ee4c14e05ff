"""Decisions on the uses of a judge, and tables of the annotators, from ``calibrate --json``.

Terminal, page, study and Python show the same sentences; the rules are in `calibration.decisions`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from fairjudge.protocols import PROTOCOLS
from fairjudge.reports.figures import (
    Json,
    dollars,
    equals_p,
    first_items,
    interval,
    no_interval_reason,
    p_value,
    protocol_in_words,
    sentence,
    undefined_reason,
)
from fairjudge.reports.row_tables import table
from fairjudge.reports.tables import TextTable, number
from fairjudge.text.counting import percentage, pluralize

_NOTE = (
    "Yes: the whole interval is at or above 0.5 (three of four pairs in the human order; half of "
    "the annotators). No: it is below. Otherwise too few to tell. docs/calibration.md has the "
    "rules."
)
_NO_SPENDING = "add the run's folder, or the file of 'judge --json', to the judgements"
_OLD = "No decision: this file is of an earlier version; run 'fairjudge calibrate' again"


def group_title(group: Json) -> str:
    """Return judge, aspect, protocol and unit in one line."""
    return group.get("title") or f"{group['judge']}, {group['aspect']}, {protocol_in_words(group)}"


def with_juries(report: Json) -> list[Json]:
    """Return the groups of a report, followed by juries with decisions."""
    return [
        *report["groups"],
        *(jury_group(jury) for jury in report.get("juries", ()) if jury.get("decisions")),
    ]


def jury_group(jury: Json) -> Json:
    """Return the decisions on a fitted jury in the form of a judge's group."""
    judge = f"jury of {pluralize(len(jury['judges']), 'judge')}, fitted on labels"
    return {
        "title": f"{judge}, {jury['aspect']}",
        "judge": judge,
        "aspect": jury["aspect"],
        "protocol": "likert",
        "unit": jury["unit"],
        "cost": None,
        "n_items": jury["n_items"],
        "decisions": jury["decisions"],
        "cost_in_words": "on held-out documents; cost per item: the sum of its judges' costs",
    }


def verdict(group: Json) -> str:
    """Return the answers on all uses of a judge in one line."""
    decisions = group.get("decisions", ())
    outcomes = {(decision["answer"], decision["reason"]) for decision in decisions}
    answer, reason = next(iter(outcomes), ("", ""))
    if answer != "no" and (camps := camps_sentence(group)):
        return camps
    if len(outcomes) == 1 and reason:
        uses = ", ".join(use_in_words(group, decision) for decision in decisions)
        return f"{uses}: {answer}: {reason}"
    uses = "; ".join(
        f"{use_in_words(group, decision)}: {_outcome(decision)}" for decision in decisions
    )
    return uses or _OLD


def _outcome(decision: Json) -> str:
    """Return an answer, with the reason if the statistic did not decide it."""
    reason = f" ({decision['reason']})" if decision["reason"] else ""
    return f"{decision['answer']}{reason}"


def use_in_words(group: Json, decision: Json) -> str:
    """Return the use of a judge that a decision concerns: ``"rank systems"``."""
    if decision["question"] == "score_items":
        is_paired = PROTOCOLS[group["protocol"]].paired
        return "compare two summaries" if is_paired else "score single summaries"
    return str(decision["question"]).replace("_", " ").replace("replace", "replace an")


def decisions_tables(groups: Sequence[Json]) -> tuple[TextTable, ...]:
    """Return a table of answers per judge, with their statistics and missing data.

    If some judges have labelled items, a note of the last table lists those without.
    """
    labelled_groups = [group for group in groups if group["n_items"]] or list(groups)
    tables = [_decisions(group) for group in labelled_groups]
    if not tables:
        return ()
    notes = [*tables[-1].notes, _NOTE]
    if unlabelled_names := [group_title(group) for group in groups if group not in labelled_groups]:
        notes.append(f"No answers without labelled items: {'; '.join(unlabelled_names)}.")
    return (*tables[:-1], replace(tables[-1], notes=tuple(notes)))


def decisions_table(groups: Sequence[Json]) -> TextTable:
    """Return the answers of all judges in one table."""
    return table(
        "What judges may be used for",
        "judge, aspect, protocol: {title} | use: {use} | answer: {answer} | because: {figure}",
        [{"title": group_title(group), **row} for group in groups for row in _rows(group)],
        notes=(_NOTE, *(f"{group_title(group)}: {cost_in_words(group)}." for group in groups)),
    )


def _decisions(group: Json) -> TextTable:
    return table(
        f"{group_title(group)}: may the judge be used to ...",
        "use: {use} | answer: {answer} | because: {figure}",
        _rows(group),
        notes=(sentence(cost_in_words(group)) if "decisions" in group else f"{_OLD}.",),
    )


def _rows(group: Json) -> list[Json]:
    return [
        {
            "use": use_in_words(group, decision),
            "answer": decision["answer"],
            "figure": _figure(decision),
        }
        for decision in group.get("decisions", ())
    ]


def cost_in_words(group: Json) -> str:
    """Return the cost per item, and the number of requests."""
    if "cost_in_words" in group:
        return str(group["cost_in_words"])
    cost = group.get("cost")
    if cost is None:
        return "cost per item unknown"
    requests = pluralize(cost["n_requests"], "request")
    n = f"{requests} for {pluralize(cost['n_items'], 'item')}"
    if not cost["n_requests"]:
        return "cost per item 0, no LLM was called"
    if cost["usd_per_item"] is None:
        return f"cost per item unknown ({n}): {cost.get('why') or _NO_SPENDING}"
    return f"cost per item {dollars(cost['usd_per_item'])} US dollars ({n})"


def _figure(decision: Json) -> str:
    figure = decision["figure"]
    reason = decision["reason"] or undefined_reason(figure) or no_interval_reason(figure)
    text = "" if undefined_reason(figure) else f"{decision['measure']} {interval(figure)}"
    requirement = f"needed: {decision['needed']}" if decision["needed"] else ""
    return "; ".join(filter(None, (text, reason, requirement)))


_MAX_NAMES = 8
_SEVERITY_SHIFT = 0.02
"""Minimum shift of a system's mean by severity, as a fraction of the scale, to show the means."""


def camps_sentence(group: Json) -> str:
    """Return a sentence on two camps of annotators and the judge's agreement with each; or ""."""
    camps = group.get("people", {}).get("camps", {})
    if not camps.get("found"):
        return ""
    correlation = f"Spearman {number(_value(camps['items']))} on items"
    if (systems := _value(camps["systems"])) is not None:
        correlation += f", {number(systems)} on systems"
    camp_names = " and ".join(f"({_names(camp)})" for camp in camps["camps"])
    agreements = "; ".join(
        f"with {_names(camp)} on items {_spearman(camp, 'pooled')}, on systems "
        f"{_spearman(camp, 'system')}"
        for camp in camps["camps"]
    )
    return (
        f"Annotators form two camps that do not agree, {camp_names}: {correlation}; their mean "
        f"label represents neither. The judge {agreements}. Choose one camp with --annotators"
    )


def annotator_tables(group: Json, title: str) -> Iterator[TextTable]:
    """Yield the tables of camps, of several annotators, of adjusted means, and of confusion."""
    people = group.get("people")
    if people is None:
        return
    if people["camps"].get("found"):
        yield _camps(people["camps"], title)
    if len(people["annotators"]) > 1:
        yield _annotators(people, title)
    low, high = group["scales"]["labels"]
    shifts = [abs(changes["adjusted"] - changes["mean"]) for changes in people["systems"]]
    if max(shifts, default=0.0) >= _SEVERITY_SHIFT * (high - low):
        yield table(
            f"{title}: systems' mean labels, corrected for annotators' severity",
            "system: {system} | mean label> {mean:number} | adjusted> {adjusted:number}",
            people["systems"],
        )
    if people["confusion"].get("counts"):
        yield _confusion(people["confusion"], title)


def _camps(camps: Json, title: str) -> TextTable:
    return table(
        f"{title}: two camps of annotators, and the judge's Spearman correlation with each",
        "camp: {annotators:list} | agree within> {within:number} | judge, items> {items}"
        " | judge, systems> {systems}",
        camps["camps"],
        notes=(
            f"Mean correlation of two annotators of different camps: {number(camps['between'])}; "
            f"permutation test over all divisions, {equals_p(p_value(camps))}.",
        ),
        items=lambda camp: _spearman(camp, "pooled"),
        systems=lambda camp: _spearman(camp, "system"),
    )


def _annotators(people: Json, title: str) -> TextTable:
    puller = people["puller"]
    return table(
        f"{title}: annotators",
        "annotator: {annotator} | items> {n_items} | mean> {mean:number}"
        " | severity> {severity:number} | with the others> {others:number}"
        " | judge without them> {without:number}",
        people["annotators"],
        notes=(
            "Severity: offset of an annotator's labels from others' of the same items; with the "
            "others: Spearman's correlation with the mean of the others; judge without them: "
            "correlation of the judge with the mean label of all others.",
            f"The result depends on one annotator: {puller}." if puller else "",
        ),
        others=lambda annotator: _value(annotator["others"]),
        without=lambda annotator: _value(annotator["without"]),
    )


def _confusion(confusion: Json, title: str) -> TextTable:
    names = [f"{level:g}" for level in confusion["levels"]]
    cells = " | ".join(f"human {name}> {{n{index}}}" for index, name in enumerate(names))
    rates = ", ".join(
        f"{name}: {percentage(share)}"
        for name, share in zip(names, confusion["base_rate"], strict=True)
    )
    return table(
        f"{title}: the judge's answer by the human answer (means rounded)",
        f"judge: {{judge}} | {cells}",
        [
            {"judge": name, **{f"n{index}": n for index, n in enumerate(row)}}
            for name, row in zip(names, confusion["counts"], strict=True)
        ],
        notes=(f"Base rate among labels: {rates}.",),
    )


def _spearman(camp: Json, level: str) -> str:
    return interval(camp["judge"].get(level, {}).get("spearman", {"value": None}))


def _value(figure: Json | float) -> float | None:
    """Return a number, or None if `figure` is JSON without a value."""
    return None if isinstance(figure, Mapping) else figure


def _names(camp: Json) -> str:
    return first_items(camp["annotators"], _MAX_NAMES)

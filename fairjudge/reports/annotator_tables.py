"""Tables of annotators: camps, severity, influence on the mean label, and confusion."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from fairjudge.reports.figures import Json, equals_p, first_items, interval, p_value
from fairjudge.reports.row_tables import table
from fairjudge.reports.tables import TextTable, number
from fairjudge.text.counting import percentage

_MOST_NAMED = 8
_SEVERITY_SHIFT = 0.02
"""Part of the scale by which severity must move a system's mean for the means to be shown."""


def camps_sentence(group: Json) -> str:
    """Return a sentence on two camps of annotators and the judge's agreement with each, or ""."""
    camps = group.get("people", {}).get("camps", {})
    if not camps.get("found"):
        return ""
    between = f"Spearman {number(_value(camps['items']))} on items"
    if (systems := _value(camps["systems"])) is not None:
        between += f", {number(systems)} on systems"
    sides = " and ".join(f"({_names(camp)})" for camp in camps["camps"])
    judge = "; ".join(
        f"with {_names(camp)} on items {_spearman(camp, 'pooled')}, on systems "
        f"{_spearman(camp, 'system')}"
        for camp in camps["camps"]
    )
    return (
        f"Annotators form two camps that do not agree, {sides}: {between}; their mean label "
        f"represents neither. The judge {judge}. Choose one camp with --annotators"
    )


def annotator_tables(group: Json, title: str) -> Iterator[TextTable]:
    """Yield the tables of camps, of annotators if there are several, and of confusion."""
    people = group.get("people")
    if people is None:
        return
    if people["camps"].get("found"):
        yield _camps(people["camps"], title)
    if len(people["annotators"]) > 1:
        yield _annotators(people, title)
    low, high = group["scales"]["labels"]
    moved = [abs(changes["adjusted"] - changes["mean"]) for changes in people["systems"]]
    if max(moved, default=0.0) >= _SEVERITY_SHIFT * (high - low):
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
            "others: Spearman's correlation with the mean of the others; judge without them: the "
            "judge's with the mean label of all others.",
            f"The result depends on one annotator: {puller}." if puller else "",
        ),
        others=lambda annotator: _value(annotator["others"]),
        without=lambda annotator: _value(annotator["without"]),
    )


def _confusion(confusion: Json, title: str) -> TextTable:
    names = [f"{level:g}" for level in confusion["levels"]]
    cells = " | ".join(f"people {name}> {{n{place}}}" for place, name in enumerate(names))
    rates = ", ".join(
        f"{name}: {percentage(share)}"
        for name, share in zip(names, confusion["base_rate"], strict=True)
    )
    return table(
        f"{title}: the judge's answer by people's (means rounded)",
        f"judge: {{judge}} | {cells}",
        [
            {"judge": name, **{f"n{place}": n for place, n in enumerate(row)}}
            for name, row in zip(names, confusion["counts"], strict=True)
        ],
        notes=(f"Base rate among labels: {rates}.",),
    )


def _spearman(camp: Json, level: str) -> str:
    return interval(camp["judge"].get(level, {}).get("spearman", {"value": None}))


def _value(figure: Json | float) -> float | None:
    """Return a number, None where it is a figure without one."""
    return None if isinstance(figure, Mapping) else figure


def _names(camp: Json) -> str:
    return first_items(camp["annotators"], _MOST_NAMED)

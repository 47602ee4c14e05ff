"""What a judge may be used for, of the JSON that ``calibrate --json`` writes; one wording for all.

Terminal, page, study and Python show these sentences; the rules are in `calibration.decisions`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from fairjudge.protocols import PROTOCOLS
from fairjudge.reports.annotator_tables import camps_sentence
from fairjudge.reports.figures import (
    Json,
    dollars,
    interval,
    protocol_of,
    sentence,
    why,
    why_no_interval,
)
from fairjudge.reports.row_tables import table
from fairjudge.reports.tables import TextTable
from fairjudge.text.counting import pluralize

_NOTE = (
    "Yes: the whole interval is at or above 0.5 (three of four pairs in people's order; half of "
    "the annotators). No: it is below. Else too few to tell. docs/calibration.md has the rules."
)
_NO_SPENDING = "give the run's folder, or the file of 'judge --json', together with the judgements"
_OLD = "No decision: this file is of an earlier version; run 'fairjudge calibrate' again"


def group_title(group: Json) -> str:
    """Return judge, aspect, protocol and unit in one line."""
    return group.get("title") or f"{group['judge']}, {group['aspect']}, {protocol_of(group)}"


def with_juries(report: Json) -> list[Json]:
    """Return the groups of a report, and juries that have decisions as further ones."""
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
        "cost_in_words": "on held-out documents; an item costs what its judges cost together",
    }


def verdict(group: Json) -> str:
    """Say in a line what a judge may be used for."""
    decisions = group.get("decisions", ())
    outcomes = {(decision["answer"], decision["reason"]) for decision in decisions}
    answer, reason = next(iter(outcomes), ("", ""))
    if answer != "no" and (camps := camps_sentence(group)):
        return camps
    if len(outcomes) == 1 and reason:
        uses = ", ".join(use_of(group, decision) for decision in decisions)
        return f"{uses}: {answer}: {reason}"
    uses = "; ".join(f"{use_of(group, decision)}: {_outcome(decision)}" for decision in decisions)
    return uses or _OLD


def _outcome(decision: Json) -> str:
    """Return an answer, with the reason where something else than its figure decided."""
    reason = f" ({decision['reason']})" if decision["reason"] else ""
    return f"{decision['answer']}{reason}"


def use_of(group: Json, decision: Json) -> str:
    """Return the use that a decision is about, in words: ``"rank systems"``."""
    if decision["question"] == "score_items":
        pairs = PROTOCOLS[group["protocol"]].paired
        return "compare two summaries" if pairs else "score single summaries"
    return str(decision["question"]).replace("_", " ").replace("replace", "replace an")


def decisions_tables(groups: Sequence[Json]) -> tuple[TextTable, ...]:
    """Return each judge's answers, with their figures and what would have to be known.

    Judges without labelled items are named under the last table, where others have some.
    """
    labelled = [group for group in groups if group["n_items"]] or list(groups)
    tables = [_decisions(group) for group in labelled]
    if not tables:
        return ()
    notes = [*tables[-1].notes, _NOTE]
    if unlabelled := [group_title(group) for group in groups if group not in labelled]:
        notes.append(f"No answers without labelled items: {'; '.join(unlabelled)}.")
    return (*tables[:-1], replace(tables[-1], notes=tuple(notes)))


def decisions_table(groups: Sequence[Json]) -> TextTable:
    """Return the same of all judges in one table."""
    return table(
        "What judges may be used for",
        "judge, aspect, protocol: {title} | use: {use} | answer: {answer} | because: {figure}",
        [{"title": group_title(group), **row} for group in groups for row in _rows(group)],
        notes=(_NOTE, *(f"{group_title(group)}: {cost_of(group)}." for group in groups)),
    )


def _decisions(group: Json) -> TextTable:
    return table(
        f"{group_title(group)}: may the judge be used to ...",
        "use: {use} | answer: {answer} | because: {figure}",
        _rows(group),
        notes=(sentence(cost_of(group)) if "decisions" in group else f"{_OLD}.",),
    )


def _rows(group: Json) -> list[Json]:
    return [
        {"use": use_of(group, decision), "answer": decision["answer"], "figure": _figure(decision)}
        for decision in group.get("decisions", ())
    ]


def cost_of(group: Json) -> str:
    """Return what an item costs, and how many requests all took."""
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
    reason = decision["reason"] or why(figure) or why_no_interval(figure)
    text = "" if why(figure) else f"{decision['measure']} {interval(figure)}"
    needed = f"needed: {decision['needed']}" if decision["needed"] else ""
    return "; ".join(filter(None, (text, reason, needed)))

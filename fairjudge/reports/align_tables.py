"""Findings and tables of ``fairjudge calibrate align``; no arithmetic."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from fairjudge.protocols import PROTOCOLS
from fairjudge.reports.figures import Json, interval, sentence, tally
from fairjudge.reports.row_tables import side_by_side, table
from fairjudge.reports.tables import TextTable, number
from fairjudge.text.counting import pluralize


@dataclass(frozen=True, slots=True, kw_only=True)
class _Words:
    """How agreement, error and audits are called."""

    agreement: str
    short: str
    measured: str
    error: str
    by: str
    units: str
    audits: str
    notes: tuple[str, ...] = ()


_RATINGS = _Words(
    agreement="Kendall's tau-b with people",
    short="tau-b with people",
    measured="Kendall's tau-b with people's mean label, on the items that both prompts scored.",
    error="squared error, both calibrated",
    by="the calibrated error",
    units=" squared points",
    audits="mean calibrated score minus people's",
)
_PAIRS = _Words(
    agreement="kappa with people's preferences",
    short="kappa with people",
    measured="Quadratic kappa with people's preferences over both orders, on the pairs that both "
    "prompts scored.",
    error="Brier score, both calibrated",
    by="the calibrated Brier score",
    units="",
    audits="calibrated probability to prefer, minus people's share",
    notes=(
        "By length: to prefer the longer summary; by system: that system's; by attribute: the mean "
        "squared error, as a document favours no side.",
    ),
)


def _words(report: Json) -> _Words:
    return _PAIRS if PROTOCOLS[report["protocol"]].paired else _RATINGS


def align_findings(report: Json) -> Iterator[str]:
    """Yield whether the new prompt is kept, its gain, the candidates, and the next step."""
    n_tried = pluralize(len(report["candidates"]), "candidate")
    n_development = pluralize(report["parts"]["development"]["documents"], "document")
    if not report["opened"]:
        yield (
            f"No candidate selected: none of {n_tried} agreed better with the human labels than "
            f"the old prompt on the development set ({n_development})."
        )
        yield "The test set was not used and remains available for other candidates."
        yield "Next: 'fairjudge calibrate' the old prompt, or have more items labelled with notes."
        return
    decision = report["decision"]
    n_test = pluralize(decision["n_documents"], "document")
    words = _words(report)
    gain = f"{words.agreement} changes by {interval(decision['agreement'], digits=3)}"
    error = f"{words.by} falls by {interval(decision['error'], digits=3)}{words.units}"
    if report["kept"]:
        yield f"{report['chosen']!r} is selected: on the test set, {n_test}, {gain}, and {error}."
    else:
        yield f"The old prompt is kept: of {report['chosen']!r}, {'; '.join(decision['why_not'])}."
        yield f"On the test set, {n_test}: {gain}, and {error}."
    yield (
        f"{n_tried.capitalize()} compared on the development set ({n_development}); the test "
        "set was used for that one alone."
    )
    if report["n_opened"] > 1:
        yield (
            f"This test set has been used {pluralize(report['n_opened'], 'time')}: its results are "
            "more optimistic with each use, and the intervals do not account for that."
        )
    audits, sides = report["audits"], ("old", "new")
    if audits["position"]["new"] is not None:
        before, now = (interval(audits["position"][side]["changed"]) for side in sides)
        yield f"The share of decisions that change with the order: {before} before, {now} now."
    groups = audits["errors"]["groups"]
    n_before, n_now = (sum(row[side]["flagged"] for row in groups) for side in sides)
    if n_before or n_now:
        yield f"Groups with significant judge bias: {n_before} before, {n_now} now."
    if report["kept"]:
        yield (
            "Next: read the prompt, judge with it, and calibrate it on these labels: 'fairjudge "
            "judge --criterion' as below."
        )
    else:
        yield "Next: calibrate the old prompt; for another try, label documents that are new."


def align_tables(report: Json) -> Iterator[TextTable]:
    """Yield the candidates on development, then what the test says and the audits."""
    yield _candidates(report)
    if report["opened"]:
        yield _test(report)
        if report["audits"]["position"]["new"] is not None:
            yield _position(report["audits"]["position"])
        if report["audits"]["errors"]["groups"]:
            yield _audits(report)


def _candidates(report: Json) -> TextTable:
    sizes = ", ".join(
        f"{name} {pluralize(size['documents'], 'document')} ({size['items']} labelled)"
        for name, size in report["parts"].items()
    )
    return table(
        f"{pluralize(len(report['candidates']), 'candidate')} tried on development: "
        f"{report['aspect']}, {report['protocol']}, {report['judge']}",
        "candidate: {name} | what: {about} | old> {development[old]:number.3}"
        " | new> {development[new]:number.3} | gain> {development[difference]:number.3}"
        " | without score> {development[n_without_new]} | : {mark}",
        report["candidates"],
        notes=(
            f"Documents by part: {sizes}.",
            _words(report).measured,
            *(
                f"{candidate['name']}: {candidate['barred']}."
                for candidate in report["candidates"]
                if candidate["barred"]
            ),
            *(f"Not tried: {why}." for why in report["unusable"]),
        ),
        mark=lambda candidate: "chosen" if candidate["chosen"] else "",
    )


def _test(report: Json) -> TextTable:
    decision = report["decision"]
    gain, counts = decision["gain"], report["audits"]["unscored"]
    return table(
        f"The test: {'kept' if report['kept'] else 'not kept'}",
        "figure: {figure} | old> {old} | new> {new} | better by> {gain}",
        _figures(report),
        notes=(
            f"{pluralize(gain['n_items'], 'item')} scored by both, of {decision['n_labelled']} "
            f"labelled, in {pluralize(decision['n_documents'], 'document')}; opened "
            f"{pluralize(report['n_opened'], 'time')}.",
            "Kept where both intervals lie above 0.",
            *(f"Not kept: {why}." for why in decision["why_not"]),
            *(
                f"Without a score, {name}: {tally(count)}."
                for name, count in counts.items()
                if count
            ),
        ),
    )


def _figures(report: Json) -> Iterator[Json]:
    """Yield agreement, error, items without a score, and for answers of yes and no the rates."""
    decision, rates, words = report["decision"], report["audits"]["rates"], _words(report)
    gain, errors = decision["gain"], decision["errors"] or (None, None)
    measured = (
        (words.short, gain["old"], gain["new"], decision["agreement"]),
        (words.error, *errors, decision["error"]),
    )
    for name, *sides, better in measured:
        old, new = (number(side, digits=3) for side in sides)
        yield {"figure": name, "old": old, "new": new, "gain": interval(better, digits=3)}
    n_missing = {"old": gain["n_without_old"], "new": gain["n_without_new"]}
    yield {"figure": "labelled items without a score", **n_missing, "gain": ""}
    if rates["old"] is not None and rates["new"] is not None:
        for name in ("sensitivity", "specificity"):
            figures = {side: interval(rates[side][name]) for side in ("old", "new")}
            yield {"figure": name, **figures, "gain": ""}


_PLACES = {
    "changed": "changes with the order",
    "first": "prefers the first place",
    "second": "prefers the second place",
    "one_tie": "a tie in one order alone",
    "first_minus_second": "first less second place",
}


def _position(position: Json) -> TextTable:
    return side_by_side(
        "Position on the test: share of the pairs that were judged in both orders",
        "figure",
        _PLACES,
        {side: position[side] for side in ("old", "new")},
        notes=(
            f"{side.capitalize()}: {pluralize(position[side]['n_pairs'], 'pair')}; without a "
            f"verdict in one of the orders: {position[side]['n_one_order']}."
            for side in ("old", "new")
        ),
    )


def _audits(report: Json) -> TextTable:
    audits, words = report["audits"], _words(report)
    why = audits["position"]["why"]
    return table(
        f"Audits on the test: {words.audits}, by group",
        "of: {of} | group: {group} | items> {n} | old> {old[error]:interval}{old_mark}"
        " | new> {new[error]:interval}{new_mark}",
        audits["errors"]["groups"],
        notes=(
            "! significantly different from the other groups (FDR 5 %).",
            *words.notes,
            *map(sentence, audits["errors"]["notes"]),
            f"Position: {why}." if why else "",
        ),
        of=lambda row: row["attribute"] or row["kind"],
        old_mark=lambda row: " !" if row["old"]["flagged"] else "",
        new_mark=lambda row: " !" if row["new"]["flagged"] else "",
    )

"""Findings and tables of ``calibrate align`` and ``calibrate cascade``; no arithmetic."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from fairjudge.protocols import PROTOCOLS
from fairjudge.reports.decision_tables import group_title
from fairjudge.reports.figures import Json, interval, percent, sentence, tally
from fairjudge.reports.row_tables import side_by_side, table
from fairjudge.reports.tables import TextTable, number
from fairjudge.text.counting import percentage, pluralize


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
    yield from _audit_findings(report["audits"])
    if report["kept"]:
        yield (
            "Next: read the prompt, judge with it, and calibrate it on these labels: 'fairjudge "
            "judge --criterion' as below."
        )
    else:
        yield "Next: calibrate the old prompt; for another try, label documents that are new."


def _audit_findings(audits: Json) -> Iterator[str]:
    """Yield how the effect of order and bias by group change, where there are any."""
    sides = ("old", "new")
    if audits["position"]["new"] is not None:
        before, now = (interval(audits["position"][side]["changed"]) for side in sides)
        yield f"The share of decisions that change with the order: {before} before, {now} now."
    groups = audits["errors"]["groups"]
    n_before, n_now = (sum(row[side]["flagged"] for row in groups) for side in sides)
    if n_before or n_now:
        yield f"Groups with significant judge bias: {n_before} before, {n_now} now."


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


def cascade_tables(report: Json) -> tuple[TextTable, ...]:
    """Return what a cascade saves and costs, and how each way agrees with the labels."""
    effects = {
        "calls saved, %": percent(report["saved"]),
        "growth of the mean absolute error": interval(report["error_added"], digits=3),
        "fall of Kendall's tau-b": interval(report["agreement_lost"], digits=3),
    }
    low, high = report["low"], report["high"]
    return (
        table(
            f"Cascade that asks the LLM between {low:.3g} and {high:.3g} of the local score, on "
            "held-out documents",
            "what: {what} | value [95 %]> {value} | items> {n}",
            [{"what": what, "value": value, "n": report["n"]} for what, value in effects.items()],
        ),
        table(
            "Items of the cascade",
            "kind: {left} | items> {n} | matched> {n_matched} | with: {right}",
            report.get("joins", ()),
            n=lambda join: join["n_matched"] + join["n_only_left"],
        ),
        table(
            "Kendall's tau-b with the labels, on held-out documents",
            "judged by: {name} | tau-b> {tau:number.3}",
            [{"name": name, "tau": tau} for name, tau in report["kendall"].items()],
        ),
    )


def guarantee_tables(report: Json) -> Iterator[TextTable]:
    """Yield what share is kept at the threshold, and how far answers agree with people."""
    threshold, one_order = report["threshold"], report["n_one_order"]
    at = "no threshold" if threshold is None else f"a confidence of {threshold:.2f} or more"
    shares = [("agreement of all labelled items", report["overall"], report["n_labelled"])]
    if threshold is not None:
        agreement = report["agreement"], report["n_kept_labelled"]
        shares.insert(0, ("agreement of kept labelled items", *agreement))
        shares.insert(0, ("kept, of all items", report["kept"], "-"))
    yield table(
        f"{group_title(report)}: {percentage(report['agreement_promised'])} agreement "
        f"guaranteed with {percentage(report['confidence'])} certainty at {at}",
        "share: {what} | value [95 %]> {share:interval} | items> {n}",
        [{"what": what, "share": share, "n": n} for what, share, n in shares],
        notes=[f"Pairs asked in one order alone: {one_order}." if one_order else ""],
    )


def cascade_findings(report: Json) -> Iterator[str]:
    """Yield what a cascade saves, and what it costs in error and agreement."""
    yield (
        f"The LLM judges items with a local score between {report['low']:.3g} and "
        f"{report['high']:.3g}, which saves {percent(report['saved'])} % of the calls on held-out "
        f"documents (n = {report['n']})."
    )
    yield (
        f"Change in mean absolute error: {interval(report['error_added'], digits=3)}; loss in "
        f"Kendall's tau-b: {interval(report['agreement_lost'], digits=3)}."
    )


def guarantee_findings(report: Json) -> Iterator[str]:
    """Yield the confidence threshold of a guarantee, and what share of items is kept."""
    title = group_title(report)
    promise = f"agree with people at least {percentage(report['agreement_promised'])} of the time"
    certainty = f"{percentage(report['confidence'])} certainty"
    n_items = pluralize(report["n_labelled"], "labelled item")
    overall = interval(report["overall"], digits=2)
    of_all = f"Without a threshold a share of {overall} of the labelled items agrees."
    if report["threshold"] is None:
        yield (
            f"{title}: at no confidence threshold do its answers {promise}, with {certainty} on "
            f"{n_items}."
        )
        yield of_all
        yield "Nothing is kept; next: more labels, a lower --guarantee, or a better judge."
    else:
        yield (
            f"{title}: answers with a confidence of {report['threshold']:.2f} or more {promise}, "
            f"with {certainty} ({n_items}; test: {report['test']})."
        )
        yield (
            f"Kept: a share of {interval(report['kept'], digits=2)} of all items; of the "
            f"{pluralize(report['n_kept_labelled'], 'labelled item')} kept, a share of "
            f"{interval(report['agreement'], digits=2)} agrees."
        )
        yield of_all
        if report["n_one_order"]:
            yield (
                f"Asked in one order alone: {pluralize(report['n_one_order'], 'pair')}. A judge "
                "that prefers a position seems confident of these."
            )

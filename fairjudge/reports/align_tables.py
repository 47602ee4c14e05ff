"""Findings and tables of ``calibrate align`` and ``calibrate cascade``."""

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
class _Terms:
    """Terms for agreement, error and audits of one kind of protocol."""

    agreement: str
    short: str
    measure_note: str
    error: str
    error_name: str
    units: str
    audits: str
    notes: tuple[str, ...] = ()


_RATING_TERMS = _Terms(
    agreement="Kendall's tau-b with human labels",
    short="tau-b with human labels",
    measure_note="Kendall's tau-b with the mean human label, on items scored with both prompts.",
    error="squared error, both calibrated",
    error_name="the calibrated error",
    units=" squared points",
    audits="mean calibrated score minus mean human label",
)
_PAIR_TERMS = _Terms(
    agreement="kappa with human preferences",
    short="kappa with human labels",
    measure_note="Quadratic kappa with human preferences over both orders, on pairs scored with "
    "both prompts.",
    error="Brier score, both calibrated",
    error_name="the calibrated Brier score",
    units="",
    audits="calibrated probability of preference minus the human share",
    notes=(
        "By length: preference for the longer summary; by system: for that system's summary; by "
        "attribute: mean squared error, since a document is on neither side.",
    ),
)


def _terms(report: Json) -> _Terms:
    return _PAIR_TERMS if PROTOCOLS[report["protocol"]].paired else _RATING_TERMS


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
    terms = _terms(report)
    gain = f"{terms.agreement} changes by {interval(decision['agreement'], digits=3)}"
    error = f"{terms.error_name} falls by {interval(decision['error'], digits=3)}{terms.units}"
    if report["kept"]:
        yield f"{report['chosen']!r} is selected: on the test set, {n_test}, {gain}, and {error}."
    else:
        yield f"The old prompt is kept: of {report['chosen']!r}, {'; '.join(decision['why_not'])}."
        yield f"On the test set, {n_test}: {gain}, and {error}."
    yield (
        f"{n_tried.capitalize()} compared on the development set ({n_development}); the test "
        "set was used for this one only."
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
        yield "Next: calibrate the old prompt; to try again, label new documents."


def _audit_findings(audits: Json) -> Iterator[str]:
    """Yield the changes of position bias and of judge bias by group, if there are any."""
    sides = ("old", "new")
    if audits["position"]["new"] is not None:
        old_share, new_share = (interval(audits["position"][side]["changed"]) for side in sides)
        yield f"Share of decisions that change with the order: {old_share} before, {new_share} now."
    groups = audits["errors"]["groups"]
    n_before, n_now = (sum(row[side]["flagged"] for row in groups) for side in sides)
    if n_before or n_now:
        yield f"Groups with significant judge bias: {n_before} before, {n_now} now."


def align_tables(report: Json) -> Iterator[TextTable]:
    """Yield the candidates on the development set, then the results on the test set and audits."""
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
        f"{pluralize(len(report['candidates']), 'candidate')} tried on the development set: "
        f"{report['aspect']}, {report['protocol']}, {report['judge']}",
        "candidate: {name} | what: {about} | old> {development[old]:number.3}"
        " | new> {development[new]:number.3} | gain> {development[difference]:number.3}"
        " | without score> {development[n_without_new]} | : {mark}",
        report["candidates"],
        notes=(
            f"Documents by part: {sizes}.",
            _terms(report).measure_note,
            *(
                f"{candidate['name']}: {candidate['barred']}."
                for candidate in report["candidates"]
                if candidate["barred"]
            ),
            *(f"Not tried: {reason}." for reason in report["unusable"]),
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
            "Kept if both intervals are above 0.",
            *(f"Not kept: {reason}." for reason in decision["why_not"]),
            *(
                f"Without a score, {name}: {tally(count)}."
                for name, count in counts.items()
                if count
            ),
        ),
    )


def _figures(report: Json) -> Iterator[Json]:
    """Yield agreement, error, items without a score, and for yes/no answers the rates."""
    decision, rates, terms = report["decision"], report["audits"]["rates"], _terms(report)
    test_gain, errors = decision["gain"], decision["errors"] or (None, None)
    comparisons = (
        (terms.short, test_gain["old"], test_gain["new"], decision["agreement"]),
        (terms.error, *errors, decision["error"]),
    )
    for name, *values, gain_interval in comparisons:
        old, new = (number(side, digits=3) for side in values)
        yield {"figure": name, "old": old, "new": new, "gain": interval(gain_interval, digits=3)}
    counts = {"old": test_gain["n_without_old"], "new": test_gain["n_without_new"]}
    yield {"figure": "labelled items without a score", **counts, "gain": ""}
    if rates["old"] is not None and rates["new"] is not None:
        for name in ("sensitivity", "specificity"):
            rates_by_prompt = {side: interval(rates[side][name]) for side in ("old", "new")}
            yield {"figure": name, **rates_by_prompt, "gain": ""}


_POSITION_LABELS = {
    "changed": "changes with the order",
    "first": "prefers the first position",
    "second": "prefers the second position",
    "one_tie": "a tie in one order only",
    "first_minus_second": "first minus second position",
}


def _position(position: Json) -> TextTable:
    return side_by_side(
        "Position bias on the test set: share of the pairs judged in both orders",
        "figure",
        _POSITION_LABELS,
        {side: position[side] for side in ("old", "new")},
        notes=(
            f"{side.capitalize()}: {pluralize(position[side]['n_pairs'], 'pair')}; without a "
            f"verdict in one of the orders: {position[side]['n_one_order']}."
            for side in ("old", "new")
        ),
    )


def _audits(report: Json) -> TextTable:
    audits, terms = report["audits"], _terms(report)
    reason = audits["position"]["why"]
    return table(
        f"Audits on the test set: {terms.audits}, by group",
        "of: {of} | group: {group} | items> {n} | old> {old[error]:interval}{old_mark}"
        " | new> {new[error]:interval}{new_mark}",
        audits["errors"]["groups"],
        notes=(
            "! significantly different from the other groups (FDR 5 %).",
            *terms.notes,
            *map(sentence, audits["errors"]["notes"]),
            f"Position: {reason}." if reason else "",
        ),
        of=lambda row: row["attribute"] or row["kind"],
        old_mark=lambda row: " !" if row["old"]["flagged"] else "",
        new_mark=lambda row: " !" if row["new"]["flagged"] else "",
    )


def cascade_tables(report: Json) -> tuple[TextTable, ...]:
    """Return the savings and losses of a cascade, its items, and each judge's agreement."""
    effects = {
        "calls saved, %": percent(report["saved"]),
        "increase in mean absolute error": interval(report["error_added"], digits=3),
        "decrease in Kendall's tau-b": interval(report["agreement_lost"], digits=3),
    }
    low, high = report["low"], report["high"]
    return (
        table(
            f"Cascade that calls the LLM for local scores between {low:.3g} and {high:.3g}, on "
            "held-out documents",
            "what: {what} | value [95 %]> {value} | items> {n}",
            [{"what": name, "value": value, "n": report["n"]} for name, value in effects.items()],
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
    """Yield the share of items kept at the threshold, and their agreement with human labels."""
    threshold, one_order = report["threshold"], report["n_one_order"]
    condition = "no threshold" if threshold is None else f"a confidence of {threshold:.2f} or more"
    shares = [("agreement of all labelled items", report["overall"], report["n_labelled"])]
    if threshold is not None:
        agreement = report["agreement"], report["n_kept_labelled"]
        shares.insert(0, ("agreement of kept labelled items", *agreement))
        shares.insert(0, ("kept, of all items", report["kept"], "-"))
    yield table(
        f"{group_title(report)}: {percentage(report['agreement_promised'])} agreement "
        f"guaranteed with {percentage(report['confidence'])} certainty at {condition}",
        "share: {what} | value [95 %]> {share:interval} | items> {n}",
        [{"what": name, "share": share, "n": n} for name, share, n in shares],
        notes=[f"Pairs judged in one order only: {one_order}." if one_order else ""],
    )


def cascade_findings(report: Json) -> Iterator[str]:
    """Yield the calls that a cascade saves, and its loss of accuracy and agreement."""
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
    """Yield the confidence threshold of a guarantee, and the share of items kept."""
    title = group_title(report)
    guarantee = f"agree with humans at least {percentage(report['agreement_promised'])} of the time"
    certainty = f"{percentage(report['confidence'])} certainty"
    n_items = pluralize(report["n_labelled"], "labelled item")
    share = interval(report["overall"], digits=2)
    total_sentence = f"Without a threshold a share of {share} of the labelled items agrees."
    if report["threshold"] is None:
        yield (
            f"{title}: no confidence threshold guarantees that its answers {guarantee}, with "
            f"{certainty} on {n_items}."
        )
        yield total_sentence
        yield "No answer is kept; next: more labels, a lower --guarantee, or a better judge."
    else:
        yield (
            f"{title}: answers with a confidence of {report['threshold']:.2f} or more {guarantee}, "
            f"with {certainty} ({n_items}; test: {report['test']})."
        )
        yield (
            f"Kept: a share of {interval(report['kept'], digits=2)} of all items; of the "
            f"{pluralize(report['n_kept_labelled'], 'labelled item')} kept, a share of "
            f"{interval(report['agreement'], digits=2)} agrees."
        )
        yield total_sentence
        if report["n_one_order"]:
            yield (
                f"Judged in one order only: {pluralize(report['n_one_order'], 'pair')}. A judge "
                "with position bias is overconfident on these."
            )

"""Findings and tables of ``fairjudge align``; no arithmetic."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from fairjudge.reports.figures import Json, interval, tally
from fairjudge.reports.tables import TextTable, columns, number
from fairjudge.text.printable import counted


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
    audits="mean calibrated score less people's",
)
_PAIRS = _Words(
    agreement="kappa with people's preferences",
    short="kappa with people",
    measured="Quadratic kappa with people's preferences over both orders, on the pairs that both "
    "prompts scored.",
    error="Brier score, both calibrated",
    by="the calibrated Brier score",
    units="",
    audits="calibrated probability to prefer, less people's share",
    notes=(
        "By length: to prefer the longer summary; by system: that system's; by attribute: the mean "
        "squared error, as a document favours no side.",
    ),
)


def _words(report: Json) -> _Words:
    return _PAIRS if report["protocol"] == "pairwise" else _RATINGS


def align_findings(report: Json) -> Iterator[str]:
    """Yield whether the new prompt is kept, by how much, what was tried, and what to do next."""
    n_tried = counted(len(report["candidates"]), "candidate")
    n_development = counted(report["parts"]["development"]["documents"], "document")
    if not report["opened"]:
        yield (
            f"Nothing is kept: none of {n_tried} agreed with people better than the old prompt on "
            f"the {n_development} of development."
        )
        yield "The test was not opened: it stays sealed for other candidates."
        yield "Next: 'fairjudge calibrate' the old prompt, or have more items labelled with notes."
        return
    decision = report["decision"]
    n_test = counted(decision["n_documents"], "document")
    words = _words(report)
    gain = f"{words.agreement} changes by {interval(decision['agreement'])}"
    error = f"{words.by} falls by {interval(decision['error'], digits=3)}{words.units}"
    if report["kept"]:
        yield f"{report['chosen']!r} is kept: on the test, {n_test}, {gain}, and {error}."
    else:
        yield f"The old prompt stays: of {report['chosen']!r}, {'; '.join(decision['why_not'])}."
        yield f"On the test, {n_test}: {gain}, and {error}."
    yield (
        f"{n_tried.capitalize()} tried on {n_development} of development; the test was read for "
        "that one alone."
    )
    if report["n_opened"] > 1:
        yield (
            f"This test has been opened {counted(report['n_opened'], 'time')}: what it says is "
            "worth less each time, and the intervals do not count that."
        )
    if report["audits"]["position"]["new"] is not None:
        position = report["audits"]["position"]
        before, now = (interval(position[side]["changed"]) for side in ("old", "new"))
        yield f"The share of decisions that change with the order: {before} before, {now} now."
    flagged = sum(row["new"]["flagged"] for row in report["audits"]["errors"]["groups"])
    before = sum(row["old"]["flagged"] for row in report["audits"]["errors"]["groups"])
    if flagged or before:
        yield f"Groups that the judge treats unlike the rest: {before} before, {flagged} now."
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
    parts = report["parts"]
    sizes = ", ".join(
        f"{name} {counted(size['documents'], 'document')} ({size['items']} labelled)"
        for name, size in parts.items()
    )
    rows = [_candidate(one) for one in report["candidates"]]
    return TextTable(
        title=f"Tried on development: {report['aspect']}, {report['protocol']}, {report['judge']}",
        columns=columns(
            "candidate", "what", "old", "new", "gain", "without score", "",
            numbers=("old", "new", "gain", "without score"),
        ),
        rows=tuple(rows),
        notes=(
            f"Documents by part: {sizes}.",
            _words(report).measured,
            *(f"{one['name']}: {one['barred']}." for one in report["candidates"] if one["barred"]),
            *(f"Not tried: {why}." for why in report["unusable"]),
        ),
    )  # fmt: skip


def _candidate(one: Json) -> tuple[str, ...]:
    found = one["development"]
    return (
        one["name"],
        one["about"],
        _or_dash(found["old"]),
        _or_dash(found["new"]),
        _or_dash(found["difference"]),
        str(found["n_without_new"]),
        "chosen" if one["chosen"] else "",
    )


def _or_dash(value: float | None, digits: int = 3) -> str:
    return "-" if value is None else number(value, digits=digits)


def _test(report: Json) -> TextTable:
    decision = report["decision"]
    gain, errors = decision["gain"], decision["errors"] or (None, None)
    counts, words = report["audits"]["unscored"], _words(report)
    return TextTable(
        title=f"The test: {'kept' if report['kept'] else 'not kept'}",
        columns=columns(
            "figure", "old", "new", "better by", numbers=("old", "new", "better by")
        ),
        rows=(
            (
                words.short,
                _or_dash(gain["old"]),
                _or_dash(gain["new"]),
                interval(decision["agreement"], digits=3),
            ),
            (
                words.error,
                _or_dash(errors[0]),
                _or_dash(errors[1]),
                interval(decision["error"], digits=3),
            ),
            (
                "labelled items without a score",
                str(gain["n_without_old"]),
                str(gain["n_without_new"]),
                "",
            ),
            *_rates(report["audits"]["rates"]),
        ),
        notes=(
            f"{counted(gain['n_items'], 'item')} scored by both, of {decision['n_labelled']} "
            f"labelled, in {counted(decision['n_documents'], 'document')}; opened "
            f"{counted(report['n_opened'], 'time')}.",
            "Kept where both intervals lie above 0.",
            *(f"Not kept: {why}." for why in decision["why_not"]),
            *(f"Without a score, {name}: {tally(one)}." for name, one in counts.items() if one),
        ),
    )  # fmt: skip


def _rates(rates: Json) -> Iterator[tuple[str, ...]]:
    """Yield a row a rate, for answers of yes and no."""
    if rates["old"] is not None and rates["new"] is not None:
        for name in ("sensitivity", "specificity"):
            yield name, *(interval(rates[side][name]) for side in ("old", "new")), ""


_PLACES = (
    ("changes with the order", "changed"),
    ("prefers the first place", "first"),
    ("prefers the second place", "second"),
    ("a tie in one order alone", "one_tie"),
    ("first less second place", "first_minus_second"),
)


def _position(found: Json) -> TextTable:
    return TextTable(
        title="Position on the test: share of the pairs that were judged in both orders",
        columns=columns("figure", "old", "new", numbers=("old", "new")),
        rows=tuple(
            (name, *(interval(found[side][key]) for side in ("old", "new")))
            for name, key in _PLACES
        ),
        notes=tuple(
            f"{side.capitalize()}: {counted(found[side]['n_pairs'], 'pair')}; without a verdict in "
            f"one of the orders: {found[side]['n_one_order']}."
            for side in ("old", "new")
        ),
    )


def _audits(report: Json) -> TextTable:
    audits, words = report["audits"], _words(report)
    rows = [
        (
            row["attribute"] or row["kind"],
            row["group"],
            str(row["n"]),
            *(
                f"{interval(row[side]['error'])}{' !' if row[side]['flagged'] else ''}"
                for side in ("old", "new")
            ),
        )
        for row in audits["errors"]["groups"]
    ]
    return TextTable(
        title=f"Audits on the test: {words.audits}, by group",
        columns=columns("of", "group", "items", "old", "new", numbers=("items", "old", "new")),
        rows=tuple(rows),
        notes=(
            "! apart from the other groups beyond chance (false discovery rate).",
            *words.notes,
            *(f"{note[0].upper()}{note[1:]}." for note in audits["errors"]["notes"]),
            *([f"Position: {why}."] if (why := audits["position"]["why"]) else []),
        ),
    )

"""Tables of the audits, made of their JSON."""

from __future__ import annotations

from collections.abc import Iterator

from fairjudge.reports.figures import Json, by_unit, equals_p, interval, p_value, protocol_of, tally
from fairjudge.reports.row_tables import rows_of, table
from fairjudge.reports.tables import TextTable
from fairjudge.text.counting import percentage

_MAX_NAMED = 12
POSITION = {
    "first": "prefers the first",
    "second": "prefers the second",
    "consistency": "same verdict both ways",
}
ORDERED = {
    "faithfulness": ("article", "rating", (1.0, 5.0)),
    "coverage": ("group", "share covered", (0.0, 1.0)),
}
"""What ``audit order`` moved, what was measured and between which values, by aspect."""
_CHANGES = {
    "first minus last": "first_minus_last",
    "ends minus middle": "ends_minus_middle",
    "share changed by shuffling": "changed",
    "highest minus lowest of the shuffles": "spread",
}


def position_tables(report: Json) -> Iterator[TextTable]:
    """Yield position bias: one table a judge and aspect."""
    for group in report["groups"]:
        slices = {"all": group, **group["by_closeness"], **group["by_systems"]}
        of = f"{group['judge']}, {group['aspect']}{by_unit(group)}"
        yield table(
            f"Position bias of {of} (percent of pairs)",
            "among: {among} | pairs> {n_pairs} | first> {first:percent} | second> {second:percent}"
            " | consistent> {consistency:percent} | ties> {one_tie[value]:number.1}"
            " | p> {first_minus_second:p}",
            rows_of(slices, "among"),
            notes=_position_notes(group),
        )


def _position_notes(group: Json) -> Iterator[str]:
    yield (
        "Ties: one of the two verdicts is a tie. p: test of first = second. Intervals: 95 %, "
        "documents taken as clusters."
    )
    if group["first_minus_second"].get("value") is not None:
        yield f"First minus second, all: {interval(group['first_minus_second'], digits=1)} points."
    left_out = {
        "without a score": group["n_unscored"],
        "in one order alone": group["n_one_order"],
        "of unknown order": group["n_unknown_order"],
        "repeated": group["n_repeated"],
    }
    if any(left_out.values()):
        yield f"Excluded: {tally(left_out)}."
    if shift := group.get("shift"):
        yield (
            "By probability: being shown first changes the probability of being preferred by "
            f"{interval(shift, digits=3)} ({equals_p(p_value(shift))})."
        )


def verbosity_tables(report: Json) -> Iterator[TextTable]:
    """Yield verbosity bias: one row a judge, aspect, protocol and probe."""
    yield table(
        "Verbosity bias (percent of summaries that the judge puts first)",
        "judge: {judge} | aspect: {aspect} | protocol: {protocol} | added: {probe} | pairs> {n}"
        " | original> {original:percent} | longer> {extended:percent}"
        " | p> {original_minus_extended:p}",
        [{**group, "protocol": protocol_of(group)} for group in report["groups"]],
        notes=["p: test of original = longer. What is added is as long as the summary."],
    )
    for group in report["groups"]:
        if group.get("scores"):
            yield scores_table(group)


VERSIONS = {"original": "as written", "extended": "longer"}


def scores_table(group: Json) -> TextTable:
    """Return how often each score was given to summaries as written and made longer."""
    return table(
        f"Scores by {group['judge']}, {group['aspect']}, {protocol_of(group)} ({group['probe']})",
        "system: {system} | summaries: {version} | scores (score: how often): {counts}",
        [
            {
                "system": system,
                "version": VERSIONS[version],
                "counts": ", ".join(f"{score}: {n}" for score, n in counts.items()),
            }
            for system, versions in group["scores"].items()
            for version, counts in versions.items()
        ],
    )


def parse_tables(report: Json) -> Iterator[TextTable]:
    """Yield how many judgements have no score, and why."""
    from fairjudge.scores.leaderboards import weak_judge

    groups = report["groups"]
    by_default = dict.fromkeys(
        (group["aspect"], group["judge"]) for group in groups if "embedding" in group["scored_by"]
    )
    yield table(
        "Judgements with and without a score",
        "judge: {judge} | aspect: {aspect} | protocol: {protocol} | judgements> {n_judgements}"
        " | unscored> {lost} | reasons: {unscored:tally} | scored by: {scored_by:tally}",
        [{**group, "protocol": protocol_of(group), "lost": _lost(group)} for group in groups],
        notes=(weak_judge(aspect, judge) for aspect, judge in by_default),
    )


def _lost(group: Json) -> str:
    n = group["n_unscored"]
    return f"{n} ({percentage(n / group['n_judgements'])})" if n else "0"


def length_tables(report: Json) -> Iterator[TextTable]:
    """Yield win rates as judged, at equal length, and on matched pairs."""
    for group in report["groups"]:
        rates = [
            {
                **win_rate,
                "n": win_rate["raw"].get("n", "-"),
                "n_matched": win_rate["matched"].get("n", "-"),
            }
            for win_rate in group["win_rates"]
        ]
        yield table(
            f"Win rates at equal length, {group['judge']}, {group['aspect']}{by_unit(group)} "
            "(percent)",
            "pair: {system_a} beats {system_b} | n> {n} | as judged> {raw:percent}"
            " | adjusted> {adjusted:percent} | matched> {matched:percent}"
            " | n matched> {n_matched}",
            rates,
            notes=["n: judgements, one for each order of a pair.", _length_effect(group)],
        )
    if lengths := report.get("lengths"):
        tokenizer = report.get("tokenizer")
        unit = "words" if tokenizer is None else "tokens"
        yield table(
            f"Lengths of summaries, in {unit}" + (f" of {tokenizer}" if tokenizer else ""),
            f"system: {{system}} | {unit}> {{length}} | summaries> {{n}}",
            [
                {"system": name, "length": interval(figure, digits=0), "n": figure.get("n", "-")}
                for name, figure in lengths.items()
            ],
        )


def _length_effect(group: Json) -> str:
    if group["why"]:
        return f"Not adjusted: {group['why']}."
    effect = group["length_effect"]
    return (
        "Log-odds of winning for one typical difference of length: "
        f"{interval(effect)} ({equals_p(p_value(effect))})."
    )


def order_tables(report: Json) -> Iterator[TextTable]:
    """Yield verdicts by the place of the article or group, and what shuffling changes."""
    moved, value, (low, high) = ORDERED[report["aspect"]]
    places = report["by_place"].items()
    rows = [{"what": f"{moved} {place}", "rating": rating, "p": "-"} for place, rating in places]
    rows += [
        {"what": name, "rating": report[key], "p": p_value(report[key])}
        for name, key in _CHANGES.items()
    ]
    yield table(
        f"Order of {moved}s, {report['judge']}, {report['aspect']} from {low:.0f} to {high:.0f}",
        f": {{what}} | {value}> {{rating:interval}} | p> {{p}}",
        rows,
        notes=[f"Without a score: {report['n_unscored']}." if report["n_unscored"] else ""],
    )


def checks_tables(report: Json, *, limit: int | None = _MAX_NAMED) -> Iterator[TextTable]:
    """Yield how often each relation held, naming where it did not, `limit` of these."""
    broken = [
        f"{check['name']}: {item['item']} gave {' then '.join(map(str, item['values']))}"
        for check in report["checks"]
        for item in check["broken"]
    ]
    n_hidden = len(broken) - len(broken[:limit])
    yield table(
        f"Checks of {report['judge']}, {report['aspect']} (percent kept)",
        "check: {name} | cases> {n} | kept> {kept:percent} | unscored> {n_unscored}",
        report["checks"],
        notes=[*broken[:limit], f"... and {n_hidden} more (--json)" if n_hidden else ""],
    )

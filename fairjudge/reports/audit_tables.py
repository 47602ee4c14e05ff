"""Tables of the audits and of a judge's stability, from their JSON."""

from __future__ import annotations

from collections.abc import Iterator

from fairjudge.reports.decision_tables import group_title
from fairjudge.reports.figures import (
    Json,
    equals_p,
    interval,
    p_value,
    protocol_in_words,
    tally,
    unit_suffix,
)
from fairjudge.reports.row_tables import keyed_rows, table
from fairjudge.reports.tables import TextTable, number
from fairjudge.text.counting import percentage, pluralize

_MAX_NAMED = 12
POSITION = {
    "first": "prefers the first",
    "second": "prefers the second",
    "consistency": "same verdict in both orders",
}
ORDERED = {
    "faithfulness": ("article", "rating", (1.0, 5.0)),
    "coverage": ("group", "share covered", (0.0, 1.0)),
}
"""By aspect, the reordered unit of ``audit order``, the measured value and its range."""
_CHANGES = {
    "first minus last": "first_minus_last",
    "ends minus middle": "ends_minus_middle",
    "share changed by shuffling": "changed",
    "highest minus lowest of the shuffles": "spread",
}


def position_tables(report: Json) -> Iterator[TextTable]:
    """Yield position bias: one table per judge and aspect."""
    for group in report["groups"]:
        slices = {"all": group, **group["by_closeness"], **group["by_systems"]}
        group_name = f"{group['judge']}, {group['aspect']}{unit_suffix(group)}"
        yield table(
            f"Position bias of {group_name} (percent of pairs)",
            "among: {among} | pairs> {n_pairs} | first> {first:percent} | second> {second:percent}"
            " | consistent> {consistency:percent} | ties> {one_tie[value]:number.1}"
            " | p> {first_minus_second:p}",
            keyed_rows(slices, "among"),
            notes=_position_notes(group),
        )


def _position_notes(group: Json) -> Iterator[str]:
    yield (
        "Ties: one of the two verdicts is a tie. p: test of first = second. Intervals: 95 %, "
        "resampling documents."
    )
    if group["first_minus_second"].get("value") is not None:
        yield f"First minus second, all: {interval(group['first_minus_second'], digits=1)} points."
    exclusions = {
        "without a score": group["n_unscored"],
        "in one order only": group["n_one_order"],
        "of unknown order": group["n_unknown_order"],
        "repeated": group["n_repeated"],
    }
    if any(exclusions.values()):
        yield f"Excluded: {tally(exclusions)}."
    if probability_shift := group.get("shift"):
        yield (
            "By probability: being shown first changes the probability of being preferred by "
            f"{interval(probability_shift, digits=3)} ({equals_p(p_value(probability_shift))})."
        )


def verbosity_tables(report: Json) -> Iterator[TextTable]:
    """Yield verbosity bias: one row per judge, aspect, protocol and probe."""
    yield table(
        "Verbosity bias (percent of summaries that the judge puts first)",
        "judge: {judge} | aspect: {aspect} | protocol: {protocol} | added: {probe} | pairs> {n}"
        " | original> {original:percent} | longer> {extended:percent}"
        " | p> {original_minus_extended:p}",
        report["groups"],
        notes=["p: test of original = longer. The added text is as long as the summary."],
        protocol=protocol_in_words,
    )
    yield from (_scores_table(group) for group in report["groups"] if group.get("scores"))


VERSIONS = {"original": "original", "extended": "longer"}


def _scores_table(group: Json) -> TextTable:
    """Return the frequency of each score among original and extended summaries."""
    protocol = protocol_in_words(group)
    return table(
        f"Scores by {group['judge']}, {group['aspect']}, {protocol} ({group['probe']})",
        "system: {system} | summaries: {version} | scores (score: count): {counts:list}",
        [
            {"system": system, "version": VERSIONS[version], "counts": counts}
            for system, versions in group["scores"].items()
            for version, counts in versions.items()
        ],
        counts=lambda row: [f"{score}: {n}" for score, n in row["counts"].items()],
    )


def parse_tables(report: Json) -> Iterator[TextTable]:
    """Yield the number of judgements without a score, and the reasons."""
    from fairjudge.scores.leaderboards import weak_judge_caveat

    groups = report["groups"]
    default_judges = dict.fromkeys(
        (group["aspect"], group["judge"]) for group in groups if "embedding" in group["scored_by"]
    )
    yield table(
        "Judgements with and without a score",
        "judge: {judge} | aspect: {aspect} | protocol: {protocol} | judgements> {n_judgements}"
        " | unscored> {lost} | reasons: {unscored:tally} | scored by: {scored_by:tally}",
        groups,
        notes=(weak_judge_caveat(aspect, judge) for aspect, judge in default_judges),
        protocol=protocol_in_words,
        lost=_unscored_share,
    )


def _unscored_share(group: Json) -> str:
    n = group["n_unscored"]
    return f"{n} ({percentage(n / group['n_judgements'])})" if n else "0"


def length_tables(report: Json) -> Iterator[TextTable]:
    """Yield win rates: raw, adjusted to equal length, and on matched pairs."""
    for group in report["groups"]:
        yield table(
            f"Win rates at equal length, {group['judge']}, {group['aspect']}{unit_suffix(group)} "
            "(percent)",
            "pair: {system_a} beats {system_b} | n> {n} | as judged> {raw:percent}"
            " | adjusted> {adjusted:percent} | matched> {matched:percent}"
            " | n matched> {n_matched}",
            group["win_rates"],
            notes=["n: judgements, one per order of a pair.", _length_effect(group)],
            n=lambda win_rate: win_rate["raw"].get("n", "-"),
            n_matched=lambda win_rate: win_rate["matched"].get("n", "-"),
        )
    if lengths := report.get("lengths"):
        tokenizer = report.get("tokenizer")
        unit = "words" if tokenizer is None else "tokens"
        yield table(
            f"Lengths of summaries, in {unit}" + (f" of {tokenizer}" if tokenizer else ""),
            f"system: {{system}} | {unit}> {{row:interval.0}} | summaries> {{n}}",
            keyed_rows(lengths, "system"),
            n=lambda row: row.get("n", "-"),
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
    """Yield verdicts by position of the article or group, and the effect of shuffling."""
    unit, value_name, (low, high) = ORDERED[report["aspect"]]
    positions = report["by_place"].items()
    rows = [
        {"what": f"{unit} {position}", "rating": rating, "p": "-"} for position, rating in positions
    ]
    changes = {name: report[key] for name, key in _CHANGES.items()}
    rows += [
        {"what": name, "rating": change, "p": p_value(change)} for name, change in changes.items()
    ]
    yield table(
        f"Order of {unit}s, {report['judge']}, {report['aspect']} from {low:.0f} to {high:.0f}",
        f": {{what}} | {value_name}> {{rating:interval}} | p> {{p}}",
        rows,
        notes=[f"Without a score: {report['n_unscored']}." if report["n_unscored"] else ""],
    )


def checks_tables(report: Json, *, limit: int | None = _MAX_NAMED) -> Iterator[TextTable]:
    """Yield the pass rate of each metamorphic relation, and up to `limit` violations."""
    violations = [
        f"{check['name']}: {item['item']} scored {' then '.join(map(str, item['values']))}"
        for check in report["checks"]
        for item in check["broken"]
    ]
    n_hidden = len(violations) - len(violations[:limit])
    yield table(
        f"Checks of {report['judge']}, {report['aspect']} (percent passed)",
        "check: {name} | cases> {n} | passed> {kept:percent} | unscored> {n_unscored}",
        report["checks"],
        notes=[*violations[:limit], f"... and {n_hidden} more (--json)" if n_hidden else ""],
    )


_STABILITY = {
    "flips": "two judgements of an item differ",
    "unanimous": "all judgements of an item are equal",
    "spread": "spread within an item (points)",
    "flips_between_variants": "two prompts' judgements differ",
}
_VARIANCE = {
    "item": "share of variance: item",
    "variant": "share of variance: prompt",
    "item_by_variant": "share of variance: item by prompt",
    "repeat": "share of variance: repeat",
}


def stability_tables(report: Json) -> Iterator[TextTable]:
    """Yield one table per judge, aspect and protocol."""
    for group in report["groups"]:
        yield table(
            f"Stability of {group_title(group)}",
            "figure: {figure} | value> {value:interval}",
            _stability_rows(group),
            notes=_stability_notes(group),
        )


def stability_shares(group: Json) -> Iterator[tuple[str, Json]]:
    """Yield the shares in a group's table, with labels short enough for a plot."""
    for row in _stability_rows(group):
        if row["figure"] != _STABILITY["spread"]:
            yield row["figure"].removeprefix("share of "), row["value"]


def _stability_rows(group: Json) -> Iterator[Json]:
    if group["why"] is not None:
        return
    for results, labels in ((group, _STABILITY), (group["shares"], _VARIANCE)):
        for name, label in labels.items():
            if interval(results[name]) != "-":
                yield {"figure": label, "value": results[name]}


def _stability_notes(group: Json) -> Iterator[str]:
    if group["why"] is not None:
        yield f"None: {group['why']}."
        return
    yield (
        f"{pluralize(group['n_judgements'], 'judgement')} of {pluralize(group['n_items'], 'item')} "
        f"in {pluralize(group['n_documents'], 'document')}; {group['n_repeated_items']} judged "
        "more than once under one prompt."
    )
    if len(group["variants"]) > 1:
        yield f"Prompts: {', '.join(group['variants'])}."
    if group["alike"]:
        yield (
            "Different prompts gave the same verdict on every item: check whether their records "
            "are copies of one another."
        )
    if isinstance(group["worth"], list):
        rows = "; ".join(
            f"{row['repeats']} repeats: {number(row['width'])}, {number(row['as_many_items'])}"
            for row in group["worth"][1:]
        )
        yield (
            "Effect of repeats on a mean over items (width of its interval relative to one "
            f"repeat; equivalent factor of items): {rows}."
        )
    if group["n_unscored"]:
        yield f"Excluded: {group['n_unscored']} without a score."
